"""The banners of the frame: that a recorded machine is shown, and that something went wrong inside gpuassist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.text import text
from gpuassist.session.words import Words
from gpuassist.ui.palette import Mark
from gpuassist.ui.widgets.scroll_page import MARGIN

if TYPE_CHECKING:
    from gpuassist.ui.widgets.cards import Notice


class Banners(QWidget):
    """Above every page; takes no room, and makes nothing, while there is nothing to say."""

    live_wanted = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(MARGIN, 16, MARGIN, 0)
        self._column.setSpacing(8)
        self.recorded: Notice | None = None
        self.fault: Notice | None = None
        self.details = ""
        self.hide()

    def show_recorded(self, recorded: bool) -> None:  # noqa: FBT001 -- a setter
        """Whether what is shown is a recording."""
        if recorded and self.recorded is None:
            self.recorded = self._recorded()
        if self.recorded is not None:
            self.recorded.setVisible(recorded)
        self._settle()

    def show_fault(self, details: str) -> None:
        """Tells of a fault of our own; the details of the first are kept, it is usually the cause of the others."""
        self.details = self.details or details
        if self.fault is None:
            self.fault = self._fault()
            self.fault.show()
        self._settle()

    def _recorded(self) -> Notice:
        from gpuassist.ui.widgets.buttons import small

        words = self._words
        notice = self._notice(Mark.INFO, words(text("Recorded machine: actions that would change this machine are off.")))
        live = small(words(text("Read this machine instead")), notice)
        live.clicked.connect(self.live_wanted)
        notice.buttons.addWidget(live)
        return notice

    def _fault(self) -> Notice:
        from gpuassist.ui.widgets.buttons import CopyButton

        words = self._words
        notice = self._notice(
            Mark.PROBLEM, words(text("Something went wrong inside gpuassist. That is our fault, not your machine's."))
        )
        notice.buttons.addWidget(CopyButton(words, self._details, notice, title=words(text("Copy the details"))))
        return notice

    def _notice(self, mark: Mark, words: str) -> Notice:
        from gpuassist.ui.widgets.cards import Notice

        notice = Notice(mark, words, self)
        self._column.addWidget(notice)
        return notice

    def _settle(self) -> None:
        self.setVisible(any(banner is not None and not banner.isHidden() for banner in (self.recorded, self.fault)))

    def _details(self) -> str:
        return self.details
