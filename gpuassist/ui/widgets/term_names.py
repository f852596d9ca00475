"""Names of facts that are terms of the glossary: a dotted line below them says that they explain themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from gpuassist.ui.theme import colours
from gpuassist.ui.widgets.labels import Paragraph, set_paragraph

if TYPE_CHECKING:
    from gpuassist.model.words import Words
    from gpuassist.session.terms import Glossary

_PROPERTY = "gpuassistGlossary"
_BELOW = 2  # pixels from the letters' foot to the dots


def explain_by(glossary: Glossary | None) -> None:
    """The glossary that is there from now on, for every name; none before it is read."""
    application = QCoreApplication.instance()
    if application is not None:
        application.setProperty(_PROPERTY, glossary)


def known_glossary() -> Glossary | None:
    """The one that is there."""
    application = QCoreApplication.instance()
    return cast("Glossary | None", application.property(_PROPERTY)) if application is not None else None


def with_terms(said: str, words: Words) -> str:
    """A tool tip of something painted, with what its words mean below it."""
    glossary = known_glossary()
    if glossary is None or not said:
        return said
    from gpuassist.present.terms import tip  # not needed before a mouse rests

    return "\n\n".join(filter(None, (said, tip(glossary.in_text(said), glossary, words))))


def term_name(words: str, role: str, parent: QWidget) -> TermName:
    """The name of a fact, as a paragraph of that role."""
    made = TermName(parent)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    made.setProperty("role", role)
    set_paragraph(made, words)
    return made


class TermName(Paragraph):
    """A paragraph whose single line has dots below it where it is a term."""

    @property
    def is_term(self) -> bool:
        glossary = known_glossary()
        return glossary is not None and glossary.of_label(self.text()) is not None

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.textFormat() is not Qt.TextFormat.PlainText or not self.is_term:
            return
        metrics, room = self.fontMetrics(), self.contentsRect()
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
        taken = metrics.boundingRect(room, int(flags), self.text())
        if taken.height() >= 2 * metrics.height():
            return  # of a name that is broken the dots would belong to one line alone
        painter = QPainter(self)
        painter.setPen(QPen(QColor(colours().muted), 1, Qt.PenStyle.DotLine))
        foot = taken.top() + metrics.ascent() + _BELOW
        painter.drawLine(taken.left(), foot, taken.right(), foot)
        painter.end()
