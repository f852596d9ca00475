"""A file dropped anywhere on the window: a log is explained, a recorded machine is opened, a folder judged as a project."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from pytestqt.qtbot import QtBot

from gpuassist.monitor.sample_writer import SampleWriter
from gpuassist.session.navigation import SideTool, WizardStep
from gpuassist.ui.frame import Frame
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.explain.page import ExplainPage
from gpuassist.ui.pages.project import ProjectPage
from tests.ui.frames import Frames, recorded
from tests.ui.made import gpu, sample
from tests.ui.showing import Show, words_in
from tests.values import machine


@pytest.fixture
def frame(desk: Desk, show: Show, qtbot: QtBot, tmp_path: Path) -> Frame:
    return Frames(desk, show, qtbot)(recorded(machine(note="of a test"), tmp_path))


def drop(frame: Frame, data: QMimeData) -> bool:
    """Drops something on the window; whether it was taken."""
    keys = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    enter = QDragEnterEvent(QPoint(5, 300), *keys)
    enter.ignore()
    frame.dragEnterEvent(enter)
    if enter.isAccepted():
        frame.dropEvent(QDropEvent(QPointF(5, 300), *keys))
    return enter.isAccepted()


def file(path: Path) -> QMimeData:
    """A file as a file manager brings it."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    return data


def test_a_log_is_explained(frame: Frame, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "build.log").write_text("nvcc fatal   : Unsupported gpu architecture 'compute_89'")
    assert drop(frame, file(tmp_path / "build.log"))
    page = frame.pages.page(SideTool.EXPLAIN)
    assert isinstance(page, ExplainPage)
    qtbot.waitUntil(lambda: page.explanation is not None and not page.busy)
    assert frame.flow.current is SideTool.EXPLAIN
    assert page.text_card.edit.toPlainText().startswith("nvcc fatal")
    frame.close_down()


def test_a_recorded_machine_is_opened(frame: Frame, tmp_path: Path, qtbot: QtBot) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert drop(frame, file(Path(recorded(machine(note="the other one"), other))))
    header = frame.pages.machine_page
    qtbot.waitUntil(lambda: "the other one" in " ".join(words_in(header)))
    assert frame.flow.current is WizardStep.MACHINE


def test_recorded_memory_is_opened(frame: Frame, tmp_path: Path, qtbot: QtBot) -> None:
    writer = SampleWriter(str(tmp_path / "night.db"), 0.0)
    writer.write([sample(n, gpu(0)) for n in range(3)])
    writer.close(3.0)
    assert drop(frame, file(tmp_path / "night.db"))
    assert frame.flow.current is WizardStep.LIVE
    page = frame.pages.page(WizardStep.LIVE)
    qtbot.waitUntil(lambda: "Recording night.db" in " ".join(words_in(page)))
    frame.close_down()


def test_a_folder_is_judged_as_a_project(frame: Frame, tmp_path: Path, qtbot: QtBot) -> None:
    folder = tmp_path / "training.json"  # whatever it is called
    folder.mkdir()
    (folder / "requirements.txt").write_text("torch==2.5.1\n")
    assert drop(frame, file(folder))
    assert frame.flow.current is SideTool.PROJECT
    page = frame.pages.page(SideTool.PROJECT)
    assert isinstance(page, ProjectPage)
    qtbot.waitUntil(lambda: page.outlook is not None and not page.busy)
    assert page.outlook is not None
    assert page.outlook.read == ("requirements.txt",)
    frame.close_down()


def test_words_are_not_taken_by_the_window(frame: Frame) -> None:
    data = QMimeData()
    data.setText("words")
    assert not drop(frame, data)
    assert frame.flow.current is WizardStep.MACHINE
