"""The card on what changed: its states, its rows, what is copied, and the box that turns keeping on and off."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuassist.model.past import Direction, MachineChange, Past, Subject
from gpuassist.model.text import text
from gpuassist.present.marks import Mark
from gpuassist.session.kept_machines import keeping, kept, set_keeping
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.found import FoundPage
from gpuassist.ui.pages.found_past import PastCard, PastRow
from tests.ui.made import inspection
from tests.ui.showing import Show, button_named, words_in
from tests.values import machine

SINCE = "2026-11-14T18:00:00.000+00:00"
HEALTHY = inspection(replace(machine(), taken_at="2026-11-23T09:00:00.000+00:00"))
DRIVER = MachineChange(
    Subject.DRIVER,
    Direction.UPGRADED,
    "driver",
    "570.86.15",
    "580.95.05",
    at="2026-11-23T03:12:00+00:00",
    by="unattended-upgrade",
    sources=("/var/log/apt/history.log:812",),
)
CHANGES = (DRIVER, *(replace(DRIVER, subject=one, name=one.value, sources=()) for one in Subject if one is not Subject.DRIVER))


@pytest.fixture
def card(desk: Desk, show: Show) -> PastCard:
    return show(PastCard(desk), 700, 500)


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[[Past], None]:
    """Makes this the past of the machine; of the one that runs the tests nothing is known."""

    def told(past: Past) -> None:
        monkeypatch.setattr("gpuassist.session.past.past", lambda session, machine, since="", findings=(): past)

    told(Past("", kept=False, changes=()))
    return told


def shown(card: PastCard, qtbot: QtBot) -> PastCard:
    card.show_inspection(HEALTHY)
    qtbot.waitUntil(lambda: card.state.icon.mark is not Mark.BUSY and card.keeping.isEnabled())
    return card


def rows(card: PastCard) -> list[PastRow]:
    return [row for row in card.findChildren(PastRow) if row.isVisibleTo(card)]


def shown_rows(card: PastCard, qtbot: QtBot) -> list[PastRow]:
    """The rows once they can be seen: a layout shows new ones on the next turn of the event loop."""
    shown(card, qtbot)
    qtbot.waitUntil(lambda: bool(rows(card)))
    return rows(card)


def test_it_waits_without_an_answer_of_its_own(card: PastCard) -> None:
    assert card.isHidden() or card.state.icon.mark is Mark.BUSY
    assert not card.keeping.isEnabled()


def test_a_recorded_machine_has_none(card: PastCard) -> None:
    card.show_inspection(replace(HEALTHY, recorded=True))
    assert card.isHidden()


def test_nothing_kept_yet_says_what_comes_from_now_on(card: PastCard, qtbot: QtBot, desk: Desk) -> None:
    shown(card, qtbot)
    assert card.state.icon.mark is Mark.INFO
    assert card.keeping.tick.isChecked()
    assert card.keeping.place.words.endswith("/machines")
    assert rows(card) == []


def test_turned_off_it_says_that_it_cannot_tell(card: PastCard, qtbot: QtBot, desk: Desk) -> None:
    set_keeping(desk.session.world, on=False)
    shown(card, qtbot)
    assert not card.keeping.tick.isChecked()
    assert "No state of this machine is kept" in words_in(card.state)[0]


def test_nothing_changed_is_right(card: PastCard, qtbot: QtBot, told: Callable[[Past], None]) -> None:
    told(Past(SINCE, kept=True, changes=()))
    shown(card, qtbot)
    assert card.state.icon.mark is Mark.RIGHT


def test_each_change_is_a_row_with_its_source(card: PastCard, qtbot: QtBot, told: Callable[[Past], None]) -> None:
    told(Past(SINCE, kept=True, changes=(DRIVER,)))
    (row,) = shown_rows(card, qtbot)
    line = " ".join(words_in(row))
    assert [part for part in ("570.86.15", "580.95.05", "unattended-upgrade") if part not in line] == []
    assert row.source.words == "/var/log/apt/history.log:812"


def test_many_changes_wait_behind_a_button(card: PastCard, qtbot: QtBot, told: Callable[[Past], None]) -> None:
    told(Past(SINCE, kept=True, changes=CHANGES))
    assert len(shown_rows(card, qtbot)) < len(CHANGES)
    card.more.click()
    qtbot.waitUntil(lambda: len(rows(card)) == len(CHANGES))
    assert card.more.isHidden()


def test_notes_stand_below(card: PastCard, qtbot: QtBot, told: Callable[[Past], None]) -> None:
    told(Past(SINCE, kept=True, changes=(), notes=(text("the log could not be read"),)))
    assert any("The log could not be read" in words for words in words_in(shown(card, qtbot)))


def test_all_of_it_is_copied(card: PastCard, qtbot: QtBot, told: Callable[[Past], None], clipboard: QClipboard) -> None:
    told(Past(SINCE, kept=True, changes=CHANGES, notes=(text("some note"),)))
    shown(card, qtbot)
    QTest.mouseClick(button_named(card, "Copy"), Qt.MouseButton.LeftButton)
    copied = clipboard.text()
    assert copied.count("570.86.15") == len(CHANGES)
    assert "/var/log/apt/history.log:812" in copied
    assert "Some note" in copied


def test_strange_words_are_shown_as_such(card: PastCard, qtbot: QtBot, told: Callable[[Past], None]) -> None:
    told(Past(SINCE, kept=True, changes=(replace(DRIVER, name="<b>\x1b[31m", sources=("/a\nb",)),)))
    (row,) = shown_rows(card, qtbot)
    assert any("<b><U+001B>[31m" in words for words in words_in(row))
    assert "\n" not in row.source.words


def test_what_goes_wrong_is_told(card: PastCard, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(session: object, machine: object, since: str = "", findings: object = ()) -> Past:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("gpuassist.session.past.past", broken)
    card.show_inspection(HEALTHY)
    qtbot.waitUntil(lambda: card.state.icon.mark is Mark.UNKNOWN)
    assert "Input/output error" in words_in(card.state)[0]


def test_the_box_turns_keeping_off_and_on(card: PastCard, qtbot: QtBot, desk: Desk) -> None:
    shown(card, qtbot)
    card.keeping.tick.click()
    qtbot.waitUntil(lambda: not keeping(desk.session.world))
    card.keeping.tick.click()
    qtbot.waitUntil(lambda: len(kept(desk.session.world).machines) == 1)  # a healthy one is kept at once
    assert keeping(desk.session.world)


def test_the_box_shows_what_is_so(card: PastCard, qtbot: QtBot, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    shown(card, qtbot)

    def full(path: str, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(desk.session.world.disk, "write", full)
    card.keeping.tick.click()
    qtbot.waitUntil(card.keeping.tick.isChecked)


def test_reading_again_leaves_what_stands_until_it_is_there(card: PastCard, qtbot: QtBot, told: Callable[[Past], None]) -> None:
    told(Past(SINCE, kept=True, changes=(DRIVER,)))
    shown_rows(card, qtbot)
    told(Past(SINCE, kept=True, changes=()))
    card.show_inspection(HEALTHY)
    assert len(rows(card)) == 1
    qtbot.waitUntil(lambda: rows(card) == [])


def test_the_page_reads_it_after_the_findings(desk: Desk, show: Show, qtbot: QtBot) -> None:
    page = show(FoundPage(desk), 1056, 700)
    page.show_inspection(HEALTHY)
    assert page.past.state.icon.mark is Mark.BUSY
    qtbot.waitUntil(lambda: page.past.state.icon.mark is not Mark.BUSY)


@pytest.mark.parametrize("width", [560, 672, 1056])  # a page of the smallest window has 672
def test_it_fits_whatever_the_width(card: PastCard, qtbot: QtBot, told: Callable[[Past], None], width: int) -> None:
    long = replace(DRIVER, name="torch" * 9, before="1" * 80, after="2" * 80, sources=("/var/log/" + "x" * 200,))
    told(Past(SINCE, kept=True, changes=(long,)))
    shown(card, qtbot).resize(width, 500)
    qtbot.waitUntil(lambda: all(row.width() <= width for row in rows(card)))
    assert card.minimumSizeHint().width() <= 560
