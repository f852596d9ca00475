"""The page of profiles: opened, drawn, walked by keys, refused, cancelled; and which profiler next."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuassist.session.file_places import place_of_file
from gpuassist.session.navigation import SideTool, ToExplainFile, ToProfile, ToRecording, WizardStep
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.profile.page import NamesCard, ProfilePage
from gpuassist.ui.pages.profile.shares import SharesCard
from tests.formats.made_traces import steps, trace
from tests.formats.test_profile_tables import WITH_KERNELS
from tests.rows import for_each
from tests.session.profiles_here import read_here
from tests.ui.showing import Show, words_in

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")  # a tool tip, offscreen


@pytest.fixture
def page(desk: Desk, show: Show, monkeypatch: pytest.MonkeyPatch) -> ProfilePage:
    read_here(monkeypatch)
    return show(ProfilePage(desk), 700, 620)


def opened(page: ProfilePage, path: Path, content: bytes, qtbot: QtBot) -> ProfilePage:
    path.write_bytes(content)
    page.arrive(ToProfile(str(path)))
    qtbot.waitUntil(lambda: not page.busy)
    return page


def test_a_trace_is_shown_over_time(page: ProfilePage, tmp_path: Path, qtbot: QtBot) -> None:
    assert page.nothing.isVisible()
    opened(page, tmp_path / "a.json", trace(steps(30)), qtbot)
    assert page.found is not None
    (card,) = page.findChildren(SharesCard)
    assert "kernels 50 %" in card.picture.accessibleDescription()
    QTest.keyClick(card.picture, Qt.Key.Key_Right)
    assert card.picture.at == 0
    assert "loading data: 80 %" in card.picture.words_at(card.picture.at)
    (names,) = page.findChildren(NamesCard)
    assert "ampere_sgemm_128x64_tn" in {row[4].words for row in names.model.rows}
    page.copy.trigger()
    assert "ampere_sgemm_128x64_tn" in QApplication.clipboard().text()
    assert page.left() == ToProfile(str(tmp_path / "a.json"))
    assert not page.nothing.isVisible()


def test_tables_are_shown_as_bars(page: ProfilePage, tmp_path: Path, qtbot: QtBot) -> None:
    opened(page, tmp_path / "a.txt", WITH_KERNELS.encode(), qtbot)
    cards = page.findChildren(SharesCard)
    assert len(cards) == 2
    assert any(cards[0].picture.words_at(place).endswith("60 %") for place in range(4))


def test_what_is_no_profile_is_said_and_what_was_shown_stays(page: ProfilePage, tmp_path: Path, qtbot: QtBot) -> None:
    opened(page, tmp_path / "a.json", trace(steps(3)), qtbot)
    opened(page, tmp_path / "b.nsys-rep", b"\1\2", qtbot)
    assert page.notice.isVisible()
    assert page.instead.isVisible()
    assert "nsys export --type sqlite" in page.instead.content
    assert page.left() == ToProfile(str(tmp_path / "a.json"))


def test_reading_is_cancelled(page: ProfilePage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    stopped = threading.Event()

    def endless(*_: object, cancelled: object, **__: object) -> None:
        while not cancelled():  # type: ignore[operator]
            stopped.wait(0.005)
        stopped.set()

    monkeypatch.setattr("gpuassist.ui.pages.profile.page.profile", endless)
    page.arrive(ToProfile(str(tmp_path / "a.json")))
    assert page.bar().left == (page.cancel,)
    page.cancel.trigger()
    assert not page.busy
    assert page.nothing.isVisible()
    qtbot.waitUntil(stopped.is_set)


def test_which_profiler_next(page: ProfilePage, qtbot: QtBot) -> None:
    page.arrive(None)
    qtbot.waitUntil(lambda: bool(page.tools.advice))
    page.tools.question.setCurrentIndex(1)
    qtbot.waitUntil(lambda: any("cProfile" in words for words in words_in(page.tools)))


@for_each(
    ("path", "current", "there"),
    [
        ("/a/p.prof", WizardStep.LIVE, ToProfile("/a/p.prof")),
        ("/a/t.json.gz", WizardStep.LIVE, ToProfile("/a/t.json.gz")),
        ("/a/t.json", SideTool.PROFILE, ToProfile("/a/t.json")),
        ("/a/t.json", WizardStep.LIVE, None),
        ("/a/n.sqlite", SideTool.PROFILE, ToProfile("/a/n.sqlite")),
        ("/a/n.sqlite", WizardStep.LIVE, ToRecording("/a/n.sqlite")),
        ("/a/py-spy.svg", WizardStep.LIVE, ToProfile("/a/py-spy.svg")),
        ("/a/a.qdstrm", WizardStep.LIVE, ToProfile("/a/a.qdstrm")),
        ("/a/a.lprof", WizardStep.LIVE, ToProfile("/a/a.lprof")),
        ("/a/n.log", WizardStep.LIVE, ToExplainFile("/a/n.log")),
    ],
)
def test_where_a_dropped_file_leads(path: str, current: SideTool | WizardStep, there: object) -> None:
    assert place_of_file(path, current) == there
