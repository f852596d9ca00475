"""The table of all lines: read when it is first shown, chosen from line by line, with the plan's diff below."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Shell, StartupFile
from gpuassist.present.marks import Mark
from gpuassist.shellfiles.lines import Choice
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.repair.choices import CHOICES
from gpuassist.ui.pages.repair.page import LINES, TOOLKIT
from tests.ui.pages.repairing import Shown, machine_of, two_toolkits


@pytest.fixture
def session(home: Path) -> Session:
    return two_toolkits(home)


@pytest.fixture
def machine(session: Session) -> Machine:
    return machine_of(session)


@pytest.fixture
def shown(desk: Desk, qtbot: QtBot, machine: Machine) -> Shown:
    """The page with a plan, and its table shown."""
    made = Shown(desk, qtbot)
    made.open(machine)
    made.page.segments.choose(LINES)
    made.settle()
    return made


def rows(shown: Shown) -> list[tuple[str, ...]]:
    return [tuple(cell.words for cell in row) for row in shown.page.lines.model.rows]


def own(shown: Shown) -> list[int]:
    """The rows of the user's own .bashrc."""
    return [place for place, row in enumerate(rows(shown)) if row[0].startswith("~/.bashrc:")]


def test_each_line_has_its_place_and_what_it_does(shown: Shown, home: Path) -> None:
    first, second = (rows(shown)[place] for place in own(shown))
    assert first[:3] == ("~/.bashrc:2", f"export PATH={home}/cuda-11.7/bin:$PATH", f"Puts {home}/cuda-11.7/bin in front of PATH")
    assert second[2] == f"Sets CUDA_HOME to {home}/cuda-11.7"


def test_whether_it_holds_is_a_pill(shown: Shown) -> None:
    cell = shown.page.lines.model.rows[own(shown)[0]][3]
    assert (cell.words, cell.mark) == ("yes", Mark.RIGHT)
    assert cell.tip


def test_what_becomes_of_it_is_the_plans(shown: Shown) -> None:
    assert [rows(shown)[place][5] for place in own(shown)] == ["replaced", "replaced"]
    assert shown.page.lines.diff.diff == shown.page.toolkit.panel.diff.diff


def test_a_line_is_chosen_by_arrow_key(shown: Shown) -> None:
    table = shown.page.lines.table
    table.selectRow(0)
    QTest.keyClick(table, Qt.Key.Key_Down)
    line = shown.page.lines.line
    assert line.title is not None
    assert line.title.text() == rows(shown)[1][0]


def test_choosing_here_is_choosing_in_the_plan(shown: Shown) -> None:
    shown.page.lines.table.selectRow(own(shown)[1])
    row = shown.page.lines.line.row
    assert row is not None
    row.segments.choose(CHOICES.index(Choice.COMMENT_OUT))
    shown.settle()
    assert [rows(shown)[place][5] for place in own(shown)] == ["replaced", "commented out"]
    assert [one.line_choice.choice for one in shown.card.lines] == [Choice.REPLACE, Choice.COMMENT_OUT]
    assert shown.page.lines.line.row is row


def test_a_line_can_be_replaced_from_here(shown: Shown, home: Path) -> None:
    shown.page.lines.table.selectRow(own(shown)[0])
    row = shown.page.lines.line.row
    assert row is not None
    row.segments.choose(CHOICES.index(Choice.KEEP))
    shown.settle()
    assert rows(shown)[own(shown)[0]][5] == "stays"
    row.segments.choose(CHOICES.index(Choice.REPLACE))
    shown.settle()
    assert rows(shown)[own(shown)[0]][5] == "replaced"
    assert f"+export PATH={home}/cuda-12.4/bin:$PATH" in shown.page.lines.diff.diff


def test_applying_from_here_shows_the_proof(shown: Shown) -> None:
    bar = shown.page.bar()
    assert bar.primary is shown.page.toolkit.apply
    bar.primary.trigger()
    shown.settle()
    assert shown.page.segments.place == TOOLKIT
    assert "Done and tested" in shown.notice()


def test_after_a_change_the_files_are_read_again(shown: Shown, home: Path) -> None:
    shown.apply()
    shown.page.segments.choose(LINES)
    shown.settle()
    assert [rows(shown)[place][1] for place in own(shown)][:1] == [f"export PATH={home}/cuda-12.4/bin:$PATH"]


def test_without_a_plan_lines_are_only_shown(desk: Desk, qtbot: QtBot, machine: Machine) -> None:
    made = Shown(desk, qtbot)
    made.open(machine, "")
    made.page.segments.choose(LINES)
    made.settle()
    assert rows(made)
    assert not made.page.lines.diff.isVisibleTo(made.page)
    assert made.page.bar().primary is None


def test_files_that_set_nothing_say_so(desk: Desk, qtbot: QtBot, machine: Machine, home: Path) -> None:
    made = Shown(desk, qtbot)
    made.open(machine, "")
    (home / ".bashrc").write_text("alias ll='ls -l'\n")
    made.page.segments.choose(LINES)
    made.settle()
    assert own(made) == []
    assert made.page.lines.survey is not None


def test_a_recorded_machine_is_read_from_its_recording(desk: Desk, qtbot: QtBot, machine: Machine) -> None:
    file = StartupFile("/home/them/.bashrc", exists=True, content=Known("export CUDA_HOME=/opt/theirs\n", "recorded"))
    recorded = Machine("2026", toolkits=machine.toolkits, shell=Shell(startup_files=Known((file,), "recorded")))
    made = Shown(desk, qtbot)
    made.open(recorded, "", recorded=True)
    made.page.segments.choose(LINES)
    made.settle()
    assert [row[0] for row in rows(made)] == ["/home/them/.bashrc:1"]
    assert rows(made)[0][2] == "Sets CUDA_HOME to /opt/theirs"


def test_a_narrow_page_leaves_out_what_the_line_says_itself(shown: Shown) -> None:
    shown.page.resize(700, 640)
    assert shown.page.lines.table.isColumnHidden(2)
    shown.page.resize(1056, 700)
    assert not shown.page.lines.table.isColumnHidden(2)


def test_the_line_that_is_shown_copies_whole(shown: Shown) -> None:
    table = shown.page.lines.table
    chosen = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
    # `selectRow` heeds the keys that Qt takes to be held, which a test before may have pressed.
    table.selectionModel().select(table.model().index(own(shown)[0], 0), chosen)
    assert shown.page.lines.table.selected_text().split("\t")[0] == "~/.bashrc:2"
