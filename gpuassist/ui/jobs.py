"""Work off the GUI thread: plain callables run in a pool, and what came of them comes home on the GUI thread as a value.

For work that ends. What can hang in C belongs into a killable child behind `system`: a thread of a pool that is stuck in it keeps
the process alive.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Union

import shiboken6
from msgspec import Struct
from PySide6.QtCore import QObject, QTimer, Signal, Slot

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


_log = logging.getLogger(__name__)
_WORKERS = 4


class Done(Struct, frozen=True):
    """The work ended; `value` is what it returned."""

    value: object


class Failed(Struct, frozen=True):
    """The work raised; `trace` is the traceback as text, for the log and for a report."""

    error: Exception
    trace: str


class Control(Struct, frozen=True):
    """What a job gets: whether it shall stop, and a way to tell how far it is."""

    cancelled: threading.Event
    tell: Callable[[object], None]


Work = Callable[[Control], object]


class _Told(Struct, frozen=True):
    value: object


class _Arrival(Struct, frozen=True):
    number: int
    payload: Union[Done, Failed, _Told]


class Job(QObject):
    """One piece of work under way; belongs to whoever asked, and dies unheard with it."""

    finished = Signal(object)  # Done | Failed
    told = Signal(object)  # whatever the work tells

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.cancelled = threading.Event()

    def cancel(self) -> None:
        """Asks the work to stop; it still ends with a result."""
        self.cancelled.set()


class Jobs(QObject):
    """The bridge that every result crosses: it lives on the GUI thread, so Qt brings what workers emit through it home."""

    _arrived = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool: ThreadPoolExecutor | None = None
        self._numbers = itertools.count()
        self._running: dict[int, Job] = {}
        self._closing = threading.Event()
        self._arrived.connect(self._bring_home)

    def start(self, work: Work, parent: QObject) -> Job:
        """Runs the work; connect the job's signals before returning to the event loop, nothing arrives earlier."""
        number, job = next(self._numbers), Job(parent)
        self._running[number] = job
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # nothing of it is needed before the first paint

            self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="gpuassist-job")
        self._pool.submit(self._run, number, work, Control(job.cancelled, lambda value: self._send(number, _Told(value))))
        return job

    def shutdown(self) -> None:
        """Cancels everything, lets nothing new begin and waits for what is under way."""
        self._closing.set()
        for job in self._running.values():
            if shiboken6.isValid(job):
                job.cancel()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._running.clear()

    def _run(self, number: int, work: Work, control: Control) -> None:
        try:
            self._send(number, Done(work(control)))
        except Exception as error:  # noqa: BLE001 -- a border: whatever a job raises comes home as a value
            _log.debug("a job failed", exc_info=True)
            import traceback

            self._send(number, Failed(error, traceback.format_exc()))

    def _send(self, number: int, payload: Done | Failed | _Told) -> None:
        if not self._closing.is_set():
            self._arrived.emit(_Arrival(number, payload))

    @Slot(object)
    def _bring_home(self, arrival: _Arrival) -> None:
        told = isinstance(arrival.payload, _Told)
        job = self._running.get(arrival.number) if told else self._running.pop(arrival.number, None)
        if job is None or not shiboken6.isValid(job):
            return
        if isinstance(arrival.payload, _Told):
            job.told.emit(arrival.payload.value)
        else:
            job.finished.emit(arrival.payload)
            job.deleteLater()


# A job of which only the last one asked for counts: a preview that follows every tick, a list that is read again.


Settled = Callable[[Done | Failed], None]


class Latest(QObject):
    """Starts work after a short pause; work asked for before is cancelled and no longer heard."""

    def __init__(self, jobs: Jobs, settled: Settled, parent: QObject, *, pause_milliseconds: int = 0) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._settled = settled
        self._work: Work | None = None
        self._job: Job | None = None
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(pause_milliseconds)
        self._pause.timeout.connect(self._start)

    @property
    def busy(self) -> bool:
        return self._work is not None or self._job is not None

    def ask(self, work: Work) -> None:
        """Does this work instead of what was asked for before."""
        self.drop()
        self._work = work
        self._pause.start()

    def drop(self) -> None:
        """Wants no result any more."""
        self._pause.stop()
        self._work = None
        if self._job is not None:
            self._job.finished.disconnect(self._end)
            self._job.cancel()
            self._job = None

    @Slot()
    def _start(self) -> None:
        if self._work is None:
            return
        self._job, self._work = self._jobs.start(self._work, self), None
        self._job.finished.connect(self._end)

    @Slot(object)
    def _end(self, result: Done | Failed) -> None:
        self._job = None
        self._settled(result)
