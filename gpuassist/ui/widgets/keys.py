"""Keys that Qt leaves to us: Enter on the focused button, and the order of Tab through what is made later."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QRadioButton, QWidget


def press_focused(inside: QWidget, event: QKeyEvent) -> bool:
    """For the `keyPressEvent` of whatever holds the buttons: whether the key was Enter, and a button took it."""
    button = inside.window().focusWidget()
    if event.key() not in {Qt.Key.Key_Return, Qt.Key.Key_Enter} or not isinstance(button, QAbstractButton):
        return False
    if isinstance(button, (QCheckBox, QRadioButton)) or not inside.isAncestorOf(button):  # those are for Space everywhere
        return False
    button.click()
    return True


def tab_through(widgets: Iterable[QWidget]) -> None:
    """Tab goes from each to the next: by itself it comes last to what was made last, wherever that stands."""
    for before, after in pairwise(widgets):
        QWidget.setTabOrder(before, after)


def tab_stops(inside: QWidget) -> tuple[QWidget, ...]:
    """What Tab stops at inside a widget, in the order in which it was made; the list of a drop-down is a window of its own."""
    return tuple(
        one
        for one in inside.findChildren(QWidget)
        if one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.window() is inside.window()
    )
