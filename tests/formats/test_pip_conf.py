"""pip's configuration as people write it: sections, several values, and what cannot be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.package_settings import read_pip_conf

MIRROR = "https://pypi.example.org/simple"


def test_an_index_of_its_own() -> None:
    assert read_pip_conf(f"[global]\nindex-url = {MIRROR}\n") == {"index-url": (MIRROR,)}


@pytest.mark.parametrize("name", ["index-url", "index_url", "INDEX-URL", "Index_Url"])
def test_names_in_every_spelling(name: str) -> None:
    assert read_pip_conf(f"[global]\n{name}={MIRROR}\n") == {"index-url": (MIRROR,)}


def test_several_values_stand_on_lines_of_their_own() -> None:
    words = "[global]\nextra-index-url =\n    https://a.example.org/simple\n    https://b.example.org/simple\n"
    assert read_pip_conf(words)["extra-index-url"] == ("https://a.example.org/simple", "https://b.example.org/simple")


def test_what_holds_for_install_wins() -> None:
    assert read_pip_conf(f"[install]\nindex-url = {MIRROR}\n[global]\nindex-url = https://other.example.org\n") == {
        "index-url": (MIRROR,)
    }


def test_other_commands_are_nothing_to_install() -> None:
    assert read_pip_conf("[download]\nno-index = true\n[list]\nformat = columns\n") == {}


def test_a_section_twice_is_read_as_one() -> None:
    assert read_pip_conf("[global]\nno-index = true\n[global]\ntimeout = 60\n") == {"no-index": ("true",), "timeout": ("60",)}


@pytest.mark.parametrize("words", ["", "index-url = x\n", "[global\n", "[global]\n=\n", "\x00", "[global]\nindex-url\n"])
def test_what_cannot_be_read_says_nothing(words: str) -> None:
    assert read_pip_conf(words) == {}


def test_an_empty_value_is_not_set() -> None:
    assert read_pip_conf("[global]\nindex-url =\n") == {}


def test_a_percent_sign_is_no_reference() -> None:
    assert read_pip_conf("[global]\nindex-url = https://u%40x.example.org/simple\n")["index-url"] == (
        "https://u%40x.example.org/simple",
    )


@given(st.text(max_size=200))
def test_any_text_is_read_without_complaint(words: str) -> None:
    assert all(values for values in read_pip_conf(words).values())
