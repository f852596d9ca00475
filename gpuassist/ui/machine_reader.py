"""Reading a machine off the GUI thread: the live one, a recording or an example; the last wish wins."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from PySide6.QtCore import QObject, Signal, Slot

from gpuassist.context import Session
from gpuassist.formats.visible import on_one_line
from gpuassist.model.text import Text, text
from gpuassist.ui.first_reading import FirstReading, inspect_live
from gpuassist.ui.jobs import Control, Done, Failed, Job, Jobs
from gpuassist.ui.wording import reason_of

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection
    from gpuassist.session.other_machine import OtherMachine


class ReadFrom(Struct, frozen=True):
    """What is read: the recording with this path, the example of this name, or else this machine."""

    path: str = ""
    example: str = ""


class ShownMachine(Struct, frozen=True):
    """A machine on show; no inspection as long as it is being read, or could not be."""

    source: ReadFrom
    inspection: Inspection | None


class MachineReading(QObject):
    """Starts reading and tells of it; what was asked for before is cancelled and no longer heard."""

    started = Signal(object)  # str: what is being read
    progressed = Signal(object)  # str: what was read last
    ended = Signal(object)  # Inspection
    failed = Signal(object)  # str: why not

    def __init__(self, session: Session, jobs: Jobs, parent: QObject | None = None, *, other: OtherMachine | None = None) -> None:
        super().__init__(parent)
        self._session, self._other = session, other
        self._words = session.words.with_strings(on_one_line)
        self._jobs = jobs
        self._job: Job | None = None
        self._source = ReadFrom()
        self._read: Inspection | None = None  # what was read last, and is shown
        self.after_write = False

    @property
    def busy(self) -> bool:
        return self._job is not None

    @property
    def shown(self) -> ShownMachine:
        """What is shown, or is being read to be."""
        return ShownMachine(self._source, None if self.busy else self._read)

    def show(self, shown: ShownMachine) -> None:
        """Shows what was read before, in the words of this window; reads it where that had not ended."""
        self._source, read = shown.source, shown.inspection
        if read is None:
            self.again()
        else:
            self._start(text("One moment"), lambda _: _in_other_words(self._session, read))

    def take(self, first: FirstReading) -> None:
        """Shows this machine as it was, or is being, read already."""
        self._source = ReadFrom()
        self._start(text("Reading your machine…"), lambda control: first.take(control.tell))

    def read_live(self) -> None:
        self._source = ReadFrom()
        other = self._other
        if other is not None:
            words = text("Reading {host}…", host=other.host)
            self._start(words, lambda control: _look_there(self._session, other, control))
            return
        words = text("Reading your machine again after the change…") if self.after_write else text("Reading your machine…")
        self._start(words, lambda control: inspect_live(self._session, control.tell))

    def read_what_was_changed(self) -> None:
        """Something was written: reads this machine again, unless a recorded one is shown, of which nothing can be written."""
        live = ReadFrom()
        if (self._read is not None and not self._read.recorded) or (self._job is not None and self._source == live):
            self.after_write = True
            self.read_live()

    def open_recording(self, path: str) -> None:
        self._source = ReadFrom(path=path)
        self._start(text("Opening the recorded machine…"), lambda _: _open_recording(self._session, path))

    def open_example(self, name: str) -> None:
        self._source = ReadFrom(example=name)
        self._start(text("Opening the example…"), lambda _: _open_example(self._session, name))

    def again(self) -> None:
        if self._source.example:
            self.open_example(self._source.example)
        elif self._source.path:
            self.open_recording(self._source.path)
        else:
            self.read_live()

    def drop(self) -> None:
        """Wants no result any more."""
        if self._job is not None:
            self._job.finished.disconnect(self._end)
            self._job.cancel()
            self._job = None

    def _start(self, words: Text, work: Callable[[Control], object]) -> None:
        self.drop()
        self._job = self._jobs.start(work, self)
        self._job.finished.connect(self._end)
        self._job.told.connect(self._progress)
        self.started.emit(self._words(words))

    @Slot(object)
    def _progress(self, told: object) -> None:
        section = getattr(told, "section", told)
        self.progressed.emit(self._words(section) if isinstance(section, Text) else str(section))

    @Slot(object)
    def _end(self, result: Done | Failed) -> None:
        self._job = None
        if isinstance(result, Done):
            read: Any = result.value  # an Inspection, whose module may not be imported here
            self._read, self.after_write = read, False
            self.ended.emit(read)
            return
        self.failed.emit(reason_of(self._words, result.error))
        if self.after_write and self._source != ReadFrom():  # a recording that cannot be opened took the place of that reading
            self.read_live()


def _look_there(session: Session, other: OtherMachine, control: Control) -> Inspection:
    from gpuassist.session.inspect import inspection_of

    return inspection_of(session, other.machine(tell=control.tell, ends=control.cancelled.is_set), host=other.host)


# The stages are imported where they run, on the job's thread: the first window is painted before they are.


def _in_other_words(session: Session, read: Inspection) -> Inspection:
    from gpuassist.session.inspect import in_other_words
    from gpuassist.session.past import explained

    return explained(session, in_other_words(session, read))


def _open_recording(session: Session, path: str) -> Inspection:
    from gpuassist.session.inspect import open_recording

    return open_recording(session, path)


def _open_example(session: Session, name: str) -> Inspection:
    from gpuassist.session.inspect import open_example

    return open_example(session, name)
