"""An opened snapshot: what to change first, the plot, and below it who holds the memory, what grew, the segments, the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from gpuassist.model.memory_story import SnapshotFinding
from gpuassist.model.text import text
from gpuassist.present.marks import Mark
from gpuassist.present.snapshot_page import moment_name, setting_rows, stacks_text
from gpuassist.session.opened_snapshot import DeviceLook, compared
from gpuassist.session.snapshot_owners import OwnerShare, grown_between, shares_at, stacks_held
from gpuassist.ui.pace import Step
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.snapshot.findings_part import FindingsPart, first_words
from gpuassist.ui.pages.snapshot.plot_card import PlotCard
from gpuassist.ui.pages.snapshot.segments_part import SegmentsPart
from gpuassist.ui.pages.snapshot.share_table import HeldRow, LowTable, ShareTable
from gpuassist.ui.plots.allocation_scene import PointedAt
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card, Notice
from gpuassist.ui.widgets.layouts import add_layout, bare, by_text, dress
from gpuassist.ui.widgets.rows import Cell, RowsModel
from gpuassist.ui.widgets.segments import Segments

MOMENT, GROWTH, OTHER, SEGMENTS, FINDINGS, SETTINGS = range(6)
_TABS = (
    text("At a moment"),
    text("Growth"),
    text("Another snapshot"),
    text("Segments"),
    text("What to change"),
    text("Settings"),
)
_PLOT_SHARE, _BELOW_SHARE = 11, 9
_LEAST_BELOW = 156


class _Parts(QStackedWidget):
    """Each part scrolls by itself: the page is as high as its window."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._least = by_text(_LEAST_BELOW)

    def sizeHint(self) -> QSize:
        # Not that of the highest part; nor is it ignored, because a layout that goes by width takes that for no height at all.
        return QSize(super().sizeHint().width(), self.minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        shown = self.currentWidget()
        wrapped = shown.heightForWidth(self.width()) if shown is not None and shown.hasHeightForWidth() else 0
        return super().minimumSizeHint().expandedTo(QSize(0, max(wrapped, self._least)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def hasHeightForWidth(self) -> bool:
        return False


class SnapshotView(QWidget):
    """Shows a look at a device; asks for another look, and for another snapshot to compare with."""

    look_wanted = Signal(int, object)  # a device, and a OwnerGrouping
    other_wanted = Signal()

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = desk
        self.look: DeviceLook | None = None
        self.other: DeviceLook | None = None
        self.moment = 0
        self.compares_end = False  # else the peaks of two snapshots
        self.range: tuple[int, int] | None = None
        self._card_bytes = 0
        self._fresh: set[QWidget] = set()  # the parts that show this look already
        self.segments: SegmentsPart | None = None
        self.findings: FindingsPart | None = None
        self.settings: LowTable | None = None
        self._column = bare(QVBoxLayout(self), 8)

    def steps(self) -> Iterator[Step]:
        """What makes it, a piece a turn: all of it at once would stop the window for 80 ms."""
        yield self._make_lead
        yield self._make_card
        yield self._make_shares
        yield self._make_below
        yield lambda: dress(self.lead)
        yield lambda: dress(self.card)
        yield lambda: dress(self.below)

    def show_look(self, look: DeviceLook, *, card_bytes: int = 0) -> None:
        """A device, from the peak of which on it is looked at."""
        story = self.look.story if self.look is not None else None
        self.look = look
        if story is not look.story:
            self.moment, self.range = look.timeline.total.peak, None
        self._fresh = set()
        self.lead.show_words(*first_words(self._findings(look), self.desk.words))
        self.card.show_look(look, devices=tuple(one.device for one in look.opened.story.devices), card_bytes=card_bytes)
        self.card.plot.show_range(self.range)
        self._show_part(self.tabs.place)

    def show_other(self, other: DeviceLook) -> None:
        """The snapshot that this one is compared with."""
        self.other = other
        self.show_tab(OTHER)

    def tell_other_failed(self, words: str) -> None:
        """The snapshot to compare with could not be read."""
        self.other = None
        self.show_tab(OTHER)
        self.shares.about.set_words(words)

    def show_tab(self, place: int) -> None:
        self.tabs.show_chosen(place)
        self._show_tab(place)

    @property
    def busy(self) -> bool:
        return self.look is not None and self.card.busy

    def drop(self) -> None:
        """The page goes."""
        if self.look is not None:
            self.card.drop()

    @property
    def _device(self) -> int:
        return self.look.story.device if self.look is not None else 0

    def _want(self, device: int) -> None:
        if self.look is not None:
            self.look_wanted.emit(device, self.look.grouping)

    def _findings(self, look: DeviceLook) -> tuple[SnapshotFinding, ...]:
        return tuple(one for one in look.opened.story.findings if one.device == look.story.device)

    def _make_lead(self) -> None:
        self.lead = Notice(Mark.INFO, "", self)
        button = small(self.desk.words(text("All findings")), self)
        button.clicked.connect(lambda: self.show_tab(FINDINGS))
        self.lead.buttons.addWidget(button)
        self._column.addWidget(self.lead)

    def _make_card(self) -> None:
        self.card = PlotCard(self.desk.words, self.desk.jobs, self)
        self.card.device_chosen.connect(self._want)
        self.card.grouping_chosen.connect(lambda grouping: self.look_wanted.emit(self._device, grouping))
        self.card.chosen.connect(self._choose)
        self.card.range_chosen.connect(self._compare)
        self._column.addWidget(self.card, _PLOT_SHARE)

    def _make_shares(self) -> None:
        self.shares = ShareTable(self.desk.words, self)
        self.shares.owner_chosen.connect(self.card.mark)
        self.shares.hide()

    def _make_below(self) -> None:
        words, card = self.desk.words, Card(parent=self)
        self.below = card
        card.outer.setContentsMargins(20, 10, 20, 10)
        card.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        card.setAccessibleName(words(text("Details")))
        self.tabs = Segments([words(one) for one in _TABS], words(text("What is shown below the plot")), card, compact=True)
        self.tabs.chosen.connect(self._show_tab)
        self.peak = small(words(text("Peak")), card)
        self.peak.setToolTip(words(text("Who held the memory at the peak")))
        self.peak.clicked.connect(lambda: self._look_at(is_end=False))
        self.end = small(words(text("End")), card)
        self.end.setToolTip(words(text("Who held the memory at the end")))
        self.end.clicked.connect(lambda: self._look_at(is_end=True))
        self.compare = small(words(text("Choose a snapshot…")), card)
        self.compare.clicked.connect(self.other_wanted)
        row = bare(QHBoxLayout(), 8)
        row.addWidget(self.tabs)
        row.addStretch(1)
        for button in (self.peak, self.end, self.compare):
            row.addWidget(button)
        self.parts = _Parts(card)
        self.parts.addWidget(self.shares)
        self.parts.setCurrentWidget(self.shares)
        add_layout(card.body, row)
        card.body.addWidget(self.parts, 1)
        self._show_buttons(MOMENT)
        self._column.addWidget(card, _BELOW_SHARE)

    def _segments(self) -> SegmentsPart:
        if self.segments is None:
            self.segments = SegmentsPart(self.desk.words, self.below)
            self.segments.owner_chosen.connect(self.card.mark)
            self.parts.addWidget(self.segments)
        return self.segments

    def _all_findings(self) -> FindingsPart:
        if self.findings is None:
            self.findings = FindingsPart(self.desk.words, self.below)
            self.parts.addWidget(self.findings)
        return self.findings

    def _settings(self) -> LowTable:
        if self.settings is None:
            words = self.desk.words
            model = RowsModel([words(text("Setting")), words(text("Value"))], parent=self)
            self.settings = LowTable(model, words(text("Settings and what else the file holds")), self.below)
            self.settings.stretch(1)
            self.parts.addWidget(self.settings)
        return self.settings

    @Slot(int)
    def _show_tab(self, place: int) -> None:
        self._show_buttons(place)
        self._show_part(place)

    def _show_buttons(self, place: int) -> None:
        for button in (self.peak, self.end):
            button.setVisible(place == MOMENT or (place == OTHER and self.other is not None))
        self.compare.setVisible(place == OTHER)

    def _show_part(self, place: int) -> None:
        """Each part is made when it is first asked for, and told of a look once."""
        look = self.look
        if look is None:
            return
        if place == SEGMENTS:
            self._show_once(self._segments(), lambda: self._segments().show_look(look))
        elif place == FINDINGS:
            self._show_once(self._all_findings(), lambda: self._all_findings().show_findings(self._findings(look)))
        elif place == SETTINGS:
            rows = [(Cell(name), Cell(value)) for name, value in setting_rows(look, self.desk.words)]
            self._show_once(self._settings(), lambda: self._settings().rows_model.set_rows(rows))
        else:
            self.parts.setCurrentWidget(self.shares)
            {GROWTH: self._show_growth, OTHER: self._show_difference}.get(place, self._show_moment)(look)

    def _show_once(self, part: QWidget, show: Callable[[], None]) -> None:
        if part not in self._fresh:
            self._fresh.add(part)
            show()
        self.parts.setCurrentWidget(part)

    def _show_moment(self, look: DeviceLook) -> None:
        told = moment_name(look, self.moment)
        about = text("Held at {moment}", moment=told)
        if self.moment == look.timeline.total.peak:
            about = text("Held at the peak, {moment}", moment=told)
        elif self.moment == look.timeline.last:
            about = text("Held at the end, {moment}", moment=told)
        rows = [self._row(one) for one in shares_at(look.timeline, self.moment)]
        self.shares.show_rows(about, rows, partial(self._stacks, self.moment), compares=False)

    def _show_growth(self, look: DeviceLook) -> None:
        first, last = self.range or (0, look.timeline.last)
        slots = {"first": moment_name(look, first), "last": moment_name(look, last)}
        about = text("From {first} to {last}", **slots)
        if self.range is None:
            about = text("From the first event to the last; drag over the plot, or press A and B, to compare two other moments")
        rows = [self._row(one, compares=True) for one in grown_between(look.timeline, first, last)]
        self.shares.show_rows(about, rows, partial(self._stacks, last), compares=True)

    def _show_difference(self, look: DeviceLook) -> None:
        if self.other is None:
            about = text("Choose another snapshot: what each line held at its peak is compared with what it holds at this one’s.")
            self.shares.show_rows(about, (), lambda _: "", compares=True)
            return
        name = self.other.opened.path.rsplit("/", 1)[-1]
        about = text("At the peak, compared with {name}", name=name)
        if self.compares_end:
            about = text("At the end, compared with {name}", name=name)
        owners = {line: owner for owner, line in enumerate(look.owners.lines)}
        rows = [
            HeldRow(one.line, one.after, before=one.before, owner=owners.get(one.line), colour=self._colour(owners.get(one.line)))
            for one in compared(look, self.other, at_end=self.compares_end)
        ]
        moment = look.timeline.last if self.compares_end else look.timeline.total.peak
        self.shares.show_rows(about, rows, partial(self._stacks, moment), compares=True)

    def _row(self, share: OwnerShare, *, compares: bool = False) -> HeldRow:
        assert self.look is not None
        before = share.before if compares else None
        return HeldRow(
            self.look.line(share.owner), share.held, share.blocks, before, owner=share.owner, colour=self._colour(share.owner)
        )

    def _colour(self, owner: int | None) -> int | None:
        return self.card.scene.colour_of(owner) if self.card.scene is not None and owner is not None else None

    def _stacks(self, moment: int, row: HeldRow) -> str:
        look = self.look
        if look is None or row.owner is None:
            return ""
        rows = look.timeline.alive(row.owner, moment)
        return stacks_text(look, stacks_held(look.story, rows), self.desk.words)

    def _look_at(self, *, is_end: bool) -> None:
        look = self.look
        if look is None:
            return
        if self.tabs.place == OTHER:
            self.compares_end = is_end
        else:
            self.moment = look.timeline.last if is_end else look.timeline.total.peak
            self.card.plot.go_to(self.moment)
        self._show_part(self.tabs.place)

    @Slot(object)
    def _choose(self, at: PointedAt) -> None:
        self.moment = at.point
        self.tabs.show_chosen(MOMENT)
        self._show_tab(MOMENT)
        self.shares.choose_owner(at.owner)
        self.card.mark(at.owner)

    @Slot(object)
    def _compare(self, chosen: tuple[int, int] | None) -> None:
        self.range = chosen
        if chosen is not None:
            self.tabs.show_chosen(GROWTH)
        self._show_tab(self.tabs.place)
