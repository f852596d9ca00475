"""Keys that Qt leaves to us: Enter on the focused button, and the order of Tab, which is that of reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
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


def press_again(window: QWidget, keys: Iterable[QKeyEvent]) -> None:
    """Keys that were pressed before there was anything to hear them: those of an action do what it does, the others are typed where
    the focus is by then.
    """
    for key in keys:
        pressed = QKeySequence(key.keyCombination())
        action = next((one for one in window.actions() if pressed in one.shortcuts()), None)
        if action is not None:
            action.trigger()
        else:
            focused: QWidget | None = window.window().focusWidget()
            QCoreApplication.sendEvent(window if focused is None else focused, key)


def tab_through(widgets: Iterable[QWidget]) -> None:
    """Tab goes from each to the next: by itself it comes last to what was made last, wherever that stands."""
    for before, after in pairwise(widgets):
        QWidget.setTabOrder(before, after)


def reading_order(inside: QWidget) -> tuple[QWidget, ...]:
    """What Tab stops at that can be seen, as one reads: top to bottom, of what stands side by side the left first and whole."""
    stops = {one for one in tab_stops(inside) if one.isVisible()}
    around = {parent for stop in stops for parent in _parents(stop, inside)}
    return tuple(_read(inside, stops, around))


def _parents(stop: QWidget, inside: QWidget) -> Iterator[QWidget]:
    parent: QWidget | None = stop
    while parent is not inside and parent is not None:
        yield parent
        parent = parent.parentWidget()


def _read(inside: QWidget, stops: set[QWidget], around: set[QWidget]) -> Iterator[QWidget]:
    if inside in stops:
        yield inside
    children = inside.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    for child in _in_rows([one for one in children if one in around]):
        yield from _read(child, stops, around)


def _in_rows(widgets: list[QWidget]) -> Iterator[QWidget]:
    """Of those with nothing left above them, always the one that begins furthest to the left."""
    left = sorted(widgets, key=lambda one: (one.x(), one.y()))
    while left:
        first = next((one for one in left if all(other.geometry().bottom() > one.y() for other in left)), left[0])
        left.remove(first)
        yield first


def tab_stops(inside: QWidget) -> tuple[QWidget, ...]:
    """What Tab stops at inside a widget, in the order in which it was made; the list of a drop-down is a window of its own."""
    return tuple(
        one
        for one in inside.findChildren(QWidget)
        if one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.window() is inside.window()
    )
