"""Starting the window: what makes it impossible, the two steps of its start, and what it remembers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.session.navigation import GoTo, StepStatus, WizardStep
from gpuassist.ui.page import Leave
from gpuassist.ui.palette import DARK
from gpuassist.ui.theme import Appearance, colours
from tests.ui.frames import recorded
from tests.ui.runs import Runs
from tests.values import machine

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # the offscreen platform's answer to a smallest size


@pytest.fixture
def runs(session: Session, qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Runs]:
    font, palette = qapp.font(), QPalette(qapp.palette())
    made = Runs(session, qapp, qtbot, recorded(machine(), tmp_path))
    yield made
    made.end()
    qapp.setPalette(palette)
    qapp.setFont(font)


def test_the_frame_comes_after_the_first_paint(session: Session, qapp: QApplication, qtbot: QtBot, runs: Runs) -> None:
    run = runs()
    assert run.frame is not None
    assert run.window.centralWidget() is run.frame


def test_the_window_opens_at_the_page_asked_for(runs: Runs, qtbot: QtBot) -> None:
    run = runs(GoTo(WizardStep.VERIFY))
    qtbot.waitUntil(lambda: run.frame is not None and run.frame.flow.current is WizardStep.VERIFY)


def test_the_recording_is_judged(runs: Runs) -> None:
    run = runs()
    assert run.frame is not None
    assert run.frame.flow.state(WizardStep.FOUND) is StepStatus.RIGHT


def test_the_chosen_look_is_remembered(runs: Runs, home: Path) -> None:
    run = runs()
    assert run.frame is not None
    run.frame.appearance_chosen.emit(Appearance.DARK)
    assert colours() is DARK
    run.window.close()
    kept = json.loads((home / ".config/gpuassist/window.json").read_text())
    assert kept["appearance"] == "dark"


def test_a_remembered_look_is_there_from_the_first_paint(runs: Runs, home: Path) -> None:
    place = home / ".config/gpuassist/window.json"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps({"appearance": "dark"}))
    run = runs()
    assert run.theme is not None
    assert run.theme.appearance is Appearance.DARK


def test_the_place_is_remembered(runs: Runs) -> None:
    first = runs()
    first.window.resize(880, 650)  # the offscreen platform's screen is 800 wide
    first.window.close()
    assert runs().window.height() == 650


def test_a_window_that_leaves_no_trace_remembers_nothing(runs: Runs, home: Path) -> None:
    run = runs()
    assert run.frame is not None
    run.frame.pages.asked.emit(Leave())
    assert not run.window.isVisible()
    assert not (home / ".config/gpuassist").exists()


_PROBE = """
import sys
from PySide6.QtWidgets import QApplication
from gpuassist.app import compose
from gpuassist.ui.application import WindowRun

application = QApplication([])
run = WindowRun(compose("en"), application, machine_file=sys.argv[1])
seen = []
run.furnished.connect(lambda: (seen.append(sorted(sys.modules)), run.window.close(), application.quit()))
run.window.show()
seen.append(sorted(sys.modules))
application.exec()
run.end()
import json
print(json.dumps(seen))
"""


def test_nothing_but_the_window_is_imported_before_the_first_paint(tmp_path: Path) -> None:
    file = recorded(machine(), tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, file],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "QT_QPA_PLATFORM": "offscreen"},
    )
    first, then = (set(modules) for modules in json.loads(done.stdout.splitlines()[-1]))
    late = {
        "gpuassist.ui.frame",
        "gpuassist.ui.theme",
        "gpuassist.model.machine",
        "concurrent.futures",
    }
    assert first & {*late, "numpy", "pyqtgraph", "tree_sitter", "gpuassist.detect.machine"} == set()
    assert {"gpuassist.ui.frame", "gpuassist.ui.theme"} <= then
