"""Which line changed a variable: told by real shells, and by what shells print that hide, hang or say nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import Known, Unknown
from gpuassist.system.shell_trace import Trace, TracedChange, trace_startup
from gpuassist.system.streams import Ended, NotStarted, Quiet, Stream, Streams
from gpuassist.system.world import World
from tests.changes.homes import world_at
from tests.fakes import put, world_under

NAMES = ("PATH", "CUDA_HOME")


def _home(tmp_path: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    return tmp_path


def _real(home: Path, shell: str = "/bin/bash") -> World:
    world = world_at(home)
    return replace(world, surroundings=replace(world.surroundings, login_shell=shell))


def _trace(home: Path, shell: str = "/bin/bash") -> Trace:
    trace = trace_startup(_real(home, shell), NAMES, seconds=100)
    assert isinstance(trace, Known), trace
    return trace.value


def _own(trace: Trace, home: Path) -> list[tuple[str, str, int, str | None]]:
    return [
        (one.variable, Path(one.file).name, one.line, (one.after or "").split(":")[0])
        for one in trace.changes
        if one.file.startswith(str(home))
    ]


BASHRC = """case $- in *i*) ;; *) return;; esac
export PATH=/one:$PATH
eval "x=1
PATH=/evaluated:$PATH
y=2"
add() {
  PATH=/added:$PATH
}
add
. ~/more
q=$(PATH=/elsewhere; echo q)
PATH=/before true
{ PATH=/quiet:$PATH; } 2>/dev/null
[ -d / ] && export CUDA_HOME=/c
[ -d /nowhere ] && export CUDA_HOME=/d
"""


ZSHRC = """path=(/one $path)
eval 'x=1
PATH=/evaluated:$PATH'
add() {
  path=(/added $path)
}
add
. ~/more
[[ -d / ]] && CUDA_HOME=/c
"""


def test_bash_says_each_line_that_changes_something(tmp_path: Path) -> None:
    home = _home(tmp_path, {".profile": ". ~/.bashrc\nPATH=/login:$PATH\n", ".bashrc": BASHRC, "more": "x=1\nPATH=/more:$PATH\n"})
    assert _own(_trace(home), home) == [
        ("PATH", ".profile", 2, "/login"),
        ("PATH", ".bashrc", 2, "/one"),
        ("PATH", ".bashrc", 5, "/evaluated"),
        ("PATH", ".bashrc", 7, "/added"),
        ("PATH", "more", 2, "/more"),
        ("PATH", ".bashrc", 13, "/quiet"),
        ("CUDA_HOME", ".bashrc", 14, "/c"),
    ]


def test_tells_what_is_held_in_the_end_and_which_lines_ran(tmp_path: Path) -> None:
    home = _home(tmp_path, {".bashrc": "export CUDA_HOME=/c\nif false; then\n  PATH=/no:$PATH\nfi\n"})
    trace = _trace(home)
    assert trace.values["CUDA_HOME"] == "/c"
    ran = {line for file, line in trace.taken if file == f"{home}/.bashrc"}
    assert 1 in ran
    assert 3 not in ran
    assert trace.whole


@pytest.mark.parametrize(("line", "value"), [("export CUDA_HOME=", ""), ("unset CUDA_HOME", None), ("CUDA_HOME=/d", "/d")])
def test_unset_is_not_the_same_as_empty(tmp_path: Path, line: str, value: str | None) -> None:
    home = _home(tmp_path, {".profile": "export CUDA_HOME=/c\n", ".bashrc": f"{line}\n"})
    assert _trace(home).values["CUDA_HOME"] == value


def test_a_file_that_turns_it_off_is_found_out(tmp_path: Path) -> None:
    home = _home(tmp_path, {".bashrc": "set +x\nPATH=/hidden:$PATH\n"})
    assert not _trace(home).whole


@pytest.mark.parametrize("name", [".bash_profile", ".bash_login", ".profile"])
def test_bash_reads_the_first_login_file_alone(tmp_path: Path, name: str) -> None:
    names = [".bash_profile", ".bash_login", ".profile"]
    home = _home(tmp_path, {one: f"export CUDA_HOME=/{one}\n" for one in names[names.index(name) :]})
    assert [file for _, file, _, _ in _own(_trace(home), home)] == [name]


@pytest.mark.needs("zsh")
def test_zsh_says_each_line_that_changes_something(tmp_path: Path) -> None:
    home = _home(tmp_path, {".zshenv": "PATH=/env%F:$PATH\n", ".zshrc": ZSHRC, "more": "path=(/more $path)\n"})
    assert _own(_trace(home, "/usr/bin/zsh"), home)[-5:] == [
        ("PATH", ".zshrc", 1, "/one"),
        ("PATH", ".zshrc", 2, "/evaluated"),
        ("PATH", ".zshrc", 5, "/added"),
        ("PATH", "more", 1, "/more"),
        ("CUDA_HOME", ".zshrc", 9, "/c"),
    ]


@pytest.mark.needs("zsh")
def test_a_percent_sign_in_a_value_stays_one(tmp_path: Path) -> None:
    home = _home(tmp_path, {".zshrc": "CUDA_HOME=/opt/%F{red}/%x\n"})
    assert _trace(home, "/usr/bin/zsh").values["CUDA_HOME"] == "/opt/%F{red}/%x"


def test_fish_is_not_asked(tmp_path: Path) -> None:
    trace = trace_startup(_real(tmp_path, "/usr/bin/fish"), NAMES)
    assert isinstance(trace, Unknown)
    assert not trace.asked


def test_a_file_that_leaves_the_shell_is_told(tmp_path: Path) -> None:
    home = _home(tmp_path, {".bashrc": "exit 0\n"})
    assert isinstance(trace_startup(_real(home), NAMES, seconds=100), Unknown)


@dataclass
class _Prints:
    """A shell that says this, with the mark that it was given in the place of MARK, and is then quiet in this way."""

    printed: str
    quiet: Quiet = Quiet.CLOSED
    lines: Iterator[bytes] = field(default_factory=lambda: iter(()))
    ended: bool = False

    def start(
        self, command: Sequence[str], *, environment: Mapping[str, str], directory: str = "/", given: bytes = b""
    ) -> Stream | NotStarted:
        mark = next(word for word in command if "GPUASSIST_" in word).split("\2")[0].strip("\1")
        said = self.printed.replace("MARK", mark).encode("utf-8", "surrogateescape")
        self.lines = iter(said.split(b"\n"))
        return self

    def line(self, *, seconds: float) -> bytes | Quiet:
        return next(self.lines, self.quiet)

    def end(self, *, patience: float = 0.0) -> Ended:
        self.ended = True
        return Ended(0, "", "", ended_by_us=True)


class _NotThere:
    def start(
        self, command: Sequence[str], *, environment: Mapping[str, str], directory: str = "/", given: bytes = b""
    ) -> Stream | NotStarted:
        return NotStarted("no such file", missing=True)


def _scripted(tmp_path: Path, streams: Streams) -> World:
    put(tmp_path, "/bin/bash", mode=0o755)
    return replace(world_under(tmp_path), streams=streams)


def _step(file: str, line: int, path: str, *, level: int = 2, frames: str = "1 ", subshell: int = 0, command: str = "x") -> str:
    return "\1" * level + f"MARK\2{subshell}\2{frames}\2{file}\2{line}\2={path}\2\3{command}\n"


_DONE = _step("", 5, "/z", level=1, frames="0 ", command=": gpuassist end")


def _changes(tmp_path: Path, printed: str) -> list[TracedChange]:
    trace = trace_startup(_scripted(tmp_path, _Prints(printed)), NAMES)
    assert isinstance(trace, Known)
    return list(trace.value.changes)


def test_a_step_of_a_subshell_is_no_change(tmp_path: Path) -> None:
    printed = _step("/a", 1, "/z") + _step("/a", 1, "/sub", level=3, subshell=1) + _DONE
    assert _changes(tmp_path, printed) == []


def test_what_eval_runs_comes_from_the_line_of_the_eval(tmp_path: Path) -> None:
    printed = _step("/a", 1, "/y") + _step("/a", 40, "/y", level=3) + _step("/a", 41, "/z", level=3) + _DONE
    assert [(one.line, one.after) for one in _changes(tmp_path, printed)] == [(1, "/z")]


def test_what_a_function_does_comes_from_its_own_line(tmp_path: Path) -> None:
    printed = _step("/a", 9, "/y") + _step("/f", 3, "/y", frames="2 f source") + _DONE
    assert [(one.file, one.line) for one in _changes(tmp_path, printed)] == [("/f", 3)]


def test_banners_between_the_steps_do_not_matter(tmp_path: Path) -> None:
    printed = "\1 welcome\n\2\3" + _step("/a", 1, "/y") + "a warning\n\n" + _DONE
    assert len(_changes(tmp_path, printed)) == 1


@pytest.mark.parametrize(
    ("printed", "quiet", "words"),
    [
        ("", Quiet.CLOSED, "leaves the shell"),
        (_step("/a", 1, "/y"), Quiet.CLOSED, "leaves the shell"),
        (_step("/a", 1, "/y"), Quiet.SILENT, "were not done"),
        (_step("/a", 1, "/y") * 51, Quiet.CLOSED, "more than {count} steps"),
    ],
)
def test_says_why_it_could_not_be_told(tmp_path: Path, printed: str, quiet: Quiet, words: str) -> None:
    shell = _Prints(printed, quiet)
    trace = trace_startup(_scripted(tmp_path, shell), NAMES, steps_at_most=50)
    assert isinstance(trace, Unknown)
    assert words in trace.reason.message
    assert shell.ended


def test_a_shell_that_does_not_start_is_told(tmp_path: Path) -> None:
    trace = trace_startup(_scripted(tmp_path, _NotThere()), NAMES)
    assert isinstance(trace, Unknown)
    assert "could not be started" in trace.reason.message


def test_what_comes_after_the_end_is_not_waited_for(tmp_path: Path) -> None:
    shell = _Prints(_step("/a", 1, "/y") + _DONE + "more\n")
    assert isinstance(trace_startup(_scripted(tmp_path, shell), NAMES), Known)
    assert next(shell.lines) == b"more"


def test_a_value_may_hold_line_ends(tmp_path: Path) -> None:
    printed = _step("/a", 1, "/y") + _step("/a", 2, "/one\n/two") + _DONE
    assert [one.after for one in _changes(tmp_path, printed)] == ["/one\n/two", "/z"]


def test_what_is_for_one_command_alone_is_no_change(tmp_path: Path) -> None:
    printed = (
        _step("/a", 1, "/y", command="export PATH=/z:/y")
        + _step("/a", 2, "/for/one", command="PATH=/for/one")
        + _step("/a", 2, "/for/one", command="ls")
        + _DONE
    )
    assert [(one.line, one.before, one.after) for one in _changes(tmp_path, printed)] == [(1, "/y", "/z")]


def test_what_is_taken_back_is_no_change(tmp_path: Path) -> None:
    printed = _step("/a", 1, "/y") + _step("/a", 2, "/x") + _step("/a", 3, "/y") + _step("/a", 4, "/y") + _DONE
    assert [(one.line, one.after) for one in _changes(tmp_path, printed)] == [(4, "/z")]


def test_bytes_that_are_no_text_survive(tmp_path: Path) -> None:
    printed = _step("/a", 1, "/y") + _step("/a", 2, "/\udcff") + _DONE
    assert _changes(tmp_path, printed)[0].after == "/\udcff"


def test_runs_in_the_home_of_who_asks(tmp_path: Path) -> None:
    home = _home(tmp_path, {".bashrc": "CUDA_HOME=$HOME/$USER\n"})
    assert _trace(home).values["CUDA_HOME"] == f"{home}/you"
