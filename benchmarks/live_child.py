"""Child of `live`: the real window on its live page, over the scripted NVML that its environment names.

`live_child.py usage SECONDS` prints the share of one CPU that it uses; `gap SECONDS` the longest time in milliseconds for which
the GUI thread did not answer; `soak SECONDS` samples at 50 Hz and prints by how much the references of None and True fell.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication

from gpuassist import app
from gpuassist.session.watch import Watch
from gpuassist.system.groups import under_way
from gpuassist.ui.application import WindowRun
from gpuassist.ui.pages.live.page import LivePage

SETTLE_SECONDS = 5.0
SOAK_HZ = 50
_BEAT_MILLISECONDS = 5


def main(way: str, seconds: float) -> None:
    """Runs the window for so long and prints one figure."""
    application = QApplication(["gpuassist"])
    run = WindowRun(app.compose("en"), application, start_page="live")
    meter = {"usage": Usage, "gap": Gap, "soak": Soak}[way](run, seconds)
    run.window.show()
    meter.begin()
    application.exec()
    run.end()


class Meter(QObject):
    """Measures for a while, then prints and ends."""

    def __init__(self, run: WindowRun, seconds: float) -> None:
        super().__init__()
        self.window_run = run
        self._seconds = seconds

    def begin(self) -> None:
        """Waits until the window has settled."""
        QTimer.singleShot(int(SETTLE_SECONDS * 1000), self.measure)

    @Slot()
    def measure(self) -> None:
        """Begins to measure."""
        self.started()
        QTimer.singleShot(int(self._seconds * 1000), self.end)

    @Slot()
    def end(self) -> None:
        """Prints and closes the window."""
        print(f"{self.figure():.4f}", flush=True)
        self.window_run.window.close()

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


class Soak(Meter):
    """References of None and True, which a broken binding loses one by one until the process aborts."""

    def started(self) -> None:
        jobs = self.window_run.jobs
        assert self.window_run.frame is not None
        assert jobs is not None
        self._page = self.window_run.frame.findChild(LivePage)
        assert self._page is not None, "the live page is not there"
        self._page._watching.stop()
        self._page._watching.watch = Watch(app.compose("en"), hz=SOAK_HZ)
        self._page._watching.start()
        self._before = _references()

    def figure(self) -> float:
        assert self._page is not None
        assert self._page.lanes, "nothing was sampled"
        after = _references()
        return max(before - now for before, now in zip(self._before, after, strict=True))


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
    main(sys.argv[1], float(sys.argv[2]))
