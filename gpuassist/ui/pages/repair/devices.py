"""The left card of a choice of GPUs: a tick for each, and whether they are named by index or by UUID."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from gpuassist.model.fact import Fact, Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.ui.pages.repair.choices import TickRow
from gpuassist.ui.pages.repair.plan import PlanCard
from gpuassist.ui.reasons import sentence_case
from gpuassist.ui.widgets.cards import clear
from gpuassist.ui.widgets.paragraphs import paragraph
from gpuassist.ui.widgets.segments import Segments

ALL = "all"


class DevicesCard(PlanCard):
    """Emits the words that `use devices` takes; every GPU ticked means that none is hidden. Empty where no GPU is ticked."""

    devices_chosen = Signal(str)

    def __init__(self, words: Words, home: str, parent: QWidget | None = None) -> None:
        super().__init__(words, home, text("GPUs that programs see"), parent)
        self._gpus: tuple[Gpu, ...] = ()
        self.ticks: tuple[TickRow, ...] = ()
        self.names = Segments(
            (words(text("By index")), words(text("By UUID"))), words(text("How they are named")), self, compact=True
        )
        self.names.setToolTip(words(text("An index counts along the PCI bus; a UUID stays with its card when cards are moved")))
        self.names.chosen.connect(self._tell)
        self._list = QVBoxLayout()
        self._list.setSpacing(8)
        self.entry: QLineEdit | None = None
        self.top.addLayout(self._list)
        self.top.addWidget(self.names)

    def show_gpus(self, gpus: Fact[tuple[Gpu, ...]]) -> None:
        """The GPUs of the machine; where they are not known, a field for their numbers."""
        clear(self._list)
        self._gpus = value_or(gpus, ())
        self.ticks, self.entry = (), None
        for place, gpu in enumerate(self._gpus):
            row = TickRow(f"{value_or(gpu.index, place)}: {value_or(gpu.name, '') or value_or(gpu.pci_id, '?')}", self)
            row.tick.setChecked(True)
            row.show_reason(value_or(gpu.uuid, ""))
            row.tick.toggled.connect(self._tell)
            self.ticks = (*self.ticks, row)
            self._list.addWidget(row)
        self.names.setVisible(bool(self._gpus))
        known = all(isinstance(gpu.uuid, Known) and gpu.uuid.value for gpu in self._gpus)
        self.names.offer(1, why_not="" if known else self.words(text("not every GPU's UUID is known")))
        if not isinstance(gpus, Known):
            reason = sentence_case(self.words(gpus.reason))
            self._list.addWidget(paragraph(reason, "muted", self))
            self.entry = QLineEdit(self)
            self.entry.setPlaceholderText(self.words(text("0,2 or UUIDs, or all")))
            self.entry.setAccessibleName(self.words(text("GPUs that programs see")))
            self.entry.editingFinished.connect(self._tell)
            self._list.addWidget(self.entry)
        elif not self._gpus:
            self._list.addWidget(paragraph(self.words(text("This machine has no NVIDIA GPU.")), "muted", self))

    def show_held(self, values: tuple[str, ...]) -> None:
        """What is chosen now, by index or by UUID; none for every GPU. Tells nobody."""
        for place, row in enumerate(self.ticks):
            gpu = self._gpus[place]
            known = (str(value_or(gpu.index, place)), value_or(gpu.uuid, ""))
            row.tick.blockSignals(True)  # noqa: FBT003 -- Qt's own
            row.tick.setChecked(not values or any(name in values for name in known))
            row.tick.blockSignals(False)  # noqa: FBT003 -- Qt's own

    @property
    def wish(self) -> str:
        """What is chosen, in the words of `use devices`; empty for nothing."""
        if self.entry is not None:
            return self.entry.text().strip()
        ticked = [place for place, row in enumerate(self.ticks) if row.tick.isChecked()]
        if len(ticked) == len(self.ticks):
            return ALL if self.ticks else ""
        return ",".join(self._name(place) for place in ticked)

    def freeze(self) -> None:
        super().freeze()
        self._enable(on=False)

    def thaw(self) -> None:
        """Can be chosen again."""
        self._enable(on=True)

    def _enable(self, *, on: bool) -> None:
        for row in self.ticks:
            row.tick.setEnabled(on)
        if self.entry is not None:
            self.entry.setEnabled(on)
        self.names.setEnabled(on)

    def _name(self, place: int) -> str:
        gpu = self._gpus[place]
        if self.names.place == 1:
            return value_or(gpu.uuid, "")
        return str(value_or(gpu.index, place))

    @Slot()
    def _tell(self) -> None:
        self.devices_chosen.emit(self.wish)
