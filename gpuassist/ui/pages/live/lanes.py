"""A lane for each GPU: one below the other for a few, in two columns for many, or one alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gpuassist.model.fact import value_or
from gpuassist.model.sample import GpuSample
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.monitor.history import History
from gpuassist.monitor.pyramid import Window
from gpuassist.present.marks import Mark
from gpuassist.present.samples import gpu_figures, gpu_title, gpu_trouble
from gpuassist.ui.pages.live.controls import ALL
from gpuassist.ui.plots.bands import Flag
from gpuassist.ui.plots.lane_plot import LanePlot
from gpuassist.ui.plots.raster import columns_of
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import ElidedLabel, label
from gpuassist.ui.widgets.layouts import bare
from gpuassist.ui.widgets.marks import StatusPill

BANDS = 6
_LEAST_HEIGHT = 72
_UNTOLD_CAPACITY = 1 << 33  # the scale of a card that does not tell its memory, until its use is seen
_WORTH_NAMING_BYTES = 32 << 20
_ONE_COLUMN_AT_MOST = 3


class Scene(Struct, frozen=True):
    """What all lanes are drawn from: the history, how much of it, its right edge, and whose colour is whose."""

    history: History
    seconds: float
    until: float
    colour_of: Callable[[int], int]
    flags: Callable[[int], tuple[Flag, ...]]


class Lane(QWidget):
    """The lane of one GPU."""

    def __init__(self, words: Words, index: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.index = index
        self.pids: tuple[int, ...] = ()
        self.has_rest = False
        self._words = words
        self._capacity = float(_UNTOLD_CAPACITY)
        self._drawn: object = None
        self._title = label(words(text("GPU {index}", index=index)), "strong", self)
        self._trouble = StatusPill(Mark.WARNING, "", self)
        self._trouble.hide()
        self._figures = ElidedLabel("", "muted", self, elide=Qt.TextElideMode.ElideRight, align=Qt.AlignmentFlag.AlignRight)
        self.plot = LanePlot(words, self)
        self.plot.setMinimumHeight(_LEAST_HEIGHT)
        self.plot.setAccessibleName(words(text("Used memory of GPU {index}", index=index)))
        head = bare(QHBoxLayout(), 12)
        head.addWidget(self._title)
        head.addWidget(self._trouble)
        head.addWidget(self._figures, 1)
        column = bare(QVBoxLayout(self), 0)
        column.addLayout(head)
        column.addWidget(self.plot, 1)

    @property
    def figures(self) -> str:
        return self._figures.words

    @property
    def trouble(self) -> str:
        """Why nothing is drawn now; empty where something is."""
        return "" if self._trouble.isHidden() else self._trouble.words

    def show_gpu(self, gpu: GpuSample, peak: int) -> None:
        self._title.setText(self._words(gpu_title(gpu)))
        self._figures.set_words(self._words(gpu_figures(gpu, peak)))
        # A card that is lost tells nothing any more: its scale stays.
        self._capacity = float(value_or(gpu.memory_total_bytes, 0) or max(self._capacity, value_or(gpu.memory_used_bytes, 0)))
        trouble = gpu_trouble(gpu)
        self._trouble.setVisible(trouble is not None)
        if trouble is not None:
            self._trouble.show_status(Mark.WARNING, self._words(trouble))

    def draw(self, scene: Scene) -> bool:
        """Draws what changed; false where the picture would be the same."""
        window = Window(scene.seconds, self.plot.columns_wanted, scene.until)
        step = window.seconds / window.columns
        flags = scene.flags(self.index)
        wanted = (
            scene.history.revision(self.index, window),
            window.columns,
            int(scene.until / step),
            scene.seconds,
            flags,
            self._capacity,
        )
        if wanted == self._drawn:
            return False
        self._drawn = wanted
        stack = scene.history.stack(self.index, window, bands=BANDS)
        self.pids = tuple(band.pid for band in stack.bands)
        self.has_rest = max(stack.others, default=0.0) >= _WORTH_NAMING_BYTES
        self.plot.show_scale(self._capacity, scene.seconds)
        self.plot.show_bands(columns_of(stack), tuple(scene.colour_of(pid) for pid in self.pids), scene.until, flags)
        return True

    def forget_drawn(self) -> None:
        """The next `draw` draws whatever it finds."""
        self._drawn = None


class Lanes(Card):
    """Makes a lane for every GPU that a sample tells of; lanes that lie too low are scrolled to."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self._all: dict[int, Lane] = {}
        self._inside = QWidget(self)
        self._inside.setObjectName("content")
        self._grid = QGridLayout(self._inside)
        self._grid.setContentsMargins(0, 0, 8, 0)
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(8)
        scroll = QScrollArea(self)
        scroll.setWidget(self._inside)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.addWidget(scroll)

    @property
    def all(self) -> tuple[Lane, ...]:
        return tuple(self._all[index] for index in sorted(self._all))

    def show_gpus(self, gpus: tuple[GpuSample, ...], peaks: Mapping[int, int]) -> bool:
        """The newest figures; true where a GPU is new."""
        new = [gpu.index for gpu in gpus if gpu.index not in self._all]
        for index in new:
            self._all[index] = Lane(self._words, index, self._inside)
        for gpu in gpus:
            self._all[gpu.index].show_gpu(gpu, peaks.get(gpu.index, 0))
        return bool(new)

    def show_only(self, index: int) -> None:
        for lane in self.all:
            self._grid.removeWidget(lane)
            lane.setVisible(index in {lane.index, ALL})
            lane.forget_drawn()
        shown = [lane for lane in self.all if index in {lane.index, ALL}]
        columns = 1 if len(shown) <= _ONE_COLUMN_AT_MOST else 2
        for place, lane in enumerate(shown):
            self._grid.addWidget(lane, place // columns, place % columns)
            lane.plot.show_time_axis(shown=place >= len(shown) - columns)
            self._grid.setRowStretch(place // columns, 1)
        for column in range(2):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
