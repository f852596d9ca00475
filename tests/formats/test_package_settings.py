"""conda's .condarc as people and `conda config` write it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.package_settings import read_condarc

WRITTEN = """\
# of the institute
channels:
  - https://conda.example.org/cloud/conda-forge   # the mirror
  - defaults
channel_priority: strict
channel_alias: "https://conda.example.org/api"
show_channel_urls: true
custom_channels:
  pytorch: https://conda.example.org/cloud
  nvidia: 'https://conda.example.org/cloud'
pinned_packages: [python=3.11, "pytorch=2.1"]
"""


def test_lists_in_their_order() -> None:
    assert read_condarc(WRITTEN).lists["channels"] == ("https://conda.example.org/cloud/conda-forge", "defaults")


def test_a_list_in_brackets() -> None:
    assert read_condarc(WRITTEN).lists["pinned_packages"] == ("python=3.11", "pytorch=2.1")


def test_single_values_are_lists_of_one() -> None:
    lists = read_condarc(WRITTEN).lists
    assert (lists["channel_priority"], lists["channel_alias"]) == (("strict",), ("https://conda.example.org/api",))


def test_channels_by_name() -> None:
    cloud = "https://conda.example.org/cloud"
    assert read_condarc(WRITTEN).maps["custom_channels"] == {"pytorch": cloud, "nvidia": cloud}


def test_items_that_are_not_indented() -> None:
    assert read_condarc("channels:\n- conda-forge\n- nodefaults\n").lists["channels"] == ("conda-forge", "nodefaults")


def test_a_key_without_values_is_not_set() -> None:
    assert read_condarc("channels:\nchannel_priority:\n").lists == {}


def test_a_sharp_inside_a_word_is_no_comment() -> None:
    assert read_condarc("channel_alias: https://x.example.org/#a\n").lists["channel_alias"] == ("https://x.example.org/#a",)


@pytest.mark.parametrize("words", ["", "- conda-forge\n", "  - x\n", "{", "channels\n", "\x00\n", ": x\n"])
def test_other_lines_are_passed_over(words: str) -> None:
    found = read_condarc(words)
    assert (found.lists, found.maps) == ({}, {})


@given(st.lists(st.text(st.characters(categories=("Ll", "Nd")), min_size=1, max_size=12), max_size=6))
def test_what_conda_writes_is_read_back(names: list[str]) -> None:
    written = "channels:\n" + "".join(f"  - {name}\n" for name in names)
    assert read_condarc(written).lists.get("channels", ()) == tuple(names)


@given(st.text(max_size=200))
def test_any_text_is_read_without_complaint(words: str) -> None:
    assert all(values for values in read_condarc(words).lists.values())
