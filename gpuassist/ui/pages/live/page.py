"""Live memory: a lane for each GPU stacked by process, the processes below, and why there is nothing to draw where there is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.sample import Sample
from gpuassist.model.text import Text, text
from gpuassist.present.marks import Mark
from gpuassist.present.samples import WINDOWS_SECONDS, change_words, clock, process_name, subtitle
from gpuassist.session.navigation import Errand, GoTo, Marked, StepStatus, ToHolders, WizardStep
from gpuassist.session.watch import Watch
from gpuassist.ui.jobs import Latest
from gpuassist.ui.pace import Pace
from gpuassist.ui.page import Bar, Desk, Page
from gpuassist.ui.pages.live.controls import ALL, LiveControls
from gpuassist.ui.pages.live.lanes import Lane, Lanes, Scene
from gpuassist.ui.pages.live.processes import COLUMN_SAMPLES, GPU, PROCESS, ProcessesModel, process_rows
from gpuassist.ui.plots.bands import REST, Flag
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card, EmptyState, Notice
from gpuassist.ui.widgets.layouts import MARGIN
from gpuassist.ui.widgets.scroll_page import PageHeader
from gpuassist.ui.widgets.table import Table

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection


_TABLE_HEIGHT = 176


class LivePage(Page):
    """Samples from the first visit until the window closes; draws only while it can be seen, and at most four times a second."""

    STEP = WizardStep.LIVE

    def __init__(self, desk: Desk, parent: QWidget | None = None, *, watch: Watch | None = None) -> None:
        super().__init__(desk, parent)
        self._watching = Watching(watch or Watch(desk.session), self)
        self._watching.sampled.connect(self._take)
        self._pace = Pace(self)
        self._pace.due.connect(self._draw)
        self._starting = QTimer(self)
        self._starting.setSingleShot(True)
        self._starting.timeout.connect(self._start)
        self._ending = Latest(desk.jobs, lambda _: None, self)
        self._recorded = False
        self._sample: Sample | None = None
        self._since = 0.0
        self.seconds = float(WINDOWS_SECONDS[1])
        self._frozen: float | None = None
        self._gpu = ALL
        self._colours: dict[int, int] = {}
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._holders = QAction(desk.words(text("Who holds the GPU?")), self)
        self._holders.triggered.connect(self._show_holders)
        words = self.desk.words
        self._header = PageHeader(words(text("Live memory")), "", self)
        self._notice = Notice(Mark.WARNING, "", self)
        self._notice.hide()
        self._nothing = EmptyState(Mark.BUSY, "", "", self)
        self._found = small(words(text("See what we found")), self._nothing)
        self._found.clicked.connect(self._go_to_found)
        self._nothing.buttons.addStretch(1)
        self._nothing.buttons.addWidget(self._found)
        self._nothing.buttons.addStretch(1)
        self._controls = LiveControls(words, self)
        self._controls.show_window(self.seconds)
        self._controls.show_pause(None)
        self._controls.window_chosen.connect(self.show_window)
        self._controls.pause_chosen.connect(self.pause_or_go_on)
        self._controls.gpu_chosen.connect(self.show_gpu)
        self._lanes = Lanes(words, self)
        self._processes = ProcessesModel(words, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, 24, MARGIN, 16)
        column.setSpacing(12)
        for widget in (self._header, self._notice, self._nothing, self._controls):
            column.addWidget(widget)
        column.addWidget(self._lanes, 1)
        column.addWidget(self._build_table())
        column.addStretch(0)
        self._show_waiting()

    def bar(self) -> Bar:
        if self._lanes.isHidden():
            return Bar()
        return Bar((self._holders,), note=self.desk.words(text("Space pauses · + − more or less time · 1–9 shows one GPU, 0 all")))

    def show_inspection(self, inspection: Inspection) -> None:
        self._recorded = inspection.recorded
        if self._recorded:
            self._starting.stop()
            self._ending.ask(lambda _: self._watching.stop())  # a driver that hangs is waited for, but not here
            self._sample = None
            self._show_recorded()
        elif self.isVisible():
            self._starting.start()

    def arrive(self, errand: Errand | None) -> None:
        self.setFocus()
        if self._recorded:
            self._show_recorded()
        else:
            self._starting.start()  # once the page stands: a thread takes its time to start

    def close_down(self) -> None:
        self._starting.stop()
        self._ending.drop()
        self._watching.stop()
        self._pace.stop()

    @property
    def lanes(self) -> tuple[Lane, ...]:
        return self._lanes.all

    @property
    def paused(self) -> bool:
        """Whether the view stands still; sampling goes on."""
        return self._frozen is not None

    @Slot()
    def pause_or_go_on(self) -> None:
        """Lets the view stand still, or go on with what was sampled meanwhile."""
        if self._sample is None:
            return
        self._frozen = self._watching.watch.history.until if self._frozen is None else None
        state = None
        if self._frozen is not None:
            state = text("Paused at {time}; sampling goes on", time=clock(self._sample.time, seconds=True))
        self._controls.show_pause(state)
        self._draw()

    @Slot(object)
    def show_window(self, seconds: float) -> None:
        self.seconds = seconds
        self._controls.show_window(seconds)
        self._draw()

    @Slot(object)
    def show_gpu(self, index: int) -> None:
        indices = tuple(lane.index for lane in self.lanes)
        self._gpu = index if index in indices else ALL
        self._lanes.show_only(self._gpu)
        self._controls.show_gpus(indices, self._gpu)
        self._draw()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key == Qt.Key.Key_Space:
            self.pause_or_go_on()
        elif key in {Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus}:
            step = -1 if key == Qt.Key.Key_Minus else 1
            place = WINDOWS_SECONDS.index(int(self.seconds)) + step
            self.show_window(float(WINDOWS_SECONDS[max(0, min(place, len(WINDOWS_SECONDS) - 1))]))
        elif Qt.Key.Key_0 <= key <= Qt.Key.Key_9:
            self.show_gpu(key - Qt.Key.Key_1)  # 1 is the first, whose index is 0; 0 is all
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._pace.request()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._pace.request()

    def _build_table(self) -> Card:
        self._table_card = Card(parent=self)
        self._table_card.setMaximumHeight(_TABLE_HEIGHT)
        table = self._table = Table(self._processes, self.desk.words(text("Processes on the GPUs")), self._table_card)
        table.horizontalHeader().setSectionsClickable(True)
        table.horizontalHeader().setSortIndicatorShown(True)
        table.horizontalHeader().setSortIndicator(GPU, Qt.SortOrder.AscendingOrder)
        table.setSortingEnabled(True)
        table.size_like(COLUMN_SAMPLES, PROCESS)
        self._table_card.body.addWidget(table)
        return self._table_card

    @Slot()
    def _start(self) -> None:
        if not self._watching.running:
            if self._sample is None:
                self._show_waiting()
            self._watching.start()

    @Slot(object)
    def _take(self, sample: Sample) -> None:
        if self._recorded or not self._watching.running:
            return
        if self._sample is None or (not self._sample.gpus and sample.gpus):
            self._since = sample.time
            state = StepStatus.RIGHT if sample.gpus else StepStatus.UNKNOWN
            self.asked.emit(Marked(self.STEP, state))
        self._sample = sample
        self._pace.request()

    @Slot()
    def _draw(self) -> None:
        sample = self._sample
        if sample is None or self._recorded or not (self.isVisible() and not self.window().isMinimized()):
            return
        if not sample.gpus and not self.lanes:
            self._show_nothing(sample.trouble)
            return
        if self._lanes.isHidden():
            self._nothing.hide()
            self._controls.show()
            self._lanes.show()
            self.bar_changed.emit()
        self._notice.setVisible(bool(sample.trouble))
        if sample.trouble:
            self._notice.show_words(Mark.WARNING, "\n".join(self.desk.words(reason) for reason in sample.trouble))
        peaks = self._watching.watch.peaks
        if self._lanes.show_gpus(sample.gpus, peaks.gpus):
            self._controls.show_gpus(tuple(lane.index for lane in self.lanes), self._gpu)
            self._lanes.show_only(self._gpu)
        if sample.gpus:
            self._header.show_words(self._header.title, self.desk.words(subtitle(sample, self._since)))
            self._processes.show_processes(process_rows(sample, peaks.processes))
        self._table_card.setVisible(bool(self._processes.processes))
        self._draw_lanes()

    def _draw_lanes(self) -> None:
        history = self._watching.watch.history
        until = history.until if self._frozen is None else self._frozen
        scene = Scene(history, self.seconds, until, self._colour_of, self._flags)
        shown = [lane for lane in self.lanes if lane.isVisibleTo(self)]
        drawn = [lane.draw(scene) for lane in shown]
        if any(drawn):
            pids = tuple(dict.fromkeys(pid for lane in shown for pid in lane.pids))
            self._colours = {pid: number for pid, number in self._colours.items() if pid in pids}
            command = self._watching.watch.history.command
            names = [(self._colour_of(pid), self.desk.words(process_name(command(pid), pid))) for pid in pids]
            rest = [(REST, self.desk.words(text("everything else")))] if any(lane.has_rest for lane in shown) else []
            self._controls.show_legend((*names, *rest))

    def _colour_of(self, pid: int) -> int:
        if pid not in self._colours:
            taken = set(self._colours.values())
            self._colours[pid] = next(number for number in range(len(taken) + 1) if number not in taken)
        return self._colours[pid]

    def _flags(self, index: int) -> tuple[Flag, ...]:
        since = (self._watching.watch.history.until if self._frozen is None else self._frozen) - self.seconds
        changes = [change for change in self._watching.watch.changes if change.gpu == index and change.time >= since]
        return tuple(Flag(change.time, self.desk.words(change_words(change))) for change in changes)

    def _show_waiting(self) -> None:
        self._show_empty(Mark.BUSY, text("Reading the GPUs"), text("The first figures come in a moment."), offers_found=False)

    def _show_recorded(self) -> None:
        why = text(
            "This window shows a recorded machine. Live memory is that of the computer that gpuassist runs on, so it is off."
        )
        self._show_empty(Mark.INFO, text("A recorded machine has no live memory"), why, offers_found=False)

    def _show_nothing(self, trouble: tuple[Text, ...]) -> None:
        if not trouble:
            why = text("NVIDIA's driver answers, but it drives no GPU.")
            self._show_empty(Mark.UNKNOWN, text("There is no GPU to watch"), why, offers_found=True)
            return
        then = text("What can be done about it stands under “What we found”. As soon as the driver answers, the plot begins.")
        self._show_empty(Mark.PROBLEM, text("The GPUs cannot be watched now"), *trouble, then, offers_found=True)

    def _show_empty(self, mark: Mark, title: Text, *why: Text, offers_found: bool) -> None:
        self._nothing.show_words(mark, self.desk.words(title), "\n".join(map(self.desk.words, why)))
        self._found.setVisible(offers_found)
        self._nothing.show()
        for widget in (self._notice, self._controls, self._lanes, self._table_card):
            widget.hide()
        self.bar_changed.emit()

    @Slot()
    def _show_holders(self) -> None:
        row = self._table.currentIndex().row()
        self.asked.emit(ToHolders(self._processes.processes[row].process.pid if row >= 0 else None))

    @Slot()
    def _go_to_found(self) -> None:
        self.asked.emit(GoTo(WizardStep.FOUND))


class Watching(QObject):
    """Starts and stops a watch; what it sees is told here, on the GUI thread."""

    sampled = Signal(object)  # Sample

    def __init__(self, watch: Watch, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.watch = watch
        self.running = False

    def start(self) -> None:
        """Begins, once."""
        if not self.running:
            self.running = True
            self.watch.start(self._hear)

    def stop(self) -> None:
        """Ends; the watch waits for its thread for at most a second."""
        if self.running:
            self.running = False
            self.watch.stop()

    def _hear(self, sample: Sample) -> None:
        # On the sampler's thread: this object lives on the GUI thread, so Qt brings the sample there.
        if self.running:
            self.sampled.emit(sample)
