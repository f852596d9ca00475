"""The verify page's row of controls: in which environment, on which devices, how thoroughly, start and cancel."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QSizePolicy, QWidget

from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.environments import environment_lines
from gpuassist.present.marks import Mark
from gpuassist.present.overview import short_name
from gpuassist.session.verify import VerifyRequest, choose
from gpuassist.ui.pages.verify.inside import InsideRow
from gpuassist.ui.theme import set_look
from gpuassist.ui.widgets.buttons import DropDown, Tick, primary, secondary
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.keys import tab_stops, tab_through
from gpuassist.ui.widgets.labels import ElidedLabel, label
from gpuassist.ui.widgets.layouts import FlowLayout, add_layout, bare, by_text, clear
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.progress import ProgressBar
from gpuassist.verify.runner import Level

ALL = "all"
CPU = "cpu"
_SEVERAL = "several"
_INSIDE = "inside"  # no interpreter of this machine; it is no path
_BETWEEN = 10
_SEVERAL_FROM = 3  # GPUs; of two, both are all of them
_COSTS = {
    Level.QUICK: text("About 10 s after torch is imported; checks that would take longer are left out."),
    Level.FULL: text("Several minutes: every format, the memory, sustained load. The GPUs are busy."),
}


class VerifyWishes(Card):
    """What shall be verified. The page runs it and says how far it is."""

    start_wanted = Signal()
    cancel_wanted = Signal()
    interpreter_wanted = Signal()  # one that is not in the list
    file_wanted = Signal()  # of an image
    changed = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self._environment = self._choice(text("Environment"))
        self._environment.setSizeAdjustPolicy(DropDown.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._environment.setMinimumWidth(by_text(160))  # an environment's name gives way: Qt would ask for all of it
        self._environment.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._environment.activated.connect(self._choose_environment)
        self._last = -1
        self._own_choice = False  # whether the user chose the environment
        self._named: tuple[str, ...] = ()  # interpreters that the user named
        self.inside = InsideRow(words, self)
        self.inside.changed.connect(self.changed)
        self.inside.confirmed.connect(self._confirm)
        self.inside.file_wanted.connect(self.file_wanted)
        self._devices = self._choice(text("Devices"))
        self._devices.setSizeAdjustPolicy(DropDown.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._devices.setMinimumWidth(by_text(125))
        self._depth = self._choice(text("Test length"))
        self._depth.addItem(words(text("Quick")), Level.QUICK.value)
        self._depth.addItem(words(text("Full")), Level.FULL.value)
        self._devices.activated.connect(self._choose_devices)
        self._depth.activated.connect(self._choose_depth)
        self.ticks: tuple[Tick, ...] = ()
        self._tick_row = QWidget(self)
        self._tick_flow = FlowLayout(self._tick_row, gap=16)
        self._tick_row.setAccessibleName(words(text("GPUs to verify")))
        self.start = primary(words(text("Start")), self)
        self.start.clicked.connect(self.start_wanted)
        self.cancel = secondary(words(text("Cancel")), self)
        self.cancel.clicked.connect(self.cancel_wanted)
        self.cancel.setShortcut("Esc")
        self.cancel.setToolTip("Esc")
        self._bar = ProgressBar(words(text("Checks done")), self)
        self._busy = MarkIcon(Mark.BUSY, self)
        self._count = ElidedLabel("", "muted", self, elide=Qt.TextElideMode.ElideRight)
        self._count.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._lay_out()
        self.show_idle()

    @property
    def leads(self) -> bool:
        """Whether its start is the blue button, and can be pressed."""
        return bool(self.start.property("kind") == "primary" and self.start.isEnabled())

    def show_lead(self, *, leads: bool) -> None:
        set_look(self.start, "kind", "primary" if leads else "secondary")

    @property
    def interpreter(self) -> str:
        """Of the environment that is chosen; none where an image or a container is."""
        chosen = str(self._environment.currentData() or "")
        return "" if chosen == _INSIDE else chosen

    @property
    def request(self) -> VerifyRequest | None:
        """What was chosen; None while something is missing."""
        place = self.inside.place if self._environment.currentData() == _INSIDE else None
        if not self.devices or not (self.interpreter or place is not None):
            return None
        where = place.label if place is not None else self.interpreter
        return VerifyRequest(where, self.devices, self.level, inside=place)

    @property
    def lacks_environment(self) -> bool:
        """Whether none was found and the user named nothing."""
        return self._environment.currentIndex() < 0

    @property
    def devices(self) -> tuple[str, ...]:
        """The chosen devices as a request takes them."""
        chosen = str(self._devices.currentData() or ALL)
        if chosen == _SEVERAL:
            return tuple(str(tick.property("device")) for tick in self.ticks if tick.isChecked())
        return (chosen,)

    @property
    def level(self) -> Level:
        return Level(self._depth.currentData())

    @property
    def progress_words(self) -> str:
        return self._count.words

    @property
    def environment_name(self) -> str:
        return self._environment.currentText()

    def show_machine(self, machine: Machine) -> None:
        """Its environments that hold a torch, and its GPUs. What the user chose stays while it is there."""
        chosen = choose(machine.environments)
        preferred = value_or(chosen.value.interpreter, "") if isinstance(chosen, Known) else ""
        own, device = str(self._environment.currentData() or "") if self._own_choice else "", self._devices.currentData()
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
        self._environment.addItem(self._words(text("In an image or a container…")), _INSIDE)
        self._environment.addItem(self._words(text("Choose an interpreter…")), "")
        if own and self._environment.findData(own) >= 0:
            self._pick(self._environment.findData(own))
        else:
            self._own_choice = False
            self._pick(max(0, self._environment.findData(preferred)) if preferred else -1)
        blocked.unblock()
        self._show_inside()
        self._show_devices(machine)
        self._devices.setCurrentIndex(max(0, self._devices.findData(device)))
        self._show_ticks()

    def add_interpreter(self, path: str) -> None:
        """One that the user named, chosen from now on."""
        self._own_choice, self._named = True, (*self._named, path)
        place = self._environment.findData(path)
        if place < 0:
            place = self._environment.findData(_INSIDE)
            self._environment.insertItem(place, path, path)
        self._pick(place)
        self._show_inside()
        self.changed.emit()

    def show_idle(self) -> None:
        """Nothing runs: what the level costs."""
        self.start.show()
        for widget in (self.cancel, self._bar, self._busy):
            widget.hide()
        self._open_choices(are_open=True)
        self._show_cost()

    def show_running(self, words: str, done: int, of: int) -> None:
        """A run is under way; 0 of 0 until it is known which checks there are."""
        had_focus = self.start.hasFocus()
        self.start.hide()
        for widget in (self.cancel, self._bar, self._busy):
            widget.show()
        if had_focus:
            self.cancel.setFocus()
        self._open_choices(are_open=False)
        self._bar.show_done(done, of)
        self._count.set_words(words)

    def _open_choices(self, *, are_open: bool) -> None:
        for widget in (self._environment, self.inside, self._devices, self._depth, self._tick_row):
            widget.setEnabled(are_open)

    def _show_cost(self) -> None:
        self._count.set_words(self._words(_COSTS[self.level]))

    def _show_devices(self, machine: Machine) -> None:
        self._devices.clear()
        gpus = value_or(machine.gpus, ())
        self._devices.addItem(self._words(text("All GPUs") if gpus else text("All that torch sees")), ALL)
        for gpu in gpus:
            if isinstance(gpu.index, Known):
                name = text("GPU {index} · {name}", index=gpu.index.value, name=short_name(value_or(gpu.name, "")))
                self._devices.addItem(self._words(name), str(gpu.index.value))
        indexed = [str(gpu.index.value) for gpu in gpus if isinstance(gpu.index, Known)]
        if len(indexed) >= _SEVERAL_FROM:
            self._devices.addItem(self._words(text("Several…")), _SEVERAL)
        self._devices.addItem(self._words(text("CPU")), CPU)
        if [str(tick.property("device")) for tick in self.ticks] != indexed:
            self._make_ticks(indexed)
        self._show_ticks()

    def _make_ticks(self, indexed: list[str]) -> None:
        clear(self._tick_flow)
        made = []
        for index in indexed:
            tick = Tick(self._words(text("GPU {index}", index=index)), self._tick_row)
            tick.setProperty("device", index)
            tick.setChecked(True)
            tick.toggled.connect(self.changed)
            self._tick_flow.addWidget(tick)
            made.append(tick)
        self.ticks = tuple(made)
        tab_through((self._environment, *tab_stops(self.inside), self._devices, self._depth, *made, self.cancel, self.start))

    def _show_ticks(self) -> None:
        self._tick_row.setVisible(self._devices.currentData() == _SEVERAL)

    def minimumSizeHint(self) -> QSize:
        """As narrow as one choice: where they do not stand side by side they stand below each other."""
        margins = self.outer.contentsMargins()
        inside = self.inside.minimumSizeHint().width() if self.inside.isVisibleTo(self) else 0
        widest = max(inside, *(one.minimumSize().width() for one in (*self._pairs, self._below)))
        return QSize(widest + margins.left() + margins.right(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        margins = self.outer.contentsMargins()
        needs = sum(pair.minimumSize().width() + _BETWEEN for pair in self._pairs) - _BETWEEN
        below = needs > self.width() - margins.left() - margins.right()
        self._choices.setDirection(QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight)

    def _lay_out(self) -> None:
        self._choices = row = bare(QBoxLayout(QBoxLayout.Direction.LeftToRight), _BETWEEN)
        self._pairs: list[QLayout] = []
        named = ((text("Environment"), self._environment), (text("Devices"), self._devices), (text("Test length"), self._depth))
        for name, choice in named:
            pair = bare(QHBoxLayout(), 10)
            pair.addWidget(label(self._words(name), "muted", self))
            pair.addWidget(choice, 1)
            add_layout(row, pair, 1 if choice is self._environment else 0)
            self._pairs.append(pair)
        add_layout(self.body, row)
        self.body.addWidget(self.inside)
        self.body.addWidget(self._tick_row)
        self._below = below = bare(QHBoxLayout(), _BETWEEN)
        below.addWidget(self._busy)
        below.addWidget(self._count, 1)
        for widget in (self._bar, self.cancel, self.start):
            below.addWidget(widget)
        add_layout(self.body, below)

    def _choice(self, name: Text) -> DropDown:
        made = DropDown(self)
        made.setAccessibleName(self._words(name))
        return made

    def _pick(self, place: int) -> None:
        self._environment.setCurrentIndex(place)
        self._environment.setPlaceholderText(self._words(text("None found")))
        self._last = place

    def _show_inside(self) -> None:
        self.inside.setVisible(self._environment.currentData() == _INSIDE)

    @Slot()
    def _confirm(self) -> None:
        if self.request is not None and self.start.isVisibleTo(self):
            self.start_wanted.emit()

    @Slot()
    def _choose_devices(self) -> None:
        self._show_ticks()
        self.changed.emit()

    @Slot()
    def _choose_depth(self) -> None:
        self._show_cost()
        self.changed.emit()

    @Slot(int)
    def _choose_environment(self, place: int) -> None:
        if self._environment.itemData(place):
            self._last, self._own_choice = place, True
            self._show_inside()
            self.changed.emit()
            return
        self._environment.setCurrentIndex(self._last)  # until one is named
        self.interpreter_wanted.emit()
