"""Menus and drop-down lists have the window's look: round corners, one frame."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage, QRegion
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFrame, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.ui.theme import Theme, colours
from gpuassist.ui.widgets.buttons import DropDown, LongChoice
from gpuassist.ui.widgets.popups import menu
from gpuassist.ui.widgets.search_box import SearchBox
from tests.ui.showing import Show

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")  # popups, offscreen


def corners_are_cut(popup: QWidget) -> bool:
    """Whether its four corners show what lies below, and its middle does not."""
    box, mask = popup.rect(), popup.mask()
    corners = (box.topLeft(), box.topRight(), box.bottomLeft(), box.bottomRight())
    return mask.contains(box.center()) and not any(mask.contains(one) for one in corners)


def has_a_ground(popup: QWidget) -> bool:
    """Whether it paints what its words stand on; a desktop that blends nothing shows black there, another what lies below."""
    picture = QImage(popup.size(), QImage.Format.Format_ARGB32)
    picture.fill(Qt.GlobalColor.transparent)
    popup.render(picture, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)
    box = popup.rect()
    at = (QPoint(box.right() - 20, y) for y in (box.center().y(), box.bottom() - 10))
    return {picture.pixelColor(one).name(QColor.NameFormat.HexArgb) for one in at} == {"#ff" + colours().panel[1:]}


def test_what_is_offered_while_one_types_has_a_ground(each_look: Theme, show: Show, qtbot: QtBot) -> None:
    box = SearchBox("Add a GPU")
    box.set_options(("RTX 5090", "RTX 4090"))
    show(box, 300, 36)
    QTest.keyClicks(box, "RTX")
    qtbot.waitUntil(box.popup.isVisible)
    assert has_a_ground(box.popup)
    box.popup.hide()


def test_a_menu_has_round_corners(theme: Theme, show: Show) -> None:
    made = menu(show(QWidget()))
    made.addAction("One")
    made.popup(QPoint(10, 10))
    assert corners_are_cut(made)
    assert has_a_ground(made)
    made.close()
    made.deleteLater()


@pytest.mark.parametrize("kind", [DropDown, LongChoice])
def test_the_list_of_a_choice_has_round_corners_and_one_frame(theme: Theme, show: Show, kind: type[QComboBox]) -> None:
    box = show(kind(), 200, 34)
    box.addItems(["one", "two", "three"])
    for _ in range(2):  # it is dressed once
        box.showPopup()
        frame = box.view().window()
        assert corners_are_cut(frame)
        assert has_a_ground(frame)
        assert isinstance(frame, QFrame)
        assert frame.frameShape() is QFrame.Shape.NoFrame
        assert frame.windowFlags() & Qt.WindowType.NoDropShadowWindowHint
        box.hidePopup()
