"""Running one step as the user: live lines, a log, a clean end when it is cancelled, and the step's own proof afterwards."""

from __future__ import annotations

import logging
import os
import shlex
from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum

from msgspec import Struct, field

from gpuassist.context import Session
from gpuassist.formats.terminal_output import Printed, PrintedLines, asked
from gpuassist.formats.visible import on_one_line
from gpuassist.install.step_proof import Holds, Proved, prove_step
from gpuassist.model.plan import Step, StepRun
from gpuassist.model.text import Text, text
from gpuassist.system.disk import Disk
from gpuassist.system.own_child import clean
from gpuassist.system.ownership import why_not_run
from gpuassist.system.streams import NotStarted, Program, ProgramEnd, Quiet

# The log of a running step on disk: every line as it stood in the end, up to a bound, and from there on the last ones.


_log = logging.getLogger(__name__)

AT_MOST_BYTES = 32 << 20
_TAIL_LINES = 2_000
_WITHIN_REACH = 24  # a program draws its progress over as many lines as a terminal shows, so these may change
_BATCH = 512


class RunLog:
    """Made for one step; a line reaches the disk when no progress can be drawn over it any more, all of them when it is closed."""

    def __init__(self, disk: Disk, path: str, at_most: int = AT_MOST_BYTES) -> None:
        self._disk, self.path, self._left = disk, path, at_most
        self._waiting: list[str] = []
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._unfinished = ""
        self.left_out = 0
        self.trouble = ""
        self._try(lambda: disk.create(path))

    def note(self, line: str) -> None:
        """A line of our own: which program is started, how it ended."""
        self._settle(0)
        self._waiting.append(on_one_line(line))
        self._settle(0)

    def add(self, printed: Printed) -> None:
        if printed.back:
            del self._waiting[-printed.back :]
        if not printed.ended:
            self._unfinished = on_one_line(printed.text)
            return
        self._unfinished = ""
        self._waiting.append(on_one_line(printed.text))
        if len(self._waiting) > _BATCH:
            self._settle(_WITHIN_REACH)

    def close(self) -> None:
        """Writes what is left, and says how much was left out."""
        self._settle(0)
        if self._tail:
            self.left_out -= len(self._tail)
            between = f"[... {self.left_out} lines left out ...]\n" if self.left_out else ""
            self._write(between + "".join(f"{line}\n" for line in self._tail))
            self._tail.clear()

    def _settle(self, keep: int) -> None:
        ready = self._waiting[: len(self._waiting) - keep]
        del self._waiting[: len(ready)]
        if not keep and self._unfinished:
            ready.append(self._unfinished)
            self._unfinished = ""
        fits = []
        for line in ready:
            if self._left <= 0:
                self._tail.append(line)
                self.left_out += 1
                continue
            self._left -= len(line.encode()) + 1
            fits.append(f"{line}\n")
        self._write("".join(fits))

    def _write(self, words: str) -> None:
        if words:
            self._try(lambda: self._disk.append(self.path, words.encode("utf-8", "replace")))

    def _try(self, write: Callable[[], None]) -> None:
        """A full disk is no reason to end a step in its middle: the log ends there, and says so."""
        if self.trouble:
            return
        try:
            write()
        except OSError as error:
            self.trouble = error.strerror or str(error)
            _log.info("%s ends here: %s", self.path, self.trouble)


OnLine = Callable[[Printed], None]
Cancelled = Callable[[], bool]

_LOOK_AGAIN_SECONDS = 0.1
_PATIENCE_SECONDS = (3.0, 2.0)  # after Ctrl-C conda puts its transaction back; after SIGTERM nobody does anything useful
_LAST_LINES = 40


class StepEnding(str, Enum):
    """What came of running a step."""

    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    NOT_STARTED = "not started"


class StepOutcome(Struct, frozen=True):
    """`proved` is none where the step has no proof, or was not run to its end; `left` counts what it had left running, which was
    ended. `log` is the file that holds all that it printed.
    """

    ending: StepEnding
    words: Text
    proved: Proved | None = None
    log: str = ""
    seconds: float = 0.0
    left: int = 0


class RunContext(Struct, frozen=True):
    """Where the programs start, the log that is made, and the mark by which all that they start is found again."""

    directory: str
    log: str
    mark: str


def run_step(session: Session, step: Step, *, around: RunContext, on_line: OnLine, cancelled: Cancelled) -> StepOutcome:
    """Runs a step that has a `run`; `on_line` is called on this thread, and whatever the programs do is in the result."""
    assert step.run is not None, "a step that the user takes is not run"
    disk = session.world.disk
    if step.run.creates and disk.exists(os.path.join(around.directory, step.run.creates)):
        obstacle: Text | None = text("{path} is there already, and it was not made by this step", path=step.run.creates)
    elif not disk.exists(around.directory):
        obstacle = text("the directory {path} is not there", path=around.directory)
    else:
        obstacle = None
    if obstacle is not None:
        return StepOutcome(StepEnding.NOT_STARTED, obstacle)
    began = session.world.clock.monotonic()
    log = RunLog(session.world.disk, around.log)
    try:
        done = _run(_Running(session, around, log, on_line, cancelled), step.run)
    finally:
        log.close()
    proved = (
        prove_step(session, step.proof) if step.proof is not None and done.ending in {StepEnding.DONE, StepEnding.FAILED} else None
    )
    ending, words = _ending(done, proved)
    return StepOutcome(ending, words, proved, around.log, session.world.clock.monotonic() - began, done.left)


