"""A line that gives way is cut for the eye only: its tool tip, its accessible name and its copy are whole."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QClipboard, QContextMenuEvent, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from gpuassist.model.words import ENGLISH
from gpuassist.ui.theme import Theme
from gpuassist.ui.widgets.labels import ElidedLabel, Hairline, as_rich, paragraph, source_label
from tests.ui.showing import Show, stroke_in

LONG = "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.550.54.14"


def test_a_cut_line_is_whole_in_its_tool_tip(show: Show) -> None:
    assert show(ElidedLabel(LONG), 100, 20).toolTip() == LONG


def test_a_line_that_fits_has_no_tool_tip(show: Show) -> None:
    assert show(ElidedLabel("12.4"), 100, 20).toolTip() == ""


def test_a_wider_line_loses_its_tool_tip(show: Show) -> None:
    line = show(ElidedLabel(LONG), 100, 20)
    line.resize(900, 20)
    assert line.toolTip() == ""


def test_other_words_get_their_own_tool_tip(show: Show) -> None:
    line = show(ElidedLabel("short"), 100, 20)
    line.set_words(LONG + "x")
    assert (line.toolTip(), line.words, line.accessibleName()) == (LONG + "x",) * 3


def test_copying_takes_all_of_a_cut_line(show: Show, clipboard: QClipboard) -> None:
    line = show(ElidedLabel(LONG), 100, 20)
    line.setFocus()
    QTest.keyClick(line, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == LONG


def test_copying_without_focus_takes_nothing(show: Show, clipboard: QClipboard) -> None:
    line = show(ElidedLabel(LONG), 100, 20)
    QTest.keyClick(line.window(), Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == "left by somebody else"


def test_a_click_gives_it_focus(show: Show) -> None:
    line = show(ElidedLabel(LONG), 100, 20)
    QTest.mouseClick(line, Qt.MouseButton.LeftButton)
    assert line.hasFocus()


@pytest.mark.qt_log_ignore("This plugin does not support")  # popups, offscreen
def test_its_menu_copies(show: Show, clipboard: QClipboard) -> None:
    line = show(ElidedLabel(LONG, copy_words="Kopieren"), 100, 20)
    QApplication.sendEvent(line, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, QPoint(5, 5), line.mapToGlobal(QPoint(5, 5))))
    menu = line.findChild(QMenu)
    assert isinstance(menu, QMenu)
    assert [action.text() for action in menu.actions()] == ["Kopieren"]
    menu.actions()[0].trigger()
    menu.close()
    assert clipboard.text() == LONG


@pytest.mark.parametrize("words", ["", "a", "Ada Lovelace, 8.9", "驱动程序"])
def test_it_asks_for_the_room_of_its_words(qtbot: QtBot, words: str) -> None:
    line = ElidedLabel(words)
    qtbot.addWidget(line)
    assert line.sizeHint().width() >= line.fontMetrics().horizontalAdvance(words)


def test_a_long_line_can_become_narrow(qtbot: QtBot) -> None:
    line = ElidedLabel(LONG * 10)
    qtbot.addWidget(line)
    assert line.minimumSizeHint().width() < 120


def test_a_short_line_is_never_cut(qtbot: QtBot) -> None:
    line = ElidedLabel("ok")
    qtbot.addWidget(line)
    assert line.minimumSizeHint() == line.sizeHint()


def test_a_paragraph_never_becomes_narrower_than_a_name_in_it(theme: Theme, qtbot: QtBot) -> None:
    longest = "`torch.cuda.memory.change_current_allocator(rmm_torch_allocator)`."
    chinese = ("让程序用 CPU 计算（`CUDA_VISIBLE_DEVICES=-1`）。", "显示（017.cluster.example.com）。只是查看")
    for words in (longest, "NVML_ERROR_LIB_RM_VERSION_MISMATCH: of two versions", *chinese):
        for role in ("", "strong"):
            made = paragraph(words, role)
            qtbot.addWidget(made)
            document, least = QTextDocument(), made.minimumSizeHint().width()
            document.setDefaultFont(made.font())
            document.setDocumentMargin(0)
            document.setHtml(as_rich(words))
            document.setTextWidth(least)
            assert document.idealWidth() <= least, (words, role)
    whole, parted = paragraph("node-017.cluster.example.com"), paragraph("node-017.\u200bcluster.\u200bexample.\u200bcom")
    endless = paragraph("x" * 400)
    for made in (whole, parted, endless):
        qtbot.addWidget(made)
    assert parted.minimumSizeHint().width() < whole.minimumSizeHint().width() / 2
    assert endless.minimumSizeHint().width() < 400


@pytest.mark.parametrize("width", [0, 1, 7, 40])
def test_a_line_without_room_still_paints(show: Show, width: int) -> None:
    assert show(ElidedLabel(LONG), width, 20).grab().width() == width


def test_it_is_painted_in_its_roles_colour(each_look: Theme, show: Show) -> None:
    assert stroke_in(show(ElidedLabel(LONG, "muted"), 300, 20), each_look.palette().muted) > 10


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("/proc/driver/nvidia/version", "both ends"),
        ("~/.bashrc", "both ends"),
        ("nvidia-smi --query-gpu", "its beginning"),
        ("NVML nvmlDeviceGetName", "its beginning"),
    ],
)
def test_of_a_source_the_telling_part_stays(qtbot: QtBot, source: str, shown: str) -> None:
    line = source_label(ENGLISH, source)
    qtbot.addWidget(line)
    assert line._elide is (Qt.TextElideMode.ElideMiddle if shown == "both ends" else Qt.TextElideMode.ElideRight)


def test_a_source_can_be_copied(qtbot: QtBot, clipboard: QClipboard) -> None:
    line = source_label(ENGLISH, LONG)
    qtbot.addWidget(line)
    line.copy()
    assert clipboard.text() == LONG


def test_a_rule_is_a_hairline(show: Show) -> None:
    assert show(Hairline(), 300, 1).height() == 1
