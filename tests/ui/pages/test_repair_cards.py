"""The cards of the repair page, each by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QClipboard
from pytestqt.qtbot import QtBot

from gpuassist.changes.library_path import LoaderChoice
from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import LdLibraryPath, UseCuda
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import FileEdit
from gpuassist.model.text import text, verbatim
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.present.toolkit_change import Offer, TerminalRow
from gpuassist.shellfiles.lines import Choice, LineChoice, ShellLine
from gpuassist.ui.pages.repair.choices import LoaderRow
from gpuassist.ui.pages.repair.panel import DiffCard, TerminalCard
from gpuassist.ui.pages.repair.plan import ToolkitCard
from gpuassist.ui.widgets.code import StepRow
from gpuassist.ui.widgets.labels import ElidedLabel
from gpuassist.ui.widgets.marks import StatusPill
from tests.changes.homes import make_toolkit, world_at
from tests.remembered import RememberedShells
from tests.ui.showing import Show, button_named, words_in

NOTHING = text("nothing has to be written")
OFFERS = (Offer("12.4.1", text("CUDA 12.4.1")), Offer("11.7", text("CUDA 11.7")))
LINE = ShellLine(
    7, 7, "export  PATH=/x:$PATH", ("PATH",), (text("puts /x in front"),), tickable=True, ticked=True, why=text("in the way")
)


@pytest.fixture
def plan(home: Path) -> ChangePlan:
    (home / ".bashrc").write_text(f"export PATH={home}/cuda-11.7/bin:$PATH\nalias ll='ls -l'\n")
    return plan_of_two(home)


def plan_of_two(home: Path) -> ChangePlan:
    make_toolkit(home / "cuda-12.4", "12.4.131")
    make_toolkit(home / "cuda-11.7", "11.7.99")
    toolkits = [Toolkit(f"{home}/cuda-{version}", version=Known(Version.parse(version), "x")) for version in ("12.4", "11.7")]
    world = world_at(home, processes=RememberedShells(home))
    return plan_use_cuda(world, Machine(toolkits=Known(tuple(toolkits), "x")), UseCuda("12.4"))


@pytest.fixture
def card(show: Show) -> ToolkitCard:
    return show(ToolkitCard(ENGLISH, "/home/you"), 360, 700)


def with_loader(plan: ChangePlan, loader: LoaderChoice) -> ChangePlan:
    assert plan.cuda is not None
    return replace(plan, cuda=replace(plan.cuda, loader=loader))


def heard(connect: Callable[[Callable[[object], None]], object]) -> list[object]:
    told: list[object] = []
    connect(told.append)
    return told


@pytest.mark.parametrize(("wish", "chosen"), [("12.4.1", "CUDA 12.4.1"), ("12.4", "CUDA 12.4.1"), ("11.7", "CUDA 11.7")])
def test_the_wished_toolkit_is_chosen(card: ToolkitCard, wish: str, chosen: str) -> None:
    card.show_offers(OFFERS, wish)
    assert card._toolkit.currentText() == chosen


@pytest.mark.parametrize("wish", ["", "12", "12.40", "13.0"])
def test_a_wish_that_is_not_there_chooses_none(card: ToolkitCard, wish: str) -> None:
    card.show_offers(OFFERS[1:], wish)
    assert card._toolkit.currentIndex() == -1


def test_a_chosen_toolkit_is_handed_on(card: ToolkitCard) -> None:
    card.show_offers(OFFERS, "11.7")
    told = heard(card.toolkit_chosen.connect)
    card._toolkit.activated.emit(0)
    assert told == ["12.4.1"]


def test_without_offers_there_is_no_choice(card: ToolkitCard) -> None:
    card.show_offers((), "")
    assert not card._toolkit.isVisibleTo(card)


def test_steps_are_numbered(card: ToolkitCard, plan: ChangePlan, qtbot: QtBot) -> None:
    card.show_repair(plan)
    qtbot.waitUntil(lambda: [words for words in words_in(card) if words.isdigit()] == ["1", "2", "3"])


def test_the_edit_tells_its_figures(card: ToolkitCard, plan: ChangePlan, qtbot: QtBot) -> None:
    card.show_repair(plan)
    qtbot.waitUntil(lambda: any(words.startswith("1 line replaced") for words in words_in(card)))


def test_a_choice_hands_on_all_lines_that_do_not_stay(card: ToolkitCard, plan: ChangePlan, home: Path) -> None:
    card.show_repair(plan)
    told = heard(card.lines_chosen.connect)
    row = card.lines[0].row
    assert row is not None
    row.segments.choose(0)
    row.segments.choose(2)
    assert told == [(), (LineChoice(f"{home}/.bashrc", 1, Choice.REPLACE),)]


def test_the_loader_tick_hands_on_its_wish(card: ToolkitCard, plan: ChangePlan) -> None:
    card.show_repair(plan)
    told = heard(card.loader_chosen.connect)
    assert card.loader is not None
    card.loader.tick.setChecked(True)
    card.loader.tick.setChecked(False)
    assert told == [LdLibraryPath.ON, LdLibraryPath.AUTO]


def test_a_loader_tick_that_was_suggested_is_taken_out_by_asking_for_it(card: ToolkitCard, plan: ChangePlan) -> None:
    card.show_repair(with_loader(plan, LoaderChoice(on=True, reason=text("a program needs it"))))
    told = heard(card.loader_chosen.connect)
    assert card.loader is not None
    card.loader.tick.setChecked(False)
    card.loader.tick.setChecked(True)
    assert told == [LdLibraryPath.OFF, LdLibraryPath.AUTO]


def test_a_line_of_the_owners_that_follows_is_told_as_such(card: ToolkitCard, home: Path) -> None:
    (home / ".bashrc").write_text(f"export LD_LIBRARY_PATH={home}/cuda-11.7/lib64:$LD_LIBRARY_PATH\n")
    card.show_repair(plan_of_two(home))
    assert card.loader is not None
    assert not card.loader.tick.isChecked()
    assert words_in(card.loader) == ["What is on it already follows the toolkit; nothing is added"]


def test_the_loaders_reason_follows_the_plan(card: ToolkitCard, plan: ChangePlan, qtbot: QtBot) -> None:
    card.show_repair(plan)
    card.show_repair(with_loader(plan, LoaderChoice(on=True, reason=text("you asked for it"))))
    qtbot.waitUntil(lambda: "You asked for it" in words_in(card))


def test_a_plan_with_other_lines_makes_new_rows(card: ToolkitCard, plan: ChangePlan) -> None:
    card.show_repair(plan)
    before = card.lines
    card.show_repair(replace(plan, lines=(*plan.lines, LINE)))
    assert len(card.lines) == len(before) + 1


def test_a_forgotten_plan_leaves_the_choice(card: ToolkitCard, plan: ChangePlan) -> None:
    card.show_offers(OFFERS, "12.4")
    card.show_repair(plan)
    card.forget_plan()
    assert card.lines == ()
    assert card._toolkit.isVisibleTo(card)
    assert "Toolkit for new terminals" in words_in(card)


def test_what_is_being_applied_cannot_be_chosen(card: ToolkitCard, plan: ChangePlan) -> None:
    card.show_repair(plan)
    card.freeze()
    assert card.loader is not None
    assert not card.loader.tick.isEnabled()


def test_after_freezing_the_next_plan_can_be_chosen(card: ToolkitCard, plan: ChangePlan) -> None:
    card.show_repair(plan)
    card.freeze()
    card.show_repair(plan)
    assert all(row.row is not None and row.row.segments.isEnabled() for row in card.lines)


def test_marks_take_the_place_of_numbers(card: ToolkitCard, plan: ChangePlan) -> None:
    card.show_repair(plan)
    card.mark_steps((Mark.RIGHT, Mark.PROBLEM))
    rows = card.findChildren(StepRow)
    assert [row.mark for row in rows] == [Mark.RIGHT, Mark.PROBLEM, None]


@pytest.mark.parametrize("on", [True, False])
def test_the_loader_row_shows_the_choice(show: Show, plan: ChangePlan, on: bool) -> None:
    chosen = with_loader(plan, LoaderChoice(on=on, reason=text("a reason"))).cuda
    assert chosen is not None
    row = show(LoaderRow(ENGLISH, chosen), 360, 80)
    assert row.tick.isChecked() is on
    assert words_in(row) == ["A reason"]


def test_a_diff_can_be_copied_whole(show: Show, plan: ChangePlan, clipboard: QClipboard) -> None:
    made = show(DiffCard(ENGLISH, "/home/you"), 500, 400)
    made.show_plan(plan, NOTHING)
    button_named(made, "Copy diff").click()
    assert clipboard.text() == plan.diff


def test_a_diff_names_its_file(show: Show, plan: ChangePlan, home: Path) -> None:
    made = show(DiffCard(ENGLISH, str(home)), 500, 400)
    made.show_plan(plan, NOTHING)
    assert made.findChildren(ElidedLabel)[0].words == "~/.bashrc"


def test_a_symlink_names_both_ends(show: Show, plan: ChangePlan) -> None:
    edit = FileEdit("~/.bashrc", "/home/you/dotfiles/bashrc", b"", b"x", existed=True)
    steps = tuple(replace(step, edit=edit) if step.edit is not None else step for step in plan.plan.steps)
    made = show(DiffCard(ENGLISH, "/home/you"), 500, 400)
    made.show_plan(replace(plan, plan=replace(plan.plan, steps=steps)), NOTHING)
    assert made.findChildren(ElidedLabel)[0].words == "~/.bashrc → ~/dotfiles/bashrc"


def test_nothing_to_change_is_said(show: Show, plan: ChangePlan) -> None:
    steps = tuple(replace(step, diff="") for step in plan.plan.steps)
    made = show(DiffCard(ENGLISH, "/home/you"), 500, 400)
    made.show_plan(replace(plan, plan=replace(plan.plan, steps=steps)), NOTHING)
    assert any("nothing has to be written" in words for words in words_in(made))
    assert made.files == ()


ROWS = (
    TerminalRow("nvcc", verbatim("/usr/local/cuda-11.7/bin/nvcc"), verbatim("/usr/local/cuda-12.4/bin/nvcc"), same=False),
    TerminalRow("CUDA_HOME", text("not set"), text("not set"), same=True),
)


def test_paths_before_and_after_stand_whole(show: Show) -> None:
    made = show(TerminalCard(ENGLISH), 640, 160)
    made.show_rows(ROWS, proved=False)
    assert [one.words for one in made.findChildren(ElidedLabel)] == [
        "/usr/local/cuda-11.7/bin/nvcc",
        "/usr/local/cuda-12.4/bin/nvcc",
    ]


def test_what_stays_is_a_pill(show: Show) -> None:
    made = show(TerminalCard(ENGLISH), 640, 160)
    made.show_rows(ROWS, proved=False)
    assert [one.words for one in made.findChildren(StatusPill)] == ["unchanged"]


@pytest.mark.parametrize(("proved", "titles"), [(False, ["Now", "After"]), (True, ["Before", "Now, tested"])])
def test_the_heading_says_whether_it_is_proved(show: Show, proved: bool, titles: list[str]) -> None:
    made = show(TerminalCard(ENGLISH), 640, 160)
    made.show_rows(ROWS, proved=proved)
    assert words_in(made._box or made)[1:3] == titles


def test_other_rows_take_their_place(show: Show) -> None:
    made = show(TerminalCard(ENGLISH), 640, 160)
    made.show_rows(ROWS, proved=False)
    made.show_rows(ROWS[:1], proved=True)
    assert made.rows == ROWS[:1]
