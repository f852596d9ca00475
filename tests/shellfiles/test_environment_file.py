"""/etc/environment and environment.d: two lists that look alike and are read differently."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.shellfiles.environment_file import read
from gpuassist.shellfiles.statements import Reading, StatementPlace
from tests.rows import for_each

HOME = {"HOME": "/home/you"}


def _read(content: str | bytes, *, expands: bool) -> Reading:
    return read(content.encode() if isinstance(content, str) else content, HOME, expands=expands)


def _elements(content: str, *, expands: bool) -> list[str]:
    assignment = _read(content, expands=expands).statements[-1].assignments[0]
    return ["<before>" if element.previous else element.directory or "?" for element in assignment.elements]


@pytest.mark.parametrize(
    ("line", "elements"),
    [
        ("PATH=/a:/b", ["/a", "/b"]),
        ('PATH="/a:/b"', ["/a", "/b"]),
        ("PATH='/a:/b'", ["/a", "/b"]),
        ("export PATH=/a", ["/a"]),
        ("  PATH = /a", ["/a"]),
        ("PATH=/a # comment", ["/a"]),
        ("PATH=/a::/b:", ["/a", "/b"]),
        ("PATH=/a:$PATH", ["/a", "$PATH"]),
        ('PATH="/a:${HOME}/bin"', ["/a", "${HOME}/bin"]),
        ("PATH=~/bin", ["~/bin"]),
        ("PATH=", []),
    ],
)
def test_nothing_is_expanded_for_everybody(line: str, elements: list[str]) -> None:
    assert _elements(line + "\n", expands=False) == elements


@pytest.mark.parametrize(
    ("content", "elements"),
    [
        ("PATH=/a:$PATH", ["/a", "<before>"]),
        ("PATH=/a:${PATH}", ["/a", "<before>"]),
        ("PATH=${HOME}/bin:/b", ["/home/you/bin", "/b"]),
        ("PATH=$HOME/bin", ["/home/you/bin"]),
        ("CUDA=/c\nPATH=$CUDA/bin", ["/c/bin"]),
        ("PATH=$UNKNOWN/bin", ["?"]),
        ("PATH=/a:\\\n/b", ["/a", "/b"]),
        ("LD_LIBRARY_PATH=/a${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}", ["/a", "<before>"]),
        ("LD_LIBRARY_PATH=/a${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}", ["/a", "<before>"]),
        ('PATH="/a#b"', ["/a#b"]),
    ],
)
def test_variables_are_expanded_for_the_user(content: str, elements: list[str]) -> None:
    assert _elements(content, expands=True) == elements


@for_each("line", ["# PATH=/a", "LANG=C", "PATH", "=x", "not a line", "", "1PATH=/a", "GOPATH=/a"])
@for_each("expands", [True, False])
def test_other_lines_say_nothing(line: str, expands: bool) -> None:
    assert _read(line + "\n", expands=expands).statements == ()


def test_a_line_is_bounded_by_its_bytes() -> None:
    content = b"A=1\r\nPATH=/\xc3\xa9:/b\r\nB=2\r\n"
    (statement,) = _read(content, expands=False).statements
    assert content[statement.first_byte : statement.end_byte] == b"PATH=/\xc3\xa9:/b\r\n"
    assert (statement.line, statement.last_line, statement.place) == (2, 2, StatementPlace.TOP)
    assert statement.text == "PATH=/é:/b"


def test_a_continued_line_is_one_statement() -> None:
    (statement,) = _read("A=1\nPATH=/a:\\\n/b\nB=2\n", expands=True).statements
    assert (statement.line, statement.last_line) == (2, 3)


def test_tells_what_it_leaves() -> None:
    assert _read("CUDA_HOME=/c\nPATH=$X\n", expands=True).values == (("CUDA_HOME", "/c"),)


def test_lists_what_a_value_uses() -> None:
    (reference,) = _read("PATH=$CUDA_HOME/bin\n", expands=True).references
    assert (reference.variable, reference.line) == ("CUDA_HOME", 1)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from(["PATH", "=", "/a", ":", "${", "}", "$PATH", '"', "'", "\n", "\\\n", "#", "\r"]), max_size=20),
    st.booleans(),
)
def test_bounds_whole_lines_of_any_content(pieces: list[str], expands: bool) -> None:
    raw = "".join(pieces).encode()
    for statement in _read(raw, expands=expands).statements:
        assert raw[statement.first_byte : statement.end_byte].count(b"\n") <= statement.last_line - statement.line + 1
