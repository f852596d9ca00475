"""Tool tips: Qt takes words that look like HTML for HTML there, and offers no other way than to hand it HTML."""

from __future__ import annotations

from PySide6.QtGui import Qt

from gpuassist.formats.visible import visible


def as_tip(words: str) -> str:
    """A tool tip that shows the words as they are: a file may well be called `<b>`."""
    seen = visible(words)
    return Qt.convertFromPlainText(seen) if Qt.mightBeRichText(seen) else seen
