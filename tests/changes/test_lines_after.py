"""What the user's own lines come to once the chosen ones are changed, and where a block is still read."""

from __future__ import annotations

import pytest

from gpuassist.changes.lines_after import LOADER, LinesAfter, place_of
from gpuassist.changes.shell_files import ShellFile
from gpuassist.changes.target import FileTarget
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Command, Terminal, Variable
from gpuassist.model.text import text
from gpuassist.model.toolkit import Toolkit
from gpuassist.shellfiles.block import find, render
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.toolkits import InstalledToolkits
from tests.rows import for_each
from tests.shellfiles.judging import RC, judge_text
from tests.shellfiles.written import block_lines

OLD, NEW = "/usr/local/cuda-11.7", "/usr/local/cuda-12.4"
INSTALLED = InstalledToolkits(Toolkit(NEW), (Toolkit(OLD),), str, "/home/you", lambda path: True)
SILENT: Fact[Terminal] = Unknown(text("not asked"))


def _file(content: str, dialect: Dialect = Dialect.BASH) -> ShellFile:
    raw = content.encode()
    target = FileTarget(RC, RC, raw, exists=True)
    return ShellFile(target, dialect, read_startup(raw, dialect, {"HOME": "/home/you"}), find(raw))


def _held(nvcc: str, **variables: str) -> Fact[Terminal]:
    commands = (Command("nvcc", f"{nvcc}/bin/nvcc", f"{nvcc}/bin/nvcc"),) if nvcc else ()
    return Known(Terminal("/bin/bash", tuple(Variable(*one) for one in variables.items()), commands), "x")


def _after(content: str, values: tuple[str, ...] = (OLD,)) -> LinesAfter:
    lines = judge_text(content.encode(), INSTALLED, values=values)
    return LinesAfter([_file(content)], lines, INSTALLED, "/home/you")


FIRST, LAST = f"export PATH={OLD}/bin:$PATH\n", f"export PATH=$PATH:{OLD}/bin\n"
LOOP = f"for d in {OLD}/bin; do PATH=$d:$PATH; done\n"


@for_each(
    ("content", "now", "wins"),
    [
        (FIRST, _held(OLD), True),
        (FIRST, SILENT, True),
        (LAST, SILENT, False),  # another nvcc may stand in front of it
        (LAST, _held(OLD), True),  # it won before, and does so with the other directory
        (LAST, _held(OLD, PATH=f"/usr/bin:/bin:{OLD}/bin"), True),
        (LAST, _held(OLD, PATH=f"{OLD}/bin:/usr/bin:/bin:{OLD}/bin"), False),  # something that no reader follows put it in front
        (FIRST, _held(OLD, PATH=f"{OLD}/bin:/usr/bin:/bin"), True),
        (f"export CUDA_HOME={OLD}\nexport PATH=$CUDA_HOME/bin:$PATH\n", _held(OLD), True),
        (LOOP, _held(OLD), True),
        (f"pathmunge {OLD}/bin\n", _held(OLD), True),
        (f"pathmunge {OLD}/bin\n", _held(""), False),  # it names an nvcc that is there, and gave none
        ("alias x=y\n", _held(NEW), True),
        ("alias x=y\n", _held(OLD), False),
        ("alias x=y\n", _held(""), False),
        (f"export CUDA_HOME={OLD}\n", _held(""), False),
        (f"return\n{FIRST}", _held(""), False),
        (f"alias x=y\n{FIRST}return\n", _held(""), True),
        (FIRST, _held("/usr/local/cuda-9.2"), True),
    ],
)
def test_whether_the_lines_alone_make_a_shell_find_it(content: str, now: Fact[Terminal], wins: bool) -> None:
    assert _after(content).wins(now, bool) is wins


def test_a_file_that_the_shell_does_not_read_gives_it_nothing() -> None:
    after = _after(FIRST)
    assert after.wins(SILENT, lambda file: file.path == RC)
    assert not after.wins(SILENT, lambda file: file.path != RC)


def test_knows_what_any_line_gives() -> None:
    after = _after(f"export LD_LIBRARY_PATH={OLD}/lib64:$LD_LIBRARY_PATH\n")
    assert after.gives(LOADER, bool)
    assert not after.gives("PATH", bool)


@pytest.mark.parametrize(
    ("content", "held", "left"),
    [
        (FIRST, {"CUDA_PATH": OLD}, []),  # set from somewhere that is replaced
        ("", {"CUDA_PATH": OLD}, [("CUDA_PATH", NEW)]),
        ("", {"CUDACXX": f"{OLD}/bin/nvcc"}, [("CUDACXX", f"{NEW}/bin/nvcc")]),
        ("", {LOADER: f"/opt/x:{OLD}/lib64"}, [(LOADER, f"{NEW}/lib64")]),
        ("", {"CUDA_PATH": NEW, "EDITOR": OLD, "PATH": f"{OLD}/bin"}, []),
    ],
)
def test_what_would_stay_at_the_other_toolkit(content: str, held: dict[str, str], left: list[tuple[str, str]]) -> None:
    assert list(_after(content).left_over(_held("", **held))) == left
    assert list(_after(content).left_over(SILENT)) == []


@for_each(
    ("content", "dialect", "place"),
    [
        ("alias x=y\n", Dialect.BASH, None),
        ("alias x=y\nexec fish\nalias z=w\n", Dialect.BASH, 10),
        ("alias x=y\nif [ -t 1 ]; then\n  exec fish\nfi\n", Dialect.BASH, 10),
        ("alias x=y\n[ -f ~/.mine ] || return\n", Dialect.BASH, 10),
        ("alias x=y\nreadonly PATH\n", Dialect.BASH, 10),
        ("alias x=y\ndeclare -rx PATH\n", Dialect.BASH, 10),
        ("alias x=y\nreadonly EDITOR=vi\n", Dialect.BASH, None),
        ("case $- in *i*) ;; *) return;; esac\nalias x=y\n", Dialect.BASH, None),
        ('[ -z "$PS1" ] && return\nexec zsh\n', Dialect.BASH, 24),
        ("f() {\n  return 1\n}\n", Dialect.BASH, None),
        ("alias x=y\nexec tmux\n", Dialect.ZSH, 10),
        ("alias x y\nexec zsh\n", Dialect.FISH, 10),
        ("if status is-interactive\n  alias x y\nend\n", Dialect.FISH, None),
    ],
)
def test_a_block_stands_in_front_of_what_no_shell_gets_past(content: str, dialect: Dialect, place: int | None) -> None:
    assert place_of(_file(content, dialect)) == place


def test_a_block_that_stands_there_already_stays_there() -> None:
    block = render("one", 0, block_lines(NEW)).decode()
    assert place_of(_file(f"alias x=y\n{block}exec fish\n")) == len(f"alias x=y\n{block}")
