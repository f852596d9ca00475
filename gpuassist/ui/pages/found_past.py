"""What changed on this machine, as a card: a row a change, each with its source, and whether machines are kept for that at all."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.model.past import MachineChange, Past
from gpuassist.model.text import Text, text
from gpuassist.present.marks import Mark
from gpuassist.present.past import beside_words, change_words, detail_words, title
from gpuassist.ui.jobs import Done, Failed, Latest
from gpuassist.ui.widgets.buttons import CopyButton, Tick, small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import COPY, ElidedLabel, Hairline, paragraph, set_paragraph, source_label
from gpuassist.ui.widgets.layouts import add_layout, bare, clear
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.wording import reason_of, sentence_case

if TYPE_CHECKING:
    from gpuassist.context import Session
    from gpuassist.model.words import Words
    from gpuassist.session.inspect import Inspection
    from gpuassist.ui.page import Desk

_SHOWN_FIRST = 8
_SOURCE_PART, _SOURCE_LEAST = 0.3, 92


class PastRead(Struct, frozen=True):
    """What changed, whether machines are kept, and where."""

    past: Past
    keeping: bool
    place: str
    now: datetime


class PastCard(Card):
    """What changed on this machine; of a recorded one there is nothing to tell, and no card."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk.words(text("What changed")), parent=parent)
        self._desk = desk
        self._inspection: Inspection | None = None
        self._lines: tuple[str, ...] = ()
        self._changes: list[_ShownChange] = []
        self._reading = Latest(desk.jobs, self._settled, self)
        self._copy = CopyButton(desk.words, self.plain_text, self)
        self._copy.setAccessibleName(f"{self._copy.text()}: {self.accessibleName()}")
        self.head.addWidget(self._copy)
        self.state = StateLine(self)
        self.body.addWidget(self.state)
        self.rows = bare(QVBoxLayout(), 0)
        add_layout(self.body, self.rows)
        self.more = small("", self)
        self.more.clicked.connect(self._show_all)
        self.body.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self.notes = paragraph("", "muted", self)
        self.body.addWidget(self.notes)
        self.body.addWidget(Hairline(self))
        self.keeping = KeepRow(desk.words, self)
        self.keeping.wanted.connect(self._keep)
        self.body.addWidget(self.keeping)
        self._show_nothing_yet()
        self.hide()

    def show_inspection(self, inspection: Inspection) -> None:
        """Reads what changed until this look; what is shown stays until that is there."""
        self._inspection = inspection
        self.setVisible(not inspection.recorded)
        self._reading.drop()
        if not inspection.recorded:
            self._reading.ask(lambda _: _read(self._desk, inspection))

    def plain_text(self) -> str:
        """All of it, to paste into a question to somebody else."""
        return "\n".join(self._lines) + "\n"

    def _show_nothing_yet(self) -> None:
        words = self._desk.words
        self.state.show_words(Mark.BUSY, words(text("Reading what changed…")))
        for widget in (self._copy, self.more, self.notes):
            widget.hide()
        self.keeping.setEnabled(False)

    def _settled(self, result: Done | Failed) -> None:
        if isinstance(result, Done) and isinstance(result.value, PastRead):
            self._show(result.value)
        elif isinstance(result, Failed):
            words = self._desk.words
            why = text("What changed could not be read: {reason}", reason=reason_of(words, result.error))
            self.state.show_words(Mark.UNKNOWN, words(why))

    def _show(self, read: PastRead) -> None:
        words, past = self._desk.words, read.past
        mark, told = _state(read)
        self.state.show_words(mark, words(told))
        beside = beside_words(past)
        notes = [*([words(beside)] if beside is not None else ()), *(sentence_case(words(note)) for note in past.notes)]
        set_paragraph(self.notes, "\n".join(notes))
        self.notes.setVisible(bool(notes))
        before, self._changes = self._changes, [_ShownChange.of(words, change, read.now) for change in past.changes]
        self._lines = (words(told), *(line for change in self._changes for line in change.plain), *notes)
        self._copy.setVisible(bool(self._changes))
        self.keeping.show_state(on=read.keeping, place=read.place)
        if self._changes != before:
            self._fill(_SHOWN_FIRST)

    def _fill(self, count: int) -> None:
        clear(self.rows)
        for place, change in enumerate(self._changes[:count]):
            if place:
                self.rows.addWidget(Hairline(self))
            self.rows.addWidget(PastRow(self._desk.words, change, self))
        self.more.setText(self._desk.words(text("Show all {count}", count=len(self._changes))))
        self.more.setVisible(len(self._changes) > count)

    @Slot()
    def _show_all(self) -> None:
        self._fill(len(self._changes))

    @Slot(object)
    def _keep(self, on: bool) -> None:  # noqa: FBT001 -- a slot
        desk, inspection = self._desk, self._inspection
        if inspection is not None:
            self._reading.ask(lambda _: _turned(desk, inspection, on=on))


