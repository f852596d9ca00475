"""Sixty people's start-up files, made without a look at the program: the plan of most, from what their shells said once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.undo import undo
from gpuassist.model.plan import FileEdit, Result
from gpuassist.model.words import ENGLISH
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.changes.homes import TickingClock, world_at
from tests.shapes.evidence import Evidence, Repeated, planned
from tests.shapes.homes import USER_HOME, Kept, OwnFiles, answers, kept, lay_home, lay_toolkits, snapshot
from tests.shapes.test_shapes_asked import ASKED
from tools.shapes import Judge, Ran, Record, neutral

PLANNED = sorted(set(kept()) - set(ASKED))
LISTS = r"\b(?:LD_LIBRARY_PATH|LIBRARY_PATH|CPATH|PKG_CONFIG_PATH|CMAKE_PREFIX_PATH|MANPATH|PATH)="
EMPTY = re.compile(LISTS + r"""["']?(?::|[^\s"']*(?:::|:["']?(?:\s|;|$)))""")
TAKEN_ON = re.compile(
    r"""\b(\w+)=["']?[^\s"']*:\$\{?\1\}?["']?$"""
)  # empty at the end where nothing set it before; PATH always is set
GUARDED = re.compile(r"\$\{(\w+):\+:\$\{?\1\}?\}")


@pytest.fixture
def lay(home: Path) -> Callable[[int], tuple[Kept, Path]]:
    def laid(number: int) -> tuple[Kept, Path]:
        one = kept()[number]
        (home / "usr/local").mkdir(parents=True)
        lay_toolkits(home / "usr/local", one.shape)
        place = home / USER_HOME.lstrip("/")
        place.mkdir(parents=True)
        lay_home(place, one.shape, {})
        return one, place

    return laid


def world_of(root: Path, one: Kept, evidence: Evidence) -> World:
    """The shape's user on a machine below `root`, whose programs say what they said."""
    around = Surroundings(USER_HOME, "ada", os.geteuid(), {"PATH": "/usr/bin:/bin"}, USER_HOME, one.shape.shell)
    return World(around, OwnFiles(root), Repeated(evidence), TickingClock(), Resources())


def moved(edit: FileEdit, root: Path) -> FileEdit:
    """The edit where the file lies in truth."""
    return replace(edit, path=f"{root}{edit.path}", target=f"{root}{edit.target}")


def changing(plan: ChangePlan) -> list[FileEdit]:
    return [edit for edit in plan.edits if edit.after != edit.before]


@pytest.mark.parametrize("number", PLANNED)
def test_a_plan_is_the_smallest_change_and_leaves_the_rest(
    home: Path, lay: Callable[[int], tuple[Kept, Path]], number: int
) -> None:
    one, place = lay(number)
    plan = planned(world_of(home, one, one.before), one.before)
    if plan.obstacle is not None:
        assert one.refusal_is_fair, ENGLISH(plan.obstacle)
        return
    disk = replace(world_at(place), processes=Repeated(one.before))
    files = {"start": snapshot(place, {})}
    done = apply(disk, FileChange(plan.plan.id, plan.command, tuple(moved(edit, home) for edit in changing(plan))))
    assert done.outcome.result in {Result.MODIFIED, Result.UNCHANGED}, ENGLISH(done.outcome.text)
    files["dry"], files["use"] = files["start"], snapshot(place, {})
    assert list(new_empty_elements(plan)) == []
    again = planned(world_of(home, one, one.after), one.after)
    assert [edit.after for edit in changing(again)] == []
    files["again"] = snapshot(place, {})
    undo(disk, plan.plan.id)
    files["undo"] = snapshot(place, {})
    said = answers(one.before, {})
    judge = Judge(one.shape, Record(said, said, {}, {"use": Ran(0, "", 0.0, ())}, files, (), 0.0))
    assert [*judge.bytes(), *judge.smallest(), *judge.twice()] == []


def new_empty_elements(plan: ChangePlan) -> Iterator[str]:
    """New lines that would put an empty element into a list, but for those that did so before."""
    for edit in changing(plan):
        before = {neutral(line) for line in edit.before.decode("latin-1").split("\n")}
        for line in edit.after.decode("latin-1").split("\n"):
            if neutral(line) not in before and not line.lstrip().startswith("#") and makes_an_empty_element(line):
                yield line


def makes_an_empty_element(line: str) -> bool:
    plain = GUARDED.sub("", line)
    taken = TAKEN_ON.search(plain)
    return EMPTY.search(plain) is not None or (taken is not None and taken[1] != "PATH")


@pytest.mark.parametrize(
    ("line", "empty"),
    [
        ("export PATH=/a:", True),
        ("export PATH=:/a", True),
        ('export PATH="/a::$PATH"', True),
        ("export LD_LIBRARY_PATH=/a:$LD_LIBRARY_PATH", True),
        ('export LD_LIBRARY_PATH="/a:${LD_LIBRARY_PATH}"', True),
        ('export PATH="$CUDA_HOME/bin:$PATH"', False),
        ("export LD_LIBRARY_PATH=/a${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}", False),
        ("export CPATH=/a/include:/b", False),
    ],
)
def test_what_makes_an_empty_element_is_known(line: str, empty: bool) -> None:
    assert makes_an_empty_element(line) is empty
