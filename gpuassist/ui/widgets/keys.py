"""Enter presses the button that has the focus, which Qt does under some desktops only."""

from __future__ import annotations

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
