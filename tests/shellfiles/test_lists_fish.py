"""The lists of a line of fish, read plainly, and what becomes of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.fact import Known
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.shellfiles.clean import Grounds, judge_clean
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.edit import LineChanges, Lines, change_lines, take_back
from gpuassist.shellfiles.fish import read
from gpuassist.shellfiles.lines import Choice
from gpuassist.shellfiles.rewrite import read_fish_lists, rewrite, with_lists
from gpuassist.shellfiles.statements import Element
from gpuassist.shellfiles.toolkits import InstalledToolkits
from tests.rows import for_each
from tests.shellfiles.judging import judge_text

KNOWN = {"HOME": "/home/you"}


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("set -gx PATH /a/b $PATH", ["/a/b", "$PATH"]),
        ("  set -x PATH '/a b' \"$HOME/c\" $PATH # mine", ["'/a b'", '"$HOME/c"', "$PATH"]),
        ("fish_add_path --append /a /b", ["/a", "/b"]),
        ("set -gx CUDA_HOME /c; set -gx PATH $CUDA_HOME/bin $PATH", ["/c", "$CUDA_HOME/bin", "$PATH"]),
        ("set --export PATH ~/bin $PATH;", ["~/bin", "$PATH"]),
    ],
)
def test_reads_what_people_write(line: str, parts: list[str]) -> None:
    lists = read_fish_lists(line)
    assert lists is not None
    assert [part.text for value in lists for part in value.parts] == parts
    assert with_lists(line, lists) == line


@for_each(
    "line",
    [
        *("set -e PATH", "set -q PATH", "set PATH", "set", "fish_add_path", "set PATH[1] /a", "set -gx PATH /a:/b", "echo /a", ""),
        *(
            "set -gx PATH /a{b,c} $PATH",
            "set -gx PATH (x) $PATH",
            "set -gx PATH /a\\ b",
            "set -gx PATH /a  $PATH",
            "if true; set PATH /a; end",
        ),
        *(
            "set -gx PATH /a $PATH | cat",
            "set -gx PATH /a*",
            'set -gx PATH "/a$(x)"',
            "begin; set PATH /a; end",
            "export PATH=/a:$PATH",
        ),
    ],
)
def test_reads_nothing_else(line: str) -> None:
    assert read_fish_lists(line) is None


def _fate(variable: str, element: Element) -> str | None:
    return None if "bad" in element.directory else element.written.replace("old", "new")


@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("set -gx PATH /old/bin $PATH\n", "set -gx PATH /new/bin $PATH"),
        ("set -gx PATH /bad /a $PATH # mine\n", "set -gx PATH /a $PATH # mine"),
        ("set -gx PATH $PATH /bad /a\n", "set -gx PATH $PATH /a"),
        ("fish_add_path /old/bin /bad\n", "fish_add_path /new/bin"),
        ("set -gxa PATH /old/bin\n", "set -gxa PATH /new/bin"),
        ("set -gx CUDA_HOME /old\n", "set -gx CUDA_HOME /new"),
        ("fish_add_path /bad\n", ""),
        ("set -gx PATH /old/bin (x) $PATH\n", ""),
        ("export PATH=/old:$PATH\n", ""),
    ],
)
def test_what_becomes_of_a_line(line: str, new: str) -> None:
    (statement,) = read(line.encode(), KNOWN).statements
    rewriting = rewrite(line.encode(), statement, _fate, ("PATH", "LD_LIBRARY_PATH"), dialect=Dialect.FISH)
    assert rewriting.line.decode() == new


def test_offers_the_chosen_toolkit() -> None:
    chosen, other = (Toolkit(f"/usr/local/cuda-{one}", version=Known(Version.parse(one), "x")) for one in ("12.4", "11.7"))
    content = b"set -gx PATH /usr/local/cuda-11.7/bin $PATH\nif true\n  set -gx CUDA_HOME /usr/local/cuda-11.7\nend\n"
    lines = judge_text(content, InstalledToolkits(chosen, (other,), str), dialect=Dialect.FISH)
    assert [line.choice for line in lines] == [Choice.REPLACE, Choice.KEEP]
    assert [line.new_text for line in lines] == [
        "set -gx PATH /usr/local/cuda-12.4/bin $PATH",
        "set -gx CUDA_HOME /usr/local/cuda-12.4",
    ]


@pytest.mark.needs("fish")
def test_a_branch_of_fish_stays_one(tmp_path: Path) -> None:
    content = b"if true\n  set -gx CUDA_HOME /old\nend\nfunction f\n  set -gx PATH /old $PATH\nend\nf\n"
    changes = tuple(Lines(one.first_byte, one.end_byte, nested=True) for one in read(content, KNOWN).statements)
    result = change_lines(content, LineChanges(changes), "one")
    command = ["/usr/bin/fish", "--no-config", "-c", result.decode() + 'echo "$CUDA_HOME"']
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin"}
    done = subprocess.run(command, capture_output=True, timeout=100, check=True, env=environment)
    assert (done.stdout, done.stderr) == (b"\n", b"")
    assert take_back(result, "one") == content


def test_takes_out_what_should_not_be_searched() -> None:
    content = b"set -gx LD_LIBRARY_PATH /usr/local/cuda/lib64/stubs /a $LD_LIBRARY_PATH\nfish_add_path /b\n"
    (line,) = judge_clean(read(content, KNOWN), Grounds(bool), content, dialect=Dialect.FISH)
    assert line.choice is Choice.REPLACE
    assert line.new_text == "set -gx LD_LIBRARY_PATH /a $LD_LIBRARY_PATH"


PIECES = st.sampled_from(["set ", "-gx ", "PATH ", "/a", "$PATH", " ", "'", '"', ";", "#", "(", "fish_add_path ", "\\", "~/b"])


@given(st.lists(PIECES, max_size=14).map("".join))
def test_whatever_is_read_is_written_the_same(line: str) -> None:
    assert with_lists(line, read_fish_lists(line) or ()) == line
