"""What a page's words mean: a tool tip where the mouse rests, and by keys a list of the page's terms.

Nothing of the glossary is imported before the first answer is on the screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Signal, Slot
from PySide6.QtGui import QAction, QHelpEvent
from PySide6.QtWidgets import QStackedWidget, QToolTip, QWidget

from gpuassist.ui.widgets.term_names import explain_by
from gpuassist.ui.wording import as_tip

if TYPE_CHECKING:
    from gpuassist.session.terms import Glossary
    from gpuassist.ui.page import Desk

KEYS = ("Shift+F1", "?")


class PageTerms(QObject):
    """Answers for the widgets of all pages that have no tool tip of their own; `wanted` carries where to go.

    Qt hands the event for a tool tip up to the parents until one takes it, so one filter above all pages is enough: nothing is
    looked for before a mouse rests, and no widget is made for it.
    """

    wanted = Signal(object)  # Destination

    def __init__(self, pages: QStackedWidget, desk: Desk, window: QWidget) -> None:
        super().__init__(window)
        self._pages, self._desk, self._window = pages, desk, window
        self._glossary: Glossary | None = None
        explain_by(None)  # that of a window in another language knows other words
        pages.installEventFilter(self)
        for key in KEYS:
            action = QAction(window)
            action.setShortcut(key)
            action.triggered.connect(self.show_panel)
            window.addAction(action)

    def glossary(self) -> Glossary:
        """Read when it is first asked for, in some milliseconds; from then on names of facts show that they are terms."""
        if self._glossary is None:
            from gpuassist.session.terms import glossary

            self._glossary = glossary(self._desk.session)
            explain_by(self._glossary)
            self._pages.update()
        return self._glossary

    def get_ready(self) -> None:
        """Reads it before anybody asks."""
        self.glossary()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ToolTip or not isinstance(event, QHelpEvent):
            return False
        at = event.globalPos()
        under = self._pages.childAt(self._pages.mapFromGlobal(at))
        if under is None:
            return False
        from gpuassist.present.terms import tip
        from gpuassist.ui.term_words import words_at

        known = self.glossary()
        words = tip(known.in_text(words_at(under, at)), known, self._desk.words)
        if words:
            QToolTip.showText(at, as_tip(words), under)
        return bool(words)

    @Slot()
    def show_panel(self) -> None:
        """The terms of what is shown, those around the focus first."""
        from gpuassist.ui.term_words import terms_below
        from gpuassist.ui.widgets.term_panel import TermPanel

        known, page = self.glossary(), self._pages.currentWidget()
        found = terms_below(page, known) if page is not None else ()
        panel = TermPanel(found, known, self._desk.words, self._window)
        panel.wanted.connect(self.wanted)
        panel.open()
