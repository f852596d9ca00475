"""Work under way, calmly: a bar of how far it is, and a strip that is not seen for the first 0.3 s and then stays for a second."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, QTimerEvent, Slot
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QSizePolicy, QWidget

from gpuassist.present.marks import Mark
from gpuassist.ui.theme import colours, is_calm
from gpuassist.ui.widgets.labels import label
from gpuassist.ui.widgets.layouts import bare
from gpuassist.ui.widgets.marks import MarkIcon

SHOW_AFTER_MILLISECONDS = 300
STAY_MILLISECONDS = 1000
_BAR_WIDTH, _BAR_HEIGHT = 96, 8
_PART, _STEPS, _MOVE_MILLISECONDS = 0.35, 24, 40


class ProgressBar(QProgressBar):
    """How many of how many; while that is not known a part of it goes to and fro, round at both ends as the whole is."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._at = 0
        self._timer = 0
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def share(self) -> float | None:
        """0 to 1; none while it is not known how much there is."""
        return max(0.0, self.value() / self.maximum()) if self.maximum() > 0 else None

    def show_done(self, done: int, whole: int) -> None:
        """A whole of 0 is one that is not known."""
        self.setUpdatesEnabled(False)  # else Qt paints at once all of the window that waits to be painted, and then the bar again
        self.setRange(0, whole)
        self.setValue(done)
        self.setUpdatesEnabled(True)
        self._move_or_rest()

    def sizeHint(self) -> QSize:
        return QSize(_BAR_WIDTH, _BAR_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        palette, room = colours(), QRectF(self.rect())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(palette.unknown_tint))
        painter.drawRoundedRect(room, room.height() / 2, room.height() / 2)
        share = self.share
        if share is None:
            width = room.width() * _PART
            way = room.width() - width
            done = QRectF(way * abs(self._at / _STEPS - 1), 0, width, room.height())
        else:
            done = QRectF(0, 0, max(room.height(), room.width() * share) if share else 0, room.height())
        painter.setBrush(QColor(palette.accent))
        painter.drawRoundedRect(done, room.height() / 2, room.height() / 2)
        painter.end()

    def showEvent(self, event: QShowEvent) -> None:
        self._move_or_rest()

    def hideEvent(self, event: QHideEvent) -> None:
        self._move_or_rest()

    def timerEvent(self, event: QTimerEvent) -> None:
        self._at = (self._at + 1) % (2 * _STEPS)
        self.update()

    def _move_or_rest(self) -> None:
        moving = self.share is None and self.isVisible() and not is_calm()
        if moving and not self._timer:
            self._timer = self.startTimer(_MOVE_MILLISECONDS)
        elif not moving and self._timer:
            self.killTimer(self._timer)
            self._timer = 0


class ProgressStrip(QWidget):
    """A turning mark with what is being done. Keeps its room while hidden, so that nothing jumps, unless that would be a gap."""

    def __init__(self, parent: QWidget | None = None, *, keeps_room: bool = True) -> None:
        super().__init__(parent)
        layout = bare(QHBoxLayout(self), 8)
        self._icon = MarkIcon(Mark.BUSY, self)
        self._words = label("", "muted", self)
        layout.addWidget(self._icon)
        layout.addWidget(self._words, 1)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(keeps_room)
        self.setSizePolicy(policy)
        self._wait = self._timer(SHOW_AFTER_MILLISECONDS)
        self._stay = self._timer(STAY_MILLISECONDS)
        self._wait.timeout.connect(self._appear)
        self._stay.timeout.connect(self._settle)
        self.busy = False
        self.hide()

    def begin(self, words: str) -> None:
        self.busy = True
        self.say(words)
        if self.isHidden() and not self._wait.isActive():
            self._wait.start()

    def say(self, words: str) -> None:
        self._words.setText(words)
        self.setAccessibleName(words)

    def end(self) -> None:
        self.busy = False
        self._wait.stop()
        self._settle()

    @Slot()
    def _appear(self) -> None:
        self.show()
        self._stay.start()

    @Slot()
    def _settle(self) -> None:
        if not self.busy and not self._stay.isActive():
            self.hide()

    def _timer(self, milliseconds: int) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        return timer
