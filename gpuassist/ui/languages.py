"""Qt's own words for its dialogs."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words

_log = logging.getLogger(__name__)
# What the translations of Qt 6.11 lack in most languages, all of it in the dialog for files.
_KINDS: dict[str, Text] = {
    "Folder": text("Folder"),
    "File": text("File"),
    "Drive": text("Drive"),
    "%1 File": text("{kind} file", kind="%1"),
}
_WITHOUT_KEY = {"&Look in:": "Look in:", "Files of &type:": "Files of type:"}  # translated as they once were


class QtWords:
    """The words of Qt's own dialogs in the window's language: a file dialog, OK and Cancel, the menu of a text box."""

    def __init__(self, application: QApplication) -> None:
        self._application = application
        self._before = QLocale()
        self._translators: tuple[QTranslator, ...] = ()

    def speak(self, words: Words) -> None:
        """Takes the language of these words; English is what Qt speaks by itself."""
        self.fall_silent()
        language = words.language
        # How Qt writes dates and sizes in its dialogs; where the desktop's own locale has that language, as that has it.
        QLocale.setDefault(self._before if QLocale(language).language() == self._before.language() else QLocale(language))
        if language == "en":
            return
        shipped = QTranslator(self._application)
        if not shipped.load(f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            _log.info("Qt has no words in %s", language)
            return
        rest = _Rest({source: words(said) for source, said in _KINDS.items()}, self._application)
        self._translators = (rest, shipped)  # the last one is asked first
        for one in self._translators:
            self._application.installTranslator(one)

    def fall_silent(self) -> None:
        """Leaves the application as it was."""
        for one in self._translators:
            self._application.removeTranslator(one)
            one.deleteLater()
        self._translators = ()
        QLocale.setDefault(self._before)


class _Rest(QTranslator):
    """What Qt's own translation has not."""

    def __init__(self, kinds: Mapping[str, str], parent: QApplication) -> None:
        super().__init__(parent)
        self._kinds = kinds

    def isEmpty(self) -> bool:
        return False

    def translate(self, context: str, sourceText: str, disambiguation: str | None = None, n: int = -1) -> str:  # noqa: N803 -- Qt's
        if context == "QAbstractFileIconProvider":
            return self._kinds.get(sourceText, sourceText)
        former = _WITHOUT_KEY.get(sourceText) if context == "QFileDialog" else None
        return QCoreApplication.translate(context, former) if former is not None else sourceText
