"""The clipboard as an exit for words, where what a terminal would obey is made visible too; and what was dropped or pasted."""

from __future__ import annotations

from PySide6.QtCore import QFileInfo, QMimeData
from PySide6.QtGui import QGuiApplication

from gpuassist.formats.visible import visible


def copy(words: str) -> None:
    QGuiApplication.clipboard().setText(visible(words))


# What was dropped or pasted: the path of a file of this machine, if it is one.


def dropped_file(source: QMimeData) -> str:
    """The path of the first file of this machine among what was dropped; empty where there is none."""
    return next((url.toLocalFile() for url in source.urls() if url.isLocalFile()), "")


def is_folder(path: str) -> bool:
    return bool(path) and QFileInfo(path).isDir()
