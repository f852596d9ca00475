"""Steps of building come one a turn, in order, and none after their owner has gone."""

from __future__ import annotations

import shiboken6
from PySide6.QtCore import QCoreApplication, QObject, QTimer
from pytestqt.qtbot import QtBot

from gpuassist.ui.pace import InTurns


def test_the_first_step_is_done_at_once(qtbot: QtBot) -> None:
    done: list[int] = []
    parent = QObject()
    InTurns(parent).begin([lambda: done.append(1), lambda: done.append(2)])
    assert done == [1]


def test_all_steps_are_done_in_order(qtbot: QtBot) -> None:
    done: list[int] = []
    parent = QObject()
    turns = InTurns(parent)
    with qtbot.waitSignal(turns.done):
        turns.begin([lambda place=place: done.append(place) for place in range(5)])  # type: ignore[misc]
        assert turns.busy
    assert done == [0, 1, 2, 3, 4]
    assert not turns.busy


def test_others_get_their_turn_between_two_steps(qtbot: QtBot) -> None:
    order: list[str] = []
    parent = QObject()
    turns = InTurns(parent)
    QTimer.singleShot(0, parent, lambda: order.append("other"))
    with qtbot.waitSignal(turns.done):
        turns.begin([lambda: order.append("first"), lambda: order.append("second")])
    assert order == ["first", "other", "second"]


def test_no_steps_are_done_at_once(qtbot: QtBot) -> None:
    parent = QObject()
    turns = InTurns(parent)
    with qtbot.waitSignal(turns.done):
        turns.begin([])
    assert not turns.busy


def test_steps_begun_meanwhile_take_the_place_of_those_left(qtbot: QtBot) -> None:
    done: list[str] = []
    parent = QObject()
    turns = InTurns(parent)
    later = [lambda: done.append("second"), lambda: done.append("third")]
    with qtbot.waitSignal(turns.done):
        turns.begin([lambda: done.append("first"), lambda: turns.begin(later), lambda: done.append("never")])
    assert done == ["first", "second", "third"]


def test_what_is_dropped_is_not_done(qtbot: QtBot) -> None:
    done: list[int] = []
    parent = QObject()
    turns = InTurns(parent)
    turns.begin_later([lambda: done.append(1)])
    turns.drop()
    others = InTurns(parent)
    with qtbot.waitSignal(others.done):
        others.begin_later([lambda: done.append(2), lambda: done.append(3)])
    assert done == [2, 3]
    assert not turns.busy


def test_nothing_is_built_for_an_owner_that_has_gone(qtbot: QtBot) -> None:
    done: list[int] = []
    parent = QObject()
    InTurns(parent).begin([lambda: done.append(1), lambda: done.append(2)])
    shiboken6.delete(parent)
    QCoreApplication.sendPostedEvents()
    qtbot.wait(100)
    assert done == [1]
