"""The live page's row of controls: the window's length, pause, which GPU, and whose colour is whose."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.samples import WINDOWS_SECONDS, window_words
from gpuassist.ui.plots.bands import series_colour
from gpuassist.ui.theme import colours
from gpuassist.ui.widgets.buttons import DropDown, small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import label
from gpuassist.ui.widgets.layouts import FlowLayout, bare, clear

ALL = -1  # of the GPUs
_SWATCH = 12


class LiveControls(Card):
    """What is shown and for how long; the page does what it says."""

    window_chosen = Signal(object)  # float: seconds
    pause_chosen = Signal()
    gpu_chosen = Signal(object)  # int: an index, or ALL

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self._legend_shown: tuple[tuple[int, str], ...] = ()
        self._window = self._choice(text("How much time is shown"))
        for seconds in WINDOWS_SECONDS:
            self._window.addItem(words(window_words(seconds)), seconds)
        self._window.activated.connect(self._choose_window)
        self._pause = small(words(text("Pause")), self)
        self._pause.clicked.connect(self.pause_chosen)
        self._gpu = self._choice(text("Which GPU is shown"))
        self._gpu.activated.connect(self._choose_gpu)
        self._gpu.hide()
        self._state = label("", "muted", self)
        self._legend = QWidget(self)
        self._flow = FlowLayout(self._legend, gap=14)
        row = bare(QHBoxLayout(), 12)
        for widget in (self._window, self._gpu, self._pause, self._state):
            row.addWidget(widget)
        row.addWidget(self._legend, 1, Qt.AlignmentFlag.AlignVCenter)
        self.body.addLayout(row)

    @property
    def legend(self) -> tuple[tuple[int, str], ...]:
        return self._legend_shown

    def show_window(self, seconds: float) -> None:
        self._window.setCurrentIndex(self._window.findData(seconds))

    def show_pause(self, state: Text | None) -> None:
        """Whether the view stands still, and since when."""
        self._pause.setText(self._words(text("Go on") if state is not None else text("Pause")))
        self._state.setText(self._words(state) if state is not None else self._words(text("GiB")))

    def show_gpus(self, indices: tuple[int, ...], chosen: int) -> None:
        """The GPUs to choose from; no choice where there is but one."""
        self._gpu.clear()
        self._gpu.addItem(self._words(text("All GPUs")), ALL)
        for index in indices:
            self._gpu.addItem(self._words(text("GPU {index}", index=index)), index)
        self._gpu.setCurrentIndex(self._gpu.findData(chosen))
        self._gpu.setVisible(len(indices) > 1)

    def show_legend(self, entries: tuple[tuple[int, str], ...]) -> None:
        """Whose colour is whose: the colour's number and a name."""
        if entries == self._legend_shown:
            return
        self._legend_shown = entries
        clear(self._flow)
        for number, name in entries:
            self._flow.addWidget(_Entry(number, name, self._legend))

    def _choice(self, name: Text) -> DropDown:
        made = DropDown(self)
        made.setAccessibleName(self._words(name))
        made.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        return made

    @Slot(int)
    def _choose_window(self, place: int) -> None:
        self.window_chosen.emit(float(self._window.itemData(place)))

    @Slot(int)
    def _choose_gpu(self, place: int) -> None:
        self.gpu_chosen.emit(int(self._gpu.itemData(place)))


class _Entry(QWidget):
    """A colour and its name."""

    def __init__(self, number: int, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = bare(QHBoxLayout(self), 6)
        row.addWidget(_Swatch(number, self))
        row.addWidget(label(name, "", self))


class _Swatch(QWidget):
    def __init__(self, number: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._number = number
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(_SWATCH, _SWATCH)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        palette = colours()
        painter.fillRect(QRectF(self.rect()), QColor(series_colour(palette, self._number)))
        painter.end()
