"""What a watch has seen, to look at and to ask: a lane for each GPU stacked by process, what it means, and the processes below."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.sample import Sample
from gpuassist.model.text import Text, text
from gpuassist.monitor.means import Key, ProcessMean
from gpuassist.monitor.pyramid import Window
from gpuassist.monitor.sources import EVERYTHING, Detail
from gpuassist.present.curves import CURVES, CurveKind
from gpuassist.present.elsewhere import only_looked_at
from gpuassist.present.marks import Mark
from gpuassist.present.plot_picture import DrawnRun
from gpuassist.present.process_means import no_mean
from gpuassist.present.process_table import OnGpu, notebook_names, why_no_processes
from gpuassist.present.samples import WINDOWS_SECONDS, process_name, silence_words
from gpuassist.session.navigation import ToHolders
from gpuassist.session.watch import Watch
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.live.controls import ALL, LiveControls
from gpuassist.ui.pages.live.event_flags import flags_of
from gpuassist.ui.pages.live.lane import Lane, Scene
from gpuassist.ui.pages.live.lanes import Lanes
from gpuassist.ui.pages.live.legend import legend_entries
from gpuassist.ui.pages.live.live_insight import LiveInsight
from gpuassist.ui.pages.live.live_keys import LiveKeys
from gpuassist.ui.pages.live.live_time import LiveTime
from gpuassist.ui.pages.live.process_card import ProcessCard
from gpuassist.ui.pages.live.process_colours import ProcessColours
from gpuassist.ui.pages.live.process_snapshot import ProcessSnapshot
from gpuassist.ui.pages.live.process_stop import ProcessStop
from gpuassist.ui.pages.live.processes import NAMES, ProcessesModel, RowFigures
from gpuassist.ui.plots.colour_table import OVER, REST, TORCH
from gpuassist.ui.widgets.layouts import bare

_TABLE_SHARE = 0.3  # of the height, at most
_TABLE_LEAST = 118
_STORY_SHARE, _STORY_LEAST = 0.38, 64
_BEFORE_SECONDS, _AFTER_SECONDS = 285.0, 15.0  # of a failure


class WatchView(QWidget):
    """Draws when it is told to; `live` is that of a watch that runs, else all of it was recorded."""

    asked = Signal(object)  # Errand
    told = Signal(object, object)  # a Mark, and what is said

    def __init__(self, desk: Desk, watch: Watch, parent: QWidget | None = None, *, live: bool = True) -> None:
        super().__init__(parent)
        self.desk, self.watch, self.is_live = desk, watch, live
        self.time = LiveTime(float(WINDOWS_SECONDS[2]), self, live=live)
        self.time.changed.connect(self.draw)
        self.stale = False
        self.over: DrawnRun | None = None
        self._sample: Sample | None = None
        self._shown: Sample | None = None  # the newest, or the one that was there when it was paused
        self._gpu = ALL
        self._kinds: tuple[CurveKind, ...] = ()
        self._marked: int | None = None
        self._notebooks: dict[int, str] = {}
        self._label = lru_cache(maxsize=2048)(desk.words.__call__)  # a day of events is rendered at every sample else
        self._colours = ProcessColours()
        self._state: object = None
        self._keys = LiveKeys(self)
        self._make()
        self.want()

    @property
    def parts(self) -> tuple[QWidget, ...]:
        """What it is made of, for whoever has their style sheets read one by one."""
        return (self.controls, self.card, self._lanes)

    @property
    def lanes(self) -> tuple[Lane, ...]:
        return self._lanes.all

    @property
    def paused(self) -> bool:
        """Whether figures, table and plot stand still; sampling goes on."""
        return self.time.paused is not None

    @property
    def gpu(self) -> int:
        """The GPU that is shown alone, or ALL."""
        return self._gpu

    @property
    def shown(self) -> Sample | None:
        """Whose figures stand there."""
        return self._shown

    def window_of(self, columns: int) -> Window:
        """The stretch of time that is shown."""
        return Window(self.time.view.span, columns, self.time.view.until)

    @Slot()
    def pause_or_resume(self) -> None:
        """Lets everything stand still, or go on with what was sampled meanwhile."""
        if self._sample is not None and self.is_live:
            self.time.pause_or_resume(self.watch.history.until)

    @Slot(object)
    def show_gpu(self, index: int) -> None:
        """One GPU in all of the room, with its processes alone; or all."""
        indices = tuple(lane.index for lane in self.lanes)
        self._gpu = index if index in indices else ALL
        self._lanes.show_only(self._gpu)
        self.controls.show_gpus(self._lanes.labels, self._gpu)
        self.want()
        self.draw()

    @Slot(object)
    def show_curves(self, kinds: tuple[CurveKind, ...]) -> None:
        """These below the memory; what only they need is asked of the driver from now on, and no longer."""
        self._kinds = kinds
        self.controls.show_curves(kinds)
        self.want()
        self.draw()

    @Slot(object)
    def sample_at(self, hz: float) -> None:
        """So many samples a second."""
        self.watch.sample_at(hz)
        self.controls.show_rate(hz)

    @Slot(object)
    def mark(self, pid: int | None) -> None:
        """Sets a process off from all others, in the plot and in the table; none: no longer."""
        self._marked = self._processes.marked = pid
        self.draw()

    def show_over(self, over: DrawnRun | None) -> None:
        """Another run's memory as a line over this one; none: no longer."""
        self.over = over
        for lane in self.lanes:
            lane.forget_drawn()
        self.draw()

    def want(self) -> None:
        """Asks of the driver what is shown; all of it where that is recorded, or where one GPU's verdict rests on it."""
        details = {detail for kind in self._kinds if (detail := CURVES[kind].detail) is not None}
        alone = self._gpu != ALL or len(self.lanes) == 1
        self.watch.want(*(EVERYTHING if alone or self.watch.recording is not None else {Detail.SHARES, *details}))

    def take(self, sample: Sample) -> None:
        """The newest of the watch's samples; it is drawn when that is asked for."""
        self._sample = sample
        if sample.gpus:  # else the last figures stay, greyed
            self._notebooks.update(notebook_names(sample))
            self._colours.take(sample, self._name)
        self.insight.take(sample)

    def show_all(self, last: Sample) -> None:
        """All of what was recorded, to its last sample."""
        history = self.watch.history
        seen = self.watch.seen_between(last, history.since, history.until)
        self._notebooks.update(notebook_names(seen))
        self._colours.take(seen, self._name)
        self._sample = last
        self._processes.sort_by(NAMES.index("peak"))
        self.time.show_window(max(1.0, history.until - history.since))

    @Slot()
    def draw(self) -> None:
        """Brings all of it up to date, where it can be seen."""
        sample = self._sample
        if sample is None or self.isHidden():
            return
        silence = self.watch.silence
        self.stale = silence is not None
        self.controls.show_alarm(silence_words(silence) if silence is not None else None)
        if sample.gpus and (self._shown is None or not self.paused):
            self._shown = sample
        newest = self.watch.history.until
        if self.stale and self.watch.running and not self.paused:
            newest = max(newest, self.watch.now)  # the axis runs on
        self.time.extend(self.watch.history, newest)
        self._show_figures()
        self._draw_lanes()

    def press(self, event: QKeyEvent) -> bool:
        """Whether the key is one of those that it knows; then it does what that says."""
        return self._sample is not None and self._keys.press(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        least = max(_TABLE_LEAST, self.card.minimumSizeHint().height())
        self.card.setMaximumHeight(max(least, int(self.height() * _TABLE_SHARE)))
        self._fit_story()

    @property
    def under_way(self) -> Text | None:
        """That a process is being ended, or a snapshot of it taken; none where none is."""
        return text("the end of a process") if self._stopping.busy else self._snapshots.under_way

    def close_down(self) -> None:
        self._stopping.close_down()
        self._snapshots.close_down()

    def _make(self) -> None:
        words = self.desk.words
        self.controls = LiveControls(words, self, live=self.is_live)
        self.controls.show_window(self.time.view.seconds)
        self.controls.show_rate(self.watch.hz)
        self.controls.window_chosen.connect(self.time.show_window)
        self.controls.pause_chosen.connect(self.pause_or_resume)
        self.controls.follow_chosen.connect(self.time.follow)
        self.controls.gpu_chosen.connect(self.show_gpu)
        self.controls.rate_chosen.connect(self.sample_at)
        self.controls.curves_chosen.connect(self.show_curves)
        self._lanes = Lanes(words, self._name, self)
        self._lanes.zoomed.connect(self.time.zoom)
        self._lanes.panned.connect(self.time.pan)
        self._lanes.stretch_chosen.connect(self.time.zoom_to)
        self._lanes.gpu_chosen.connect(self.show_gpu)
        self.insight = LiveInsight(self.desk, self.watch, self)
        self.insight.asked.connect(self.asked)
        self.insight.moment_chosen.connect(self._show_moment)
        self.insight.card.opened.connect(self._show_story)
        self._processes = ProcessesModel(words, self._colours.colour_of, self)
        self.card = ProcessCard(words, self._processes, self, live=self.is_live)
        self.card.changed.connect(self._show_processes)
        self.card.mark_wanted.connect(self.mark)
        self.card.gpu_wanted.connect(self.show_gpu)
        self.card.holders_wanted.connect(self._go_to_holders)
        self._stopping = ProcessStop(self.desk, self)
        self._stopping.told.connect(self.told)
        self.card.stop_wanted.connect(self._stop)
        self._snapshots = ProcessSnapshot(self.desk, self)
        self._snapshots.told.connect(self.told)
        self._snapshots.asked.connect(self.asked)
        self.card.snapshot_wanted.connect(self._snapshots.ask)
        column = bare(QVBoxLayout(self), 10)
        column.addWidget(self.controls)
        column.addWidget(self._lanes, 1)
        column.addWidget(self.insight)
        column.addWidget(self.card)
        self.card.setVisible(not self.watch.server)  # which knows of no process
        self._column = column

    def _show_figures(self) -> None:
        sample = self._shown
        if sample is None:
            return
        if self._lanes.show_gpus(sample.gpus, self.watch.peaks.gpus, now=sample.time, stale=self.stale):
            self.controls.show_gpus(self._lanes.labels, self._gpu)
            self._lanes.show_only(self._gpu)
            self.want()
        self.insight.draw(sample, None if self._gpu == ALL else self._gpu)
        self._show_processes()

    @Slot()
    def _show_processes(self) -> None:
        sample = self._shown
        if sample is None:
            return
        if not self.is_live:
            until = self.time.view.until
            sample = self.watch.seen_between(sample, until - self.time.view.span, until)
        gpus = [gpu for gpu in sample.gpus if self._gpu in {gpu.index, ALL}]
        mean = self._mean if self.card.shows_means else no_mean
        self.card.show_gpus(gpus, RowFigures(self.watch.peaks.processes, mean, sample.time))
        self.card.show_missing(why_no_processes(sample, None if self._gpu == ALL else self._gpu))

    def _draw_lanes(self) -> None:
        self._show_state()
        flags = flags_of(self.watch.events, self._label, self.time.view.until - self.time.view.span, self.time.view.until)
        scene = Scene(
            self.watch.history,
            self.time.view.span,
            self.time.view.until,
            self._colours.colour_of,
            self._colours.order_of,
            lambda index: flags.get(index, flags.get(None, ())),
            self._kinds,
            self._marked,
            self.over,
        )
        if any(self._lanes.draw(scene)):
            self._show_legend()

    def _show_state(self) -> None:
        paused, follows = self.paused, self.time.view.follows
        state = self.time.words(self.watch.history.epoch_of_zero)
        if follows and self._lanes.leaves_curves_out:
            state = text("Not enough room for all curves: show a single GPU")
        shown = (state, paused, follows, self.time.view.seconds)
        if shown != self._state:  # labels cost a layout each time they are told something
            self._state = shown
            self.controls.show_state(state, paused=paused, follows=follows)
            self.controls.show_window(self.time.view.seconds)

    def _show_legend(self) -> None:
        shown = self._lanes.shown
        pids = sorted({pid for lane in shown for pid in lane.pids}, key=self._colours.order_of)
        rest = text("other / not attributed") if pids else text("used")
        more = ((REST, self.desk.words(rest)),) if any(lane.has_rest for lane in shown) else ()
        torch = ((TORCH, self.desk.words(text("allocated by torch"))),) if any(lane.has_torch for lane in shown) else ()
        over = ((OVER, self.over.name),) if self.over is not None else ()
        self.controls.show_legend((*legend_entries(pids, self._colours.colour_of, self._name), *more, *torch, *over))

    def _name(self, pid: int) -> str:
        notebook = self._notebooks.get(pid)
        return notebook or self.desk.words(process_name(self.watch.history.command(pid), pid))

    def _mean(self, key: Key) -> ProcessMean | None:
        until = self.time.view.until
        return self.watch.means.mean(key, until - self.time.view.span, until)

    @Slot(bool)
    def _show_story(self, is_open: bool) -> None:  # noqa: FBT001 -- Qt's own signal
        story = self.insight.card.details
        if story is not None and self._column.indexOf(story) < 0:
            self._column.insertWidget(self._column.indexOf(self.card), story)
            self._fit_story()
        self.card.setVisible(not is_open and not self.watch.server)

    def _fit_story(self) -> None:
        story = self.insight.card.details
        if story is not None:
            above = (self.controls.sizeHint(), self._lanes.minimumSizeHint(), self.insight.sizeHint())
            left = self.height() - sum(one.height() + self._column.spacing() for one in above)  # the plot keeps its own
            story.setFixedHeight(max(_STORY_LEAST, min(max(_TABLE_LEAST, int(self.height() * _STORY_SHARE)), left)))

    @Slot(float)
    def _show_moment(self, at: float) -> None:
        self.time.zoom_to(at - _BEFORE_SECONDS, at + _AFTER_SECONDS)

    @Slot(object)
    def _stop(self, part: OnGpu) -> None:
        if self.watch.server:
            self.told.emit(Mark.INFO, self.desk.words(only_looked_at(self.watch.server)))
        else:
            self._stopping.ask(part.process.pid)

    @Slot(object)
    def _go_to_holders(self, pid: int) -> None:
        self.asked.emit(ToHolders(pid))
