"""A memory snapshot that torch wrote: opened without running anything of it, its memory over time, and what to change first."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.fact import value_or
from gpuassist.model.text import Text, text
from gpuassist.present.snapshot_page import figures
from gpuassist.session.navigation import Errand, SideTool, ToSnapshot
from gpuassist.session.opened_snapshot import DeviceLook, OpenedSnapshot, ReadingOutlook, look_at_device
from gpuassist.session.snapshot_owners import OwnerGrouping
from gpuassist.ui.jobs import Done, Failed, Latest
from gpuassist.ui.pace import InTurns
from gpuassist.ui.page import Bar, Desk, Page, new_action
from gpuassist.ui.pages.snapshot.no_snapshot import BeforeReading, NoSnapshot
from gpuassist.ui.pages.snapshot.snapshot_files import SnapshotFiles
from gpuassist.ui.pages.snapshot.snapshot_view import SnapshotView
from gpuassist.ui.widgets.layouts import MARGIN
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.widgets.scroll_page import PageHeader
from gpuassist.ui.wording import reason_of

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection


class SnapshotPage(Page):
    """Reads on a job, whose child does the work; shows one snapshot at a time, and compares it with another."""

    STEP = SideTool.SNAPSHOT

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        words = desk.words
        self.opened: OpenedSnapshot | None = None
        self._cards: dict[int, int] = {}
        self._grouping = OwnerGrouping.LINE
        self._device = 0
        self.open = new_action(self, words(text("Open a memory snapshot…")), self._ask_what_to_open, "Ctrl+O")
        self.compare = new_action(self, words(text("Compare with another…")), self._ask_what_to_compare, "Ctrl+D")
        self.files = SnapshotFiles(desk, self)
        self.files.asked.connect(self._ask_how_much)
        self.files.progressed.connect(self._show_progress)
        self.files.opened.connect(self._take)
        self.files.other_opened.connect(self._take_other)
        self.files.failed.connect(self._show_failure)
        self.files.ended.connect(self._show_what_is_there)
        self._looking = Latest(desk.jobs, self._show_looked, self)
        self._header = PageHeader(words(text("Memory snapshot")), "", self)
        self._strip = ProgressStrip(self)
        self._header.put_beside(self._strip)
        self.nothing = NoSnapshot(words, desk.session.world.resources.read("icons/snapshot.svg"), self)
        self.nothing.open_wanted.connect(self._ask_what_to_open)
        self.nothing.cancelled.connect(self.files.cancel)
        self.before: BeforeReading | None = None
        self.view: SnapshotView | None = None  # made while the first snapshot is read
        self._making = InTurns(self)
        self._making.done.connect(self._show_made)
        self._showing = InTurns(self)
        self._looked: DeviceLook | None = None  # to be shown once the view is made
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(MARGIN, 20, MARGIN, 12)
        self._column.setSpacing(10)
        self._column.addWidget(self._header)
        self._column.addWidget(self.nothing, 1)
        self._show_what_is_there()

    def bar(self) -> Bar:
        if self.opened is None:
            return Bar((), self.desk.words(text("Read only: nothing in the file is run.")))
        note = text("Wheel: zoom · drag: compare two moments · arrow keys: who owns it")
        return Bar((self.open, self.compare), self.desk.words(note))

    @property
    def busy(self) -> bool:
        shows = self._making.busy or self._showing.busy
        return self.files.busy or self._looking.busy or shows or (self.view is not None and self.view.busy)

    def show_inspection(self, inspection: Inspection) -> None:
        gpus = value_or(inspection.machine.gpus, ())
        self._cards = {place: value_or(gpu.memory_total_bytes, 0) for place, gpu in enumerate(gpus)}
        self.files.card_bytes = max(self._cards.values(), default=0) or None

    def arrive(self, errand: Errand | None) -> None:
        if isinstance(errand, ToSnapshot) and errand.path:
            self.files.open(errand.path)

    def left(self) -> OpenedSnapshot | None:
        """What was read: nothing of it is in any language."""
        return self.opened

    def take_up(self, left: object) -> None:
        if isinstance(left, OpenedSnapshot):
            self._take(left)

    def under_way(self) -> Text | None:
        return text("the reading of a memory snapshot") if self.files.busy else None

    def close_down(self) -> None:
        self.files.drop()
        self._looking.drop()
        if self.view is not None and self.opened is not None:
            self.view.drop()

    # Opening

    @Slot()
    def _ask_what_to_open(self) -> None:
        self.desk.asking.open_file(self, self.desk.words(text("Open a memory snapshot")), self._kinds(), self.files.open)

    @Slot()
    def _ask_what_to_compare(self) -> None:
        title = self.desk.words(text("Compare with another memory snapshot"))
        self.desk.asking.open_file(self, title, self._kinds(), self.files.open_other)

    @Slot(object)
    def _ask_how_much(self, outlook: ReadingOutlook) -> None:
        if self.before is None:
            self.before = BeforeReading(self.desk.words, self)
            self.before.read_wanted.connect(self.files.read)
            self.before.cancelled.connect(self.files.cancel)
            self._column.insertWidget(1, self.before, 1, Qt.AlignmentFlag.AlignTop)
        self._header.show_words(os.path.basename(outlook.path), self.desk.words(text("A large memory snapshot")))
        self._show_only(self.before)
        self.before.show_outlook(outlook)

    def _kinds(self) -> str:
        return self.desk.words(text("Memory snapshots (*.pickle *.pkl);;All files (*)"))

    @Slot(str, object)
    def _show_progress(self, path: str, share: float | None) -> None:
        name = os.path.basename(path)
        if self.files.reads_other:
            self._strip.begin(self.desk.words(text("Reading {name}", name=name)))
            return
        self._make_view()
        self.nothing.show_reading(name, share)
        self._show_only(self.nothing)

    @Slot(str, object)
    def _show_failure(self, path: str, error: Exception) -> None:
        self._strip.end()
        reason = reason_of(self.desk.words, error)
        name = os.path.basename(path)
        if self.files.reads_other and self.view is not None and self.opened is not None:
            self.view.tell_other_failed(self.desk.words(text("{name} cannot be opened: {reason}", name=name, reason=reason)))
            return
        self.nothing.show_failure(name, reason)
        self._show_only(self.nothing)

    @Slot()
    def _show_what_is_there(self) -> None:
        """After a cancel: what was open before, or nothing."""
        self._strip.end()
        if self.opened is not None and self.view is not None:
            self._show_only(self.view)
        else:
            self.nothing.show_nothing()
            self._show_only(self.nothing)

    # Showing

    @Slot(object)
    def _take(self, opened: OpenedSnapshot) -> None:
        self.opened, self._device = opened, opened.story.devices[0].device
        if self.view is not None:
            self.view.other = None
        self._look(self._device, self._grouping)

    @Slot(object)
    def _take_other(self, opened: OpenedSnapshot) -> None:
        device = self._device
        self._strip.begin(self.desk.words(text("Comparing…")))
        self._looking.ask(lambda _: (look_at_device(opened, device, OwnerGrouping.LINE),))

    @Slot(int, object)
    def _look(self, device: int, grouping: OwnerGrouping) -> None:
        opened = self.opened
        if opened is None:
            return
        self._device, self._grouping = device, grouping
        self._strip.begin(self.desk.words(text("Laying the allocations out…")))
        self._looking.ask(lambda _: look_at_device(opened, device, grouping))

    def _show_looked(self, result: Done | Failed) -> None:
        self._strip.end()
        if isinstance(result, Failed):
            self._show_failure(self.opened.path if self.opened is not None else "", result.error)
        elif isinstance(result.value, DeviceLook):
            self._show_look(result.value)
        elif isinstance(result.value, tuple) and self.view is not None:
            self.view.show_other(result.value[0])

    def _show_look(self, look: DeviceLook) -> None:
        self._looked = look
        self._make_view()
        if not self._making.busy:
            self._show_made()

    @Slot()
    def _show_made(self) -> None:
        """The view is there, and what it is to show may be."""
        look, self._looked = self._looked, None
        if look is not None and self.view is not None:
            self._showing.begin((partial(self._fill, self.view, look), partial(self._show_only, self.view)))

    def _fill(self, view: SnapshotView, look: DeviceLook) -> None:
        self._header.show_words(os.path.basename(look.opened.path), self.desk.words(figures(look)))
        view.show_look(look, card_bytes=self._cards.get(look.story.device, 0))

    def _make_view(self) -> None:
        if self.view is None:
            self.view = SnapshotView(self.desk, self)
            self.view.hide()
            self.view.look_wanted.connect(self._look)
            self.view.other_wanted.connect(self._ask_what_to_compare)
            self._column.addWidget(self.view, 1)
            self._making.begin(self.view.steps())

    def _show_only(self, shown: QWidget) -> None:
        self._showing.drop()
        if shown is self.nothing:
            self._header.show_words(
                self.desk.words(text("Memory snapshot")), self.desk.words(text("Which lines of a program hold the GPU’s memory."))
            )
        for one in (self.nothing, self.before, self.view):
            if one is not None:
                one.setVisible(one is shown)
        self.bar_changed.emit()
