"""The plot of a snapshot with its controls, its legend, and the line that says whose memory is pointed at."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QTimer, Signal, Slot
from PySide6.QtGui import QCursor, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuassist.formats.size import shown_size
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.snapshot_page import (
    block_life,
    held_words,
    line_name,
    moment_name,
    plot_summary,
)
from gpuassist.session.opened_snapshot import DeviceLook
from gpuassist.session.snapshot_owners import OwnerGrouping
from gpuassist.ui.jobs import Done, Failed, Jobs, Latest
from gpuassist.ui.pages.live.legend import Legend
from gpuassist.ui.pages.live.readout import Readout, ReadoutRow
from gpuassist.ui.plots.allocation_picture import PlotFlag
from gpuassist.ui.plots.allocation_plot import AllocationPlot
from gpuassist.ui.plots.allocation_scene import AllocationScene, PointedAt
from gpuassist.ui.plots.allocation_view import AllocationView, ClockAxis, EventAxis
from gpuassist.ui.plots.colour_table import COLOURS, REST, TORCH
from gpuassist.ui.widgets.buttons import DropDown, small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import ElidedLabel
from gpuassist.ui.widgets.layouts import FlowLayout, by_text
from gpuassist.ui.widgets.segments import Segments

_SETTLED_MILLISECONDS = 250
_OOMS_TOLD = 8
_SAYS_FROM = 260  # lower, what stands beside the cursor is all that there is room for


class PlotCard(Card):
    """Shows a device; tells which device, grouping, point, owner and stretch are wanted."""

    device_chosen = Signal(int)
    grouping_chosen = Signal(object)  # OwnerGrouping
    chosen = Signal(object)  # PointedAt
    range_chosen = Signal(object)  # (int, int), or None

    def __init__(self, words: Words, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self._look: DeviceLook | None = None
        self.scene: AllocationScene | None = None
        self._marked: int | None = None
        self.outer.setContentsMargins(20, 10, 20, 8)
        self.outer.setSpacing(4)
        self.setAccessibleName(words(text("Allocated memory over the recording")))
        self.plot = AllocationPlot(self.accessibleName(), self)
        self.readout = Readout(self.plot)
        self.legend = Legend(self)
        self.said = ElidedLabel("", "muted", self)
        self._make_controls()
        self.body.addWidget(self.plot, 1)
        self.body.addWidget(self.legend)
        self.body.addWidget(self.said)
        self._largest = Latest(jobs, self._colour, self)
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(_SETTLED_MILLISECONDS)
        self._settled.timeout.connect(self._ask_largest)
        self.plot.moved.connect(self._settled.start)
        self.plot.pointed.connect(self._show_pointed)
        self.plot.chosen.connect(self.chosen)
        self.plot.range_chosen.connect(self.range_chosen)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_look(self, look: DeviceLook, *, devices: tuple[int, ...], card_bytes: int = 0) -> None:
        """Another device, or the same by other owners."""
        words = self._words
        same = self._look is not None and self._look.story is look.story
        left = (self.plot.view.left, self.plot.view.right) if same and self.plot.view is not None else None
        self._look, self._marked = look, None
        self.scene = AllocationScene(look.timeline, look.reserved)
        self.scene.choose(self.scene.largest(look.timeline.total.peak))
        if not look.has_times:
            self.axes.show_chosen(0)
        self.axes.offer(1, why_not="" if look.has_times else words(text("torch kept no times in this snapshot")))
        view = self._new_view(look)
        if left is not None:
            view.show(*left)
        self.plot.show_scene(self.scene, view, flags=tuple(self._flags(look)), capacity=card_bytes)
        self._show_choices(look, devices)
        self._show_legend()
        self._show_pointed(None)

    def mark(self, owner: int | None) -> None:
        """Sets an owner off from all others; it gets a band where it has none."""
        if self.scene is None:
            return
        self._marked = owner
        if owner is not None and owner not in self.scene.owners:
            self._take((*self.scene.owners[: COLOURS - 1], owner))
        self.plot.show_marked(owner)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.said.setVisible(self.height() >= by_text(_SAYS_FROM))

    @property
    def busy(self) -> bool:
        return self._settled.isActive() or self._largest.busy

    def drop(self) -> None:
        """Nothing is coloured anew any more."""
        self._settled.stop()
        self._largest.drop()

    def _make_controls(self) -> None:
        words = self._words
        self.device = DropDown(self)
        self.device.setAccessibleName(words(text("GPU shown")))
        self.device.activated.connect(lambda place: self.device_chosen.emit(int(self.device.itemData(place))))
        self.axes = Segments([words(text("By event")), words(text("By time"))], words(text("Axis")), self, compact=True)
        self.axes.chosen.connect(self._show_axis)
        self.grouping = DropDown(self)
        self.grouping.setAccessibleName(words(text("What has one colour")))
        for title, grouping in ((text("lines of my code"), OwnerGrouping.LINE), (text("whole stacks"), OwnerGrouping.STACK)):
            self.grouping.addItem(words(title), grouping.value)
        self.grouping.activated.connect(lambda place: self.grouping_chosen.emit(OwnerGrouping(self.grouping.itemData(place))))
        box = QWidget(self)
        row = FlowLayout(box, gap=6)
        for widget in (self.device, self.grouping, self.axes):
            row.addWidget(widget)
        self.buttons = []
        for sign, name, keys, does in (
            ("−", text("Zoom out"), "−", lambda: self.plot.zoom(2.0)),
            ("+", text("Zoom in"), "+", lambda: self.plot.zoom(0.5)),
            (words(text("All")), text("Show all of it"), "0", self.plot.go_whole),
            (words(text("Peak")), text("Go to the peak"), "P", self.plot.go_to_peak),
        ):
            button = small(sign, box)
            button.setAccessibleName(words(name))
            button.setToolTip(f"{words(name)} ({keys})")
            button.clicked.connect(does)
            row.addWidget(button)
            self.buttons.append(button)
        self.body.addWidget(box)

    def _show_choices(self, look: DeviceLook, devices: tuple[int, ...]) -> None:
        self.device.clear()
        for one in devices:
            self.device.addItem(self._words(text("GPU {index}", index=one)), one)
        self.device.setCurrentIndex(self.device.findData(look.story.device))
        self.device.setVisible(len(devices) > 1)
        self.grouping.setCurrentIndex(self.grouping.findData(look.grouping.value))

    def _new_view(self, look: DeviceLook) -> AllocationView:
        return AllocationView(ClockAxis(look.timeline) if self.axes.place == 1 else EventAxis(look.timeline))

    @Slot(int)
    def _show_axis(self, place: int) -> None:
        before, look = self.plot.view, self._look
        if before is None or look is None:
            return
        points = before.axis.point(before.left), before.axis.point(before.right)
        whole, view = before.is_whole, self._new_view(look)
        if not whole:
            view.show(*(view.axis.place(point) for point in points))
        self.plot.show_view(view)

    def _flags(self, look: DeviceLook) -> Iterator[PlotFlag]:
        peak = look.timeline.total.peak
        size = shown_size(int(look.timeline.total.values[peak]))
        for failure in look.story.out_of_memory[:_OOMS_TOLD]:
            yield PlotFlag(failure.moment, self._words(text("out of memory")), bad=True)
        yield PlotFlag(peak, self._words(text("peak {size}", size=size)))

    def _show_legend(self) -> None:
        assert self.scene is not None
        assert self._look is not None
        entries = [(self.scene.colour_of(one) or 0, self._words(line_name(self._look.line(one)))) for one in self.scene.owners]
        entries.append((REST, self._words(text("all others"))))
        if self._look.reserved.values.any():
            entries.append((TORCH, self._words(text("reserved"))))
        self.legend.show_entries(tuple(entries))

    @Slot()
    def _ask_largest(self) -> None:
        scene, view = self.scene, self.plot.view
        if scene is None or view is None:
            return
        points = view.axis.point(view.left), view.axis.point(view.right)
        count = COLOURS - (self._marked is not None)

        def largest(_: object) -> object:
            values = scene.timeline.total.values[points[0] : points[1] + 1]
            return AllocationScene(scene.timeline).largest(points[0] + int(values.argmax()), count)

        self._largest.ask(largest)

    def _colour(self, result: Done | Failed) -> None:
        if isinstance(result, Done) and isinstance(result.value, tuple):
            marked = () if self._marked is None or self._marked in result.value else (self._marked,)
            self._take((*result.value, *marked))

    def _take(self, owners: tuple[int, ...]) -> None:
        if self.scene is not None and set(owners) != set(self.scene.owners) and self.scene.choose(owners):
            self._show_legend()
            self.plot.redraw()

    @Slot(object)
    def _show_pointed(self, at: PointedAt | None) -> None:
        look = self._look
        if at is None or look is None:
            self.said.set_words(self._words(plot_summary(look)) if look is not None else "")
            self.plot.setAccessibleDescription(self.said.words)
            self.readout.hide()
            return
        rows = tuple(self._rows(look, at))
        self.said.set_words(" · ".join(" ".join(filter(None, (row.name, row.value))) for row in rows))
        if self.plot.hasFocus():
            self.plot.setAccessibleDescription(self.said.words)  # read aloud as the cursor goes on
        place = self.plot.mapFromGlobal(QCursor.pos())
        if self.plot.underMouse() and not self.plot.hasFocus():
            self.readout.show_rows(rows, place)
        else:
            self.readout.show_rows(rows, QPoint(round(self.plot.x_of(at.point)), self.plot.height() // 2))

    def _rows(self, look: DeviceLook, at: PointedAt) -> Iterator[ReadoutRow]:
        words = self._words
        yield ReadoutRow(words(moment_name(look, at.point)), shown_size(at.total), strong=True)
        if at.owner is not None:
            colour = self.scene.colour_of(at.owner) if self.scene is not None else None
            name = words(line_name(look.line(at.owner)))
            yield ReadoutRow(name, words(held_words(at.held, at.blocks)), REST if colour is None else colour)
        if at.row >= 0:
            for told, value in block_life(look, at.row):
                yield ReadoutRow(words(told), words(value))
