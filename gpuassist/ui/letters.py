"""Whether a language can be written here; apart from all else, because it is asked before the first paint."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontMetrics


def can_be_written(letters: str) -> bool:
    """Whether any font here has these letters; Qt looks through all of them. 1 ms once a first word was measured (Qt 6.11)."""
    metrics = QFontMetrics(QFont())
    return all(metrics.inFontUcs4(ord(letter)) for letter in letters if not letter.isspace())
