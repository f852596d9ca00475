"""Qt's own words for its dialogs."""

from __future__ import annotations

import logging

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

_log = logging.getLogger(__name__)


class QtWords:
    """The words of Qt's own dialogs in the window's language: a file dialog, OK and Cancel, the menu of a text box."""

    def __init__(self, application: QApplication) -> None:
        self._application = application
        self._before = QLocale()
        self._translator: QTranslator | None = None

    def speak(self, language: str) -> None:
        """Takes this language; English is what Qt speaks by itself."""
        self.fall_silent()
        # How Qt writes dates and sizes in its dialogs; where the desktop's own locale has that language, as that has it.
        QLocale.setDefault(self._before if QLocale(language).language() == self._before.language() else QLocale(language))
        if language == "en":
            return
        translator = QTranslator(self._application)
        if translator.load(f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            self._application.installTranslator(translator)
            self._translator = translator
        else:
            _log.info("Qt has no words in %s", language)

    def fall_silent(self) -> None:
        """Leaves the application as it was."""
        if self._translator is not None:
            self._application.removeTranslator(self._translator)
            self._translator.deleteLater()
            self._translator = None
        QLocale.setDefault(self._before)
