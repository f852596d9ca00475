"""What stands below the steps: how the window looks, and the way to help."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QVBoxLayout, QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.ui.theme import Appearance

_APPEARANCES: dict[Appearance, Text] = {
    Appearance.SYSTEM: text("Like the desktop"),
    Appearance.LIGHT: text("Light"),
    Appearance.DARK: text("Dark"),
}


class AppearanceButton(QPushButton):
    """Chooses between the desktop's look, light and dark."""

    chosen = Signal(object)  # Appearance

    def __init__(self, words: Words, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Appearance")), parent)
        self.setProperty("kind", "quiet")
        self._words = words
        self._appearance = appearance
        self.clicked.connect(self._open)

    def menu_of_looks(self) -> QMenu:
        """The choice, made anew each time: it is not needed for the first paint."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for one, title in _APPEARANCES.items():
            action = QAction(self._words(title), menu)
            action.setCheckable(True)
            action.setChecked(one is self._appearance)
            action.setData(one.value)
            action.triggered.connect(self._choose)
            menu.addAction(action)
        return menu

    @Slot()
    def _open(self) -> None:
        menu = self.menu_of_looks()
        menu.popup(self.mapToGlobal(self.rect().topLeft()) - QPoint(0, menu.sizeHint().height()))

    @Slot()
    def _choose(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self._appearance = Appearance(action.data())
            self.chosen.emit(self._appearance)


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
