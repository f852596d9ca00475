"""Child of `plot`: draws eight noisy curves in one of several ways and prints the milliseconds of CPU that a tick costs.

`plot_child.py hour|day|hover|naive SECONDS`: ours over an hour at 10 Hz, ours over 24 hours, the crosshair moved over ours, an hour
as whole arrays handed to pyqtgraph.
"""

from __future__ import annotations

import math
import random
import resource
import sys

import numpy as np
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QApplication

from gpuassist.model.fact import Known
from gpuassist.model.sample import GpuSample, Sample
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.history import History
from gpuassist.ui.pace import Pace
from gpuassist.ui.pages.live.controls import ALL
from gpuassist.ui.pages.live.lane import Scene
from gpuassist.ui.pages.live.lanes import Lanes

CURVES, HZ, SPAN, DAY = 8, 10, 3600, 24 * 3600
WIDTH, HEIGHT = 1200, 700
GIB = 1 << 30
PEAK, CARD = 239 * GIB // 10, 24 * GIB


def main(way: str, seconds: float) -> None:
    """Prints the cost."""
    application = QApplication([])
    random.seed(1)
    ways: dict[str, type[Ours | Naive]] = {"hour": Ours, "day": Day, "hover": Hover, "naive": Naive}
    draw = ways[way]()
    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.timeout.connect(draw.tick)
    began: list[float] = []

    def start() -> None:
        draw.ticks = 0
        began.append(_cpu())
        timer.start(1000 // HZ)
        QTimer.singleShot(int(seconds * 1000), application.quit)

    QTimer.singleShot(1500, start)
    application.exec()
    cost = (_cpu() - began[0]) * 1000 / draw.ticks
    timer.stop()
    draw.check()
    print(f"{cost:.4f}")


def reading(curve: int, tick: int) -> float:
    """Bytes in use: a slow wave with noise, as memory under a training run has."""
    return (12 + 6 * math.sin(tick / 3000 + curve) + random.gauss(0, 1)) * GIB


class Ours:
    """The live page's lanes over the history."""

    span, samples, fed_hz = SPAN, SPAN * HZ, HZ

    def __init__(self) -> None:
        self.ticks = 0
        self._number = 0
        self._hz = self.fed_hz
        self._time = 0.0
        self._history = History()
        for _ in range(self.samples):
            self._history.add(self._sample())
        self._hz = HZ
        self._lanes = Lanes(ENGLISH, str)
        self._lanes.resize(WIDTH, HEIGHT)
        self._lanes.show_gpus(self._sample().gpus, {})
        self._lanes.show_only(ALL)
        self._lanes.show()
        self._pace = Pace(self._lanes)
        self._pace.due.connect(self.draw)
        QApplication.processEvents()
        self.draw()

    def tick(self) -> None:
        """A tenth of a second passes."""
        self.ticks += 1
        self._history.add(self._sample())
        self._pace.request()

    def draw(self) -> None:
        """As the page does."""
        self._lanes.draw(Scene(self._history, float(self.span), self._history.until, lambda pid: 0, lambda pid: 0, lambda gpu: ()))

    def check(self) -> None:
        """A peak of one reading, then an hour's tail of others: it must still be in the picture."""
        self._history.add(self._sample(peak=True))
        for _ in range(20):
            self._history.add(self._sample())
        self.draw()
        for lane in self._lanes.all:
            filled = (lane.memory.numbers > 0).sum(axis=0).max()
            assert filled >= -(-PEAK * lane.memory.numbers.shape[0] // CARD), "a peak was lost"

    def _sample(self, *, peak: bool = False) -> Sample:
        self._number += 1
        gpus = tuple(_gpu(curve, PEAK if peak else reading(curve, self._number)) for curve in range(CURVES))
        self._time += 1 / self._hz
        return Sample(1.8e9 + self._time, self._time, gpus)


class Day(Ours):
    """The same over 24 hours, of which nobody waits for a reading ten times a second."""

    span, samples, fed_hz = DAY, DAY, 1


class Hover(Ours):
    """The crosshair goes from one pixel to the next, ten times a second, in all lanes."""

    def tick(self) -> None:
        """The mouse moves."""
        self.ticks += 1
        self._lanes.hover(QPoint(200 + 3 * self.ticks % 300, 150))


class Naive:
    """The whole of every array handed to pyqtgraph at every tick."""

    def __init__(self) -> None:
        import pyqtgraph as pg  # it would cost ours, too

        self.ticks = 0
        count = SPAN * HZ
        self._x = np.linspace(-SPAN, 0, count)
        self._ys = [np.array([reading(curve, tick) for tick in range(count)]) for curve in range(CURVES)]
        self._plot = pg.PlotWidget()
        self._plot.setYRange(0, 24 * GIB, padding=0)
        self._plot.setXRange(-SPAN, 0, padding=0)
        self._curves = [self._plot.plot(pen=pg.intColor(curve, CURVES)) for curve in range(CURVES)]
        self._plot.resize(WIDTH, HEIGHT)
        self._plot.show()

    def tick(self) -> None:
        """A tenth of a second passes."""
        self.ticks += 1
        for number, (values, curve) in enumerate(zip(self._ys, self._curves, strict=True)):
            values[:-1] = values[1:]
            values[-1] = reading(number, self.ticks)
            curve.setData(self._x, values)

    def check(self) -> None:
        """Whole arrays hold every peak."""


def _gpu(index: int, used: float) -> GpuSample:
    return GpuSample(index, memory_total_bytes=Known(24 * GIB, "made up"), memory_used_bytes=Known(int(used), "made up"))


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
