"""Steps of building come one a turn, in order, and none after their owner has gone."""

from __future__ import annotations

import shiboken6
from PySide6.QtCore import QCoreApplication, QObject, QTimer
from pytestqt.qtbot import QtBot

from gpuassist.ui.pace import InTurns


def test_the_first_step_is_done_at_once(qtbot: QtBot) -> None:
    done: list[int] = []
    parent = QObject()
    InTurns([lambda: done.append(1), lambda: done.append(2)], parent).start()
    assert done == [1]


def test_all_steps_are_done_in_order(qtbot: QtBot) -> None:
    done: list[int] = []
    parent = QObject()
    turns = InTurns([lambda place=place: done.append(place) for place in range(5)], parent)  # type: ignore[misc]
    with qtbot.waitSignal(turns.done):
        turns.start()
    assert done == [0, 1, 2, 3, 4]
    assert turns.is_done


def test_others_get_their_turn_between_two_steps(qtbot: QtBot) -> None:
    order: list[str] = []
    parent = QObject()
    turns = InTurns([lambda: order.append("first"), lambda: order.append("second")], parent)
    QTimer.singleShot(0, parent, lambda: order.append("other"))
    with qtbot.waitSignal(turns.done):
        turns.start()
    assert order == ["first", "other", "second"]


def test_no_steps_are_done_at_once(qtbot: QtBot) -> None:
    parent = QObject()
    turns = InTurns([], parent)
    turns.start()
    assert turns.is_done


def test_nothing_is_built_for_an_owner_that_has_gone(qtbot: QtBot) -> None:
    done: list[int] = []
    parent = QObject()
    InTurns([lambda: done.append(1), lambda: done.append(2)], parent).start()
    shiboken6.delete(parent)
    QCoreApplication.sendPostedEvents()
    qtbot.wait(100)
    assert done == [1]
