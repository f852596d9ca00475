"""Labels by role, dressed by the style sheet: single lines, and text that wraps."""

from __future__ import annotations

import html

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from gpuassist.formats.visible import on_one_line, visible
from gpuassist.model.lazy_regex import lazy_regex

_CODE = lazy_regex(r"`([^`]+)`")
_CODE_SPAN = r"""<span style="font-family: 'JetBrains Mono', 'DejaVu Sans Mono', monospace; font-size: 9.25pt">\1</span>"""
_ONE_LINERS = ("title", "heading", "strong")
_LINE_PERCENT = 122
_LONG = 72  # characters; what is longer wraps in most places, and wrapped lines want some air


def label(words: str, role: str = "", parent: QWidget | None = None) -> QLabel:
    """A line of the given role (title, heading, strong, muted, small, section, mono, unknown, or plain)."""
    made = QLabel(on_one_line(words), parent)
    made.setTextFormat(Qt.TextFormat.PlainText)
    return _dressed(made, role)


def paragraph(words: str, role: str = "", parent: QWidget | None = None) -> QLabel:
    """Text that wraps; what stands between backticks is shown in the monospaced font."""
    made = _dressed(Paragraph(parent), role)
    set_paragraph(made, words)
    return made


def _dressed(made: QLabel, role: str) -> QLabel:
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role:
        made.setProperty("role", role)
    return made


class Paragraph(QLabel):
    """Wraps at whatever width it is given, and asks for the height of that width only.

    A plain QLabel also asks for the height of its narrowest shape, which makes a page scroll that has nothing below.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()

    def minimumSizeHint(self) -> QSize:
        margins = self.contentsMargins()
        return QSize(0, self.fontMetrics().height() + margins.top() + margins.bottom())


def set_paragraph(made: QLabel, words: str) -> None:
    """New words for a paragraph."""
    words = visible(words)
    if "`" in words or "\n" in words or (len(words) > _LONG and made.property("role") not in _ONE_LINERS):
        made.setTextFormat(Qt.TextFormat.RichText)
        made.setText(as_rich(words))
    else:
        made.setTextFormat(Qt.TextFormat.PlainText)
        made.setText(words)
    made.setAccessibleName(words.replace("`", ""))


def as_rich(words: str) -> str:
    """Plain words as the few tags Qt's labels need; everything in them is escaped."""
    coded = _CODE.sub(_CODE_SPAN, html.escape(words, quote=False))
    return f'<div style="line-height: {_LINE_PERCENT}%">' + coded.replace("\n", "<br>") + "</div>"
