"""The what-if page's card of choices: from which machine to start, which GPUs, and what each other part shall be."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from gpuassist.install.what_if import NONE, Choices, Wish
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.overview import short_name
from gpuassist.present.what_if import Slot as GpuSlot
from gpuassist.present.what_if import not_found, part_in_words, wish_title
from gpuassist.ui.widgets.buttons import DropDown, LongChoice, PartChoice, small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.keys import tab_through
from gpuassist.ui.widgets.labels import label, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import EvenColumns, FlowLayout, add_layout, bare, clear, widgets_in
from gpuassist.ui.widgets.search_box import SearchBox
from gpuassist.ui.wording import as_tip

_IMAGINED = "imagined"
PARTS: tuple[tuple[str, Text], ...] = (
    ("driver", text("Driver branch")),
    ("torch", text("torch build")),
    ("python", text("Python")),
    ("toolkit", text("CUDA toolkit")),
    ("gcc", text("Host compiler")),
    ("distribution", text("Distribution")),  # of an imagined machine: commands depend on it
)
_BASES: dict[str, Text] = {
    "this": text("This machine"),
    "recorded": text("The recorded machine"),
    "imagined": text("An imagined machine"),
}
_CAN_BE_NONE = {"driver", "torch", "toolkit", "gcc"}


class WishCard(Card):
    """Emits `changed` whenever the wish or the machine to start from is another."""

    changed = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self.wish = Wish()
        self._slots: tuple[GpuSlot, ...] = ()  # those of the machine
        self._names: dict[str, str] = {}
        self._as_is: dict[str, Text] = {}
        self._choices = Choices((), (), (), (), (), ())
        self.base = DropDown(self)
        self.base.setAccessibleName(words(text("Start from")))
        self.base.addItem(words(_BASES[_IMAGINED]), _IMAGINED)
        self.base.activated.connect(self._choose_base)
        self.search = SearchBox(words(text("Add a GPU: type its name")), self)
        self.search.setMinimumWidth(220)
        self.search.taken.connect(self._add)
        self.search.missed.connect(self._miss)
        self._missed = paragraph("", "small", self)
        self._missed.hide()
        self._chips = QWidget(self)
        self._flow = FlowLayout(self._chips)
        self._parts = {name: PartChoice(words(title), self) for name, title in PARTS}
        for part in self._parts.values():
            part.box.activated.connect(self._choose_parts)
        self._lay_out()
        self._show_wish()

    @property
    def starts_from_machine(self) -> bool:
        """Whether the machine that was read is what everything starts from; else nothing is."""
        return bool(self.base.currentData() != _IMAGINED)

    @property
    def compared(self) -> Text:
        names = tuple(slot.name for slot in self._present()) if self.wish.gpus else ()
        return wish_title(self.wish, names, _BASES[self.base.currentData()])

    def chips(self) -> tuple[QPushButton, ...]:
        """The buttons of the GPUs, each takes its own away."""
        return tuple(widget for widget in widgets_in(self._flow) if isinstance(widget, QPushButton))

    def box(self, part: str) -> LongChoice:
        return self._parts[part].box

    @property
    def last_stop(self) -> QWidget:
        return list(self._parts.values())[-1].box

    def show_choices(self, choices: Choices) -> None:
        self._choices = choices
        self.search.set_options([short_name(name) for _, names in choices.gpus for name in names])
        self._names.update({short_name(name): name for _, names in choices.gpus for name in names})
        self._show_wish()

    def show_machine(self, slots: tuple[GpuSlot, ...], as_is: dict[str, Text], *, recorded: bool, host: str = "") -> None:
        """A machine was read: what it has. What was chosen before stays chosen, beside the GPUs of this machine."""
        self.wish = replace(self.wish, gpus=self._with_these(slots))
        self._slots, self._as_is = slots, as_is
        base = "recorded" if recorded else "this"
        if self.base.count() == 1:
            self.base.insertItem(0, "")
            if self.wish == Wish():
                self.base.setCurrentIndex(0)
        self.base.setItemText(0, host or self._words(_BASES[base]))
        self.base.setItemData(0, base)
        self._show_wish()

    def open_for(self, wish: Wish) -> None:
        """Chooses what somebody wished for, from the machine as it is."""
        self.wish = wish
        self._show_wish()
        self.changed.emit()

    @Slot()
    def reset(self) -> None:
        self._missed.hide()
        self.open_for(Wish())

    def _lay_out(self) -> None:
        first = bare(QHBoxLayout(), 10)
        first.addWidget(label(self._words(text("Start from")), "muted", self))
        first.addWidget(self.base)
        first.addSpacing(8)
        first.addWidget(self.search, 1)
        self._grid = EvenColumns(self, least=150)
        self._grid.add(*self._parts.values())
        self.body.setSpacing(12)
        add_layout(self.body, first)
        self.body.addWidget(self._missed)
        self.body.addWidget(self._chips)
        self.body.addWidget(self._grid)

    def _show_wish(self) -> None:
        for name, part in self._parts.items():
            wanted = getattr(self.wish, name)
            part.show_rows(self._rows(name, wanted), wanted)
        shown = [part for name, part in self._parts.items() if name != "distribution" or not self.starts_from_machine]
        self._grid.show_only(shown)
        self._show_chips()

    def _rows(self, name: str, wanted: str) -> tuple[tuple[str, str], ...]:
        """The values of a box, each with its words: as it is, without, then everything there is to choose from."""
        values = {
            "driver": self._choices.drivers,
            "toolkit": self._choices.toolkits,
            "torch": self._choices.torches,
            "python": self._choices.pythons,
            "gcc": self._choices.gccs,
            "distribution": self._choices.distributions,
        }[name]
        without = (NONE,) if name in _CAN_BE_NONE and self.starts_from_machine else ()
        extra = (wanted,) if wanted and wanted != NONE and wanted not in values else ()
        named = tuple((value, self._words(part_in_words(name, value))) for value in (*without, *extra, *values))
        return (("", self._words(self._first(name))), *named)

    def _first(self, name: str) -> Text:
        if not self.starts_from_machine:
            return part_in_words(name, NONE) if name in _CAN_BE_NONE else text("not chosen")
        present = self._as_is.get(name)
        return text("current: {name}", name=present) if present is not None else text("keep current")

    def _present(self) -> tuple[GpuSlot, ...]:
        if self.wish.gpus == (NONE,):
            return ()
        if not self.wish.gpus:
            return self._slots if self.starts_from_machine else ()
        known = {slot.token: slot.name for slot in self._slots}
        return tuple(GpuSlot(token, known.get(token, short_name(token))) for token in self.wish.gpus)

    def _with_these(self, slots: tuple[GpuSlot, ...]) -> tuple[str, ...]:
        """The GPUs wished for, with those of another machine in place of those of the one before."""
        before, added = [slot.token for slot in self._slots], list(self.wish.gpus)
        stayed = [token for token in before if token in added]
        if not stayed or before == [slot.token for slot in slots]:
            return self.wish.gpus
        for token in stayed:
            added.remove(token)
        return (*(slot.token for slot in slots), *added)

    def _show_chips(self) -> None:
        clear(self._flow)
        for place, slot in enumerate(self._present()):
            chip = small(f"{slot.name}  ×", self._chips)
            chip.setProperty("place", place)
            chip.setAccessibleName(self._words(text("Remove {name}", name=slot.name)))
            chip.setToolTip(as_tip(chip.accessibleName()))
            chip.clicked.connect(self._take_out)
            self._flow.addWidget(chip)
        if not self._flow.count():
            self._flow.addWidget(label(self._words(text("No GPU")), "muted", self._chips))
        self._chips.updateGeometry()
        tab_through((self.base, self.search, *self.chips(), *(part.box for part in self._parts.values())))

    @Slot(object)
    def _add(self, name: str) -> None:
        self._missed.hide()
        token = self._names.get(name, name)
        self._wish_for(replace(self.wish, gpus=(*(slot.token for slot in self._present()), token)))

    @Slot(object)
    def _miss(self, typed: str) -> None:
        set_paragraph(self._missed, self._words(not_found(typed, tuple(self._names))))
        self._missed.show()

    @Slot()
    def _take_out(self) -> None:
        chip = self.sender()
        if not isinstance(chip, QPushButton):
            return
        gone = int(chip.property("place"))
        left = tuple(slot.token for place, slot in enumerate(self._present()) if place != gone)
        self._wish_for(replace(self.wish, gpus=left or (NONE,)))
        after = self.chips()
        (after[min(gone, len(after) - 1)] if after else self.search).setFocus()  # the pressed one is gone

    @Slot(int)
    def _choose_parts(self, _place: int) -> None:
        chosen = {name: part.value for name, part in self._parts.items()}
        self.wish = Wish(self.wish.gpus, **chosen)
        for part in self._parts.values():
            part.mark()
        self.changed.emit()

    @Slot(int)
    def _choose_base(self, _place: int) -> None:
        self._show_wish()
        self.changed.emit()

    def _wish_for(self, wish: Wish) -> None:
        tokens = tuple(slot.token for slot in self._slots) if self.starts_from_machine else (NONE,)
        self.wish = replace(wish, gpus=()) if wish.gpus == tokens else wish
        self._show_chips()
        self.changed.emit()
