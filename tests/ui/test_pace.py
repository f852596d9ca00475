"""Repaints are paced."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gpuassist.ui.pace import Pace


class Paced:
    """A pace, and how often something was due."""

    def __init__(self, milliseconds: int) -> None:
        self.owner = QObject()
        self.pace = Pace(self.owner, milliseconds=milliseconds)
        self.due = 0
        self.pace.due.connect(self._count)

    def _count(self) -> None:
        self.due += 1


@pytest.fixture
def paced(qtbot: QtBot) -> Paced:
    return Paced(30)


def test_the_first_request_is_met_at_once(paced: Paced) -> None:
    paced.pace.request()
    assert paced.due == 1


def test_requests_in_a_hurry_are_met_together(paced: Paced, qtbot: QtBot) -> None:
    for _ in range(10):
        paced.pace.request()
    assert paced.due == 1
    qtbot.waitUntil(lambda: paced.due == 2)


def test_without_requests_nothing_is_due(paced: Paced, qtbot: QtBot) -> None:
    paced.pace.request()
    qtbot.waitUntil(lambda: not paced.pace._rest.isActive())
    assert paced.due == 1


def test_stopping_forgets_what_was_wanted(paced: Paced) -> None:
    paced.pace.request()
    paced.pace.request()
    paced.pace.stop()
    assert (paced.due, paced.pace._rest.isActive()) == (1, False)
