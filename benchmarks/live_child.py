"""Child of `live`: the real window on its live page, over the scripted NVML that its environment names.

`live_child.py usage SECONDS [HZ]` prints the share of one CPU that it uses, sampling so often; `minimised SECONDS` the same of the
minimised window; `gap SECONDS` the longest time in milliseconds for which the GUI thread did not answer, and how long closing the
window then took; `memory SECONDS` the proportional set size of everything in MiB; `pyqtgraph SECONDS` that of a window with a
pyqtgraph plot of eight curves; `soak SECONDS` samples at 50 Hz and prints by how much the references of None and True fell.
"""

from __future__ import annotations

import gc
import os
import resource
import sys
import time
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication, QMainWindow

from gpuassist import app
from gpuassist.session.navigation import GoTo, WizardStep
from gpuassist.session.watch import Watch
from gpuassist.system.groups import under_way
from gpuassist.ui.application import WindowRun
from gpuassist.ui.pages.live.page import LivePage

SETTLE_SECONDS = 5.0
SOAK_HZ = 50
_BEAT_MILLISECONDS = 5


def main(way: str, seconds: float, hz: float) -> None:
    """Runs the window for so long and prints what was measured."""
    gc.set_threshold(50_000)  # as `gpuassist.__main__` does: the look for garbage is a fifth of what the page costs else
    application = QApplication(["gpuassist"])
    if way == "pyqtgraph":
        measure_pyqtgraph(application, seconds)
        return
    run = WindowRun(app.compose("en"), application, start=GoTo(WizardStep.LIVE))
    meter = {"usage": Usage, "minimised": Minimised, "gap": LiveGap, "memory": Memory, "soak": Soak}[way](run, seconds, hz)
    run.window.show()
    meter.begin()
    application.exec()
    began = time.monotonic()
    run.end()
    print(f"{(time.monotonic() - began) * 1000 + meter.closing:.1f}", flush=True)


def measure_pyqtgraph(application: QApplication, seconds: float) -> None:
    """A window with nothing but a plot of eight curves of an hour."""
    import pyqtgraph as pg

    window = QMainWindow()
    plot = pg.PlotWidget()
    window.setCentralWidget(plot)
    window.resize(1280, 800)
    times = list(range(-3600, 0))
    for number in range(8):
        plot.plot(times, [float(number)] * len(times))
    window.show()
    QTimer.singleShot(int(seconds * 1000), application.quit)
    application.exec()
    print(f"{_pss(os.getpid()):.4f} 0", flush=True)


class Meter(QObject):
    """Measures for a while, then prints and ends."""

    def __init__(self, run: WindowRun, seconds: float, hz: float = 1.0) -> None:
        super().__init__()
        self.window_run = run
        self._seconds, self._hz = seconds, hz
        self.closing = 0.0

    def begin(self) -> None:
        """Waits until the window has settled."""
        QTimer.singleShot(int(SETTLE_SECONDS * 1000), self.measure)

    @Slot()
    def measure(self) -> None:
        """Begins to measure."""
        if self._hz != 1:
            self.page().view.sample_at(self._hz)
        self.started()
        QTimer.singleShot(int(self._seconds * 1000), self.end)

    @Slot()
    def end(self) -> None:
        """Prints and closes the window."""
        print(f"{self.figure():.4f}", flush=True)
        began = time.monotonic()
        self.window_run.window.close()
        self.closing = (time.monotonic() - began) * 1000

    def page(self) -> LivePage:
        """The live page, which is made once the window stands."""
        assert self.window_run.frame is not None
        page = self.window_run.frame.findChild(LivePage)
        assert page is not None, "the live page is not there"
        return page

    def started(self) -> None:
        """Measuring begins."""

    def figure(self) -> float:
        """What was measured."""
        raise NotImplementedError


class Usage(Meter):
    """CPU time over time."""

    def started(self) -> None:
        self._cpu, self._time = _cpu(), time.monotonic()

    def figure(self) -> float:
        return (_cpu() - self._cpu) / (time.monotonic() - self._time)


class Minimised(Usage):
    """The same of a window that nobody sees."""

    def started(self) -> None:
        self.window_run.window.showMinimized()
        super().started()


class Memory(Meter):
    """What the window and the processes that it started take, shared pages by share."""

    def figure(self) -> float:
        assert self.page().view.lanes, "nothing was sampled"
        return sum(map(_pss, (os.getpid(), *under_way)))


class Gap(Meter):
    """The longest time between two beats of a timer, from the first paint on."""

    def begin(self) -> None:
        self.longest, self._last = 0.0, 0.0
        self._beat = QTimer(self)
        self._beat.setTimerType(Qt.TimerType.PreciseTimer)
        self._beat.setInterval(_BEAT_MILLISECONDS)
        self._beat.timeout.connect(self._tick)
        self.window_run.furnished.connect(self._start_beating)
        super().begin()

    def figure(self) -> float:
        return self.longest * 1000

    @Slot()
    def _start_beating(self) -> None:
        self._last = time.monotonic()
        self._beat.start()

    @Slot()
    def _tick(self) -> None:
        now = time.monotonic()
        self.longest, self._last = max(self.longest, now - self._last - _BEAT_MILLISECONDS / 1000), now


class LiveGap(Gap):
    """Until the live page runs, printed first, and from then on."""

    opening = 0.0

    def measure(self) -> None:
        """Waits for the page: it is made once the machine was read, of which a slow NVML is a part."""
        frame = self.window_run.frame
        page = frame.findChild(LivePage) if frame is not None else None
        if page is None or not page._watching.running:
            QTimer.singleShot(200, self.measure)
        elif not self.opening:
            self.opening = -1.0
            QTimer.singleShot(int(SETTLE_SECONDS * 1000), self.measure)
        else:
            self.opening, self.longest = self.longest, 0.0
            super().measure()

    def figure(self) -> float:
        print(f"{self.opening * 1000:.1f}", end=" ", flush=True)
        return self.longest * 1000


class Soak(Meter):
    """References of None and True, which a broken binding loses one by one until the process aborts."""

    def started(self) -> None:
        self._page = self.page()
        self._page._watching.stop()
        self._page._watching.watch = Watch(app.compose("en"), hz=SOAK_HZ)
        self._page._watching.start()
        self._before = _references()

    def figure(self) -> float:
        assert self._page.view.lanes, "nothing was sampled"
        after = _references()
        return max(before - now for before, now in zip(self._before, after, strict=True))


def _pss(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _references() -> tuple[int, int]:
    return sys.getrefcount(None), sys.getrefcount(True)  # noqa: FBT003 -- the object itself


def _cpu() -> float:
    """Of this process and of those that it started: NVML is asked in one of them."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ended = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return ended + sum(map(_ticks, under_way)) / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 1.0)
