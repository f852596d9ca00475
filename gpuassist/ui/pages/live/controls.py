"""The controls of the live page: how much time, which GPU and curves, how often; pause, back to now, files; the legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.curves import CURVES, CurveKind
from gpuassist.present.marks import Mark
from gpuassist.present.samples import RATES_HZ, WINDOWS_SECONDS, rate_words, window_words
from gpuassist.ui.pages.live.legend import Legend, LegendEntry
from gpuassist.ui.widgets import popups
from gpuassist.ui.widgets.buttons import DropDown, small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import ElidedLabel
from gpuassist.ui.widgets.layouts import FlowLayout, add_layout, bare
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.wording import as_tip

ALL = -1  # of the GPUs
SAVED = (
    (text("Save the plot as PNG…"), ".png"),
    (text("Save the plot as SVG…"), ".svg"),
    (text("Save the figures as CSV…"), ".csv"),
    (text("Save the figures as Parquet…"), ".parquet"),
    (text("Save what is shown as a recording…"), ".db"),
)


class LiveControls(Card):
    """What is shown and for how long; the page does what it says."""

    window_chosen = Signal(object)  # float: seconds
    pause_chosen = Signal()
    follow_chosen = Signal()
    gpu_chosen = Signal(object)  # int: an index, or ALL
    rate_chosen = Signal(object)  # float: samples a second
    curves_chosen = Signal(object)  # tuple of CurveKind
    record_chosen = Signal()
    save_chosen = Signal(str)  # the ending of the file's name

    def __init__(self, words: Words, parent: QWidget | None = None, *, live: bool = True) -> None:
        super().__init__(parent=parent)
        self._words, self._live = words, live
        self.outer.setContentsMargins(20, 10, 20, 8)
        self._window = self._choice(text("Time range"))
        self._fill_windows(WINDOWS_SECONDS)
        self._window.activated.connect(self._choose_window)
        self._gpu = self._choice(text("GPU shown"))
        self._gpu.activated.connect(self._choose_gpu)
        self._gpu.hide()
        self._rate = self._choice(text("Sampling rate"))
        for hz in RATES_HZ:
            self._rate.addItem(words(rate_words(hz)), hz)
        self._rate.activated.connect(self._choose_rate)
        self._pause = small(words(text("Pause")), self)
        self._pause.setToolTip(words(text("Space")))
        self._pause.clicked.connect(self.pause_chosen)
        self._follow = small(words(text("Back to now")), self)
        self._follow.setToolTip("End")  # the key, as Qt spells it
        self._follow.clicked.connect(self.follow_chosen)
        self._follow.hide()
        self._state = ElidedLabel("", "muted", self, elide=Qt.TextElideMode.ElideRight)
        self._alarm = StatusPill(Mark.WARNING, "", self)
        self._alarm.hide()
        self._legend = Legend(self)
        self.record = small("", self)
        self.record.clicked.connect(self.record_chosen)
        self.show_recording(None)
        row = bare(QHBoxLayout(), 8)
        box = QWidget(self)
        looks, keeps = FlowLayout(box), bare(QHBoxLayout(), 8)
        for widget in (self._window, self._gpu, self._rate, self._make_curves(), self._pause, self._follow):
            looks.addWidget(widget)
        row.addWidget(box, 1)
        keeps.addWidget(self.record)
        keeps.addWidget(self._make_files())
        add_layout(row, keeps)
        for widget in (self._rate, self._pause, self.record):
            widget.setVisible(live)
        below = bare(QHBoxLayout(), 12)
        below.addWidget(self._alarm)
        below.addWidget(self._state)  # a sentence stands whole; of the names more are in the legend's tip
        below.addWidget(self._legend, 1, Qt.AlignmentFlag.AlignVCenter)
        add_layout(self.body, row)
        add_layout(self.body, below)

    @property
    def legend(self) -> tuple[LegendEntry, ...]:
        return self._legend.entries

    @property
    def state(self) -> str:
        return self._state.words

    @property
    def alarm(self) -> str:
        """Why the figures are old; empty where they are not."""
        return "" if self._alarm.isHidden() else self._alarm.words

    def show_window(self, seconds: float) -> None:
        """So much time is shown, whether it is one of those that are offered or not."""
        if self._window.currentData() == round(seconds):
            return
        self._fill_windows(sorted({*WINDOWS_SECONDS, round(seconds)}))
        self._window.setCurrentIndex(self._window.findData(round(seconds)))

    def show_rate(self, hz: float) -> None:
        self._rate.setCurrentIndex(self._rate.findData(hz))

    def show_recording(self, name: str | None, *, busy: bool = False) -> None:
        """To which file is recorded, if to any; `busy` while a file is opened or closed."""
        self.record.setEnabled(not busy)
        title = self._words(text("Record") if name is None else text("Stop recording"))
        self.record.setText(title if name is None else "■ " + self._words(text("Stop")))  # short, for a small window
        self.record.setAccessibleName(title)
        tip = text("Saves every sample to a file from now on") if name is None else text("Recording to {name}", name=name)
        self.record.setToolTip(as_tip(self._words(tip)))

    def show_state(self, state: Text, *, paused: bool, follows: bool) -> None:
        """Whether the view stands still or elsewhere, and since when."""
        self._pause.setText(self._words(text("Resume") if paused else text("Pause")))
        elsewhere = not follows and not paused  # where the one takes the place of the other: a small window has not room for both
        self._pause.setVisible(self._live and not elsewhere)
        self._follow.setVisible(self._live and elsewhere)
        self._state.set_words(self._words(state))

    def show_alarm(self, alarm: Text | None) -> None:
        """That no figures come, and since when."""
        self._alarm.setVisible(alarm is not None)
        if alarm is not None:
            self._alarm.show_status(Mark.WARNING, self._words(alarm))

    def show_gpus(self, labels: Mapping[int, str], chosen: int) -> None:
        """The GPUs to choose from, by their index; no choice where there is but one."""
        self._gpu.clear()
        self._gpu.addItem(self._words(text("All GPUs")), ALL)
        for index, label in labels.items():
            self._gpu.addItem(self._words(text("GPU {index}", index=label)), index)
        self._gpu.setCurrentIndex(self._gpu.findData(chosen))
        self._gpu.setVisible(len(labels) > 1)

    def show_legend(self, entries: tuple[LegendEntry, ...]) -> None:
        self._legend.show_entries(entries)

    def show_curves(self, kinds: tuple[CurveKind, ...]) -> None:
        """Which are ticked; tells nobody."""
        for kind, action in self._curves.items():
            action.setChecked(kind in kinds)

    def _make_curves(self) -> QWidget:
        button = small(self._words(text("Curves")) + " ▾", self)
        menu = popups.menu(button)
        menu.setAccessibleName(self._words(text("Curves below the memory")))
        self._curves: dict[CurveKind, QAction] = {}
        for kind, curves in CURVES.items():
            action = menu.addAction(self._words(curves.title))
            action.setCheckable(True)
            action.triggered.connect(self._choose_curves)
            self._curves[kind] = action
        button.setMenu(menu)
        return button

    def _make_files(self) -> QWidget:
        button = small(self._words(text("File")) + " ▾", self)
        self.files = popups.menu(button)
        self.files.setAccessibleName(self._words(text("Recordings and export")))
        for title, ending in SAVED:
            action = self.files.addAction(self._words(title))
            action.setData(ending)
            action.triggered.connect(self._choose_save)
        button.setMenu(self.files)
        return button

    def _fill_windows(self, offered: Sequence[float]) -> None:
        if [self._window.itemData(place) for place in range(self._window.count())] != list(offered):
            self._window.clear()
            for seconds in offered:
                self._window.addItem(self._words(window_words(seconds)), seconds)

    def _choice(self, name: Text) -> DropDown:
        made = DropDown(self)
        made.setAccessibleName(self._words(name))
        made.setToolTip(self._words(name))
        made.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        return made

    @Slot(int)
    def _choose_window(self, place: int) -> None:
        self.window_chosen.emit(float(self._window.itemData(place)))

    @Slot(int)
    def _choose_gpu(self, place: int) -> None:
        self.gpu_chosen.emit(int(self._gpu.itemData(place)))

    @Slot(int)
    def _choose_rate(self, place: int) -> None:
        self.rate_chosen.emit(float(self._rate.itemData(place)))

    @Slot()
    def _choose_save(self) -> None:
        action = self.sender()
        assert isinstance(action, QAction)
        self.save_chosen.emit(str(action.data()))

    @Slot()
    def _choose_curves(self) -> None:
        self.curves_chosen.emit(tuple(kind for kind, action in self._curves.items() if action.isChecked()))
