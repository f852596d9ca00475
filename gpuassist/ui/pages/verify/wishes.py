"""The verify page's row of controls: in which environment, on which devices, how thoroughly, start and cancel."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QSizePolicy, QWidget

from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.environments import environment_lines
from gpuassist.present.overview import short_name
from gpuassist.session.verify import choose
from gpuassist.ui.widgets.buttons import DropDown, primary, secondary
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import label
from gpuassist.ui.widgets.layouts import bare
from gpuassist.verify.runner import Level

ALL = "all"
CPU = "cpu"


class VerifyWishes(Card):
    """What shall be verified. The page runs it and says how far it is."""

    start_wanted = Signal()
    cancel_wanted = Signal()
    interpreter_wanted = Signal()  # one that is not in the list
    changed = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self._environment = self._choice(text("Environment"))
        self._environment.setSizeAdjustPolicy(DropDown.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._environment.setMinimumWidth(200)  # an environment's name gives way: Qt would ask for all of it
        self._environment.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._environment.activated.connect(self._choose_environment)
        self._last = -1
        self._own_choice = False  # whether the user chose the environment
        self._named: tuple[str, ...] = ()  # interpreters that the user named
        self._devices = self._choice(text("Devices"))
        self._devices.setSizeAdjustPolicy(DropDown.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._devices.setMinimumWidth(150)
        self._depth = self._choice(text("Depth"))
        self._depth.addItem(words(text("Quick")), Level.QUICK.value)
        self._depth.addItem(words(text("Full")), Level.FULL.value)
        for choice in (self._devices, self._depth):
            choice.activated.connect(self.changed)
        self.start = primary(words(text("Start")), self)
        self.start.clicked.connect(self.start_wanted)
        self.cancel = secondary(words(text("Cancel")), self)
        self.cancel.clicked.connect(self.cancel_wanted)
        self._bar = QProgressBar(self)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(words(text("Checks done")))
        self._bar.setFixedWidth(96)
        self._count = label("", "muted", self)
        self._lay_out()
        self.show_idle()

    @property
    def interpreter(self) -> str:
        return str(self._environment.currentData() or "")

    @property
    def devices(self) -> tuple[str, ...]:
        """The chosen devices as a request takes them."""
        return (str(self._devices.currentData() or ALL),)

    @property
    def level(self) -> Level:
        return Level(self._depth.currentData())

    @property
    def environment_name(self) -> str:
        return self._environment.currentText()

    def show_machine(self, machine: Machine) -> None:
        """Its environments that hold a torch, and its GPUs. What the user chose stays while it is there."""
        chosen = choose(machine.environments)
        preferred = value_or(chosen.value.interpreter, "") if isinstance(chosen, Known) else ""
        own, device = self.interpreter if self._own_choice else "", self._devices.currentData()
        blocked = QSignalBlocker(self._environment)
        self._environment.clear()
        by_prefix = {one.prefix: one for one in value_or(machine.environments, ())}
        for line in environment_lines(machine):
            interpreter = by_prefix[line.prefix].interpreter
            if line.has_torch and isinstance(interpreter, Known):
                name = text("{name} · Python {python} · torch {torch}", name=line.name, python=line.python, torch=line.torch)
                self._environment.addItem(self._words(name), interpreter.value)
        for path in self._named:
            if self._environment.findData(path) < 0:
                self._environment.addItem(path, path)
        self._environment.addItem(self._words(text("Choose an interpreter…")), "")
        if own and self._environment.findData(own) >= 0:
            self._pick(self._environment.findData(own))
        else:
            self._own_choice = False
            self._pick(max(0, self._environment.findData(preferred)) if preferred else -1)
        blocked.unblock()
        self._show_devices(machine)
        self._devices.setCurrentIndex(max(0, self._devices.findData(device)))

    def add_interpreter(self, path: str) -> None:
        """One that the user named, chosen from now on."""
        self._own_choice, self._named = True, (*self._named, path)
        place = self._environment.findData(path)
        if place < 0:
            place = self._environment.count() - 1
            self._environment.insertItem(place, path, path)
        self._pick(place)
        self.changed.emit()

    def show_idle(self) -> None:
        self.start.show()
        for widget in (self.cancel, self._bar, self._count):
            widget.hide()
        for choice in (self._environment, self._devices, self._depth):
            choice.setEnabled(True)

    def show_running(self, done: int, of: int) -> None:
        """A run is under way; 0 of 0 while torch is being imported."""
        self.start.hide()
        for widget in (self.cancel, self._bar, self._count):
            widget.show()
        for choice in (self._environment, self._devices, self._depth):
            choice.setEnabled(False)
        self._bar.setRange(0, of)
        self._bar.setValue(done)
        words = text("{done} of {of}", done=done, of=of) if of else text("importing torch")
        self._count.setText(self._words(words))

    def _show_devices(self, machine: Machine) -> None:
        self._devices.clear()
        gpus = value_or(machine.gpus, ())
        self._devices.addItem(self._words(text("All GPUs") if gpus else text("Whatever torch sees")), ALL)
        for gpu in gpus:
            if isinstance(gpu.index, Known):
                name = text("GPU {index} · {name}", index=gpu.index.value, name=short_name(value_or(gpu.name, "")))
                self._devices.addItem(self._words(name), str(gpu.index.value))
        self._devices.addItem(self._words(text("CPU")), CPU)

    def _lay_out(self) -> None:
        row = bare(QHBoxLayout(), 10)
        for name, choice in ((text("In"), self._environment), (text("on"), self._devices), (text("Depth"), self._depth)):
            row.addWidget(label(self._words(name), "muted", self))
            row.addWidget(choice, 1 if choice is self._environment else 0)
        for widget in (self._count, self._bar, self.cancel, self.start):
            row.addWidget(widget)
        self.body.addLayout(row)

    def _choice(self, name: Text) -> DropDown:
        made = DropDown(self)
        made.setAccessibleName(self._words(name))
        return made

    def _pick(self, place: int) -> None:
        self._environment.setCurrentIndex(place)
        self._environment.setPlaceholderText(self._words(text("No environment with torch was found: choose an interpreter")))
        self._last = place

    @Slot(int)
    def _choose_environment(self, place: int) -> None:
        if self._environment.itemData(place):
            self._last, self._own_choice = place, True
            self.changed.emit()
            return
        self._environment.setCurrentIndex(self._last)  # until one is named
        self.interpreter_wanted.emit()
