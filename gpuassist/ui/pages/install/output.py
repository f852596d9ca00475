"""What a step of an install prints while it runs: live lines, a way to cancel, and where all of it is kept."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QElapsedTimer, QTimer, Signal, Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpuassist.formats.visible import on_one_line
from gpuassist.install.run_view import RunView
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.ui.widgets.buttons import CopyButton, small
from gpuassist.ui.widgets.cards import Card, Well
from gpuassist.ui.widgets.code import make_read_only
from gpuassist.ui.widgets.labels import COPY, ElidedLabel, label
from gpuassist.ui.widgets.layouts import bare
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.text_fields import TextArea

_SECOND = 1000
LINES_SHOWN = 1_000  # the last; the log holds them all. All of them anew take 4 ms (measured), ten times a second at most
DRAW_MILLISECONDS = 100
_HEIGHT = 260
_AROUND = 4


class OutputCard(Card):
    """Shown from when a step begins; afterwards it says where the log lies."""

    cancel_wanted = Signal()
    open_wanted = Signal(object)  # the log's path, a str

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self.log = ""
        self._since = QElapsedTimer()
        self._tick = QTimer(self)
        self._tick.setInterval(_SECOND)
        self._tick.timeout.connect(self._show_time)
        self._busy = MarkIcon(Mark.BUSY, self)
        self._title = label("", "heading", self)
        self.cancel = small(words(text("Cancel")), self)
        self.cancel.setToolTip(words(text("Ends the programs of this step and everything they started")))
        self.cancel.clicked.connect(self._cancel)
        for one in (self._busy, self._title):
            self.head.addWidget(one)
        self.head.addStretch(1)
        self.head.addWidget(self.cancel)
        self.view = OutputView(words(text("Output")), self)
        well = Well(self)
        well.body.addWidget(self.view)
        self.body.addWidget(well)
        self._kept = self._kept_row()
        self.body.addWidget(self._kept)
        self.hide()

    @property
    def running(self) -> bool:
        return self._tick.isActive()

    def begin(self, view: RunView) -> None:
        """A step begins, and prints into `view`."""
        self._since.start()
        self._tick.start()
        self._show_time()
        self._busy.show()
        self.cancel.setText(self._words(text("Cancel")))
        self.cancel.setEnabled(True)
        self.cancel.show()
        self._kept.hide()
        self.view.follow(view)
        self.show()

    def end(self, log: str) -> None:
        self._tick.stop()
        self.view.finish()
        self._busy.hide()
        self.cancel.hide()
        self._title.setText(self._words(text("Output")))
        self.log = log
        self._path.set_words(log)
        self._kept.setVisible(bool(log))

    def _kept_row(self) -> QWidget:
        words = self._words
        inside = QWidget(self)
        row = bare(QHBoxLayout(inside), 8)
        row.addWidget(label(words(text("Full log:")), "muted", inside))
        self._path = ElidedLabel("", "mono", inside, copy_words=words(COPY))
        row.addWidget(self._path, 1)
        self.open_log = small(words(text("Open")), inside)
        self.open_log.setAccessibleName(words(text("Open the log")))
        self.open_log.clicked.connect(self._open)
        row.addWidget(self.open_log)
        copy = CopyButton(words, self._path_words, inside, title=words(text("Copy path")))
        row.addWidget(copy)
        inside.hide()
        return inside

    def _path_words(self) -> str:
        return self.log

    @Slot()
    def _show_time(self) -> None:
        minutes, seconds = divmod(self._since.elapsed() // _SECOND, 60)
        self._title.setText(self._words(text("Running for {time}", time=f"{minutes}:{seconds:02}")))

    @Slot()
    def _cancel(self) -> None:
        self.cancel.setEnabled(False)
        self.cancel.setText(self._words(text("Cancelling…")))
        self.cancel_wanted.emit()

    @Slot()
    def _open(self) -> None:
        self.open_wanted.emit(self.log)


class OutputView(TextArea):
    """Draws what a `RunView` holds; stays at the end unless somebody scrolled up to read."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view: RunView | None = None
        self._first = 0  # the number of the line that stands at the top
        self._count = 0
        self._timer = QTimer(self)
        self._timer.setInterval(DRAW_MILLISECONDS)
        self._timer.timeout.connect(self.draw)
        make_read_only(self, name)
        self.setUndoRedoEnabled(False)
        self.document().setDocumentMargin(_AROUND)
        self.setFixedHeight(_HEIGHT)

    @property
    def follows(self) -> bool:
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
    # Nearly all are printable as they are: to ask that takes a tenth of cleaning them.
    return "\n".join(line if line.isprintable() else on_one_line(line) for line in lines)
