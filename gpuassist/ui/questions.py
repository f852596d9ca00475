"""What a question to the user consists of, for those who ask and for the dialogs that show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct
from PySide6 import QtWidgets

Answered = Callable[[str], None]


class Verbs(Struct, frozen=True):
    """The words on the two buttons: what is done, and what leaves all as it is; `loses` where doing it cannot be taken back."""

    does: str
    keeps: str
    loses: bool = False


class CommandsAsked(Struct, frozen=True):
    """The exact lines that would be run, what to know before, and the words on the buttons."""

    lines: tuple[str, ...]
    remarks: tuple[str, ...]
    verbs: Verbs


class AsksWhere(Protocol):
    """Asks where to save something."""

    def save_file(self, parent: QtWidgets.QWidget, title: str, name: str, answered: Answered, *, replaces: bool = True) -> None:
        """It is proposed to be called `name`."""
