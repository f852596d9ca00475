"""Questions that a program asked before it failed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.terminal_output import asked


@pytest.mark.parametrize(
    ("lines", "question"),
    [
        (("Collecting x", "Go on? [y/N] "), "Go on? [y/N]"),
        (
            ("Go on? [y/N] Traceback (most recent call last):", '  File "x", line 1', "EOFError: EOF when reading a line"),
            "Go on? [y/N]",
        ),
        (("## Package Plan ##", "Proceed ([y]/n)? "), "Proceed ([y]/n)?"),
        (("Proceed (Y/n)? ERROR: Exception:", "EOFError: EOF when reading a line"), "Proceed (Y/n)?"),
        (("User for download.example: ", "EOFError: EOF when reading a line"), "User for download.example:"),
        (("Password: ",), "Password:"),
        (("Are you sure you want to go on?",), "Are you sure you want to go on?"),
    ],
)
def test_a_question_is_found(lines: tuple[str, ...], question: str) -> None:
    assert asked(lines) == question


@pytest.mark.parametrize(
    "lines",
    [
        (),
        ("", " "),
        ("ERROR: No matching distribution found for torch==9",),
        ("Go on? [y/N] y", "ERROR: it broke afterwards"),
        ("OSError: [Errno 28] No space left on device",),
        ("Why does pip say this? See https://example.org",),
    ],
)
def test_other_endings_are_no_question(lines: tuple[str, ...]) -> None:
    assert asked(lines) == ""


@given(st.lists(st.text()))
def test_any_lines_are_survived(lines: list[str]) -> None:
    assert len(asked(lines)) <= 200
