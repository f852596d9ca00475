"""A finding as a card: the answer, the evidence one look below it, what to do, and one obvious button."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QSpacerItem,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QVBoxLayout,
    QWidget,
)

from gpuassist.formats.visible import on_one_line
from gpuassist.model.finding import Answer, GuideLink, Remedy
from gpuassist.model.text import labelled, text
from gpuassist.model.words import Words
from gpuassist.present.commands import copyable, copyable_lines
from gpuassist.present.marks import MARK_WORDS, Mark
from gpuassist.present.past import explanation_of
from gpuassist.present.remedies import ShownRemedy, Telling
from gpuassist.session.navigation import ToGuide, WayOn
from gpuassist.ui.widgets.buttons import CopyButton, small
from gpuassist.ui.widgets.cards import Card, Well
from gpuassist.ui.widgets.code import CommandBlock
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.labels import COPY, ElidedLabel, label, paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.own_command import said
from gpuassist.ui.widgets.plan_steps import PlanSteps

NEEDS_ROOT = text("Needs administrator rights: copy it into a terminal. gpuassist shows such commands and never runs them.")
_BUTTON_WIDTH = 136
_REMEDY = "remedy"


class FindingCard(Card):
    """One answer of the catalogue; closed it is its title with one line of what it means, open it shows everything. With `now` the
    times in it are told as seen from then; `leads` are the pages that do what it asks for. None of them is blue: the first of the
    worst finding is so in the bar, where it is always in sight.
    """

    asked = Signal(object)  # Destination
    link_opened = Signal(object)  # the address, a str

    def __init__(
        self,
        words: Words,
        answer: Answer,
        parent: QWidget | None = None,
        *,
        is_open: bool = True,
        remedies: tuple[ShownRemedy, ...] | None = None,
        now: datetime | None = None,
        leads: tuple[WayOn, ...] = (),
    ) -> None:
        super().__init__(parent=parent)
        self.answer = answer
        self._now = now
        self._remedies = Telling().remedies(answer) if remedies is None else remedies
        self._words = words
        self._mark = Mark(answer.severity.value)
        self.setAccessibleName(words(labelled(MARK_WORDS[self._mark], on_one_line(answer.title))))
        row = bare(QHBoxLayout(), 14)
        row.addWidget(MarkIcon(self._mark, self), 0, Qt.AlignmentFlag.AlignTop)
        self._column = bare(QVBoxLayout(), 8)
        add_layout(row, self._column, 1)
        add_layout(row, self._buttons(leads), 0)
        add_layout(self.body, row)
        self._title = paragraph(on_one_line(answer.title), "heading", self)
        self._column.addWidget(self._title)
        gist = answer.explanation.replace("`", "").partition(". ")[0].rstrip(".")
        self._gist = ElidedLabel(gist, "muted", self, copy_words=words(COPY), elide=Qt.TextElideMode.ElideRight)
        self._column.addWidget(self._gist)
        self._details: QWidget | None = None
        self.set_open(is_open)

    @property
    def is_open(self) -> bool:
        return self._details is not None and not self._details.isHidden()

    def set_open(self, is_open: bool) -> None:  # noqa: FBT001 -- a setter
        if is_open and self._details is None:
            self._details = _details(self._words, self.answer, self._remedies, self, why=self._why())
            for button in self._details.findChildren(LinkButton):
                button.opened.connect(self.link_opened)
            for guide in self._details.findChildren(GuideButton):
                guide.clicked.connect(partial(self.asked.emit, ToGuide(guide.topic)))
            self._column.addWidget(self._details)
        if self._details is not None:
            self._details.setVisible(is_open)
        self._gist.setVisible(not is_open and bool(self._gist.words))
        self._copy.setVisible(is_open)
        self._toggle.setText(self._words(text("Less") if is_open else text("Show")))
        self._toggle.setAccessibleName(f"{self._toggle.text()}: {on_one_line(self.answer.title)}")

    def what_to_do(self) -> QWidget:
        """The first of its remedies; all of the card where it has none."""
        return self.findChild(QWidget, _REMEDY) or self

    def plain_text(self) -> str:
        """All of it, to paste into a question to somebody else."""
        lines = [*map(on_one_line, (self.answer.title, self._why())), ""]
        lines += [f"- {self._words(labelled(one.fact, one.value))} ({one.source})" for one in self.answer.evidence]
        for remedy in self.answer.remedies:
            lines += ["", remedy.text]
            for step in remedy.steps if len(remedy.steps) > 1 else ():
                lines += [self._words(step.text), *(f"    {self._words(line)}" for line in copyable_lines(step.commands))]
            if len(remedy.steps) <= 1:
                lines += [f"    {self._words(line)}" for line in copyable_lines(_lines(remedy))]
            lines += [remedy.check, *map(self._words, remedy.notes)]
        return "\n".join([*lines, "", *self.answer.links]).strip() + "\n"

    def _why(self) -> str:
        return explanation_of(self.answer, self._words, self._now)

    def _buttons(self, leads: tuple[WayOn, ...]) -> QVBoxLayout:
        column = bare(QVBoxLayout(), 8)
        for lead in leads:
            button = small(self._words(lead.title), self)
            button.setAccessibleName(f"{button.text()}: {on_one_line(self.answer.title)}")
            button.clicked.connect(partial(self.asked.emit, lead.destination))
            column.addWidget(button)
        self._toggle: QPushButton = small("", self)
        self._toggle.clicked.connect(self._flip)
        column.addWidget(self._toggle)
        self._copy = CopyButton(self._words, self.plain_text, self)
        self._copy.setAccessibleName(f"{self._copy.text()}: {on_one_line(self.answer.title)}")
        column.addWidget(self._copy)
        column.addItem(QSpacerItem(_BUTTON_WIDTH, 0))  # a button's own least width would take the place of that of its words
        column.addStretch(1)
        return column

    @Slot()
    def _flip(self) -> None:
        self.set_open(not self.is_open)


class GuideButton(QPushButton):
    """Leads to one of gpuassist's own guides."""

    def __init__(self, guide: GuideLink, parent: QWidget | None = None) -> None:
        super().__init__(guide.title, parent)
        self.topic = guide.topic
        self.setProperty("kind", "link")
        self.setCursor(Qt.CursorShape.PointingHandCursor)


