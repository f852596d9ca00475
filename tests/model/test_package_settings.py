"""A setting that nothing sets is none, whichever tool it would be for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.package_settings import NOWHERE, Channels, Indexes, PackageSetting, PackageSettings


@given(st.text(min_size=1), st.text())
def test_a_value_counts_wherever_it_is_from(value: str, source: str) -> None:
    assert PackageSetting(value, source)


@given(st.text())
def test_a_source_alone_sets_nothing(source: str) -> None:
    assert not PackageSetting(NOWHERE, source)


@pytest.mark.parametrize("value", ["0", "false", "no", "none", " "])
def test_a_word_that_says_no_is_a_value_all_the_same(value: str) -> None:
    assert PackageSetting(value, "PIP_NO_INDEX")


@pytest.mark.parametrize("kind", [Indexes, Channels])
def test_without_settings_a_tool_is_told_nothing(kind: type[Indexes | Channels]) -> None:
    told = kind()
    assert not any(getattr(told, name) for name in told.__struct_fields__)


def test_without_settings_no_tool_is_told_anything() -> None:
    assert PackageSettings() == PackageSettings(Indexes(), Indexes(), Channels())


def test_the_same_value_from_elsewhere_is_another_setting() -> None:
    assert PackageSetting("1", "PIP_NO_INDEX") != PackageSetting("1", "/etc/pip.conf")
