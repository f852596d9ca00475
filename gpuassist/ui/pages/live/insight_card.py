"""Below the lanes, a line for each thing that the figures mean: an out-of-memory, whose memory grows, what a GPU waits for.

A line opens its story in the room of the processes: the plot keeps its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gpuassist.knowledge.commands import Commands
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.monitor.bottleneck import Bottleneck, Bound, Lack
from gpuassist.present.insight import (
    bound_grounds,
    bound_next,
    bound_words,
    desktop_ways,
    desktop_words,
    growth_next,
    growth_words,
    moment_before,
    moment_title,
    snapshot_words,
    until_full,
)
from gpuassist.present.marks import Mark
from gpuassist.present.samples import gpu_label
from gpuassist.session.failure_moment import FailureMoment, Witness
from gpuassist.session.insight import ProgramGrowth
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import ElidedLabel, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.memory_bar import MemoryBar
from gpuassist.ui.wording import sentence_case

_GROWTHS_AT_MOST = 2


class InsightShown(Struct, frozen=True):
    """What the card shows, of all GPUs where `gpu` is None; `since_epoch` is the time at which the samples' clock was 0."""

    growths: tuple[ProgramGrowth, ...] = ()
    moment: FailureMoment | None = None
    bottleneck: Bottleneck | None = None
    gpu: int | None = None
    since_epoch: float = 0.0
    label: str = ""


def insight_shown(
    growths: Sequence[ProgramGrowth],
    moments: Sequence[FailureMoment],
    bottleneck: Bottleneck | None,
    *,
    gpu: int | None,
    since_epoch: float,
    label: str = "",
) -> InsightShown:
    """What of an insight belongs to one GPU; that nothing computes on it, or not for long yet, is no news."""
    newest = next((one for one in reversed(moments) if gpu in {None, one.gpu}), None)
    told = bottleneck if gpu is not None and bottleneck is not None and _is_news(bottleneck) else None
    own = tuple(one for one in growths if gpu in {None, one.gpu})[:_GROWTHS_AT_MOST]
    return InsightShown(own, newest, told, gpu, since_epoch, label)


def _is_news(found: Bottleneck) -> bool:
    if found.bound is Bound.UNDECIDED:
        return found.means.computes and Lack.TIME not in found.lacks
    return found.bound is not Bound.IDLE


class _Story(Struct, frozen=True):
    """A line, and what is said where it is opened: its paragraphs, and the failure itself where it is one."""

    mark: Mark
    line: str
    sentences: tuple[str, ...]
    moment: FailureMoment | None = None


