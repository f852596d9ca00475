"""The banners of the frame: that a recorded machine is shown, and that something went wrong inside gpuassist."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.text import text
from gpuassist.session.words import Words
from gpuassist.ui.palette import Mark
from gpuassist.ui.widgets.buttons import CopyButton, small
from gpuassist.ui.widgets.cards import MARGIN, Notice


class Banners(QWidget):
    """Above every page; takes no room while there is nothing to say."""

    live_wanted = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, 16, MARGIN, 0)
        column.setSpacing(8)
        self.recorded = Notice(
            Mark.INFO, words(text("This is a recorded machine: actions that would change this machine are off.")), self
        )
        live = small(words(text("Read this machine instead")), self.recorded)
        live.clicked.connect(self.live_wanted)
        self.recorded.buttons.addWidget(live)
        fault = words(text("Something went wrong inside gpuassist. That is our fault, not your machine's."))
        self.fault = Notice(Mark.PROBLEM, fault, self)
        self.fault.buttons.addWidget(CopyButton(words, self._details, self.fault, title=words(text("Copy the details"))))
        self.details = ""
        for banner in (self.recorded, self.fault):
            column.addWidget(banner)
            banner.hide()
        self.hide()

    def show_recorded(self, recorded: bool) -> None:  # noqa: FBT001 -- a setter
        """Whether what is shown is a recording."""
        self.recorded.setVisible(recorded)
        self._settle()

    def show_fault(self, details: str) -> None:
        """Tells of a fault of our own; the details of the first are kept, it is usually the cause of the others."""
        self.details = self.details or details
        self.fault.show()
        self._settle()

    def _settle(self) -> None:
        self.setVisible(not (self.recorded.isHidden() and self.fault.isHidden()))

    def _details(self) -> str:
        return self.details
