"""The install page's card of choices: which driver, torch and toolkit shall be there, and what torch comes by."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.formats.visible import visible
from gpuassist.install.what_if import Choices
from gpuassist.model.plan import Tool
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.session.install_wish import ANY, InstallWish
from gpuassist.ui.theme import set_look
from gpuassist.ui.tips import as_tip
from gpuassist.ui.widgets.buttons import LongChoice, Tick
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.even_columns import EvenColumns
from gpuassist.ui.widgets.paragraphs import label

PARTS: tuple[tuple[str, Text], ...] = (
    ("torch", text("torch")),
    ("toolkit", text("CUDA toolkit")),
    ("driver", text("NVIDIA driver")),
    ("tool", text("torch comes by")),
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
        self._wish = InstallWish()
        self._choices = _NOTHING
        self._boxes = {name: self._box(title) for name, title in PARTS}
        self.no_root = Tick(words(text("Plan without administrator rights")), self)
        self.no_root.toggled.connect(self._choose_rights)
        grid = EvenColumns(self, least=170)
        for name, title in PARTS:
            grid.add(self._with_title(words(title), self._boxes[name]))
        self.body.setSpacing(12)
        self.body.addWidget(grid)
        self.body.addWidget(self.no_root)
        self._show_wish()

    @property
    def wish(self) -> InstallWish:
        """What is chosen."""
        return self._wish

    def box(self, part: str) -> LongChoice:
        """The choice of a part, by its name in a wish."""
        return self._boxes[part]

    def show_choices(self, choices: Choices) -> None:
        """What there is to choose from."""
        self._choices = choices
        self._show_wish()

    def open_for(self, wish: InstallWish) -> None:
        """Chooses what somebody wished for."""
        self._wish = wish
        self._show_wish()
        self.changed.emit()

    def _with_title(self, title: str, box: LongChoice) -> QWidget:
        holder = QWidget(self)
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(label(title, "small", holder))
        column.addWidget(box)
        return holder

    def _box(self, title: Text) -> LongChoice:
        made = LongChoice(self)
        made.setProperty("wished", "no")
        made.setAccessibleName(self._words(title))
        made.activated.connect(self._choose_parts)
        return made

    def _show_wish(self) -> None:
        for name, box in self._boxes.items():
            wanted = getattr(self._wish, name)
            blocked = QSignalBlocker(box)
            box.clear()
            for value, said in self._rows(name, wanted):
                box.addItem(visible(said), value)
            box.setCurrentIndex(max(0, box.findData(wanted)))
            self._mark(box)
            blocked.unblock()
        self._boxes["tool"].setEnabled(bool(self._wish.torch))
        blocked = QSignalBlocker(self.no_root)
        self.no_root.setChecked(self._wish.no_root)
        blocked.unblock()

    def _rows(self, name: str, wanted: str) -> tuple[tuple[str, str], ...]:
        if name == "tool":
            return (
                ("", self._words(text("what is there already"))),
                *((value, self._words(said)) for value, said in _TOOLS.items()),
            )
        values = {"torch": self._choices.torches, "toolkit": self._choices.toolkits, "driver": self._choices.drivers}[name]
        extra = (wanted,) if wanted not in {"", ANY, *values} else ()
        first = (("", self._words(text("as it is"))), (ANY, self._words(text("whichever fits best"))))
        return (*first, *((value, value) for value in (*extra, *values)))

    @Slot(int)
    def _choose_parts(self, _place: int) -> None:
        chosen = {name: str(box.currentData() or "") for name, box in self._boxes.items()}
        self._take(replace(self._wish, **chosen))  # all of these are words

    @Slot(bool)
    def _choose_rights(self, no_root: bool) -> None:  # noqa: FBT001 -- Qt's own signature
        self._take(replace(self._wish, no_root=no_root))

    def _take(self, wish: InstallWish) -> None:
        self._wish = wish
        self._boxes["tool"].setEnabled(bool(wish.torch))
        for box in self._boxes.values():
            self._mark(box)
        self.changed.emit()

    def _mark(self, box: LongChoice) -> None:
        """What was wished for is told from what stays as it is."""
        set_look(box, "wished", "yes" if box.currentData() else "no")
        box.setToolTip(as_tip(box.currentText()))