class LinkButton(QPushButton):
    """A link to further reading, cut in its middle where there is no room; opens in the browser only when it is pressed."""

    opened = Signal(object)  # the address, a str

    def __init__(self, address: str, parent: QWidget | None = None) -> None:
        super().__init__(address.removeprefix("https://").removeprefix("http://").rstrip("/"), parent)
        self.address = address
        self.clicked.connect(partial(self.opened.emit, address))
        self.setProperty("kind", "link")
        self.setToolTip(address)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """No wider than what stands around it: fonts differ, and a long address makes no page wider."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The address, or its beginning and end."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = option.fontMetrics.elidedText(self.text(), Qt.TextElideMode.ElideMiddle, self.width())
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)


def _details(words: Words, answer: Answer, remedies: tuple[ShownRemedy, ...], parent: QWidget, *, why: str) -> QWidget:
    inside = QWidget(parent)
    column = bare(QVBoxLayout(inside), 12)
    column.addWidget(paragraph(on_one_line(why), "", inside))
    if answer.evidence:
        well = Well(inside)
        # What an answer rests on.
        rows = [FactRow(words(one.fact), words(one.value), one.source) for one in answer.evidence]
        well.body.addWidget(FactTable(words, rows, well, label_width=220))
        column.addWidget(well)
    for place, shown in enumerate(remedies, start=1):
        number = f"{place}. " if len(remedies) > 1 else ""
        column.addWidget(_remedy(words, shown, number, inside))
    if answer.links or answer.guides:
        add_layout(column, _links(words, answer, inside))
    return inside


def _remedy(words: Words, shown: ShownRemedy, number: str, parent: QWidget) -> QWidget:
    remedy, inside = shown.remedy, QWidget(parent)
    inside.setObjectName(_REMEDY)
    column = bare(QVBoxLayout(inside), 6)
    column.addWidget(paragraph(on_one_line(f"{number}{remedy.text}"), "strong", inside))
    lines = _lines(remedy) if shown.is_one else ()
    if lines:
        column.addWidget(CommandBlock(words, lines, words(text("Commands")), inside))
    if not shown.is_one or shown.notes:
        column.addWidget(PlanSteps(words, shown, inside))
    remarks = [words(NEEDS_ROOT)] if remedy.needs_root and (lines or shown.steps) else []
    check = remedy.check if shown.is_one else ""
    for line in remarks + ([words(text("To see that it worked: {check}", check=copyable(check)))] if check else []):
        # A quiet remark that wraps.
        column.addWidget(said(words, line, "muted", inside))
    return inside


def _links(words: Words, answer: Answer, parent: QWidget) -> QVBoxLayout:
    column = bare(QVBoxLayout(), 0)
    column.addWidget(label(words(text("Read more")), "small", parent))
    for button in (*(GuideButton(one, parent) for one in answer.guides), *(LinkButton(one, parent) for one in answer.links)):
        column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
    return column


def _lines(remedy: Remedy) -> tuple[str, ...]:
    return tuple(line for command in remedy.commands for line in command.lines)
