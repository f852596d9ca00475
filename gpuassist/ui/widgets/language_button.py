"""The choice of the window's language: each is named in its own words, so that whoever is lost finds back."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from gpuassist.context import Language, spoken
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.words import ENGLISH, Words
from gpuassist.system.resources import Resources
from gpuassist.ui.widgets import popups
from gpuassist.ui.widgets.foot_button import FootButton

_TITLE = text("Language")


class LanguageButton(FootButton):
    """Tells which language was chosen; a translation that is not complete is named with how far it is, and cannot be chosen."""

    chosen = Signal(str)  # as `resources/words` names it; empty for the desktop's

    def __init__(self, words: Words, language: str, resources: Resources, parent: QWidget | None = None) -> None:
        here, english = words(_TITLE), ENGLISH(_TITLE)
        super().__init__(here if here == english else f"{here} {english}", resources.read("icons/language.svg"), parent)
        self._words, self._language, self._resources = words, language, resources
        self.clicked.connect(self._open)

    def menu_of_languages(self) -> QMenu:
        """The choice, made anew each time: how far translations are is read when somebody asks."""
        menu = popups.menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._add(menu, "", self._words(text("Follow system")))
        for one in spoken(self._resources):
            self._add(menu, one.code, self._words(_title(one))).setEnabled(one.complete)
        return menu

    def _add(self, menu: QMenu, code: str, title: str) -> QAction:
        action = QAction(title, menu)
        action.setCheckable(True)
        action.setChecked(code == self._language)
        action.setData(code)
        action.triggered.connect(self._choose)
        menu.addAction(action)
        return action

    @Slot()
    def _open(self) -> None:
        menu = self.menu_of_languages()
        menu.popup(self.mapToGlobal(self.rect().topLeft()) - QPoint(0, menu.sizeHint().height()))

    @Slot()
    def _choose(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self._language = str(action.data())
            self.chosen.emit(self._language)


def _title(language: Language) -> Text:
    if language.complete:
        return verbatim(language.name)
    if not language.messages:
        return text("{language} (missing in this copy)", language=language.name)
    return text(
        "{language} ({translated} of {messages} sentences)",
        language=language.name,
        translated=language.translated,
        messages=language.messages,
    )
