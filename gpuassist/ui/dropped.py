"""What was dropped or pasted: the path of a file of this machine, if it is one."""

from __future__ import annotations

from PySide6.QtCore import QMimeData


def dropped_file(source: QMimeData) -> str:
    """The path of the first file of this machine among what was dropped; empty where there is none."""
    return next((url.toLocalFile() for url in source.urls() if url.isLocalFile()), "")
