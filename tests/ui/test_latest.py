"""Only the last work asked for counts."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gpuassist.ui.jobs import Done, Failed, Jobs, Latest


@pytest.fixture
def jobs(qtbot: QtBot) -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.shutdown()


class Heard:
    """What arrived."""

    def __init__(self, jobs: Jobs, qtbot: QtBot, *, pause: int = 0) -> None:
        self.owner = QObject()
        self.results: list[Done | Failed] = []
        self.latest = Latest(jobs, self.results.append, self.owner, pause_milliseconds=pause)
        self._qtbot = qtbot

    def settle(self) -> None:
        self._qtbot.waitUntil(lambda: not self.latest.busy)


def test_a_result_arrives(jobs: Jobs, qtbot: QtBot) -> None:
    heard = Heard(jobs, qtbot)
    heard.latest.ask(lambda _: 42)
    heard.settle()
    assert heard.results == [Done(42)]


def test_a_failure_arrives(jobs: Jobs, qtbot: QtBot) -> None:
    heard = Heard(jobs, qtbot)
    heard.latest.ask(lambda _: [][0])
    heard.settle()
    assert isinstance(heard.results[0], Failed)


def test_wishes_within_the_pause_are_one(jobs: Jobs, qtbot: QtBot) -> None:
    heard = Heard(jobs, qtbot, pause=20)
    done: list[int] = []
    for number in range(5):
        heard.latest.ask(lambda _, number=number: done.append(number))  # type: ignore[misc]
    heard.settle()
    assert done == [4]


def test_a_later_wish_silences_an_earlier_one(jobs: Jobs, qtbot: QtBot) -> None:
    heard = Heard(jobs, qtbot)
    begun, free = threading.Event(), threading.Event()

    def slow(_: object) -> str:
        begun.set()
        free.wait(100)
        return "first"

    heard.latest.ask(slow)
    qtbot.waitUntil(begun.is_set)
    heard.latest.ask(lambda _: "second")
    free.set()
    heard.settle()
    assert heard.results == [Done("second")]


def test_dropped_work_is_not_heard(jobs: Jobs, qtbot: QtBot) -> None:
    heard = Heard(jobs, qtbot)
    heard.latest.ask(lambda _: 1)
    heard.latest.drop()
    assert not heard.latest.busy
    assert heard.results == []