class StateLine(QWidget):
    """In which state it is: a mark and a sentence."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = bare(QHBoxLayout(self), 8)
        self.icon = MarkIcon(Mark.BUSY, self)
        self._words = paragraph("", "", self)
        row.addWidget(self.icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._words, 1)

    def show_words(self, mark: Mark, words: str) -> None:
        self.icon.set_mark(mark)
        set_paragraph(self._words, words)
        self.setAccessibleName(words)


class KeepRow(QWidget):
    """Whether this machine is kept while it is healthy, and where that lies."""

    wanted = Signal(object)  # bool

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = bare(QHBoxLayout(self), 16)
        self.tick = Tick(words(text("Keep this machine's state while it is healthy")), self)
        self.tick.clicked.connect(self._clicked)
        self.place = ElidedLabel("", "mono", self, copy_words=words(COPY), align=Qt.AlignmentFlag.AlignRight)
        row.addWidget(self.tick)
        row.addWidget(self.place, 1)

    def show_state(self, *, on: bool, place: str) -> None:
        self.setEnabled(True)
        self.tick.setChecked(on)
        self.place.set_words(place)

    @Slot()
    def _clicked(self) -> None:
        self.wanted.emit(self.tick.isChecked())


class _ShownChange(Struct, frozen=True):
    """A change in words."""

    line: str
    details: tuple[str, ...]
    source: str

    @classmethod
    def of(cls, words: Words, change: MachineChange, now: datetime) -> _ShownChange:
        return cls(words(change_words(change, now)), tuple(map(words, detail_words(change))), ", ".join(change.sources))

    @property
    def plain(self) -> tuple[str, ...]:
        source = f"  [{self.source}]" if self.source else ""
        return (f"- {self.line}{source}", *(f"    {detail}" for detail in self.details))


class PastRow(QWidget):
    """What changed, from what to what, when and by whom; its source at the right, cut where it is long and whole in its tip."""

    def __init__(self, words: Words, change: _ShownChange, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = bare(QHBoxLayout(self), 16)
        row.setContentsMargins(0, 6, 0, 6)
        column = bare(QVBoxLayout(), 2)
        column.addWidget(paragraph(change.line, "", self))
        for detail in change.details:
            column.addWidget(paragraph(detail, "muted", self))
        add_layout(row, column, 1)
        self.source = source_label(words, change.source, self)
        self.source.setVisible(bool(change.source))
        row.addWidget(self.source, 0, Qt.AlignmentFlag.AlignTop)
        self.setAccessibleName(change.line)

    def minimumSizeHint(self) -> QSize:
        """With the least that the source may have, not with what it has now."""
        hint, least = super().minimumSizeHint(), min(self.source.sizeHint().width(), _SOURCE_LEAST)
        return QSize(hint.width() - self.source.minimumWidth() + least if self.source.isVisible() else hint.width(), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        room = max(int(self.width() * _SOURCE_PART), _SOURCE_LEAST)
        self.source.setFixedWidth(min(self.source.sizeHint().width(), room))


def _state(read: PastRead) -> tuple[Mark, Text]:
    past = read.past
    if past.kept or past.changes:
        return Mark.INFO if past.changes else Mark.RIGHT, title(past, read.now)
    if read.keeping:
        words = text(
            "No healthy state of this machine has been kept yet. From now on gpuassist keeps it, and shows here "
            "what has changed since."
        )
        return Mark.INFO, words
    return Mark.INFO, text("No state of this machine is kept, so gpuassist cannot show what changed.")


# What a job does: all of it is imported where it runs.


def _read(desk: Desk, inspection: Inspection) -> PastRead:
    from gpuassist.session.kept_machines import keeping, root

    world = desk.session.world
    return PastRead(_past(desk.session, inspection), keeping(world), root(world), world.clock.now())


def _turned(desk: Desk, inspection: Inspection, *, on: bool) -> PastRead:
    from gpuassist.session.kept_machines import keep_healthy, set_keeping

    set_keeping(desk.session.world, on)
    if on:
        keep_healthy(desk.session.world, inspection)
    return _read(desk, inspection)


def _past(session: Session, inspection: Inspection) -> Past:
    from gpuassist.session.past import past

    return past(session, inspection.machine, findings=inspection.diagnosis.findings)
