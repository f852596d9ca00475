"""Who still has the environment of before, as `use`, `undo` and `shell` tell it: rows, lines to copy, and the document."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.cli import undo, use
from gpuassist.cli.context import Context, TerminalStreams
from gpuassist.cli.old_environments import show_old_environments
from gpuassist.context import Session
from gpuassist.model.old_environment import OldEnvironments, OldProgram, ProgramFamily
from gpuassist.model.shell import Variable
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from tests.changes.homes import make_toolkit, world_at
from tests.cli.runs import run
from tests.remembered import RememberedShells
from tests.values import knowledge

TMUX = OldProgram(
    ProgramFamily.MULTIPLEXER,
    "tmux",
    "tmux",
    (4711,),
    itself=True,
    holds=(Variable("CUDA_HOME", "/old"),),
    shells=2,
    here=True,
    how=text("x"),
    commands=("tmux -S /tmp/s set-environment -gu CUDA_HOME",),
)
FOUND = OldEnvironments((TMUX,), (text("a note"),))


@pytest.fixture
def session(home: Path) -> Session:
    make_toolkit(home / "cuda-11.7", "11.7.99")
    make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / ".bashrc").write_text(f"export PATH={home}/cuda-11.7/bin:$PATH\n")
    return Session(world_at(home, processes=RememberedShells(home)), knowledge(), ENGLISH)


@pytest.fixture
def old(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program that was started with the older toolkit, by a parent that has ended: it is nobody's child."""
    held = {"PATH": f"{home}/cuda-11.7/bin:/usr/bin:/bin", "CUDA_HOME": f"{home}/cuda-11.7"}
    script = "import os,sys\nif os.fork(): os._exit(0)\nprint(os.getpid(), flush=True)\nsys.stdin.read()"
    with subprocess.Popen(
        ("/usr/bin/env", "python3", "-c", script), env={**held, "PATH": f"{held['PATH']}"}, stdin=-1, stdout=-1
    ) as one:
        yield one
        one.communicate()


def document(verb: ModuleType, session: Session, *options: str) -> dict[str, Any]:
    found = json.loads(run(verb, session, *options, "--json").out)
    assert isinstance(found, dict)
    return found


def test_a_real_program_is_told_after_the_change_and_no_more_after_the_undo(
    session: Session, old: subprocess.Popen[bytes], home: Path
) -> None:
    assert old.stdout is not None
    pid = int(old.stdout.readline())
    told = document(use, session, "cuda", "12.4", "--yes", "--no-kernel")["still_old"]
    row = next(one for one in told["programs"] if one["pids"] == [pid])
    assert (row["family"], row["itself"]) == ("program", True)
    assert {"variable": "CUDA_HOME", "value": f"{home}/cuda-11.7"} in row["holds"]
    after = document(undo, session, "--yes")["still_old"]
    assert [pid] not in [one["pids"] for one in after["programs"]]


def printed(session: Session, found: OldEnvironments | None, **how: bool) -> str:
    out = io.StringIO()
    show_old_environments(Context(session, TerminalStreams(out, io.StringIO(), colour=False, interactive=False), ""), found, **how)
    return out.getvalue()


def test_rows_lines_and_notes_are_printed(session: Session) -> None:
    out = printed(session, FOUND)
    assert "  - tmux server, process 4711: " in out
    assert "      tmux -S /tmp/s set-environment -gu CUDA_HOME\n" in out
    assert "a note" in out
    assert "This terminal has it too" in out
    assert "This terminal has it too" not in printed(session, FOUND, told_of_source=True)
    assert "than a new terminal finds" in printed(session, FOUND, at_any_time=True)


def test_where_there_is_nobody_nothing_is_printed(session: Session) -> None:
    assert printed(session, None) == printed(session, OldEnvironments(())) == ""


def test_of_very_many_some_are_printed(session: Session) -> None:
    many = OldEnvironments(tuple(replace(TMUX, pids=(number,)) for number in range(100, 130)))
    out = printed(session, many)
    assert out.count("tmux server, process") < len(many.programs)
    assert "and 18 more" in out


def test_a_line_that_a_terminal_would_obey_is_left_out(session: Session) -> None:
    odd = OldProgram(ProgramFamily.PROGRAM, "", "a\x1b[31m\nb", (1,), itself=True, commands=("tmux -S '/tmp/\x1b[2Js' x",))
    out = printed(session, OldEnvironments((odd,)))
    assert "left out" in out
    assert "tmux -S" not in out
