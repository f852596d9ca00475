"""Reading files of snapshots: one at a time, with how far it is, and given up when it is no longer wanted."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from gpuassist.formats.torch_snapshot.event_range import EVERYTHING, EventRange
from gpuassist.session.opened_recording import NotWantedError
from gpuassist.session.opened_snapshot import OpenedSnapshot, ReadingOutlook, read_opened, reading_outlook
from gpuassist.ui.jobs import Control, Done, Failed, Latest
from gpuassist.ui.page import Desk


class SnapshotFiles(QObject):
    """Emits what came of it."""

    asked = Signal(object)  # ReadingOutlook: how much of a large file is wanted
    progressed = Signal(str, object)  # the path, and the share that was read; None where that is not known
    opened = Signal(object)  # OpenedSnapshot
    other_opened = Signal(object)  # OpenedSnapshot
    failed = Signal(str, object)  # the path, and the error
    ended = Signal()  # it is no longer wanted
    _reached = Signal(float)

    def __init__(self, desk: Desk, page: QWidget) -> None:
        super().__init__(page)
        self._desk = desk
        self.card_bytes: int | None = None
        self.reads_other = False
        self._path = ""
        self._reading = Latest(desk.jobs, self._read, self)
        self._reached.connect(self._tell)

    @property
    def busy(self) -> bool:
        return self._reading.busy

    def open(self, path: str) -> None:
        """Reads it, or asks first how much of it."""
        self._path, self.reads_other = path, False
        session = self._desk.session
        self._reading.ask(lambda _: reading_outlook(session, path))
        self.progressed.emit(path, None)

    def open_other(self, path: str) -> None:
        """One to compare with."""
        self._path, self.reads_other = path, True
        self._start(EVERYTHING)

    @Slot(int)
    def read(self, last: int) -> None:
        """So many of the last events of the file that was asked about; all of them where that is 0."""
        self._start(EventRange(first=-last) if last else EVERYTHING)

    def cancel(self) -> None:
        self._reading.drop()
        self.ended.emit()

    def drop(self) -> None:
        self._reading.drop()

    def _start(self, wanted: EventRange) -> None:
        session, card_bytes, path = self._desk.session, self.card_bytes, self._path

        def told(read: int, of: int) -> None:
            self._reached.emit(read / of if of else 0.0)

        def work(control: Control) -> OpenedSnapshot:
            return read_opened(session, path, wanted, card_bytes=card_bytes, tell=told, ends=control.cancelled.is_set)

        self._reading.ask(work)
        self.progressed.emit(path, None)

    @Slot(float)
    def _tell(self, share: float) -> None:
        if self._reading.busy:
            self.progressed.emit(self._path, share)

    def _read(self, result: Done | Failed) -> None:
        if isinstance(result, Failed):
            if not isinstance(result.error, NotWantedError):
                self.failed.emit(self._path, result.error)
        elif isinstance(result.value, ReadingOutlook):
            if result.value.is_large:
                self.asked.emit(result.value)
            else:
                self._start(EVERYTHING)
        else:
            (self.other_opened if self.reads_other else self.opened).emit(result.value)
