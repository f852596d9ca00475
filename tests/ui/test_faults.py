"""Faults of our own: logged, told to the window on its own thread, and nothing ends."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gpuassist.ui.faults import Faults


@pytest.fixture
def faults(qtbot: QtBot) -> Iterator[Faults]:
    made = Faults()
    made.listen()
    yield made
    made.stop()


def _raise() -> None:
    raise RuntimeError("a made-up fault")


def _report() -> None:
    try:
        _raise()
    except RuntimeError as error:
        sys.excepthook(type(error), error, error.__traceback__)


def test_an_uncaught_exception_is_told_with_its_trace(faults: Faults, qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    with qtbot.waitSignal(faults.happened) as blocker:
        _report()
    caplog.clear()
    assert "a made-up fault" in blocker.args[0]
    assert "in _raise" in blocker.args[0]


def test_it_is_logged_too(faults: Faults, caplog: pytest.LogCaptureFixture) -> None:
    _report()
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    caplog.clear()


def test_one_on_another_thread_is_told_as_well(faults: Faults, qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    thread = threading.Thread(target=_raise, name="made up")
    with qtbot.waitSignal(faults.happened) as blocker:
        thread.start()
    thread.join()
    caplog.clear()
    assert "a made-up fault" in blocker.args[0]


def test_an_interrupt_goes_its_usual_way(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: seen.append(kind))
    made = Faults()
    made.listen()
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    made.stop()
    assert seen == [KeyboardInterrupt]


def test_the_hooks_are_given_back(qtbot: QtBot) -> None:
    before = (sys.excepthook, threading.excepthook)
    made = Faults()
    made.listen()
    made.stop()
    assert (sys.excepthook, threading.excepthook) == before
