"""os-release files as distributions write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.distribution import read_os_release


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("ID=ubuntu", "ubuntu"),
        ('ID="rhel"', "rhel"),
        ("ID='arch'", "arch"),
        ('ID="a \\"b\\" \\$c"', 'a "b" $c'),
        ("  ID=debian  ", "debian"),
        ('ID="opensuse-leap"', "opensuse-leap"),
        ("ID=", ""),
    ],
)
def test_value_is_read_without_its_quotes(line: str, value: str) -> None:
    assert read_os_release(line) == {"ID": value}


@pytest.mark.parametrize("line", ["# ID=ubuntu", "", "ID", "ID=two words", 'ID="open', "1D=x"])
def test_line_that_is_no_assignment_is_left_out(line: str) -> None:
    assert read_os_release(line) == {}


def test_last_of_a_name_counts() -> None:
    assert read_os_release("ID=a\nID=b") == {"ID": "b"}


def test_windows_line_ends_do_no_harm() -> None:
    assert read_os_release('ID="a"\r\nNAME=b\r\n') == {"ID": "a", "NAME": "b"}


@given(st.text())
def test_any_text_is_survived(words: str) -> None:
    assert all(isinstance(value, str) for value in read_os_release(words).values())
