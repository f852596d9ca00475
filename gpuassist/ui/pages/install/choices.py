"""The install page's card of choices: which driver, torch and toolkit shall be there, and what torch comes by."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QWidget

from gpuassist.install.what_if import Choices
from gpuassist.model.plan import Tool
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.ui.widgets.buttons import LongChoice, PartChoice, Tick
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.layouts import EvenColumns

PARTS: tuple[tuple[str, Text], ...] = (
    ("torch", text("torch")),
    ("toolkit", text("CUDA toolkit")),
    ("driver", text("NVIDIA driver")),
    ("tool", text("Install torch with")),
)
_TOOLS: dict[str, Text] = {
    Tool.PIP.value: text("pip"),
    Tool.UV.value: text("uv"),
    Tool.CONDA.value: text("conda"),
    Tool.DOCKER.value: text("a container (Docker)"),
}
_NOTHING = Choices((), (), (), (), (), ())


class InstallChoices(Card):
    """Emits `changed` whenever the wish is another."""

    changed = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self.wish = InstallWish()
        self._choices = _NOTHING
        self._parts = {name: PartChoice(words(title), self) for name, title in PARTS}
        self.no_root = Tick(words(text("I have no administrator rights (no sudo)")), self)
        self.no_root.toggled.connect(self._choose_rights)
        grid = EvenColumns(self, least=170)
        for part in self._parts.values():
            part.box.activated.connect(self._choose_parts)
        grid.add(*self._parts.values())
        self.body.setSpacing(12)
        self.body.addWidget(grid)
        self.body.addWidget(self.no_root)
        self._show_wish()

    def box(self, part: str) -> LongChoice:
        return self._parts[part].box

    def show_choices(self, choices: Choices) -> None:
        self._choices = choices
        self._show_wish()

    def open_for(self, wish: InstallWish) -> None:
        self.wish = wish
        self._show_wish()
        self.changed.emit()

    def _show_wish(self) -> None:
        for name, part in self._parts.items():
            wanted = getattr(self.wish, name)
            part.show_rows(self._rows(name, wanted), wanted)
        self._parts["tool"].box.setEnabled(bool(self.wish.torch))
        blocked = QSignalBlocker(self.no_root)
        self.no_root.setChecked(self.wish.no_root)
        blocked.unblock()

    def _rows(self, name: str, wanted: str) -> tuple[tuple[str, str], ...]:
        if name == "tool":
            return (
                ("", self._words(text("current package manager"))),
                *((value, self._words(said)) for value, said in _TOOLS.items()),
            )
        values = {"torch": self._choices.torches, "toolkit": self._choices.toolkits, "driver": self._choices.drivers}[name]
        extra = (wanted,) if wanted not in {"", ANY, *values} else ()
        first = (("", self._words(text("keep current"))), (ANY, self._words(text("best fit"))))
        return (*first, *((value, value) for value in (*extra, *values)))

    @Slot(int)
    def _choose_parts(self, _place: int) -> None:
        chosen = {name: part.value for name, part in self._parts.items()}
        self._take(replace(self.wish, **chosen))  # all of these are words

    @Slot(bool)
    def _choose_rights(self, no_root: bool) -> None:  # noqa: FBT001 -- Qt's own signature
        self._take(replace(self.wish, no_root=no_root))

    def _take(self, wish: InstallWish) -> None:
        self.wish = wish
        self._parts["tool"].box.setEnabled(bool(wish.torch))
        for part in self._parts.values():
            part.mark()
        self.changed.emit()
