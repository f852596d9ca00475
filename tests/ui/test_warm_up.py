"""The plot's libraries are imported on a thread, and their absence stops nothing."""

from __future__ import annotations

import sys

import pytest
from pytestqt.qtbot import QtBot

from gpuassist.session.navigation import TITLES
from gpuassist.ui import page_stack as warm_up
from gpuassist.ui.page import Desk
from gpuassist.ui.page_stack import WarmUp, page_class


def test_the_libraries_are_there_when_it_is_done(desk: Desk, qtbot: QtBot) -> None:
    made = WarmUp(desk.jobs)
    with qtbot.waitSignal(made.done):
        made.start()
    assert made.is_done
    assert {"numpy", *(page_class(place).__module__ for place in TITLES)} <= set(sys.modules)


def test_a_library_that_is_missing_is_no_end(desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_up, "_CARDS", "no_such_library_at_all")
    made = WarmUp(desk.jobs)
    with qtbot.waitSignal(made.done):
        made.start()
    assert made.is_done
