"""The card of the repair page that tells which programs still have the environment of before."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.model.old_environment import OldEnvironments, OldProgram, ProgramFamily
from gpuassist.model.shell import Variable
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.repair.old_environments import OldEnvironmentsCard, OldProgramRow
from gpuassist.ui.widgets.code import CommandBlock
from tests.ui.pages.repairing import Shown, machine_of, two_toolkits
from tests.ui.showing import Show, words_in

LINE = "tmux -S /tmp/s set-environment -gu CUDA_HOME"
HELD = (Variable("CUDA_HOME", "/old"),)
TMUX = OldProgram(ProgramFamily.MULTIPLEXER, "tmux", "tmux", (4711,), itself=True, holds=HELD, how=text("x"), commands=(LINE,))
JUPYTER = OldProgram(ProgramFamily.NOTEBOOK, "jupyter", "Jupyter", (4712,), itself=True, holds=HELD, kernels=2)
FOUND = OldEnvironments((TMUX, JUPYTER), (text("a note"),))
SECTION, PAGE = "gpuassist.ui.pages.repair.section.after_change", "gpuassist.ui.pages.repair.page.after_undo"


@pytest.fixture
def session(home: Path) -> Session:
    return two_toolkits(home)


@pytest.fixture
def shown(desk: Desk, qtbot: QtBot) -> Shown:
    made = Shown(desk, qtbot)
    made.open(machine_of(desk.session))
    return made


def test_a_row_a_program_with_its_lines_to_copy(show: Show, qtbot: QtBot) -> None:
    card = show(OldEnvironmentsCard(ENGLISH), 700, 500)
    card.show_found(FOUND)
    assert len(card.findChildren(OldProgramRow)) == len(FOUND.programs)
    assert [block.content for block in card.findChildren(CommandBlock)] == [LINE]
    qtbot.waitUntil(lambda: "A note" in words_in(card))
    assert "tmux server, process 4711" in words_in(card)


def test_nobody_is_said_and_where_nobody_looked_there_is_no_card(show: Show) -> None:
    card = show(OldEnvironmentsCard(ENGLISH), 700, 200)
    card.show_found(OldEnvironments(()))
    assert card.isVisible()
    assert not card.findChildren(OldProgramRow)
    card.show_found(None)
    assert not card.isVisible()


def test_after_a_change_and_an_undo_they_are_shown_as_long_as_that_is(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SECTION, lambda *_: FOUND)
    monkeypatch.setattr(PAGE, lambda *_: FOUND)
    card, of_undo = shown.page.toolkit.still_old, shown.page.still_old
    assert not card.isVisible()
    shown.apply()
    assert (card.found, card.isVisible(), of_undo.found) == (FOUND, True, None)

    left = OldEnvironments((JUPYTER,))
    monkeypatch.setattr(SECTION, lambda *_: left)
    card.again.click()
    shown.settle()
    assert card.found == left
    assert card.again.isEnabled()

    shown.page.history.undo_wanted.emit(shown.page.history.records[0].receipt.change)
    shown.settle()
    assert (card.isVisible(), of_undo.found) == (False, FOUND)
    shown.page.history.undo_wanted.emit("")
    shown.settle()
    assert of_undo.found is None
