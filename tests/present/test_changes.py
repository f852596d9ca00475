"""Repairs in words: titles, what came of them, shells that changed alike, and where a line stands."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.changes.plan import ChangeOutcome, ChangePlan, Proof
from gpuassist.changes.record import ChangeRecord, ChangeStatus, FileRecord
from gpuassist.changes.scope_find import ListedScope
from gpuassist.changes.scopes.kinds import Kind
from gpuassist.changes.scopes.values import ScopeValues
from gpuassist.changes.shells import ShellChange, ShellSeen
from gpuassist.changes.wishes import ChangeWish, CleanShell, UseCuda, UseDevices
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.plan import FileEdit, Outcome, Plan, Receipt, Result, Step, StepKind
from gpuassist.model.shell import Command, Shell, Terminal, Variable
from gpuassist.model.text import Text, text
from gpuassist.model.words import ENGLISH
from gpuassist.present.changes import (
    PROMISE,
    alike,
    bar_note,
    change_words,
    file_words,
    matters,
    outcome_of,
    place_of,
    promise_of,
    result_notes,
    result_words,
    scope_title,
    shortened,
    slow_words,
    stands,
    still_holds,
    title_of,
    unchanged_words,
)
from gpuassist.shellfiles.lines import ShellLine
from gpuassist.system.terminal import Opening

LINE = ShellLine(3, 3, "export A=b", ("A",), (), tickable=False, ticked=False, why=text("harmless"), file="/home/you/.bashrc")
MADE = Receipt("20261121-090000-aaaaaa", "2026-11-21T09:00:00+00:00", "use devices 1", "/home/you/.bashrc", "/x", True, "", "")
EMPTY = Known(Terminal("/bin/bash", (), ()), "made up")


def repair(kind: type[ChangeWish], diff: str = "") -> ChangePlan:
    edit = FileEdit("/home/you/.bashrc", "/home/you/.bashrc", b"", b"x", existed=True)
    step = Step(StepKind.EDIT, text("write it"), diff=diff, edit=edit)
    wishes: dict[type[ChangeWish], ChangeWish] = {UseCuda: UseCuda("12.4"), CleanShell: CleanShell(), UseDevices: UseDevices("all")}
    return ChangePlan(wishes[kind], Plan("id", text("Do it"), (step,)), "do it")


def carried(holds: Fact[bool] | None = None, words: Text | None = None, result: Result = Result.MODIFIED) -> ChangeOutcome:
    proof = Proof(holds, words) if holds is not None and words is not None else None
    return ChangeOutcome(Outcome(result, text("written")), proof=proof)


def change(opening: Opening, *differences: Text) -> ShellChange:
    seen = ShellSeen(opening, EMPTY, 0.1)
    return ShellChange(seen, seen, differences)


def test_a_plan_is_titled_by_its_goal() -> None:
    assert ENGLISH(title_of(repair(UseDevices, "+x"))) == "Do it"
    assert promise_of(repair(UseDevices, "+x")) == PROMISE


@pytest.mark.parametrize("kind", [UseCuda, CleanShell, UseDevices])
def test_a_plan_without_a_change_says_that_all_is_so(kind: type[ChangeWish]) -> None:
    assert ENGLISH(title_of(repair(kind))) != "Do it"
    assert ENGLISH(promise_of(repair(kind))) == "Nothing has to be written."


def test_what_stands_where_the_diff_would_be() -> None:
    assert "clean" in ENGLISH(unchanged_words(repair(CleanShell)))
    assert "already" in ENGLISH(unchanged_words(repair(UseDevices)))


def test_open_terminals_are_named_beside_the_button() -> None:
    plan = repair(CleanShell, "+x")
    assert ENGLISH(bar_note(plan)) == "Open terminals keep their settings."
    assert "recorded" in ENGLISH(bar_note(replace(plan, recorded=True)))
    assert ENGLISH(bar_note(replace(plan, recorded=True), "box")) == "Type on box: gpuassist do it"


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (carried(), "written"),
        (carried(Known(value=True, source="x"), text("it holds")), "Done and tested: it holds"),
        (carried(Known(value=False, source="x"), text("it does not")), "Changed, but it does not"),
        (carried(Unknown(text("no shell")), text("no shell")), "Changed, but no shell"),
        (carried(result=Result.REFUSED), "written"),
    ],
    ids=["unproved", "holds", "fails", "unknown", "refused"],
)
def test_an_outcome_is_one_sentence(one: ChangeOutcome, words: str) -> None:
    assert ENGLISH(outcome_of(one)) == words


HOLDS, FAILS = Known(value=True, source="x"), Known(value=False, source="x")
UNASKED: Fact[bool] = Unknown(text("no shell"))


def terminal(nvcc: str, **variables: str) -> Terminal:
    commands = (Command("nvcc", nvcc, nvcc),) if nvcc else ()
    return Terminal("/bin/bash", tuple(Variable(name, value) for name, value in variables.items()), commands)


def proved(now: Terminal) -> ChangeOutcome:
    return ChangeOutcome(Outcome(Result.MODIFIED, text("written")), proof=Proof(HOLDS, text("it holds"), Known(now, "asked")))


def test_every_result_has_a_title_of_its_own() -> None:
    outcomes = (
        carried(HOLDS, text("it holds")),
        carried(FAILS, text("it does not")),
        carried(UNASKED, text("no shell")),
        carried(result=Result.REFUSED),
        replace(carried(FAILS, text("it does not"), Result.FAILED), rolled_back=text("it lost nvcc")),
    )
    told = [result_words(repair(CleanShell, "+x"), one) for one in outcomes]
    assert len({title for title, _ in told}) == len(told)
    assert len({about for _, about in told}) == len(told)


def test_what_was_taken_back_says_with_what_it_was_seen() -> None:
    back = replace(carried(FAILS, text("no nvcc is found"), Result.FAILED), rolled_back=text("it lost nvcc"))
    assert ENGLISH(outcome_of(back)) == "written. While it was in effect: no nvcc is found"
    assert ENGLISH(outcome_of(replace(back, proof=Proof(HOLDS, text("all is well"))))) == "written"


def test_processes_that_start_up_files_left_running_are_named() -> None:
    left = replace(carried(), notes=(text("an earlier change was finished"),), left_behind=("ssh-agent (17)", "gpg-agent (18)"))
    first, second = map(ENGLISH, result_notes(left))
    assert first == "an earlier change was finished"
    assert second.endswith("ssh-agent (17), gpg-agent (18)")
    assert result_notes(carried()) == ()


@pytest.mark.parametrize(
    ("now", "holds"),
    [
        (terminal("/new/nvcc", CUDA_HOME="/new", PATH="/new:/usr/bin"), True),
        (terminal("/new/nvcc", CUDA_HOME="/new", PATH="/elsewhere:/new"), True),
        (terminal("/old/nvcc", CUDA_HOME="/new"), False),
        (terminal("", CUDA_HOME="/new"), False),
        (terminal("/new/nvcc", CUDA_HOME="/old"), False),
        (terminal("/new/nvcc"), False),
        (terminal("/new/nvcc", CUDA_HOME="/new", CUDA_VISIBLE_DEVICES="1"), False),
    ],
)
def test_a_result_holds_as_long_as_a_new_terminal_finds_it(now: Terminal, holds: bool) -> None:
    made = proved(terminal("/new/nvcc", CUDA_HOME="/new", PATH="/new:/usr/bin"))
    assert still_holds(made, Shell(new_terminal=Known(now, "asked"))) is holds


def test_without_an_answer_nothing_speaks_against_a_result() -> None:
    assert still_holds(proved(terminal("/new/nvcc")), Shell())
    assert still_holds(carried(), Shell(new_terminal=Known(terminal("/old/nvcc"), "asked")))


def test_shells_that_changed_alike_stand_together() -> None:
    moved, gone = text("moved"), text("gone")
    changes = (change(Opening.TERMINAL, moved), change(Opening.LOGIN, gone), change(Opening.COMMAND, moved))
    first, second = alike(changes)
    assert [ENGLISH(one) for one in first.shells] == ["new terminal", "script, cron without a terminal"]
    assert (first.differences, second.differences) == ((moved,), (gone,))


def test_no_shells_are_no_groups() -> None:
    assert alike(()) == ()


def test_a_slow_shell_is_named_and_a_quick_one_not() -> None:
    quick = carried()
    slow = slow_words(replace(quick, slow=ShellSeen(Opening.LOGIN, EMPTY, 3.21)))
    assert slow_words(quick) is None
    assert slow is not None
    assert "3.2 s to start (login shell (SSH, console))" in ENGLISH(slow)


@pytest.mark.parametrize(
    ("path", "home", "shown"),
    [
        ("/home/you/.bashrc", "/home/you", "~/.bashrc"),
        ("/home/yours/.bashrc", "/home/you", "/home/yours/.bashrc"),
        ("/etc/profile", "/home/you", "/etc/profile"),
        ("/home/you", "/home/you", "/home/you"),
        ("/x", "", "/x"),
    ],
)
def test_a_path_of_the_home_is_shortened(path: str, home: str, shown: str) -> None:
    assert shortened(path, home) == shown


def test_a_line_is_named_by_file_and_number() -> None:
    assert ENGLISH(place_of(LINE, "/home/you")) == "~/.bashrc, line 3"
    assert ENGLISH(place_of(replace(LINE, last_line=5), "/home/you")) == "~/.bashrc, lines 3 to 5"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (LINE, False),
        (replace(LINE, other=True), True),
        (replace(LINE, tickable=True), True),
        (replace(LINE, instead=b"export A=c"), True),
    ],
    ids=["harmless", "other", "tickable", "rewritable"],
)
def test_a_harmless_line_does_not_matter(line: ShellLine, shown: bool) -> None:
    assert matters(line) is shown


def test_a_scope_is_named_for_people() -> None:
    named = {kind: ENGLISH(scope_title(ListedScope(kind, f"{kind.value}:x", (), ScopeValues()))) for kind in Kind}
    assert named[Kind.SHELL] == "Every new terminal"
    assert named[Kind.JUPYTER] == "jupyter:x: one Jupyter kernel"
    assert len(set(named.values())) == len(Kind)


def test_a_change_says_what_and_when() -> None:
    what, when = change_words(ChangeRecord((FileRecord(MADE, ChangeStatus.STANDS, edited=False),)))
    assert (ENGLISH(what), ENGLISH(when)) == ("use devices 1", "made 2026-11-21 09:00")


def test_a_file_of_a_change_says_how_it_stands() -> None:
    path, state = file_words(FileRecord(MADE, ChangeStatus.STANDS, edited=True), "/home/you")
    assert (path, ENGLISH(state)) == ("~/.bashrc", "in effect; the file was edited since")


@pytest.mark.parametrize(
    ("standing", "left"), [(ChangeStatus.UNDONE, False), (ChangeStatus.STANDS, True), (ChangeStatus.MISSING, True)]
)
def test_what_was_undone_cannot_be_undone(standing: ChangeStatus, left: bool) -> None:
    assert stands(ChangeRecord((FileRecord(MADE, standing, edited=False),))) is left
