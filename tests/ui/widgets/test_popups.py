"""Menus and drop-down lists have the window's look: round corners, one frame."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QComboBox, QFrame, QWidget

from gpuassist.ui.theme import Theme
from gpuassist.ui.widgets.buttons import DropDown, LongChoice
from gpuassist.ui.widgets.popups import menu
from tests.ui.showing import Show

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")  # popups, offscreen


def corners_are_cut(popup: QWidget) -> bool:
    """Whether its four corners show what lies below, and its middle does not."""
    box, mask = popup.rect(), popup.mask()
    corners = (box.topLeft(), box.topRight(), box.bottomLeft(), box.bottomRight())
    return mask.contains(box.center()) and not any(mask.contains(one) for one in corners)


def test_a_menu_has_round_corners(theme: Theme, show: Show) -> None:
    made = menu(show(QWidget()))
    made.addAction("One")
    made.popup(QPoint(10, 10))
    assert corners_are_cut(made)
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
        assert isinstance(frame, QFrame)
        assert frame.frameShape() is QFrame.Shape.NoFrame
        assert frame.windowFlags() & Qt.WindowType.NoDropShadowWindowHint
        box.hidePopup()
