"""The dialogs of a window that writes nothing."""

from __future__ import annotations

from collections.abc import Callable

from PySide6 import QtWidgets

from gpuassist.ui.dialogs import Asking
from gpuassist.ui.questions import Answered


class ReadOnlyAsking(Asking):
    """Does not ask where to save what is not saved: every page that writes a file of the user's choice asks here first."""

    def __init__(self, refused: Callable[[], None]) -> None:
        super().__init__()
        self._refused = refused

    def save_file(self, parent: QtWidgets.QWidget, title: str, name: str, answered: Answered, *, replaces: bool = True) -> None:
        self._refused()