class _Running(Struct):
    session: Session
    around: RunContext
    log: RunLog
    on_line: OnLine
    cancelled: Cancelled
    last: deque[Printed] = field(default_factory=lambda: deque(maxlen=_LAST_LINES))

    def tell(self, lines: list[Printed]) -> None:
        for line in lines:
            self.log.add(line)
            self.on_line(line)
        self.last.extend(lines[-_LAST_LINES:])


def _run(running: _Running, run: StepRun) -> StepOutcome:
    left = 0
    for number, command in enumerate(run.programs):
        if running.cancelled():
            between = text("cancelled between two of its programs") if number else text("cancelled before it began")
            return StepOutcome(StepEnding.CANCELLED, between)
        running.log.note(f"$ {shlex.join(command)}")
        world = running.session.world
        refused = why_not_run(world, command, running.around.directory)
        if refused is not None:
            running.log.note(running.session.words(refused))
            return StepOutcome(StepEnding.FAILED if number else StepEnding.NOT_STARTED, refused, left=left)
        program = world.programs.start(
            command,
            environment=clean(world.surroundings.variables),
            directory=running.around.directory,
            mark=running.around.mark,
        )
        if isinstance(program, NotStarted):
            running.log.note(program.words)
            ending = StepEnding.FAILED if number else StepEnding.NOT_STARTED
            return StepOutcome(ending, text("{program} could not be started: {words}", program=command[0], words=program.words))
        stopped, finished = _read(running, program)
        left += finished.left
        running.log.note(f"[status {finished.status}] {finished.signal}".rstrip())
        if stopped:
            return StepOutcome(StepEnding.CANCELLED, text("cancelled while {program} ran", program=_name(command)), left=left)
        if not finished.succeeded:
            return StepOutcome(StepEnding.FAILED, _why(running, _name(command), finished), left=left)
    return StepOutcome(StepEnding.DONE, text("done"), left=left)


def _read(running: _Running, program: Program) -> tuple[bool, ProgramEnd]:
    """Reads to its end, or until it is cancelled and stopped; says which, and how it ended."""
    lines = PrintedLines()
    stopped = False
    try:
        while not (stopped := running.cancelled()):
            piece = program.read(seconds=_LOOK_AGAIN_SECONDS)
            if piece is Quiet.CLOSED:
                break
            if isinstance(piece, bytes):
                running.tell(lines.feed(piece))
        if stopped:
            for piece in _stopping(running, program):
                running.tell(lines.feed(piece))
    finally:
        finished = program.end()  # whatever happens here, nothing of it goes on
        running.tell(lines.close())
    return stopped, finished


def _stopping(running: _Running, program: Program) -> Iterator[bytes]:
    """Asks it to stop and hands on what it says to that, for a few seconds."""
    clock = running.session.world.clock
    for ask, seconds in zip((program.interrupt, program.terminate), _PATIENCE_SECONDS, strict=True):
        ask()
        deadline = clock.monotonic() + seconds
        while clock.monotonic() < deadline:
            piece = program.read(seconds=_LOOK_AGAIN_SECONDS)
            if piece is Quiet.CLOSED:
                return
            if isinstance(piece, bytes):
                yield piece


def _why(running: _Running, program: str, finished: ProgramEnd) -> Text:
    said = [line.text.strip() for line in running.last if line.text.strip()]
    last = said[-1][:400] if said else ""
    question = asked(said)
    if finished.stuck:
        return text("{program} cannot be ended: it waits in the kernel", program=program)
    if finished.signal:
        return text("{program} was ended by {signal}; it said last: {words}", program=program, signal=finished.signal, words=last)
    if question:
        return text("{program} asked “{words}”, and a step that runs here gets no answers", program=program, words=question)
    words = next((line[:400] for line in reversed(said) if "error" in line.lower()), last)
    return text("{program} ended with status {status}: {words}", program=program, status=finished.status, words=words)


def _name(command: tuple[str, ...]) -> str:
    return os.path.basename(command[0])


def _ending(done: StepOutcome, proved: Proved | None) -> tuple[StepEnding, Text]:
    if proved is None or done.ending is not StepEnding.DONE:
        return done.ending, done.words
    if proved.holds is Holds.NO:
        words = text("its programs say that all went well, but its check does not hold: {reason}", reason=proved.words)
        return StepEnding.FAILED, words
    if proved.holds is Holds.UNKNOWN:
        return StepEnding.DONE, text("done; whether it worked could not be told: {reason}", reason=proved.words)
    return StepEnding.DONE, proved.words
