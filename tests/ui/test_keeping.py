"""What a window keeps while it is open, and what a fault of ours makes of it."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.session.navigation import GoTo, SideTool, WizardStep
from gpuassist.ui.application import WindowRun
from gpuassist.ui.theme import Appearance
from tests.ui.frames import recorded
from tests.ui.runs import Runs
from tests.values import machine

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def runs(session: Session, qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Runs]:
    font, palette = qapp.font(), QPalette(qapp.palette())
    made = Runs(session, qapp, qtbot, recorded(machine(), tmp_path))
    yield made
    made.end()
    qapp.setPalette(palette)
    qapp.setFont(font)


def _kept(home: Path) -> dict[str, object]:
    place = home / ".config/gpuassist/window.json"
    found = json.loads(place.read_text()) if place.exists() else {}
    assert isinstance(found, dict)
    return found


def _raise(words: str) -> None:
    raise RuntimeError(words)


def _fault(words: str = "a made-up fault") -> None:
    try:
        _raise(words)
    except RuntimeError as error:
        sys.excepthook(type(error), error, error.__traceback__)


def test_look_page_and_size_are_kept_while_the_window_is_open(runs: Runs, home: Path, qtbot: QtBot) -> None:
    run = runs()
    assert run.frame is not None
    run.frame.appearance_chosen.emit(Appearance.DARK)
    run.frame.go(GoTo(SideTool.GUIDES))
    qtbot.waitUntil(lambda: (_kept(home).get("appearance"), _kept(home).get("place")) == ("dark", "guides"))
    run.window.resize(880, 666)
    qtbot.waitUntil(lambda: run.window.geometry_words() == _kept(home).get("geometry"))


def test_the_page_is_shown_again(runs: Runs, qtbot: QtBot) -> None:
    first = runs(GoTo(SideTool.GUIDES))
    qtbot.waitUntil(lambda: first.frame is not None and first.frame.flow.current is SideTool.GUIDES)
    first.window.close()
    second = runs()
    qtbot.waitUntil(lambda: second.frame is not None and second.frame.flow.current is SideTool.GUIDES)


@pytest.mark.parametrize("content", ["{broken", json.dumps({"schema": 2, "appearance": "dark"})])
def test_settings_that_are_not_understood_are_set_aside_and_named(runs: Runs, home: Path, content: str) -> None:
    place = home / ".config/gpuassist/window.json"
    place.parent.mkdir(parents=True)
    place.write_text(content)
    run = runs()
    aside = place.with_name("window.json.set-aside")
    assert run.frame is not None
    assert aside.read_text() == content
    assert any(str(aside) in notice.words for notice in run.frame.banners.told)


def _page(run: WindowRun, qtbot: QtBot) -> str:
    qtbot.waitUntil(lambda: run.fault_page is not None)
    assert run.fault_page is not None
    assert run.window.centralWidget() is run.fault_page
    return run.fault_page.trace


def test_a_fault_shows_its_page_once_and_restarting_makes_the_window_anew(
    runs: Runs, qtbot: QtBot, home: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runs(GoTo(WizardStep.FOUND))
    before = run.frame
    qtbot.waitUntil(lambda: before is not None and before.flow.current is WizardStep.FOUND)
    for _ in range(1000):
        _fault()
    assert "a made-up fault" in _page(run, qtbot)
    loud = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert len(loud) == 4  # the first, the 10th, 100th, 1000th time
    log = (home / ".local/state/gpuassist/gpuassist.log").read_text()
    assert log.count("Traceback") == 1
    assert run.fault_page is not None
    assert str(home / ".local/state/gpuassist/gpuassist.log") in run.fault_page.said
    run.fault_page.restart.click()
    after = run.frame
    assert after is not None
    assert after is not before
    assert run.window.centralWidget() is after
    qtbot.waitUntil(lambda: after.flow.current is WizardStep.FOUND)
    caplog.clear()


def test_whoever_goes_on_keeps_the_window_and_hears_of_other_faults_in_a_banner(
    runs: Runs, qtbot: QtBot, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runs()
    before = run.frame
    assert before is not None
    _fault()
    _page(run, qtbot)
    assert run.fault_page is not None
    next(one for one in run.fault_page.findChildren(QPushButton) if one is run.fault_page.on).click()
    assert run.window.centralWidget() is before
    assert before.isVisible()
    sys.excepthook(KeyError, KeyError("another"), None)
    qtbot.waitUntil(lambda: before.banners.fault is not None)
    assert run.window.centralWidget() is before
    caplog.clear()


def test_a_fault_while_the_window_is_furnished_is_shown_too(
    runs: Runs, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    from gpuassist.ui import frame

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no frame")

    with monkeypatch.context() as patch, qtbot.capture_exceptions():
        patch.setattr(frame, "Frame", broken)
        run = runs.start()
        assert "no frame" in _page(run, qtbot)
    assert run.fault_page is not None
    assert run.fault_page.on is None
    run.fault_page.restart.click()
    qtbot.waitUntil(lambda: run.frame is not None and run.frame.flow.inspected)
    caplog.clear()
