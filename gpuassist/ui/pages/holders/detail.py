"""The process that is chosen: its whole command, its memory on each card, where it belongs, and whether it may be stopped."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from gpuassist.detect.gpu_holders import GpuHolder, HeldCard, Holding, Role, name_of
from gpuassist.formats.visible import on_one_line
from gpuassist.model.fact import Fact, Known
from gpuassist.model.text import Text, labelled, text
from gpuassist.model.words import Words
from gpuassist.present.holders import ROLE_WORDS, gpus, on_card, place, share, state
from gpuassist.present.marks import Mark
from gpuassist.present.samples import gpu_title, process_name, size
from gpuassist.ui.widgets.buttons import secondary
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.code import CodeBlock, CommandBlock
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.labels import label, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, clear
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.widgets.rows import Cell, Row
from gpuassist.ui.widgets.table import ShareBar
from gpuassist.ui.wording import sentence_case

_LABEL_WIDTH = 140
PROCESS, USER, PLACE = 1, 2, 5
HEADINGS = (text("PID"), text("Process"), text("User"), text("GPU"), text("Memory"), text("Container or service"), text("Type"))
# As wide as the columns are made, whatever comes.
COLUMN_SAMPLES = (
    Cell("8888888"),
    Cell("python train.py"),
    Cell("a-user-name"),
    Cell("GPU 0, 1, 2"),
    Cell("888.8 GiB"),
    Cell("docker 3f2a51c07d1e"),
    Cell("another user's", mark=Mark.INFO),
)
ROLE_MARKS: dict[Role, Mark] = {
    Role.PROGRAM: Mark.INFO,
    Role.DESKTOP: Mark.WARNING,
    Role.SERVICE: Mark.WARNING,
    Role.OTHERS: Mark.ABSENT,
    Role.INVISIBLE: Mark.UNKNOWN,
}
_SHOWN_OF_A_COMMAND = 200  # characters: a command line can have 65,000, and a cell is measured at every paint


class HolderCard(Card):
    """Changes in place while the same process is shown, so that the keyboard stays where it is."""

    stop_wanted = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self._name = label("", "heading", self)
        self._role = StatusPill(Mark.INFO, "", self)
        self.head.addWidget(self._name)
        self.head.addWidget(self._role)
        self.head.addStretch(1)
        self._command = CodeBlock(words, "", words(text("The whole command")), self)
        self.memory = MemoryRows(words, self)
        self._facts = FactTable(words, (), self, label_width=_LABEL_WIDTH)
        self._why = paragraph("", "", self)
        self._line = CommandBlock(words, (), words(text("Commands")), self)
        self.stop = secondary(words(text("Stop process…")), self)
        self.stop.setToolTip("Del")  # the key, as Qt spells it
        self.stop.clicked.connect(self.stop_wanted)
        for widget in (self._command, self.memory, self._facts):
            self.body.addWidget(widget)
        foot = bare(QHBoxLayout(), 12)
        foot.addWidget(self._why, 1)
        foot.addWidget(self.stop, 0, Qt.AlignmentFlag.AlignTop)
        add_layout(self.body, foot)
        self.body.addWidget(self._line)

    def show_held(self, found: Holding, held: GpuHolder, *, stopping: bool) -> None:
        words, holder = self._words, held.holder
        name = words(text("{name} · process {pid}", name=name_of(holder), pid=holder.pid))
        self._name.setText(on_one_line(name))
        self.setAccessibleName(name)
        self._role.show_status(ROLE_MARKS[held.role], words(ROLE_WORDS[held.role]))
        self._command.set_content(holder.command)
        self._command.setVisible(bool(holder.command))
        cards = {card.index: card for card in found.cards}
        self.memory.show_cards(tuple((cards[index], used) for index, used in held.memory_by_gpu if index in cards))
        self._facts.set_rows(self._rows(held))
        set_paragraph(self._why, sentence_case(words(held.why)))
        self._line.set_lines(held.command)
        self._line.setVisible(bool(held.command))
        self.stop.setVisible(held.may_stop)
        self.stop.setEnabled(not stopping)
        self.stop.setAccessibleName(f"{self.stop.text()} {name}")

    @property
    def command(self) -> str:
        return self._command.content

    @property
    def line(self) -> str:
        """The line to copy where it is not stopped from here."""
        return self._line.content

    @property
    def facts(self) -> tuple[FactRow, ...]:
        return self._facts.rows

    @property
    def why(self) -> str:
        """Why it may be stopped, or not."""
        return self._why.accessibleName()

    def _rows(self, held: GpuHolder) -> list[FactRow]:
        words, holder = self._words, held.holder
        unusual, belongs = state(held), words(place(held))
        told: list[tuple[Text, str]] = [(text("User"), holder.user)]
        if not held.memory_by_gpu:
            told.append((text("Uses"), words(gpus(held))))
        told += [(text("Container or service"), belongs), (text("State"), words(unusual) if unusual is not None else "")]
        told.append((text("Open devices"), ", ".join(holder.devices)))
        return [FactRow(words(name), value) for name, value in told if value]


class MemoryRows(QWidget):
    """A row for each card: its name, a bar, and how much of it is taken."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 4, 0, 4)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnMinimumWidth(0, _LABEL_WIDTH)
        self._shown: tuple[tuple[HeldCard, Fact[int]], ...] = ()
        self.hide()

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(self._words(labelled(gpu_title(card), on_card(card, used))) for card, used in self._shown)

    def show_cards(self, cards: tuple[tuple[HeldCard, Fact[int]], ...]) -> None:
        if cards == self._shown:
            return
        self._shown = cards
        clear(self._grid)
        for row, (card, used) in enumerate(cards):
            self._add(row, card, used)
        self.setAccessibleName("; ".join(self.lines))
        self.setVisible(bool(cards))

    def _add(self, row: int, card: HeldCard, used: Fact[int]) -> None:
        self._grid.addWidget(label(self._words(gpu_title(card)), "muted", self), row, 0)
        total = card.memory_total_bytes
        if isinstance(used, Known) and isinstance(total, Known) and total.value:
            bar = ShareBar(self)
            bar.show_share(used.value / total.value)
            self._grid.addWidget(bar, row, 1)
            self._grid.addWidget(label(self._words(on_card(card, used)), "", self), row, 2)
        else:
            self._grid.addWidget(
                paragraph(self._words(on_card(card, used)), "unknown" if not isinstance(used, Known) else "", self), row, 1, 1, 2
            )


def holder_rows(found: Holding, words: Words) -> tuple[Row, ...]:
    """One row a process, in the order they were found."""
    return tuple(_row(found, held, words) for held in found.held)


def _row(found: Holding, held: GpuHolder, words: Words) -> Row:
    holder = held.holder
    command = holder.command[:_SHOWN_OF_A_COMMAND]
    name = words(process_name(command, holder.pid)) if command else "–"
    unusual = state(held)
    return (
        Cell(str(holder.pid)),
        Cell(name, command.partition(name)[2].strip(), quiet=not command, tip=words(unusual) if unusual is not None else ""),
        Cell(holder.user or "–", quiet=not holder.user),
        Cell(words(gpus(held))),
        _memory(found, held, words),
        Cell(words(place(held)), quiet=True, tip=words(place(held))),
        Cell(words(ROLE_WORDS[held.role]), mark=ROLE_MARKS[held.role], tip=words(held.why)),
    )


def _memory(found: Holding, held: GpuHolder, words: Words) -> Cell:
    used = held.memory_used_bytes
    if isinstance(used, Known):
        return Cell(words(size(used.value)), share=share(found, held))
    return Cell(words(text("not known")), quiet=True, tip=words(used.reason))
