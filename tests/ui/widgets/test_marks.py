"""Marks are painted as glyphs in their colours, and turn only while somebody can see them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QAbstractEventDispatcher
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QSignalSpy
from pytestqt.qtbot import QtBot

from gpuassist.model.chain import Status
from gpuassist.model.finding import Severity
from gpuassist.present.marks import MARK_WORDS, Mark
from gpuassist.session.navigation import StepStatus
from gpuassist.ui.theme import Appearance, Theme
from gpuassist.ui.widgets.marks import MarkIcon, StatusPill, pill_font, pill_size
from tests.ui.showing import Show, ink_in, stroke_in

TINTED = [mark for mark in Mark if mark not in {Mark.TODO, Mark.BUSY}]


def timers(icon: MarkIcon) -> int:
    """How many timers run for it."""
    return len(QAbstractEventDispatcher.instance().registeredTimers(icon))


@pytest.mark.parametrize("state", [*StepStatus, *Status, *Severity], ids=str)
def test_every_state_has_a_mark(state: StepStatus | Status | Severity) -> None:
    assert Mark(state.value).value == state.value


def test_every_mark_has_a_word_of_its_own() -> None:
    assert len({words.message for words in MARK_WORDS.values()}) == len(Mark)


@pytest.mark.parametrize("mark", TINTED)
def test_a_mark_is_a_glyph_on_its_tint(each_look: Theme, show: Show, mark: Mark) -> None:
    icon = show(MarkIcon(mark), 40, 40)
    palette = each_look.palette()
    assert ink_in(icon, palette.ink(mark)) > 8
    assert ink_in(icon, palette.tint(mark)) > 200


def test_no_two_marks_look_alike(theme: Theme, show: Show) -> None:
    icon = show(MarkIcon(Mark.RIGHT), 40, 40)
    pictures = []
    for mark in Mark:
        icon.set_mark(mark)
        pictures.append(icon.grab().toImage())
    assert all(one != other for place, one in enumerate(pictures) for other in pictures[place + 1 :])


def test_the_busy_mark_turns_while_seen(theme: Theme, show: Show, qtbot: QtBot) -> None:
    icon = show(MarkIcon(Mark.BUSY), 20, 20)
    before = icon.grab().toImage()
    qtbot.waitUntil(lambda: icon.grab().toImage() != before)


def test_a_hidden_busy_mark_rests(show: Show) -> None:
    icon = show(MarkIcon(Mark.BUSY), 20, 20)
    turning = timers(icon)
    icon.hide()
    assert (turning, timers(icon)) == (1, 0)


def test_a_mark_that_is_done_rests(show: Show) -> None:
    icon = show(MarkIcon(Mark.BUSY), 20, 20)
    icon.set_mark(Mark.RIGHT)
    assert (icon.mark, timers(icon)) == (Mark.RIGHT, 0)


def test_a_busy_mark_shown_again_turns_on_one_timer(show: Show) -> None:
    icon = show(MarkIcon(Mark.BUSY), 20, 20)
    icon.set_mark(Mark.BUSY)
    icon.show()
    assert timers(icon) == 1


@pytest.mark.parametrize("size", [16, 20, 32])
def test_an_icon_is_as_large_as_told(qtbot: QtBot, size: int) -> None:
    icon = MarkIcon(Mark.INFO, size=size)
    qtbot.addWidget(icon)
    assert icon.sizeHint().toTuple() == (size, size)


@pytest.mark.parametrize("mark", list(Mark))
def test_a_pill_reads_as_its_word(qtbot: QtBot, mark: Mark) -> None:
    pill = StatusPill(mark, "works")
    qtbot.addWidget(pill)
    assert (pill.mark, pill.words, pill.accessibleName()) == (mark, "works", "works")


def test_a_pill_changes_with_its_status(qtbot: QtBot) -> None:
    pill = StatusPill(Mark.BUSY, "working")
    qtbot.addWidget(pill)
    pill.show_status(Mark.PROBLEM, "does not work at all")
    assert pill.accessibleName() == "does not work at all"
    assert pill.sizeHint() == pill_size("does not work at all")


@pytest.mark.parametrize("words", ["", "ok", "works", "不工作", "a rather long word for a pill"])
def test_a_pill_has_room_for_glyph_and_word(qtbot: QtBot, words: str) -> None:
    pill = StatusPill(Mark.RIGHT, words)
    qtbot.addWidget(pill)
    assert pill.sizeHint().width() >= QFontMetrics(pill_font()).horizontalAdvance(words) + 29 + 8


@pytest.mark.parametrize("mark", [Mark.RIGHT, Mark.PROBLEM, Mark.WARNING])
def test_a_pill_is_painted_in_its_colours(each_look: Theme, show: Show, mark: Mark) -> None:
    pill = StatusPill(mark, "works")
    show(pill, pill.sizeHint().width(), pill.sizeHint().height())
    palette = each_look.palette()
    assert ink_in(pill, palette.tint(mark)) > 300
    assert stroke_in(pill, palette.ink(mark)) > 20


def test_a_pill_follows_a_change_of_look(theme: Theme, show: Show) -> None:
    pill = show(StatusPill(Mark.RIGHT, "works"), 90, 26)
    changed = QSignalSpy(theme.changed)
    theme.choose(Appearance.DARK)
    assert changed.count() == 1
    assert ink_in(pill, theme.palette().right_tint) > 300
