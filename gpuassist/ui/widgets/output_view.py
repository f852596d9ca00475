"""What a running step prints: read-only lines that follow at a calm pace, however fast they come."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from gpuassist.formats.visible import on_one_line
from gpuassist.install.run_view import RunView
from gpuassist.ui.theme import mono

LINES_SHOWN = 1_000  # the last; the log holds them all. All of them anew take 4 ms (measured), ten times a second at most
DRAW_MILLISECONDS = 100
_HEIGHT = 260
_AROUND = 4


class OutputView(QPlainTextEdit):
    """Draws what a `RunView` holds; stays at the end unless somebody scrolled up to read."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view: RunView | None = None
        self._first = 0  # the number of the line that stands at the top
        self._count = 0
        self._timer = QTimer(self)
        self._timer.setInterval(DRAW_MILLISECONDS)
        self._timer.timeout.connect(self.draw)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(True)
        self.setFont(mono())
        self.setAccessibleName(name)
        self.document().setDocumentMargin(_AROUND)
        self.setFixedHeight(_HEIGHT)

    @property
    def follows(self) -> bool:
        """Whether lines are still to come."""
        return self._timer.isActive()

    def follow(self, view: RunView) -> None:
        """Shows these lines from now on, as they come."""
        self._view, self._first, self._count = view, 0, 0
        self.clear()
        self.setFixedHeight(_HEIGHT)
        self._timer.start()

    def finish(self) -> None:
        """Nothing comes any more: shows the last of it."""
        self._timer.stop()
        self.draw()
        shown = self.blockCount() * self.fontMetrics().lineSpacing() + 2 * _AROUND + self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(min(_HEIGHT, shown))

    @Slot()
    def draw(self) -> None:
        """Shows what has come since."""
        if self._view is None:
            return
        fresh = self._view.take()
        if fresh.lines or fresh.start < self._first + self._count:
            bar = self.verticalScrollBar()
            at_end = bar.value() >= bar.maximum() - 1
            kept = fresh.start - fresh.first
            if not kept or fresh.first >= self._first + self._count:
                self.setPlainText(_seen(fresh.lines))
            else:
                # Takes out what is kept no more and what changed, and puts the new after it.
                cursor = QTextCursor(self.document())
                cursor.beginEditBlock()
                changed = self.document().findBlockByNumber(fresh.start - self._first)
                if changed.isValid():
                    cursor.setPosition(max(0, changed.position() - 1))
                    cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
                    cursor.removeSelectedText()
                if fresh.lines:
                    cursor.movePosition(QTextCursor.MoveOperation.End)
                    cursor.insertText("\n" + _seen(fresh.lines))
                if fresh.first > self._first:
                    cursor.setPosition(0)
                    top = self.document().findBlockByNumber(fresh.first - self._first)
                    cursor.setPosition(top.position(), QTextCursor.MoveMode.KeepAnchor)
                    cursor.removeSelectedText()
                cursor.endEditBlock()
            self._first, self._count = fresh.first, kept + len(fresh.lines)
            if at_end:
                bar.setValue(bar.maximum())


def _seen(lines: Sequence[str]) -> str:
    return "\n".join(map(on_one_line, lines))
