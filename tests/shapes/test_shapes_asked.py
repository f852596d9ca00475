"""What only shells tell: files that hand over, leave, refuse or are read in other places, tried on real pseudo-terminals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from gpuassist.changes import use_toolkit
from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.proof import judge_shells
from gpuassist.changes.shells import ShellSeen
from gpuassist.changes.undo import undo
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import UseCuda
from gpuassist.model.fact import Known
from gpuassist.model.plan import Result
from gpuassist.model.words import ENGLISH
from gpuassist.system.terminal import Opening, ShellState, ask_ways
from gpuassist.system.world import World
from tests.changes.homes import world_at
from tests.shapes.evidence import CHOSEN, Evidence, machine_with
from tests.shapes.homes import USER_HOME, Kept, answers, kept, lay_home, lay_toolkits, snapshot
from tools.shapes import Answer, Judge, Ran, Record

# The number of each, and the programs that it needs beside bash.
ASKED: Mapping[int, tuple[str, ...]] = {
    34: ("fish",),  # `exec fish` on a terminal, and a here-document that nothing ends
    51: ("zsh",),  # .zprofile
    88: ("fish",),  # `exec fish`
    100: ("fish",),  # conf.d, and config.fish after it
    150: (),  # BASH_ENV
    318: ("zsh",),  # ZDOTDIR by `:=`, `readonly PATH`
    389: ("zsh", "fish"),  # `exec zsh` by TERM
    482: ("fish",),  # `exec fish` by its parent, `return`
    540: ("zsh",),  # `set -u`, .zlogin
    568: (),  # a here-document that nothing ends
    754: (),  # an alias, and a file that is read-only
    763: ("zsh",),  # oh-my-zsh's own files, a function
    866: ("zsh", "tmux"),  # tmux
}
OPENINGS = (Opening.TERMINAL, Opening.BARE_TERMINAL, Opening.LOGIN)
PARAMETERS = [pytest.param(number, marks=pytest.mark.needs(*programs) if programs else ()) for number, programs in ASKED.items()]


def seen_in(found: Mapping[Opening, ShellState]) -> tuple[ShellSeen, ...]:
    return tuple(ShellSeen(opening, one.terminal, one.seconds) for opening, one in found.items())


def told(seen: tuple[ShellSeen, ...], words: Mapping[str, str]) -> dict[str, Answer]:
    """The same as a sweep's judge takes it."""
    facts = {one.opening: one.terminal for one in seen}
    terminal = facts.pop(Opening.TERMINAL)
    return answers(Evidence(terminal, {opening.value: fact for opening, fact in facts.items()}), words)


def laid(home: Path, one: Kept) -> tuple[World, dict[str, str], str]:
    """The shape in this home: with its toolkits in it, and its shell's own files where that looks for them."""
    parent = f"{home}/toolkits"
    (home / "toolkits").mkdir()
    lay_toolkits(Path(parent), one.shape)
    lay_home(home, one.shape, {"/usr/local/cuda": f"{parent}/cuda", USER_HOME: str(home)})
    # without it, fish reads all manual pages in the background when it is started for the first time
    (home / ".local/share/fish/generated_completions").mkdir(parents=True)
    world = world_at(home)
    around = replace(world.surroundings, login_shell=one.shape.shell)
    return replace(world, surroundings=around), {f"{parent}/cuda": "/usr/local/cuda", str(home): USER_HOME}, parent


@pytest.mark.parametrize("number", PARAMETERS)
def test_every_shell_finds_the_toolkit_or_the_reason_is_told(home: Path, number: int) -> None:
    one = kept()[number]
    world, back, parent = laid(home, one)
    found = ask_ways(world, OPENINGS)
    before, terminal = seen_in(found), found[Opening.TERMINAL].terminal
    start = snapshot(home, back)
    with patch.object(use_toolkit, "ask_ways", lambda _, openings: {opening: found[opening] for opening in openings}):
        plan = plan_use_cuda(world, machine_with(terminal, one.shape.shell, parent), UseCuda(CHOSEN))
    if plan.obstacle is not None:
        assert one.refusal_is_fair, ENGLISH(plan.obstacle)
        return
    assert plan.cuda is not None
    edits = tuple(edit for edit in plan.edits if edit.after != edit.before)
    done = apply(world, FileChange(plan.plan.id, plan.command, edits))
    assert done.outcome.result is Result.MODIFIED, ENGLISH(done.outcome.text)
    used = snapshot(home, back)
    after = seen_in(ask_ways(world, OPENINGS))
    judged = judge_shells(world, plan.cuda, before, after)
    undo(world, plan.plan.id)
    files = {"start": start, "dry": start, "use": used, "again": used, "undo": snapshot(home, back)}
    holds = isinstance(judged.holds, Known) and judged.holds.value
    assert holds or one.refusal_is_fair, ENGLISH(judged.words)
    if judged.worse is not None:  # then it is taken back at once
        files["use"] = files["again"] = files["undo"]
        after = before
    judge = Judge(
        one.shape, Record(told(before, back), told(after, back), {}, {"use": Ran(0 if holds else 2, "", 0.0, ())}, files, (), 0.0)
    )
    in_shells = [*judge.ways(), *judge.variables(), *judge.others()]
    assert [*in_shells, *judge.bytes(), *judge.smallest(), *judge.twice()] == []
