"""All lanes of the live page: one below the other for a few GPUs, in two columns for many, or one alone."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QWidget

from gpuassist.model.sample import GpuSample
from gpuassist.model.words import Words
from gpuassist.ui.pages.live.controls import ALL
from gpuassist.ui.pages.live.lane import Lane
from gpuassist.ui.widgets.cards import Card

_ONE_COLUMN_AT_MOST = 3


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
        """Every lane, by the GPU's index."""
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
        """Shows one lane, or all."""
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
