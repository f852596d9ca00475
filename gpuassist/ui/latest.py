"""A job of which only the last one asked for counts: a preview that follows every tick, a list that is read again."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

from gpuassist.ui.jobs import Done, Failed, Job, Jobs, Work

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
        """Whether a result is still to come."""
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
