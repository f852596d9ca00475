"""The repairs beside the toolkit: what start-up files put wrongly on search lists, and which GPUs programs see."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.wishes import ChangeWish, CleanShell, UseDevices
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.present.changes import PROMISE
from gpuassist.present.marks import Mark
from gpuassist.shellfiles.lines import LineChoice
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.repair_devices import DevicesCard
from gpuassist.ui.pages.repair_plan import PlanCard
from gpuassist.ui.pages.repair_scoped import ScopedSection
from gpuassist.ui.pages.repair_section import RepairSection

_LATER = text("Looking…")


class CleanSection(RepairSection):
    """Empty elements, stubs, directories that are not there, that come twice, or whose libraries break programs."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        home = desk.session.world.surroundings.home
        super().__init__(desk, PlanCard(desk.words, home, text("What should not be searched")), parent)
        self._lines: tuple[LineChoice, ...] | None = None
        self.card.lines_chosen.connect(self.choose_lines)
        self.header = (desk.words(text("Clean up the start-up files")), desk.words(_LATER))

    def wish(self) -> ChangeWish | None:
        return CleanShell(self._lines)

    def show_machine(self, machine: Machine, *, recorded: bool) -> None:
        self._lines = None
        super().show_machine(machine, recorded=recorded)

    def show_shell_plan(self, repair: ChangePlan) -> None:
        super().show_shell_plan(repair)
        self.card.setVisible(bool(repair.lines))
        if not repair.lines:
            about = text("No empty element, no stubs, no directory that is missing or comes twice, none that breaks a program.")
            self.panel.hide()
            self.say_instead(Mark.RIGHT, text("Nothing to clean"), about)

    @Slot(object)
    def choose_lines(self, lines: tuple[LineChoice, ...]) -> None:
        """Exactly these do not stay."""
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
        rest = text("Tick at least one. To show programs every GPU again, tick them all.")
        if self.devices_card.entry is not None:
            rest = text("Type which GPUs programs shall see: indices, UUIDs, or all.")
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
