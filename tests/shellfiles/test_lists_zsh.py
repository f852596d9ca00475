"""The lists of a line of zsh: the array that is PATH, and what it has in common with bash."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.rewrite import read_zsh_lists, rewrite, with_lists
from gpuassist.shellfiles.statements import Element
from gpuassist.shellfiles.zsh import read


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("path=(/a/b $path)", ["/a/b", "$path"]),
        ("path=( /a '/b c' \"$HOME/d\" $path ) # mine", ["/a", "'/b c'", '"$HOME/d"', "$path"]),
        ("path+=(/a ~/b)", ["/a", "~/b"]),
        ("  typeset -gU path=(/a $path[@]);", ["/a", "$path[@]"]),
        ("export PATH=/a:$PATH", ["/a", "$PATH"]),
    ],
)
def test_reads_what_people_write(line: str, parts: list[str]) -> None:
    lists = read_zsh_lists(line)
    assert lists is not None
    assert [part.text for value in lists for part in value.parts] == parts
    assert with_lists(line, lists) == line


@pytest.mark.parametrize(
    "line",
    [
        "path=(/a(N) $path)",
        "path=(/a  $path)",
        "path=(/a:/b $path)",
        "path=($(x) $path)",
        "path=(/a* $path)",
        "path=(/a $path) | cat",
    ],
)
def test_reads_nothing_else(line: str) -> None:
    assert read_zsh_lists(line) is None


def _fate(variable: str, element: Element) -> str | None:
    return None if "bad" in element.directory else element.written.replace("old", "new")


@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("path=(/old/bin $path)\n", "path=(/new/bin $path)"),
        ("path=(/bad $HOME/bin $path) # mine\n", "path=($HOME/bin $path) # mine"),
        ("path+=(/old/bin)\n", "path+=(/new/bin)"),
        ("export PATH=/old/bin:$PATH\n", "export PATH=/new/bin:$PATH"),
        ("path=(/bad $path)\n", ""),
        ("path=(\n  /old/bin\n  $path\n)\n", ""),
    ],
)
def test_what_becomes_of_a_line(line: str, new: str) -> None:
    (statement,) = read(line.encode(), {"HOME": "/home/you"}).statements
    assert rewrite(line.encode(), statement, _fate, dialect=Dialect.ZSH).line.decode() == new


PIECES = st.sampled_from(["path=(", ")", "/a", "$path", " ", "'", '"', ";", "#", "(", "PATH=", ":", "\\", "~/b", "[@]"])


@given(st.lists(PIECES, max_size=14).map("".join))
def test_whatever_is_read_is_written_the_same(line: str) -> None:
    assert with_lists(line, read_zsh_lists(line) or ()) == line
