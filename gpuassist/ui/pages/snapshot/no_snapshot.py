"""What stands on the page while no snapshot is open: how to make one, how much of one to read, that it is read, why it was not."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.present.snapshot_page import outlook_words
from gpuassist.session.opened_snapshot import ReadingOutlook
from gpuassist.ui.widgets.buttons import primary, secondary, small
from gpuassist.ui.widgets.cards import Card, EmptyState
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.labels import paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import SPACING, add_layout, bare
from gpuassist.ui.widgets.progress import ProgressBar
from gpuassist.ui.widgets.segments import Segments
from gpuassist.ui.wording import sentence_case

TORCH_LINES = """\
torch.cuda.memory._record_memory_history(max_entries=100_000)
torch.cuda.memory._dump_snapshot("snapshot.pickle")
torch.cuda.memory._record_memory_history(enabled=None)
"""
RUN_LINE = "gpuassist run --snapshots . -- python train.py"
_WHOLE = 1000


class NoSnapshot(QWidget):
    """Emits what its buttons are pressed for."""

    open_wanted = Signal()
    cancelled = Signal()

    def __init__(self, words: Words, icon: bytes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.state = EmptyState(Mark.TODO, "", "", self, icon=icon)
        self.bar = ProgressBar(words(text("How much of the file was read")), self)
        self.opens = small(words(text("Open a memory snapshot…")), self)
        self.opens.clicked.connect(self.open_wanted)
        self.cancel = small(words(text("Cancel")), self)
        self.cancel.clicked.connect(self.cancelled)
        row = self.state.buttons
        row.addStretch(1)
        for widget in (self.bar, self.opens, self.cancel):
            row.addWidget(widget)
        row.addStretch(1)
        self.how = HowToMake(words, self)
        column = bare(QVBoxLayout(self), SPACING)
        column.addWidget(self.state)
        column.addWidget(self.how)
        column.addStretch(1)
        self.show_nothing()

    def show_nothing(self) -> None:
        about = text("Open a file that torch wrote, or drop it anywhere on the window. It is read, and nothing in it is run.")
        self._show(Mark.TODO, text("Whose memory is it?"), self._words(about))

    def show_reading(self, name: str, share: float | None, detail: Text | None = None) -> None:
        """How much was read so far; none where that is not known."""
        said = self._words(detail) if detail is not None else ""
        self._show(Mark.BUSY, text("Reading {name}", name=name), said, reads=True)
        self.bar.show_done(round((share or 0.0) * _WHOLE), 0 if share is None else _WHOLE)

    def show_failure(self, name: str, reason: str) -> None:
        self._show(Mark.PROBLEM, text("{name} cannot be opened", name=name), sentence_case(reason))

    def _show(self, mark: Mark, title: Text, words: str, *, reads: bool = False) -> None:
        self.state.show_words(mark, self._words(title), words)
        self.bar.setVisible(reads)
        self.cancel.setVisible(reads)
        self.opens.setVisible(not reads)
        self.how.setVisible(not reads)


class HowToMake(Card):
    """The lines to copy."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("How to make one")), parent=parent)
        for about, lines in (
            (text("In the program: before the part that matters, after it or where it fails, and to stop"), TORCH_LINES.rstrip()),
            (text("Or without changing the program: a snapshot at every out-of-memory error"), RUN_LINE),
        ):
            self.body.addWidget(paragraph(words(about), "muted", self))
            self.body.addWidget(CodeBlock(words, lines, words(about), self))


LAST_EVENTS = (0, 1_000_000, 100_000)  # 0 for all


class BeforeReading(Card):
    """What reading a large file takes, and how much of it to read."""

    read_wanted = Signal(int)  # so many of the last events, 0 for all
    cancelled = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("How much of it?")), parent=parent)
        self._words = words
        self._outlook: ReadingOutlook | None = None
        self.about = paragraph("", "", self)
        titles = (text("everything"), text("the last 1,000,000 events"), text("the last 100,000 events"))
        self.parts = Segments([words(one) for one in titles], words(text("How much of it is read")), self)
        self.parts.chosen.connect(self._say)
        self.reads = primary(words(text("Read it")), self)
        self.reads.clicked.connect(lambda: self.read_wanted.emit(LAST_EVENTS[self.parts.place]))
        self.cancel = secondary(words(text("Cancel")), self)
        self.cancel.clicked.connect(self.cancelled)
        row = bare(QHBoxLayout(), 8)
        row.addWidget(self.reads)
        row.addWidget(self.cancel)
        row.addStretch(1)
        for widget in (self.about, self.parts):
            self.body.addWidget(widget)
        add_layout(self.body, row)

    def show_outlook(self, outlook: ReadingOutlook) -> None:
        self._outlook = outlook
        refused = "" if outlook.fits else self._words(text("there is not enough memory for all of it"))
        self.parts.offer(0, why_not=refused)
        self.parts.show_chosen(0 if outlook.fits else 1)
        self._say()
        self.parts.button(self.parts.place).setFocus()

    @Slot()
    def _say(self) -> None:
        if self._outlook is not None:
            whole = self.parts.place == 0
            self.reads.setEnabled(self._outlook.fits if whole else self._outlook.part_fits)
            set_paragraph(self.about, self._words(outlook_words(self._outlook, whole=whole)))
