"""One thread that takes samples at even intervals, skips those it is late for, and may be abandoned when the driver hangs."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import TYPE_CHECKING

from gpuassist.model.sample import Sample
from gpuassist.model.text import text
from gpuassist.monitor.sources import PastSample, RememberingSource, SampleSource
from gpuassist.system.clock import Clock

if TYPE_CHECKING:
    from logging import Logger

STOP_SECONDS = 0.15
_GRACE_SECONDS = 0.1  # in which a sample under way mostly ends by itself, and the driver is let go of in order


class Sampler:
    """Calls `on_sample` on its own thread with each sample of `source`, which only that thread touches. It runs once. What a source
    knows of the past goes to `on_past`, where that is given.
    """

    def __init__(
        self,
        source: SampleSource,
        clock: Clock,
        on_sample: Callable[[Sample], None],
        *,
        hz: float,
        on_past: Callable[[PastSample], None] | None = None,
    ) -> None:
        self._source, self._clock, self._on_sample, self._on_past = source, clock, on_sample, on_past
        self._period = 1.0 / hz
        self._stopping, self._woken = Event(), Event()
        self._failed: set[type[Exception]] = set()
        self._thread = Thread(target=self._run, name="gpuassist sampler", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def pace(self, hz: float) -> None:
        """From any thread: so many samples a second from now on."""
        self._period = 1.0 / hz
        self._woken.set()

    def stop(self) -> bool:
        """Ends after the sample that is being taken, which is interrupted where it takes long. False where it did not end within a
        quarter of a second even so, because a window that is closed waits for it: the thread is abandoned, which says nothing any
        more, and lets go of the driver if that ever comes back.
        """
        self._stopping.set()
        self._woken.set()
        self._thread.join(_GRACE_SECONDS)
        if self._thread.is_alive():
            self._source.interrupt()
        self._thread.join(STOP_SECONDS)
        if self._thread.is_alive():
            _log().warning("abandoned the thread %r: a call of the driver does not return", self._thread.name)
            return False
        return True

    def _run(self) -> None:
        due = self._clock.monotonic()
        while not self._stopping.is_set():
            self._tick()
            due = _next(due, self._period, self._clock.monotonic())
            if self._woken.wait(max(0.0, due - self._clock.monotonic())):
                self._woken.clear()
                due = self._clock.monotonic()
        self._source.close()

    def _tick(self) -> None:
        try:
            self._recall()
            sample = self._source.read()
        except Exception as error:  # noqa: BLE001 -- the border: a sample that fails in any way is a sample that says so
            if type(error) not in self._failed:  # once each, not fifty times a second
                self._failed.add(type(error))
                _log().error("a sample failed", exc_info=error)
            why = text("reading the GPUs failed: {error}", error=f"{type(error).__name__}: {error}")
            sample = Sample(self._clock.epoch(), self._clock.since_boot(), (), (why,))
        if not self._stopping.is_set():
            self._on_sample(sample)

    def _recall(self) -> None:
        if self._on_past is None or not isinstance(self._source, RememberingSource):
            return
        for one in self._source.past():
            if self._stopping.is_set():
                return
            self._on_past(one)


def _next(due: float, period: float, now: float) -> float:
    """The first tick of the even grid that is still to come: those that a slow sample has passed are left out."""
    late = now - due
    return due + period if late < period else due + period * (late // period + 1)


def _log() -> Logger:
    import logging  # 5 ms, a tenth of what one sample on the command line takes

    return logging.getLogger(__name__)
