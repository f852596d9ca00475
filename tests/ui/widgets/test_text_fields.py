"""The menus that fields of text open have the window's look, and what a label's menu copies."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QClipboard, QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QWidget

from gpuassist.ui.pages.guides import MarkdownView
from gpuassist.ui.pages.install.output import OutputView
from gpuassist.ui.widgets.code import CodeText
from gpuassist.ui.widgets.diff import DiffView
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.paste_edit import PasteEdit
from gpuassist.ui.widgets.search_box import SearchBox
from tests.rows import for_each
from tests.ui.showing import Show

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")  # menus, offscreen

MAKERS: dict[str, Callable[[], QWidget]] = {
    "markdown": MarkdownView,
    "output": lambda: OutputView("Output"),
    "code": lambda: CodeText("nvcc --version", "Code"),
    "diff": lambda: DiffView("Diff"),
    "paste": lambda: PasteEdit("Text"),
    "search": lambda: SearchBox("Find"),
    "label": lambda: label("a line"),
    "paragraph": lambda: paragraph("run `nvcc`"),
}


def opened(field: QWidget) -> QMenu:
    """The menu that opens on it, as the menu key asks for it."""
    inside = field if isinstance(field, QLineEdit) or not hasattr(field, "viewport") else field.viewport()
    QApplication.sendEvent(inside, QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(4, 4), QPoint(4, 4)))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


@for_each("name", tuple(MAKERS))
def test_every_field_opens_a_round_menu(show: Show, name: str) -> None:
    menu = opened(show(MAKERS[name](), 300, 120))
    assert menu.property("round") == "yes"
    assert menu.testAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.close()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def test_a_labels_menu_copies_what_is_marked_or_all(show: Show, clipboard: QClipboard) -> None:
    made = show(paragraph("run `nvcc` now"), 300, 120)
    for marks, copied in (((0, 3), "run"), (None, "run nvcc now")):
        made.setSelection(*marks) if marks is not None else made.setSelection(0, 0)
        menu = opened(made)
        menu.actions()[0].trigger()
        menu.close()
        assert clipboard.text() == copied
    QTest.qWait(0)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