class InsightCard(Card):
    """Hidden while there is nothing to say; made anew only where what it says has changed."""

    explain_chosen = Signal(str)
    """The words of a failure that the user wants explained."""
    moment_chosen = Signal(float)
    """The time of a failure on the samples' clock, to be shown on the plot."""
    snapshot_chosen = Signal(str)
    """The path of torch's snapshot of a failure, to be opened."""
    opened = Signal(bool)
    """Whether a line is open: its story stands in `details`, for which whoever shows the card makes room."""

    def __init__(self, words: Words, commands: Commands, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words, self._commands = words, commands
        self._shown = InsightShown()
        self._read_until = -inf  # of the failures up to there the user has read
        self.outer.setContentsMargins(20, 6, 12, 6)
        self.body.setSpacing(2)
        self.lines: tuple[InsightLine, ...] = ()
        self.details: InsightDetails | None = None  # made when a line is first opened
        self._stories: dict[InsightLine, _Story] = {}
        self.setAccessibleName(words(text("What the figures mean")))
        self.hide()

    def show_insight(self, shown: InsightShown) -> None:
        if shown.moment is not None and shown.moment.monotonic <= self._read_until:
            shown = replace(shown, moment=None)
        if shown == self._shown:
            return
        self._shown = shown
        if not self.lines:
            if not (shown.growths or shown.moment or shown.bottleneck):
                self.hide()
                return
            self._make_lines()
        # Each kind of news has its own line, so that an open one stays open while its figures change.
        failure, *growing, verdict = self.lines
        told: dict[InsightLine, _Story] = {}
        if shown.moment is not None:
            told[failure] = self._failure(shown.moment)
        told.update(zip(growing, (self._growth(one, shown.since_epoch) for one in shown.growths), strict=False))
        if shown.bottleneck is not None and shown.gpu is not None:
            told[verdict] = self._verdict(shown.bottleneck, shown.label or gpu_label(shown.gpu))
        for line in self.lines:
            story = told.get(line)
            line.setVisible(story is not None)
            if story is None:
                line.open.setChecked(False)
            elif story != self._stories.get(line):
                line.show_story(story)
                if line.open.isChecked() and self.details is not None:
                    self.details.show_story(story)
        self._stories = told
        self.setVisible(bool(told))

    def _make_lines(self) -> None:
        """Twenty widgets, which most watches never need."""
        self.lines = tuple(InsightLine(self._words, self) for _ in range(_GROWTHS_AT_MOST + 2))
        for line in self.lines:
            line.open.toggled.connect(self._open)
            line.explain.clicked.connect(self._explain)
            line.close_it.clicked.connect(self._close)
            self.body.addWidget(line)

    def _failure(self, moment: FailureMoment) -> _Story:
        desktop = desktop_words(moment)
        ways = desktop_ways(self._commands) if desktop is not None else ()
        told = [one for one in (moment_before(moment), snapshot_words(moment), desktop, *ways) if one is not None]
        message = (moment.message.strip(),) if moment.witness is Witness.MESSAGE else ()
        return _Story(Mark.PROBLEM, self._words(moment_title(moment)), (*message, self._joined(told)), moment)

    def _growth(self, found: ProgramGrowth, since_epoch: float) -> _Story:
        full = until_full(found)
        line = growth_words(found, since_epoch + found.growth.since)
        # In a small window the end is cut, and how long there is left is what counts.
        words = sentence_case("; ".join(map(self._words, (full, line) if full is not None else (line,))))
        return _Story(Mark.WARNING, words, (words, self._words(growth_next(found))))

    def _verdict(self, found: Bottleneck, label: str) -> _Story:
        grounds = "; ".join(map(self._words, bound_grounds(found)))
        based = self._words(text("Seen over the last minutes: {grounds}", grounds=grounds))
        mark = {Bound.GPU: Mark.RIGHT, Bound.UNDECIDED: Mark.UNKNOWN}.get(found.bound, Mark.INFO)
        return _Story(mark, sentence_case(self._words(bound_words(found, label))), (based, self._joined(bound_next(found))))

    def _joined(self, sentences: Sequence[Text]) -> str:
        return " ".join(map(self._words, sentences))

    @Slot(bool)
    def _open(self, is_open: bool) -> None:  # noqa: FBT001 -- Qt's own signal
        for line in self.lines:
            if is_open and line.open is not self.sender():
                blocked = QSignalBlocker(line.open)
                line.open.setChecked(False)
                blocked.unblock()
        chosen = next((line for line in self.lines if line.open.isChecked()), None)
        if self.details is None:
            self.details = InsightDetails(self._words, self)
            self.details.show_on_plot.clicked.connect(self._show_on_plot)
            self.details.open_snapshot.clicked.connect(self._open_snapshot)
        if chosen is not None and chosen in self._stories:
            self.details.show_story(self._stories[chosen])
        self.details.setVisible(chosen is not None)
        self.opened.emit(chosen is not None)

    @Slot()
    def _explain(self) -> None:
        if self._shown.moment is not None:
            self.explain_chosen.emit(self._shown.moment.to_explain)

    @Slot()
    def _close(self) -> None:
        if self._shown.moment is not None:
            self._read_until = max(self._read_until, self._shown.moment.monotonic)
            self.show_insight(self._shown)

    @Slot()
    def _show_on_plot(self) -> None:
        if self._shown.moment is not None:
            self.moment_chosen.emit(self._shown.moment.monotonic)

    @Slot()
    def _open_snapshot(self) -> None:
        if self._shown.moment is not None:
            self.snapshot_chosen.emit(self._shown.moment.snapshot)


class InsightLine(QWidget):
    """A mark, a sentence in one line, and the buttons that open its story and have it read."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon = MarkIcon(Mark.INFO, self)
        self.said = ElidedLabel("", "strong", self, elide=Qt.TextElideMode.ElideRight)
        self.explain = small(words(text("What helps")), self)
        self.open = small(words(text("Details")), self)
        self.open.setCheckable(True)
        self.close_it = small(words(text("Close")), self)
        row = bare(QHBoxLayout(self), 10)
        row.addWidget(self._icon)
        row.addWidget(self.said, 1)
        for button in (self.explain, self.open, self.close_it):
            row.addWidget(button)
        self.hide()

    def show_story(self, story: _Story) -> None:
        self._icon.set_mark(story.mark)
        self.said.set_words(story.line)
        self.open.setAccessibleDescription(story.line)
        # Of a program that only ended there is nothing to explain yet.
        self.explain.setVisible(story.moment is not None and story.moment.witness is not Witness.ENDED)
        self.close_it.setVisible(story.moment is not None)


class InsightDetails(Card):
    """What a line is based on and what to do about it; of an out-of-memory also the picture of the card's memory."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._sentences = [paragraph("", "", self) for _ in range(2)]
        self.bar = MemoryBar(words, self)
        self.show_on_plot = small(words(text("Show the minutes before")), self)
        self.open_snapshot = small(words(text("Open the memory snapshot")), self)
        inside = QWidget(self)
        inside.setObjectName("content")
        column = bare(QVBoxLayout(inside), 8)
        for widget in (self.bar, *self._sentences):
            column.addWidget(widget)
        row = bare(QHBoxLayout(), 8)
        row.addWidget(self.show_on_plot)
        row.addWidget(self.open_snapshot)
        row.addStretch(1)
        add_layout(column, row)
        column.addStretch(1)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inside)
        self.outer.setContentsMargins(20, 8, 12, 8)
        self.body.addWidget(scroll)

    def show_story(self, story: _Story) -> None:
        moment = story.moment
        for place, one in enumerate(self._sentences):
            words = story.sentences[place] if place < len(story.sentences) else ""
            set_paragraph(one, words)
            one.setVisible(bool(words))
        self.bar.setVisible(moment is not None and moment.picture is not None)
        if moment is not None and moment.picture is not None:
            self.bar.show_picture(moment.picture)
        self.show_on_plot.setVisible(moment is not None)
        self.open_snapshot.setVisible(moment is not None and moment.snapshot.startswith("/"))  # else it says why there is none
