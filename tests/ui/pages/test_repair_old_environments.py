"""The card of the repair page that tells which programs still have the environment of before."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpuassist.model.old_environment import OldEnvironments, OldProgram, ProgramFamily
from gpuassist.model.shell import Variable
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.ui.pages.repair.old_environments import OldEnvironmentsCard, OldProgramRow
from gpuassist.ui.widgets.code import CommandBlock
from tests.ui.made import desk
from tests.ui.pages.repairing import Shown, machine_of, two_toolkits
from tests.ui.showing import Show, words_in

LINE = "tmux -S /tmp/s set-environment -gu CUDA_HOME"
HELD = (Variable("CUDA_HOME", "/old"),)
TMUX = OldProgram(ProgramFamily.MULTIPLEXER, "tmux", "tmux", (4711,), itself=True, holds=HELD, how=text("x"), commands=(LINE,))
JUPYTER = OldProgram(ProgramFamily.NOTEBOOK, "jupyter", "Jupyter", (4712,), itself=True, holds=HELD, kernels=2)
FOUND = OldEnvironments((TMUX, JUPYTER), (text("a note"),))
SECTION, PAGE = "gpuassist.ui.pages.repair.section.after_change", "gpuassist.ui.pages.repair.page.after_undo"


@pytest.fixture
def shown(home: Path, qtbot: QtBot) -> Shown:
    session = two_toolkits(home)
    made = Shown(desk(session), qtbot)
    made.open(machine_of(session))
    return made


def test_a_row_a_program_with_its_lines_to_copy(show: Show) -> None:
    card = show(OldEnvironmentsCard(ENGLISH), 700, 500)
    card.show_found(FOUND)
    assert len(card.findChildren(OldProgramRow)) == len(FOUND.programs)
    assert [block.content for block in card.findChildren(CommandBlock)] == [LINE]
    said = words_in(card)
    assert "tmux server, process 4711" in said
    assert "A note" in said


def test_nobody_is_said_and_where_nobody_looked_there_is_no_card(show: Show) -> None:
    card = show(OldEnvironmentsCard(ENGLISH), 700, 200)
    card.show_found(OldEnvironments(()))
    assert card.isVisible()
    assert not card.findChildren(OldProgramRow)
    card.show_found(None)
    assert not card.isVisible()


def test_after_a_change_they_are_shown_until_another_plan(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SECTION, lambda *_: FOUND)
    card = shown.page.toolkit.still_old
    assert not card.isVisible()
    shown.apply()
    assert card.found == FOUND
    assert card.isVisible()
    shown.page.toolkit.anew.trigger()
    shown.settle()
    assert not card.isVisible()


def test_to_look_again_shows_who_is_left(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SECTION, lambda *_: FOUND)
    shown.apply()
    left = OldEnvironments((JUPYTER,))
    monkeypatch.setattr(SECTION, lambda *_: left)
    card = shown.page.toolkit.still_old
    card.again.click()
    shown.settle()
    assert card.found == left
    assert card.again.isEnabled()


def test_after_an_undo_the_page_tells_them(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SECTION, lambda *_: OldEnvironments(()))
    monkeypatch.setattr(PAGE, lambda *_: FOUND)
    shown.apply()
    change = shown.page.history.records[0].receipt.change
    monkeypatch.setattr(shown.desk.asking, "confirm", lambda _parent, _question, _about, agree: agree())
    shown.page.history.undo_wanted.emit(change)
    shown.settle()
    assert shown.page.still_old.found == FOUND
    shown.apply()
    assert shown.page.still_old.found is None
