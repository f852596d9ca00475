"""The live page with a watch that is fed by hand."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpuassist.model.sample import Sample
from gpuassist.session.watch import Watch
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.live.page import LivePage
from gpuassist.ui.pages.live.processes import NAMES
from tests.ui.made import framed


class HandFed(Watch):
    """A watch without a thread: samples are put in by hand, and everything after is the real one's."""

    starts = 0

    def start(self, on_sample: Callable[[Sample], None]) -> None:
        self._on_sample = on_sample
        self.starts += 1

    def feed(self, *samples: Sample) -> None:
        for one in samples:
            self._take(one)


class Shown:
    """The page with its watch, visible."""

    def __init__(self, desk: Desk, qtbot: QtBot) -> None:
        self.watch = HandFed(desk.session)
        self.frame = framed(qtbot)
        self.page = LivePage(desk, self.frame, watch=self.watch)
        self.asked: list[object] = []
        self.page.asked.connect(self.asked.append)
        self.page.resize(900, 700)
        self.page.show()
        self.page.arrive(None)
        self.qtbot = qtbot
        qtbot.waitUntil(lambda: self.page._watching.running)

    def feed(self, *samples: Sample) -> None:
        self.watch.feed(*samples)
        self.draw()

    def draw(self) -> None:
        self.page._pace.stop()
        self.page._draw()

    def press(self, key: Qt.Key) -> None:
        QTest.keyClick(self.page, key)

    def cell(self, row: int, column: str) -> str:
        return shown_cell(self.page, row, column)

    def words(self) -> str:
        return " ".join(label.text() for label in self.page.findChildren(QLabel) if label.isVisible())


def shown_cell(page: LivePage, row: int, column: str) -> str:
    return page.view._processes.rows[row][NAMES.index(column)].words
