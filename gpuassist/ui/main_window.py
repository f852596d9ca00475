"""The window itself, painted before anything else is there by `first_paint`; the frame comes right after.

It names as few of Qt's classes as it can. PySide6 makes a class when it is first named, and the namespace `Qt` alone costs 20 ms of
the 150 that an empty window takes (measured with 6.11.3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QRect, QSize, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QMainWindow, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

_WIDTH, _HEIGHT = 1280, 800
_LEAST_WIDTH, _LEAST_HEIGHT = 760, 440
_TITLE_BAR = 40  # of the desktop's; how high it really is, is known once the window stands
_DOTS_AN_INCH = 96


class MainWindow(QMainWindow):
    """A place for the frame, and where the window was is remembered by."""

    painted = Signal()
    closing = Signal()

    def __init__(self, first_paint: Callable[[QPainter, int, int], None]) -> None:
        super().__init__()
        self._first_paint = first_paint
        self._seen = False
        self._typed: list[QKeyEvent] = []  # before there was a frame
        self._after_paint = QTimer(self)
        self._after_paint.setSingleShot(True)
        self._after_paint.timeout.connect(self.painted)
        self._after_paint.timeout.connect(self._fit)
        self.setWindowTitle("gpuassist")
        self.setMinimumSize(_LEAST_WIDTH, _LEAST_HEIGHT)
        text_size = max(1.0, self.logicalDpiY() / _DOTS_AN_INCH)
        self.resize(round(_WIDTH * text_size), round(_HEIGHT * text_size))
        self.fit_into(self._room(), moves=False)  # where, the desktop knows best

    def furnish(self, frame: QWidget) -> None:
        """Puts the frame where the first paint was; what was typed until then reaches it."""
        early, self._typed = self._typed, []
        self.setCentralWidget(frame)
        if early:
            from gpuassist.ui.widgets.keys import press_again  # hardly anybody types as fast

            press_again(frame, early)

    def restore(self, geometry: str) -> None:
        """Puts the window where it was, as far as this screen has room for it; what cannot be read leaves it where it is."""
        if geometry:
            self.restoreGeometry(QByteArray.fromBase64(geometry.encode("ascii", "ignore")))
            self._fit()

    def fit_into(self, room: QRect, *, moves: bool = True) -> None:
        """Makes it no larger than a screen's free room, and lies within that."""
        if self.isMaximized() or self.isFullScreen():
            return
        frame = self.frameGeometry()
        beside, above = frame.width() - self.width(), frame.height() - self.height()
        above = above if above or self._seen else _TITLE_BAR
        size = self.size().boundedTo(room.size() - QSize(beside, above)).expandedTo(self.minimumSize())
        if size != self.size():
            self.resize(size)
        left = max(room.left(), min(frame.left(), room.right() + 1 - size.width() - beside))
        top = max(room.top(), min(frame.top(), room.bottom() + 1 - size.height() - above))
        if moves and (left, top) != (frame.left(), frame.top()):
            self.move(left, top)

    def geometry_words(self) -> str:
        """Where the window is, to be remembered."""
        return bytes(self.saveGeometry().toBase64().data()).decode("ascii")

    @Slot()
    def _fit(self) -> None:
        self.fit_into(self._room())

    def _room(self) -> QRect:
        return self.screen().availableGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.centralWidget() is None:
            painter = QPainter(self)
            self._first_paint(painter, self.width(), self.height())
            painter.end()
        else:
            super().paintEvent(event)
        if not self._seen:
            self._seen = True
            self._after_paint.start()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.centralWidget() is None:
            self._typed.append(event.clone())
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closing.emit()
        super().closeEvent(event)
