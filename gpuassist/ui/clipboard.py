"""The clipboard as an exit for words: what a terminal would obey when it is pasted is made visible there too."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication

from gpuassist.formats.visible import visible


def copy(words: str) -> None:
    """Puts the words on the clipboard."""
    QGuiApplication.clipboard().setText(visible(words))
