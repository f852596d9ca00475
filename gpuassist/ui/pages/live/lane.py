"""The lane of one GPU: from the history to what its plot paints, and what it says of one moment."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from PySide6.QtWidgets import QWidget

from gpuassist.model.fact import Known, value_or
from gpuassist.model.sample import GpuSample
from gpuassist.model.text import Text, joined, text
from gpuassist.model.words import Words
from gpuassist.monitor.history import History, Series, Stack
from gpuassist.monitor.labels import label_of
from gpuassist.monitor.pyramid import Window
from gpuassist.present.curves import CURVES, CurveKind, limit_of, series_name, series_value
from gpuassist.present.marks import Mark
from gpuassist.present.plot_picture import DrawnRun
from gpuassist.present.samples import gpu_label, gpu_title, lane_figures, lane_summary, lane_trouble, range_words, size
from gpuassist.ui.plots.axes import HEADROOM
from gpuassist.ui.plots.lane_parts import CurveLook, Flag, Head
from gpuassist.ui.plots.lane_plot import LanePlot
from gpuassist.ui.plots.raster import Numbers, cells_of, columns_of, on_pixels, paint, paint_lines
from gpuassist.ui.plots.time_grid import TimeGrid, clock_marks

BANDS = 7
TOLD_EVERY_SECONDS = 5.0
_UNTOLD_CAPACITY = 1 << 33  # the scale of a card that does not tell its memory, until its use is seen
_WORTH_NAMING_BYTES = 32 << 20
_SCALES = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
_REACHES_BACK_BUCKETS = 3


class Scene(Struct, frozen=True):
    """What all lanes are drawn from: the history, how much of it, its right edge, and whose colour is whose."""

    history: History
    seconds: float
    until: float
    colour_of: Callable[[int], int]
    order_of: Callable[[int], int]
    flags: Callable[[int], tuple[Flag, ...]]
    curves: tuple[CurveKind, ...] = ()
    marked: int | None = None  # a process
    over: DrawnRun | None = None  # another run on the same axis, whose memory is a line


class Moment(Struct, frozen=True):
    """What a lane showed at one moment, or in the stretch that one of its pixels is: processes in the order of the stack, from the
    top, each with its least and most.
    """

    since: float
    until: float
    used: tuple[float, float] | None
    processes: tuple[tuple[int, float], ...] = ()
    rest: float = 0.0
    figures: tuple[tuple[Series, float, float], ...] = ()
    over: tuple[str, float, float] | None = None


class Lane(LanePlot):
    """The lane of one GPU."""

    def __init__(self, words: Words, index: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.index = index
        self.pids: tuple[int, ...] = ()
        self.has_rest = False
        self._words = words
        self._gpu: GpuSample | None = None
        self._told_at = 0.0
        self._told_state: Mark | None = None
        self._drawn: object = None
        self._scene: Scene | None = None
        self._seen: frozenset[int] = frozenset()
        self._unseen: frozenset[int] = frozenset()
        self._chosen: object = None
        self._kinds: tuple[CurveKind, ...] = ()
        self._read_until = 0.0
        self._tops: dict[CurveKind, float] = {}
        self.show_head(Head(words(text("GPU {index}", index=gpu_label(index)))))
        self.setAccessibleName(words(text("Used memory of GPU {index}", index=gpu_label(index))))

    def show_gpu(self, gpu: GpuSample, peak: int, *, now: float = 0.0, stale: bool = False) -> None:
        """The newest figures; `stale` where they are of before."""
        self._gpu = gpu
        name = self._words(text("Used memory of GPU {index}", index=label_of(gpu)))
        if name != self.accessibleName():  # another machine has come
            self.setAccessibleName(name)
        self._tell(gpu, peak, now)
        # A card that is lost tells nothing any more: its scale stays.
        known = value_or(gpu.memory_total_bytes, 0)
        self.show_capacity(float(known or max(self.capacity, value_or(gpu.memory_used_bytes, 0), _UNTOLD_CAPACITY)))
        trouble = lane_trouble(gpu, now)
        figures, short = tuple(map(self._words, lane_figures(gpu, peak))), ""
        if isinstance(gpu.memory_used_bytes, Known):
            short = self._words(size(gpu.memory_used_bytes.value))
        elif gpu.silent_seconds:
            figures, short = self.head.figures, self.head.short  # the last that came, greyed
        self.show_head(
            Head(
                self._words(gpu_title(gpu)),
                figures,
                short,
                "" if trouble is None else self._words(trouble[1]),
                Mark.WARNING if trouble is None else trouble[0],
                stale,
            )
        )

    def _tell(self, gpu: GpuSample, peak: int, now: float) -> None:
        """What a screen reader says of the plot: not anew each second, unless something goes wrong or right again."""
        trouble = lane_trouble(gpu, now)
        state = None if trouble is None else trouble[0]
        if state is self._told_state and abs(now - self._told_at) < TOLD_EVERY_SECONDS and self.accessibleDescription():
            return
        self._told_at, self._told_state = now, state
        said = [trouble[1]] if trouble is not None else []
        said.append(lane_summary(gpu, peak))
        self.setAccessibleDescription(" · ".join(filter(None, map(self._words, said))))

    def colour_of(self, pid: int) -> int:
        assert self._scene is not None
        return self._scene.colour_of(pid)

    @property
    def trouble(self) -> str:
        """Why nothing is drawn now; empty where something is."""
        return self.head.trouble

    @property
    def figures(self) -> str:
        return " · ".join(self.head.figures)

    def draw(self, scene: Scene) -> bool:
        """Draws what changed; false where the picture would be the same."""
        history, width = scene.history, self.columns_wanted
        grid = TimeGrid(scene.seconds, scene.until, width)
        window = Window(scene.seconds, width, scene.until)
        flags = scene.flags(self.index)
        self._show_looks(scene)
        still = history.until > scene.until + grid.step  # what is past does not change any more
        wanted = (
            grid.first,
            scene.seconds,
            flags,
            scene.marked,
            self.size(),
            self.capacity,
            self.curve_looks,
            self.shows_time,
            id(scene.over),
            0 if still else history.revision(self.index, window),
            *(0 if still else history.revision(self.index, window, series) for series in self._drawn_series(history)),
        )
        if wanted == self._drawn:
            return False
        stands = (grid.first, grid.step) == (self.grid.first, self.grid.step) and flags == self.flags
        before = (self.peak, self.series, self.newest)
        self._drawn, self._scene, self.flags = wanted, scene, flags
        width_of_bucket = history.width(self.index, window)
        self._choose(scene, window, width_of_bucket)
        self.grid = grid
        first = self._draw_strips(scene, width_of_bucket)
        if self.shows_time:
            self.time_marks = clock_marks(grid, history.epoch_of_zero, self.time_marks_at_most)
        self.show_grid(first if stands and before == (self.peak, self.series, self.newest) else 0)
        return True

    def forget_drawn(self) -> None:
        """The next `draw` draws whatever it finds."""
        self._drawn = None

    def moment(self, place: int) -> Moment:
        """What is shown at a pixel of the grid."""
        assert self._scene is not None
        history, time = self._scene.history, self.grid.time(place)
        window = Window(self._scene.seconds, self.grid.width, self._scene.until)
        width = history.width(self.index, window)
        back = max(history.gap_seconds, width)
        since = time // width * width
        stack = history.stack(self.index, Window(back, 1, time, width=width), pids=self.pids)
        moment = Moment(since, since + width, None)
        last = len(stack.curve.times) - 1
        if last >= 0 and not self._is_gap(stack, time, history):
            shares = tuple((band.pid, band.values[last]) for band in reversed(stack.bands) if band.values[last])
            moment = Moment(
                moment.since,
                moment.until,
                (stack.curve.low[last], stack.curve.high[last]),
                shares,
                stack.others[last],
                self._figures_at(history, time),
                self._over_at(time),
            )
        return moment

    def head_at(self, moment: Moment, clock: str) -> Head:
        """What stands above the lane while the crosshair is at that moment."""
        words = self._words
        title = f"{self.head.title.partition(' · ')[0]} · {clock}"
        if moment.used is None:
            return Head(title, (words(text("no reading")),))
        figures = [words(range_words(*moment.used))]
        figures += [words(series_value(series, high)) for series, _, high in moment.figures if series is Series.UTILIZATION]
        return Head(title, tuple(figures))

    def _is_gap(self, stack: Stack, time: float, history: History) -> bool:
        newest = stack.curve.times[-1] + stack.curve.width
        return time - newest > history.gap_seconds or time > max(history.until, newest)

    def _figures_at(self, history: History, time: float) -> tuple[tuple[Series, float, float], ...]:
        assert self._scene is not None
        wanted = [Series.UTILIZATION, Series.TORCH_ALLOCATED, Series.TORCH_RESERVED]
        wanted += [series for kind in self._scene.curves for series in CURVES[kind].series if series not in wanted]
        known = history.series(self.index)
        found = []
        for series in wanted:
            if series in known:
                width = history.width(self.index, Window(self._scene.seconds, self.grid.width, self._scene.until), series)
                curve = history.curve(self.index, Window(max(history.gap_seconds, width), 1, time, width=width), series)
                if len(curve.high):
                    found.append((series, curve.low[-1], curve.high[-1]))
        return tuple(found)

    def _over_at(self, time: float) -> tuple[str, float, float] | None:
        over = self._scene.over if self._scene is not None else None
        if over is None or self.index not in over.history.gpus:
            return None
        width = over.history.width(self.index, Window(self.grid.span, self.grid.width, self.grid.until))
        curve = over.history.curve(self.index, Window(max(over.history.gap_seconds, width), 1, time, width=width))
        return (over.name, curve.low[-1], curve.high[-1]) if len(curve.high) else None

    def _drawn_series(self, history: History) -> tuple[Series, ...]:
        known = history.series(self.index)
        shown = [series for kind in self._kinds[: self.curves_shown] for series in CURVES[kind].series]
        return tuple(series for series in (Series.TORCH_ALLOCATED, *shown) if series in known)

    def _choose(self, scene: Scene, window: Window, width: float) -> None:
        """Which processes have a band: as they were chosen, until one comes that was not there then."""
        made_of = (scene.seconds, width, scene.until // scene.seconds)
        if self._chosen == made_of and not self._unseen and scene.until >= self.grid.until:
            return
        self._unseen = frozenset()
        stack = scene.history.stack(self.index, window, bands=BANDS)
        self._chosen, self._seen = made_of, stack.pids
        self.pids = tuple(sorted((band.pid for band in stack.bands), key=scene.order_of))
        self.has_rest = max(stack.others, default=0.0) >= _WORTH_NAMING_BYTES

    def _draw_strips(self, scene: Scene, width: float) -> int:
        history = scene.history
        self.series = tuple(scene.colour_of(pid) for pid in self.pids)
        rows = self.rows(self.memory_rect(), HEADROOM)
        self._read_until = 0.0
        painter = self._memory_painter(history, rows, width)
        first = self.memory.show(self.grid, rows, (self.pids, self.capacity, width), painter)
        if self._unseen:  # somebody came
            self._choose(scene, Window(scene.seconds, self.grid.width, scene.until), width)
            self.series = tuple(scene.colour_of(pid) for pid in self.pids)
            first = self.memory.show(self.grid, rows, (self.pids, self.capacity, width), painter)
        known = history.series(self.index)
        self.has_torch = Series.TORCH_ALLOCATED in known
        if self.has_torch:
            lines = (Series.TORCH_ALLOCATED,)
            painter = self._line_painter(history, lines, rows, self.capacity)
            first = min(first, self.torch.show(self.grid, rows, (self.capacity, width), painter))
        self.has_over = scene.over is not None and self.index in scene.over.history.gpus
        if scene.over is not None and self.has_over:
            painter = self._line_painter(scene.over.history, (Series.MEMORY,), rows, self.capacity)
            first = min(first, self.over.show(self.grid, rows, (id(scene.over), self.capacity), painter))
        for place in range(self.curves_shown):
            kind = self._kinds[place]
            series = tuple(one for one in CURVES[kind].series if one in known)
            rows, top = self.rows(self.curve_rect(place)), self.curve_looks[place].top
            painter = self._line_painter(history, series, rows, top)
            first = min(first, self.curves[place].show(self.grid, rows, (series, top), painter))
        self.peak = 0.0
        if self.shows_peak:
            self.peak = history.greatest(self.index, Window(scene.seconds, self.grid.width, scene.until))
        self.show_marked(self.pids.index(scene.marked) if scene.marked in self.pids else None)
        silent = self._read_until and scene.until - self._read_until > history.gap_seconds
        self.newest = self._read_until if silent else None
        return first

    def _memory_painter(self, history: History, rows: int, width: float) -> Callable[[int, int], tuple[Numbers, float]]:
        def painted(first: int, end: int) -> tuple[Numbers, float]:
            window = self._part(first, end, width, history)
            stack = history.stack(self.index, window, pids=self.pids)
            self._unseen |= stack.pids - self._seen
            columns = on_pixels(columns_of(stack), self.grid.step, first, end)
            newest = stack.curve.times[-1] if len(stack.curve.times) else first * self.grid.step
            if len(stack.curve.times):
                self._read_until = max(self._read_until, newest + width)
            return paint(columns, rows, self.capacity), newest

        return painted

    def _line_painter(
        self, history: History, lines: tuple[Series, ...], rows: int, top: float
    ) -> Callable[[int, int], tuple[Numbers, float]]:
        window = Window(self.grid.span, self.grid.width, self.grid.until)
        widths = {series: history.width(self.index, window, series) for series in lines}

        def painted(first: int, end: int) -> tuple[Numbers, float]:
            curves = [history.curve(self.index, self._part(first - 1, end, widths[series], history), series) for series in lines]
            columns = [on_pixels(cells_of(curve), self.grid.step, first - 1, end) for curve in curves]
            newest = [curve.times[-1] for curve in curves if len(curve.times)]
            return paint_lines(columns, rows, top)[:, 1:], min(newest, default=first * self.grid.step)

        return painted

    def _part(self, first: int, end: int, width: float, history: History) -> Window:
        """The buckets for these pixels, those before that reach into them, and the next, up to which the last of them holds."""
        back = max(history.gap_seconds, _REACHES_BACK_BUCKETS * width)
        step = self.grid.step
        return Window((end - first) * step + 2 * back, 1, end * step + back, width=width)

    def _show_looks(self, scene: Scene) -> None:
        if scene.curves or self._kinds:
            known = scene.history.series(self.index)
            self._kinds = tuple(kind for kind in scene.curves if any(series in known for series in CURVES[kind].series))
            self.show_curves(tuple(self._look(scene, kind) for kind in self._kinds))

    def _look(self, scene: Scene, kind: CurveKind) -> CurveLook:
        history, gpu = scene.history, self._gpu
        known = history.series(self.index)
        series = [one for one in CURVES[kind].series if one in known]
        limit = limit_of(kind, gpu) if gpu is not None else 0.0
        window = Window(scene.seconds, self.columns_wanted, scene.until)
        most = max((history.greatest(self.index, window, one) for one in series), default=0.0)
        # A scale goes up at once and never down: a curve that jumps with its scale tells nothing.
        top = self._tops[kind] = max(self._tops.get(kind, 0.0), scale_top(max(most, CURVES[kind].top, limit)))
        return CurveLook(self._words(self._caption(kind, series)), scale_words(kind, top), top, limit, len(series))

    def _caption(self, kind: CurveKind, series: list[Series]) -> Text:
        told = []
        for one in series:
            fact = getattr(self._gpu, one.value, None)
            value = value_or(fact, None) if fact is not None else None
            if value is not None:
                words = series_value(one, float(value))
                told.append(text("{name} {value}", name=series_name(one), value=words) if len(series) > 1 else words)
        return joined((CURVES[kind].title, *told))


def scale_words(kind: CurveKind, top: float) -> str:
    """The top of a scale in few letters."""
    if kind is not CurveKind.PCIE:
        return f"{top / 1000:g}k" if top >= 10_000 else f"{top:g}"
    return f"{top / (1 << 30):.2g} G" if top >= 1 << 30 else f"{top / (1 << 20):.3g} M"


def scale_top(most: float) -> float:
    """A round figure that everything is below."""
    size = 1.0
    while size * 10 <= most:
        size *= 10
    return next((scale * size for scale in _SCALES if scale * size >= most), size * 10)
