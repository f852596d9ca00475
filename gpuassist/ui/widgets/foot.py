"""What stands below the steps: how the window looks, and help with its keys and its promises."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QDialog, QMenu, QPushButton, QVBoxLayout, QWidget

from gpuassist.model.text import Text, text
from gpuassist.session.words import Words
from gpuassist.ui.theme import Appearance
from gpuassist.ui.widgets.buttons import primary
from gpuassist.ui.widgets.cards import Card, PageHeader
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.labels import paragraph

_APPEARANCES: dict[Appearance, Text] = {
    Appearance.SYSTEM: text("Like the desktop"),
    Appearance.LIGHT: text("Light"),
    Appearance.DARK: text("Dark"),
}
KEYS: tuple[tuple[str, Text], ...] = (
    ("Alt+Left", text("the page shown before")),
    ("Alt+Right", text("the next page")),
    ("Ctrl+1 … Ctrl+5", text("a step of the side list")),
    ("Ctrl+R", text("read the machine again")),
    ("Ctrl+O", text("open a recorded machine")),
    ("Ctrl+C", text("copy what is selected or focused")),
    ("F1", text("this help")),
)
PROMISES: tuple[Text, ...] = (
    text("gpuassist never needs root and never runs a root command: it shows such steps for you to copy."),
    text("It never loses a byte of your files: preview, backup, proof in a fresh shell, and undo for ever."),
    text("It never guesses: what it does not know, it says, with the reason."),
    text("It uses no network unless you open a link."),
)


class AppearanceButton(QPushButton):
    """Chooses between the desktop's look, light and dark."""

    chosen = Signal(object)  # Appearance

    def __init__(self, words: Words, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Appearance")), parent)
        self.setProperty("kind", "quiet")
        menu = self._menu = QMenu(self)
        group = QActionGroup(menu)
        for one, title in _APPEARANCES.items():
            action = QAction(words(title), menu)
            action.setCheckable(True)
            action.setChecked(one is appearance)
            action.setData(one.value)
            action.triggered.connect(self._choose)
            group.addAction(action)
            menu.addAction(action)
        self.clicked.connect(self._open)

    @Slot()
    def _open(self) -> None:
        # setMenu would keep room for an arrow that the style sheet hides
        self._menu.popup(self.mapToGlobal(self.rect().topLeft()) - QPoint(0, self._menu.sizeHint().height()))

    @Slot()
    def _choose(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.chosen.emit(Appearance(action.data()))


class Foot(QWidget):
    """The two quiet buttons at the bottom of the side list."""

    appearance_chosen = Signal(object)  # Appearance
    help_wanted = Signal()

    def __init__(self, words: Words, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 0, 0, 0)
        column.setSpacing(2)
        look = AppearanceButton(words, appearance, self)
        look.chosen.connect(self.appearance_chosen)
        asking = QPushButton(words(text("Help")), self)
        asking.setProperty("kind", "quiet")
        asking.setToolTip("F1")
        asking.clicked.connect(self.help_wanted)
        for button in (look, asking):
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)


class Help(QDialog):
    """The keys, and what gpuassist does and never does."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(words(text("Help")))
        self.resize(560, 420)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(16)
        layout.addWidget(
            PageHeader(self.windowTitle(), words(text("Read, understand, repair, prove, watch: one page each.")), self)
        )
        promises = Card(words(text("What you can rely on")), parent=self)
        for promise in PROMISES:
            promises.body.addWidget(paragraph(words(promise), "", promises))
        keys = Card(words(text("Keys")), parent=self)
        keys.body.addWidget(FactTable(words, [FactRow(key, words(what)) for key, what in KEYS], keys))
        for card in (promises, keys):
            layout.addWidget(card)
        layout.addStretch(1)
        done = primary(words(text("Close")), self)
        done.clicked.connect(self.accept)
        layout.addWidget(done, 0, Qt.AlignmentFlag.AlignRight)
