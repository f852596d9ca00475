"""What a step of an install prints while it runs: live lines, a way to cancel, and where all of it is kept."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpuassist.install.run_view import RunView
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.ui.widgets.buttons import CopyButton, small
from gpuassist.ui.widgets.cards import Card, Well
from gpuassist.ui.widgets.labels import COPY, ElidedLabel
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.output_view import OutputView
from gpuassist.ui.widgets.paragraphs import label

_SECOND = 1000


class OutputCard(Card):
    """Shown from when a step begins; afterwards it says where the log lies."""

    cancel_wanted = Signal()
    open_wanted = Signal(object)  # the log's path, a str

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self._log = ""
        self._since = QElapsedTimer()
        self._tick = QTimer(self)
        self._tick.setInterval(_SECOND)
        self._tick.timeout.connect(self._show_time)
        self._busy = MarkIcon(Mark.BUSY, self)
        self._title = label("", "heading", self)
        self.cancel = small(words(text("Cancel")), self)
        self.cancel.setToolTip(words(text("Ends the programs of this step and all that they started")))
        self.cancel.clicked.connect(self._cancel)
        for one in (self._busy, self._title):
            self.head.addWidget(one)
        self.head.addStretch(1)
        self.head.addWidget(self.cancel)
        self.view = OutputView(words(text("What it prints")), self)
        well = Well(self)
        well.body.addWidget(self.view)
        self.body.addWidget(well)
        self._kept = self._kept_row()
        self.body.addWidget(self._kept)
        self.hide()

    @property
    def running(self) -> bool:
        """Whether something is under way."""
        return self._tick.isActive()

    @property
    def log(self) -> str:
        """Where all of it is kept; empty while that is not known."""
        return self._log

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
        """It has ended."""
        self._tick.stop()
        self.view.finish()
        self._busy.hide()
        self.cancel.hide()
        self._title.setText(self._words(text("What it printed")))
        self._log = log
        self._path.set_words(log)
        self._kept.setVisible(bool(log))

    def _kept_row(self) -> QWidget:
        words = self._words
        inside = QWidget(self)
        row = QHBoxLayout(inside)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(label(words(text("All of it:")), "muted", inside))
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
        return self._log

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
        self.open_wanted.emit(self._log)
