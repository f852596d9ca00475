"""The repairs beside the toolkit: what start-up files put wrongly on search lists, and which GPUs programs see."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.wishes import ChangeWish, CleanShell, UseDevices
from gpuassist.model.fact import Fact, Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.changes import PROMISE
from gpuassist.present.marks import Mark
from gpuassist.shellfiles.lines import LineChoice
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.repair.choices import TickRow
from gpuassist.ui.pages.repair.plan import PlanCard
from gpuassist.ui.pages.repair.scope import ScopedSection
from gpuassist.ui.pages.repair.section import RepairSection
from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, clear
from gpuassist.ui.widgets.segments import Segments
from gpuassist.ui.widgets.text_fields import TextLine
from gpuassist.ui.wording import sentence_case

ALL = "all"
_LATER = text("Looking…")


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
        self.names.setToolTip(
            words(text("An index follows the order on the PCI bus; a UUID stays with its card when cards are moved"))
        )
        self.names.chosen.connect(self._tell)
        self._list = bare(QVBoxLayout(), 8)
        self.entry: QLineEdit | None = None
        add_layout(self.top, self._list)
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
            self.entry = TextLine(self)
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


class CleanSection(RepairSection):
    """Empty elements, stubs, directories that are not there, that come twice, or whose libraries break programs."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        home = desk.session.world.surroundings.home
        super().__init__(desk, PlanCard(desk.words, home, text("Entries to clean up")), parent)
        self._lines: tuple[LineChoice, ...] | None = None
        self.card.lines_chosen.connect(self.choose_lines)
        self.header = (desk.words(text("Clean up PATH and LD_LIBRARY_PATH")), desk.words(_LATER))

    def wish(self) -> ChangeWish | None:
        return CleanShell(self._lines)

    def show_machine(self, machine: Machine, *, recorded: bool) -> None:
        self._lines = None
        super().show_machine(machine, recorded=recorded)

    def show_shell_plan(self, repair: ChangePlan) -> None:
        super().show_shell_plan(repair)
        self.card.setVisible(bool(repair.lines))
        if not repair.lines:
            about = text(
                "No empty entries, no stub libraries, no missing or duplicate directories, and none that breaks a program."
            )
            self.panel.hide()
            self.say_instead(Mark.RIGHT, text("Nothing to clean up"), about)

    @Slot(object)
    def choose_lines(self, lines: tuple[LineChoice, ...]) -> None:
        self._lines = lines
        self.ask_for_plan()


class DevicesSection(ScopedSection):
    """Keeps CUDA_VISIBLE_DEVICES for new shells or for one scope, or takes it out again."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        self.devices_card: DevicesCard = DevicesCard(desk.words, desk.session.world.surroundings.home)
        super().__init__(desk, self.devices_card, parent)
        self._own_choice = False  # whether the user chose GPUs since the machine was read
        self.devices_card.devices_chosen.connect(self._choose)
        self.header = (desk.words(text("Choose the GPUs that programs see")), desk.words(_LATER))

    def show_machine(self, machine: Machine, *, recorded: bool) -> None:
        if not self.changing.busy:
            self._own_choice = False
            self.devices_card.show_gpus(machine.gpus)
        super().show_machine(machine, recorded=recorded)

    def start(self) -> None:
        self.devices_card.thaw()
        super().start()

    def wish(self) -> ChangeWish | None:
        words = self.devices_card.wish
        return UseDevices(words, scope=self.scope) if words else None

    def show_nothing(self) -> None:
        words = self.desk.words
        self.header = (words(text("Choose the GPUs that programs see")), words(PROMISE))
        rest = text("Select at least one. To let programs see every GPU again, select all.")
        if self.devices_card.entry is not None:
            rest = text("Type which GPUs programs can see: indices, UUIDs, or all.")
        elif not self.devices_card.ticks:
            rest = text("This machine has no NVIDIA GPU, so there is nothing to choose between.")
        self.say_instead(Mark.TODO, text("No GPU is chosen"), rest)

    def show_held(self) -> None:
        """Ticks what is chosen in the scope now, and plans by that; as long as nobody has chosen anything else."""
        if self._own_choice or self.settled:
            return
        held = next((scope.held.devices for scope in self.scopes if scope.words == self.scope), ())
        before = self.devices_card.wish
        self.devices_card.show_held(held)
        if self.devices_card.wish != before:
            self.expire()

    def scope_changed(self) -> None:
        self._own_choice = False
        self.show_held()
        self.start()

    @Slot(str)
    def _choose(self, _words: str) -> None:
        self._own_choice = True
        self.ask_for_plan()
