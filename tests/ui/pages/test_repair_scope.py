"""Where a choice holds, and which programs see it there."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gpuassist.changes.scope_find import ListedScope
from gpuassist.changes.scopes.kinds import Kind, ViewingProgram
from gpuassist.changes.scopes.values import ScopeValues
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.ui.pages.repair.scope import ProgramsCard, ScopeChooser
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.rows import RowsModel
from gpuassist.ui.widgets.table import Table
from tests.ui.showing import Show, words_in

SHELL = ListedScope(Kind.SHELL, "shell", ("/home/you/.bashrc",), ScopeValues())
TRAIN = ListedScope(Kind.CONDA, "conda:train", ("/x",), ScopeValues(toolkit="/opt/cuda-12.4"))
DESKTOP = ListedScope(Kind.DESKTOP, "desktop", ("/x",), ScopeValues())


def said(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel)]


@pytest.fixture
def choice(show: Show) -> ScopeChooser:
    made = show(ScopeChooser(ENGLISH), 320, 90)
    made.show_scopes((SHELL, TRAIN, DESKTOP))
    return made


@pytest.fixture
def programs(show: Show) -> ProgramsCard:
    made = show(ProgramsCard(ENGLISH), 700, 500)
    made.show_kind(Kind.SHELL)
    made.fold.setChecked(True)
    return made


def test_the_scopes_are_named_for_people(choice: ScopeChooser) -> None:
    assert [choice.box.itemText(place) for place in range(choice.box.count())] == [
        "Every new terminal",
        "conda:train: one conda environment, while it is active",
        "The whole desktop session",
        "A project…",
    ]


def test_new_terminals_are_chosen_at_first(choice: ScopeChooser) -> None:
    assert (choice.scope, choice.box.currentIndex()) == ("shell", 0)


def test_another_scope_is_chosen_by_arrow_key(choice: ScopeChooser) -> None:
    told: list[str] = []
    choice.chosen.connect(told.append)
    QTest.keyClick(choice.box, Qt.Key.Key_Down)
    assert told == ["conda:train"]


def test_what_is_chosen_there_now_is_said(choice: ScopeChooser) -> None:
    choice.box.activated.emit(1)
    assert "Currently: CUDA_HOME=/opt/cuda-12.4" in words_in(choice)


def test_a_project_is_asked_for_and_nothing_chosen(choice: ScopeChooser) -> None:
    told: list[bool] = []
    choice.project_wanted.connect(lambda: told.append(True))
    choice.box.activated.emit(3)
    assert told == [True]
    assert (choice.scope, choice.box.currentIndex()) == ("shell", 0)


def test_a_new_list_keeps_what_was_chosen(choice: ScopeChooser) -> None:
    choice.box.activated.emit(2)
    choice.show_scopes((SHELL, DESKTOP))
    assert (choice.scope, choice.box.currentIndex()) == ("desktop", 1)


def test_without_scopes_there_is_no_choice(choice: ScopeChooser) -> None:
    choice.show_scopes(())
    assert not choice.isVisible()


def test_every_program_is_listed_with_when_it_sees_it(programs: ProgramsCard) -> None:
    words = said(programs)
    assert [one for one in ("A new terminal", "A cron job", "A Jupyter kernel") if one not in words] == []
    assert any("Where the Jupyter server was started in a terminal" in one for one in words)


def test_a_program_that_does_not_see_it_is_no_fault(programs: ProgramsCard) -> None:
    marks = [icon.mark for icon in programs.findChildren(MarkIcon)]
    assert len(marks) == len(ViewingProgram)
    assert Mark.PROBLEM not in marks
    assert marks[0] is Mark.RIGHT


def test_for_new_terminals_it_is_folded_at_first(show: Show) -> None:
    made = show(ProgramsCard(ENGLISH), 700, 500)
    made.show_kind(Kind.SHELL)
    assert made.findChildren(MarkIcon) == []
    made.show_kind(Kind.CONDA)
    assert made.fold.isChecked()
    assert len(made.findChildren(MarkIcon)) == len(ViewingProgram)


def test_another_kind_takes_its_place(programs: ProgramsCard) -> None:
    programs.show_kind(Kind.DOTENV)
    assert "No shell reads .env" in said(programs)


def test_all_scopes_can_be_compared(programs: ProgramsCard) -> None:
    button = next(one for one in programs.findChildren(QPushButton) if one.text() == "Compare all scopes")
    button.click()
    model = programs.findChildren(Table)[0].model()
    assert isinstance(model, RowsModel)
    assert (model.rowCount(), model.columnCount()) == (len(ViewingProgram), 1 + len(Kind))
    assert model.rows[2][1].words == "no"
