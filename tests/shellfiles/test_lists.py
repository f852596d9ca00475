"""The lists of a line, read plainly: their parts as written, and the same line again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.shellfiles.rewrite import ListPart, Written, fitted, read_lists, with_lists
from tests.rows import for_each

HOW_PEOPLE_WRITE = [
    ("export PATH=/a:$PATH", ["/a", "$PATH"]),
    ("export PATH=/a${PATH:+:${PATH}}", ["/a", "${PATH:+:${PATH}}"]),
    ('export PATH="/a:$HOME/b:$PATH" # mine', ["/a", "$HOME/b", "$PATH"]),
    ("export PATH='/a:/b c'", ["/a", "/b c"]),
    ('export PATH="/a":"$HOME/b":"$PATH"', ['"/a"', '"$HOME/b"', '"$PATH"']),
    ('export PATH="/a"/bin:$PATH', ['"/a"/bin', "$PATH"]),
    ("PATH=$PATH:", ["$PATH", ""]),
    ("PATH=:/a::$PATH", ["", "/a", "", "$PATH"]),
    ("PATH=/a; export PATH", ["/a"]),
    ("\texport LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/x", ["${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}", "/x"]),
    ("PATH=/a${PATH:+:$PATH}:/b", ["/a", "${PATH:+:$PATH}", "/b"]),
    ("PATH+=:/a:/b", ["/a", "/b"]),
    ("[ -d /x ] && export PATH=/x:${PATH}", ["/x", "${PATH}"]),
    ("export PATH=/a:${PATH:-/usr/bin:/bin}", ["/a", "${PATH:-/usr/bin:/bin}"]),
    ("export CUDA_HOME=", [""]),
    ("export PATH", None),
    ("export PATH=~/x:$PATH:/caf\udce9", ["~/x", "$PATH", "/caf\udce9"]),
]


@for_each(("line", "parts"), HOW_PEOPLE_WRITE)
def test_reads_what_people_write(line: str, parts: list[str] | None) -> None:
    lists = read_lists(line)
    assert lists is not None
    assert [part.text for value in lists for part in value.parts] == (parts or [])


@for_each(("line", "parts"), HOW_PEOPLE_WRITE)
def test_the_same_parts_give_the_same_line(line: str, parts: list[str] | None) -> None:
    assert with_lists(line, read_lists(line) or ()) == line


@for_each(
    "line",
    [
        "export PATH=$(echo /a):$PATH",
        "export PATH=`echo /a`:$PATH",
        "export PATH=/my\\ dir:$PATH",
        'export PATH="/a\\"b:$PATH"',
        'export PATH="$(pwd):$PATH"',
        'export PATH="/a:/b":$PATH',
        "export PATH=/a*:$PATH",
        "path=(/a $path)",
        "f() { export PATH=/a; }",
        "export PATH=/a:$PATH > /dev/null",
        "export PATH=/a:$PATH | cat",
        "export PATH=/a:$PATH &",
        "export PATH=${PATH//a/b}:/x",
        "export PATH=${PATH%:*}:/x",
        "PATH+=/a",
        'export PATH="/a',
        "x) PATH=/a ;;",
        "export PATH=/a:\0:$PATH",
    ],
)
def test_reads_nothing_else(line: str) -> None:
    lists = read_lists(line)
    assert lists is None or not any(value.parts[0].text == "/a" for value in lists)


def test_several_values_stand_in_one_line() -> None:
    lists = read_lists('export CUDA_HOME=/c PATH="/c/bin:$PATH"; LD_LIBRARY_PATH=/c/lib')
    assert lists is not None
    assert [value.variable for value in lists] == ["CUDA_HOME", "PATH", "LD_LIBRARY_PATH"]


def _value(*parts: ListPart) -> Written:
    return Written("P", 0, 0, "", parts)


OWN, BEFORE = ListPart("/a"), ListPart("$P", previous=True)
LEADS, TRAILS = ListPart("${P:+:${P}}", previous=True, leads=True), ListPart("${P:+${P}:}", previous=True, trails=True)


@pytest.mark.parametrize(
    ("parts", "guarded", "text"),
    [
        ((OWN, BEFORE), False, "/a:$P"),
        ((OWN, BEFORE), True, "/a${P:+:$P}"),
        ((BEFORE, OWN), True, "${P:+$P:}/a"),
        ((OWN, BEFORE, OWN), True, "/a${P:+:$P}:/a"),
        ((OWN, LEADS), True, "/a${P:+:${P}}"),
        ((TRAILS, OWN), False, "${P:+${P}:}/a"),
        ((LEADS, OWN), False, "${P:+$P:}/a"),
        ((OWN, TRAILS), False, "/a${P:+:$P}"),
        ((BEFORE,), True, "$P"),
        ((OWN, ListPart("${P:-/b}", previous=True)), True, "/a:${P:-/b}"),
    ],
)
def test_what_was_there_brings_its_colon(parts: tuple[ListPart, ...], guarded: bool, text: str) -> None:
    assert fitted(_value(*parts), parts, guarded=guarded).text == text


PIECES = st.sampled_from([*"PATH=:/ab$\"'{}+;&|# \\`()", "$PATH", "export ", "PATH=", "${PATH:+:$PATH}"])


@given(st.lists(PIECES, max_size=20).map("".join))
def test_whatever_is_read_is_written_the_same(line: str) -> None:
    assert with_lists(line, read_lists(line) or ()) == line
