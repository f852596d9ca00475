"""One GPU on the live page: its name and figures over its plot, and why there is nothing to draw. Imports pyqtgraph."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.model.fact import value_or
from gpuassist.model.sample import GpuSample
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.monitor.history import History
from gpuassist.monitor.pyramid import Window
from gpuassist.present.marks import Mark
from gpuassist.present.samples import gpu_figures, gpu_title, gpu_trouble
from gpuassist.ui.plots.bands import Flag
from gpuassist.ui.plots.lane_plot import LanePlot
from gpuassist.ui.plots.raster import columns_of
from gpuassist.ui.widgets.labels import ElidedLabel
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.widgets.paragraphs import label

BANDS = 6
_LEAST_HEIGHT = 72
_UNTOLD_CAPACITY = 1 << 33  # the scale of a card that does not tell its memory, until its use is seen
_WORTH_NAMING_BYTES = 32 << 20


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
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(self._title)
        head.addWidget(self._trouble)
        head.addWidget(self._figures, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.plot, 1)

    @property
    def figures(self) -> str:
        """The line of figures."""
        return self._figures.words

    @property
    def trouble(self) -> str:
        """Why nothing is drawn now; empty where something is."""
        return "" if self._trouble.isHidden() else self._trouble.words

    def show_gpu(self, gpu: GpuSample, peak: int) -> None:
        """The newest figures."""
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
