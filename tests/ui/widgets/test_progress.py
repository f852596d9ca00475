"""Progress is told calmly: nothing for a moment, and what was shown can be read before it goes."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gpuassist.present.marks import Mark
from gpuassist.ui.theme import Theme
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.progress import SHOW_AFTER_MILLISECONDS, STAY_MILLISECONDS, ProgressBar, ProgressStrip
from tests.ui.showing import Show, words_in


@pytest.fixture
def strip(show: Show) -> ProgressStrip:
    """A strip in a window, hidden as it begins."""
    made = show(ProgressStrip(), 400, 24)
    made.hide()
    return made


def lapse(timer: QTimer) -> None:
    """The timer's time is over."""
    assert timer.isActive()
    timer.stop()
    timer.timeout.emit()


def test_it_waits_a_moment_and_stays_for_another(strip: ProgressStrip) -> None:
    assert (strip._wait.interval(), strip._stay.interval()) == (SHOW_AFTER_MILLISECONDS, STAY_MILLISECONDS) == (300, 1000)


def test_at_first_nothing_is_shown(strip: ProgressStrip) -> None:
    strip.begin("Reading your machine…")
    assert (strip.busy, strip.isVisible()) == (True, False)


def test_after_a_moment_it_is_shown(strip: ProgressStrip) -> None:
    strip.begin("Reading your machine…")
    lapse(strip._wait)
    assert strip.isVisible()
    assert (words_in(strip), strip.accessibleName()) == (["Reading your machine…"], "Reading your machine…")
    assert [icon.mark for icon in strip.findChildren(MarkIcon)] == [Mark.BUSY]


def test_quick_work_is_never_shown(strip: ProgressStrip) -> None:
    strip.begin("Reading your machine…")
    strip.end()
    assert (strip.busy, strip.isVisible(), strip._wait.isActive()) == (False, False, False)


def test_what_was_shown_stays_until_it_can_be_read(strip: ProgressStrip) -> None:
    strip.begin("Reading your machine…")
    lapse(strip._wait)
    strip.end()
    assert strip.isVisible()
    lapse(strip._stay)
    assert not strip.isVisible()


def test_long_work_stays_shown(strip: ProgressStrip) -> None:
    strip.begin("Reading your machine…")
    lapse(strip._wait)
    lapse(strip._stay)
    assert strip.isVisible()
    strip.end()
    assert not strip.isVisible()


def test_new_work_while_the_old_is_still_shown_keeps_it(strip: ProgressStrip) -> None:
    strip.begin("one")
    lapse(strip._wait)
    strip.end()
    strip.begin("two")
    lapse(strip._stay)
    assert (strip.isVisible(), words_in(strip)) == (True, ["two"])


def test_beginning_again_waits_no_longer(strip: ProgressStrip) -> None:
    strip.begin("one")
    before = strip._wait.remainingTime()
    strip.begin("two")
    assert strip._wait.remainingTime() <= before


def test_it_says_what_is_being_done_now(strip: ProgressStrip) -> None:
    strip.begin("Reading your machine…")
    strip.say("Read: driver")
    assert strip.accessibleName() == "Read: driver"


def test_ending_twice_is_no_trouble(strip: ProgressStrip) -> None:
    strip.begin("one")
    strip.end()
    strip.end()
    assert not strip.busy


def test_it_keeps_its_room_while_hidden(strip: ProgressStrip) -> None:
    assert strip.sizePolicy().retainSizeWhenHidden()


def test_the_timers_really_run(strip: ProgressStrip, qtbot: QtBot) -> None:
    for timer in (strip._wait, strip._stay):
        timer.setInterval(5)
    strip.begin("one")
    qtbot.waitUntil(strip.isVisible)
    strip.end()
    qtbot.waitUntil(strip.isHidden)


def test_a_bar_shows_its_share_round_at_both_ends(theme: Theme, show: Show) -> None:
    bar = show(ProgressBar("Checks done"), 96, 8)
    bar.show_done(24, 48)
    assert bar.share == 0.5
    image, accent = bar.grab().toImage(), QColor(theme.palette().accent)
    assert [image.pixelColor(x, 4) == accent for x in (6, 40, 60)] == [True, True, False]
    assert accent not in [image.pixelColor(0, 0), image.pixelColor(47, 0)]


def test_a_bar_of_what_is_not_known_moves_while_it_is_seen(theme: Theme, show: Show, qtbot: QtBot) -> None:
    bar = show(ProgressBar("Checks done"), 96, 8)
    bar.show_done(0, 0)
    before = bar.grab().toImage()
    qtbot.waitUntil(lambda: bar.grab().toImage() != before)
    bar.hide()
    assert bar.share is None
    assert not bar._timer
