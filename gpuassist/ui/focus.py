"""The keyboard's place in the window is never lost: where the focused widget goes, the page's heading has the focus."""

from __future__ import annotations

from typing import Protocol

import shiboken6
from PySide6.QtCore import QEvent, QObject, QTimer, Slot
from PySide6.QtWidgets import QApplication, QWidget


class Refuge(Protocol):
    """What holds pages."""

    def take_focus(self) -> None:
        """Has the heading of the page that is shown take the focus."""


class FocusKeeper(QObject):
    """Qt gives the focus of a button that is hidden, disabled or deleted to whatever Tab would go to: another page's button, or one
    that leaves this page. A focus that somebody chose, the user or a page, is left where it is.

    What only could not be pressed for a while has it again, unless it was taken elsewhere meanwhile.
    """

    def __init__(self, content: tuple[QWidget, ...], refuge: Refuge, parent: QWidget) -> None:
        super().__init__(parent)
        self._content = content
        self._refuge = refuge
        self._window = parent
        self._had: QWidget | None = None  # what had the focus last, where that was inside
        self._lost: QWidget | None = None  # what went away with the focus
        self._elsewhere = False  # whether another window has the keyboard since
        self._waits: QWidget | None = None  # what lost it, and may come back
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._settle)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._follow)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Of what lost the focus: whether it is there again."""
        if watched is self._waits and event.type() in {QEvent.Type.EnabledChange, QEvent.Type.Show} and _is_there(self._waits):
            back, self._waits = self._waits, None
            back.removeEventFilter(self)
            back.setFocus()
        return False

    @Slot("QWidget*", "QWidget*")
    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        self._forget()
        had, self._had = self._had, now if now is not None and self._holds(now) else None
        if had is not None and not _is_there(had):
            self._lost = self._lost or had
            self._soon.start()
        elif self._had is not None and not _is_there(self._had):  # chosen, but not shown
            self._lost = self._had
            self._soon.start()
        elif now is not None and not self._elsewhere:
            self._lost = None  # somebody chose
        elif now is not None:
            self._elsewhere = False
            self._soon.start()

    @Slot()
    def _settle(self) -> None:
        lost = self._lost
        self._elsewhere = lost is not None and not self._window.isActiveWindow()  # a dialog: later
        if lost is None or self._elsewhere:
            return
        self._lost = None
        if _is_there(lost) and lost.hasFocus():
            return
        self._refuge.take_focus()
        if shiboken6.isValid(lost):
            self._waits = lost
            lost.installEventFilter(self)

    def _forget(self) -> None:
        if self._waits is not None and shiboken6.isValid(self._waits):
            self._waits.removeEventFilter(self)
        self._waits = None

    def _holds(self, widget: QWidget) -> bool:
        return any(one.isAncestorOf(widget) for one in self._content)


def _is_there(widget: QWidget) -> bool:
    return shiboken6.isValid(widget) and widget.isVisible() and widget.isEnabled()
