"""Another machine over the user's own ssh: looked at and watched by a half of gpuassist that runs there, and changed by nothing.

One connection serves all that is asked. It begins when something is asked for, and again where it was lost; what was copied
there is removed with its end. What comes from there is taken for hostile.
"""

from __future__ import annotations

import itertools
import json
import secrets
import time
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from gpuassist import __version__
from gpuassist.context import Session
from gpuassist.formats.remote_lines import NONE, RemoteLines
from gpuassist.formats.ssh_complaints import complaint_of
from gpuassist.formats.ssh_host import is_ssh_host
from gpuassist.model.codec import DecodeError
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.machine import Machine, decode_machine
from gpuassist.model.text import Text, text
from gpuassist.monitor.streamed_samples import LinesEndedError, StreamedSource
from gpuassist.session import remote_words as words
from gpuassist.session.watch import Watch
from gpuassist.system.own_child import clean
from gpuassist.system.remote_half import HalfError, OtherPython, RemoteHalf, file_near, half_of_file, half_of_this, usable
from gpuassist.system.ssh_link import NoSshError, SshLink, agent_text, ssh_command

HELLO_SECONDS = 45.0
SILENT_SECONDS = 30.0  # it says something every five
DETECT_SECONDS = 180.0
BEAT_SECONDS = 10.0
OUTSTANDING_AT_MOST = 16 << 20
"""Characters that nobody has taken yet: more than any recording has."""

LINE_AT_MOST = 4 << 20  # characters
BANNER_AT_MOST_BYTES = 16 << 20
"""What start-up files may print before anything of ours runs there."""
_LOOK_SECONDS = 0.1
_PYTHONS_AT_MOST = 40
_READ_ONLY = "--read-only"  # nothing of gpuassist's own is written there either

Tell = Callable[[Text], None]


class OtherMachineError(Exception):
    """It cannot be looked at: `reason` says why, and what to do; `waits` where no further try helps before somebody did that."""

    def __init__(self, reason: Text, *, waits: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.waits = reason, waits


class NotWantedHereError(Exception):
    """Whoever asked wants no answer any more."""


def ignore(_words: Text) -> None:
    """For who does not want to know how far it is."""


class OtherMachine:
    """May be asked from any thread. `may_ask`: ssh may ask for a password on our terminal, until it was let in once; `half` names
    the file that is copied there.
    """

    def __init__(
        self, session: Session, host: str, *, half: str = "", may_ask: bool = False, seconds: float = HELLO_SECONDS
    ) -> None:
        if not is_ssh_host(host):
            raise OtherMachineError(words.bad_name(host), waits=True)
        self.host = host
        self._variables = clean(session.world.surroundings.variables)
        self._half, self._seconds = half, seconds
        self.may_ask = may_ask
        self._lock = Lock()
        self._connection: _Connection | None = None
        self._closed = Event()

    def connect(self, *, tell: Tell = ignore, ends: Callable[[], bool] = lambda: False) -> None:
        """Sees to it that there is a connection; raises `OtherMachineError`, and `NotWantedHereError` once `ends` says so."""
        self._connected(tell, ends)

    def machine(self, *, tell: Tell = ignore, ends: Callable[[], bool] = lambda: False) -> Machine:
        """What `detect` finds there now; raises as `connect` does."""
        connection = self._connected(tell, ends)
        tell(text("Reading {host}…", host=self.host))
        answer = connection.run([_READ_ONLY, "detect", "--json"])
        try:
            document, status, said = answer.all(DETECT_SECONDS, ends)
        finally:
            connection.forget(answer)
        try:
            return decode_machine(read_json(document))
        except (NotJsonError, DecodeError) as error:
            reason = words.failed(self.host, status, said) if status else words.no_answer(self.host)
            raise OtherMachineError(reason) from error

    def lines(self, hz: float, *, ends: Callable[[], bool] = lambda: False) -> RemoteRun:
        """The lines of `monitor --headless`; raises as `connect` does."""
        connection = self._connected(ignore, ends)
        return connection.run([_READ_ONLY, "monitor", "--headless", "--hz", f"{hz:g}"])

    def close(self) -> None:
        """Ends the connection, and waits a moment for what is there to remove itself."""
        self._closed.set()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _connected(self, tell: Tell, ends: Callable[[], bool]) -> _Connection:
        while not self._lock.acquire(timeout=_LOOK_SECONDS):
            if ends():
                raise NotWantedHereError
        try:
            if self._connection is not None and self._connection.alive:
                return self._connection
            if not self.may_ask:  # else ssh's own questions stand there
                tell(text("Connecting to {host}…", host=self.host))
            before, self._connection = self._connection, None
            if before is not None:
                before.hang_up()
            began = _Connection(self.host, self._variables, may_ask=self.may_ask, seconds=self._seconds)
            try:
                began.greet(lambda: ends() or self._closed.is_set())
                began.settle(self._half, tell, lambda: ends() or self._closed.is_set())
                self._connection, self.may_ask = began, False
            finally:
                if self._connection is not began:
                    began.hang_up()
            return began
        finally:
            self._lock.release()


class RemoteRun:
    """gpuassist as it runs there: what it prints, in pieces, until it ends. One thread takes them."""

    def __init__(self, number: int, connection: _Connection) -> None:
        self.number, self._connection = number, connection
        self._messages: SimpleQueue[Mapping[str, Any] | None] = SimpleQueue()
        self._pending = ""
        self._ended: Text | None = None
        self.outstanding = 0

    def put(self, message: Mapping[str, Any] | None) -> None:
        """From the thread that hears; none where the connection is gone."""
        self._messages.put(message)

    def all(self, seconds: float, ends: Callable[[], bool]) -> tuple[str, int, str]:
        """All that it prints, its exit status, and the last of its errors."""
        parts: list[str] = []
        until = time.monotonic() + seconds
        while True:
            message = self._next(_LOOK_SECONDS)
            if ends():
                raise NotWantedHereError
            if message is None:
                if time.monotonic() > until:
                    raise OtherMachineError(words.silent(self._connection.host, seconds))
                continue
            if "status" in message:
                return "".join(parts), _number(message["status"]), _string(message.get("said"))
            parts.append(_string(message.get("out")))

    def line(self, seconds: float) -> str | None:
        """The next line; none where there is none in time. Raises `LinesEndedError` once no more can come."""
        until = time.monotonic() + seconds
        while "\n" not in self._pending:
            if self._ended is not None:
                raise LinesEndedError(self._ended)
            left = until - time.monotonic()
            try:
                message = self._next(max(0.0, left))
            except OtherMachineError as error:
                self._ended = error.reason
                continue
            if message is None:
                return None
            if "status" in message:
                self._ended = words.ended(self._connection.host, _number(message["status"]), _string(message.get("said")))
            self._pending += _string(message.get("out"))
            if len(self._pending) > LINE_AT_MOST:
                self._ended = words.said_too_much(self._connection.host)
                raise LinesEndedError(self._ended)
        line, _, self._pending = self._pending.partition("\n")
        return line

    def close(self) -> None:
        """Ends it there."""
        self._connection.end(self)

    def _next(self, seconds: float) -> Mapping[str, Any] | None:
        try:
            message = self._messages.get(timeout=seconds) if seconds else self._messages.get_nowait()
        except Empty:
            self._connection.require()
            return None
        if message is None:
            raise OtherMachineError(self._connection.why_lost())
        self.outstanding -= len(_string(message.get("out")))
        return message


def source_of(other: OtherMachine, session: Session, *, hz: float = 1.0) -> StreamedSource:
    """The samples of another machine."""

    def begin(hz: float, ends: Callable[[], bool]) -> RemoteRun:
        try:
            return other.lines(hz, ends=ends)
        except NotWantedHereError:
            raise LinesEndedError(text("it is not wanted any more")) from None
        except OtherMachineError as error:
            raise LinesEndedError(error.reason, waits=error.waits) from error

    return StreamedSource(other.host, begin, session.world.clock, hz=hz)


def watch_of(other: OtherMachine, session: Session, *, hz: float = 1.0) -> Watch:
    """A watch of another machine's GPUs."""
    return Watch(session, hz=hz, source=lambda _: source_of(other, session, hz=hz), server=other.host)


class _Connection:
    def __init__(self, host: str, variables: Mapping[str, str], *, may_ask: bool, seconds: float) -> None:
        self.host, self._may_ask, self._seconds = host, may_ask, seconds
        token = f"gpuassist-{secrets.token_hex(12)}"
        self._lines = RemoteLines(token)
        self._general: SimpleQueue[Mapping[str, Any] | None] = SimpleQueue()
        self._runs: dict[int, RemoteRun] = {}
        self._numbers = itertools.count(1)
        self._gone = Event()
        self._flooded = False
        self._heard = time.monotonic()
        self._greeted = False
        self._hello: Mapping[str, Any] = {}
        self._python = ""
        try:
            self._link = SshLink(ssh_command(host, token, may_ask=may_ask), variables, may_ask=may_ask)
        except NoSshError as error:
            raise OtherMachineError(words.no_ssh(str(error)), waits=True) from error
        self._link.listen(self._take)
        self._link.send(agent_text(token))
        Thread(target=self._beat, name="ssh beat", daemon=True).start()

    @property
    def alive(self) -> bool:
        return not self._gone.is_set() and not self._is_silent()

    def greet(self, ends: Callable[[], bool]) -> None:
        """Waits until it answers."""
        until = time.monotonic() + self._seconds
        while (message := self._wait(ends)) is None:
            if not self._may_ask and time.monotonic() > until:
                raise OtherMachineError(words.silent(self.host, self._seconds))
        if NONE in message:
            raise OtherMachineError(words.no_python(self.host, ""), waits=True)
        self._hello, self._greeted = message, True

    def settle(self, half_file: str, tell: Tell, ends: Callable[[], bool]) -> None:
        """Has gpuassist be there: the installed one where it is this version, else a copy."""
        installed = self._hello.get("installed")
        path, version = installed if isinstance(installed, list) and len(installed) == 2 else ("", "")
        if not half_file and version == __version__ and isinstance(path, str):
            self._python = path
            return
        pythons, machine = _pythons(self._hello.get("pythons")), _string(self._hello.get("arch"))[:40]
        if not any(map(usable, pythons)):
            raise OtherMachineError(words.no_python(self.host, pythons[0].version if pythons else ""), waits=True)
        half = _half(half_file, self.host, machine, pythons)
        if half is None:
            raise OtherMachineError(words.no_half(self.host, machine, pythons[0].version, _string(version)[:40]), waits=True)
        self._link.send(json.dumps({"take": len(half.archive)}).encode() + b"\n")
        self._link.send(half.archive)
        whole = max(1, len(half.archive))
        while (message := self._wait(ends)) is None or not {"took", "refused"} & set(message):
            left = min(whole, self._link.unsent)
            tell(text("Copying gpuassist to {host}: {percent} %", host=self.host, percent=100 - round(100 * left / whole)))
        if "took" not in message:
            raise OtherMachineError(words.no_place(self.host, _string(message.get("refused"))[:400]), waits=True)
        self._python = half.python.path

    def run(self, arguments: list[str]) -> RemoteRun:
        run = RemoteRun(next(self._numbers), self)
        self._runs[run.number] = run
        if self._gone.is_set():
            run.put(None)
        self._link.send(json.dumps({"run": run.number, "python": self._python, "words": arguments}).encode() + b"\n")
        return run

    def end(self, run: RemoteRun) -> None:
        self._link.send(json.dumps({"end": run.number}).encode() + b"\n")
        self.forget(run)

    def forget(self, run: RemoteRun) -> None:
        self._runs.pop(run.number, None)

    def require(self) -> None:
        """Raises where it is gone, or says nothing any more."""
        if self._is_silent() and not self._gone.is_set():
            self.hang_up()
            raise OtherMachineError(words.silent(self.host, SILENT_SECONDS))

    def why_lost(self) -> Text:
        if self._flooded:
            return words.said_too_much(self.host)
        return words.lost(self.host, self._link.errors())

    def hang_up(self) -> None:
        self._gone.set()
        self._link.hang_up(runs=self._greeted)

    def close(self) -> None:
        self._gone.set()
        self._link.close()

    def _is_silent(self) -> bool:
        return self._greeted and time.monotonic() - self._heard > SILENT_SECONDS

    def _wait(self, ends: Callable[[], bool]) -> Mapping[str, Any] | None:
        """The next message that is of no run; none where there is none yet."""
        if ends():
            raise NotWantedHereError
        try:
            message = self._general.get(timeout=_LOOK_SECONDS)
        except Empty:
            self.require()
            return None
        if message is not None:
            return message
        errors = self._link.errors()
        if self._greeted or self._flooded:
            raise OtherMachineError(self.why_lost())
        errors = errors if errors.strip() else self._lines.strange  # where nothing can run, it is often told there
        raise OtherMachineError(words.refused(self.host, errors), waits=complaint_of(errors) in words.WAITS_FOR_USER)

    def _take(self, piece: bytes) -> None:
        if not piece:
            self._gone.set()
            self._general.put(None)
            for run in tuple(self._runs.values()):
                run.put(None)
            return
        messages = self._lines.take(piece)
        if not self._greeted and self._lines.strange_bytes > BANNER_AT_MOST_BYTES and not self._flooded:
            self._flooded = True
            self.hang_up()
        for message in messages:
            self._heard = time.monotonic()
            if "beat" in message or self._flooded:
                continue
            number = message.get("id")
            asked = self._runs.get(number) if isinstance(number, int) else None
            if asked is not None:
                asked.outstanding += len(_string(message.get("out")))
                self._flooded |= asked.outstanding > OUTSTANDING_AT_MOST
                asked.put(message)
            elif number is None and self._general.qsize() < _PYTHONS_AT_MOST:
                self._general.put(message)
            if self._flooded:
                self.hang_up()

    def _beat(self) -> None:
        while not self._gone.wait(BEAT_SECONDS):
            self._link.send(b'{"beat": 1}\n')


def _half(path: str, host: str, machine: str, pythons: tuple[OtherPython, ...]) -> RemoteHalf | None:
    near = path or file_near(machine)
    if near:
        try:
            found = half_of_file(near, machine, pythons)
        except HalfError as error:
            if path:
                raise OtherMachineError(words.bad_half(path, str(error)), waits=True) from error
            found = None
        if found is not None:
            return found
        if path:
            raise OtherMachineError(words.other_half(path, host, machine, pythons[0].version), waits=True)
    return half_of_this(pythons)


def _pythons(told: Any) -> tuple[OtherPython, ...]:
    rows = told[:_PYTHONS_AT_MOST] if isinstance(told, list) else []
    sound = (row for row in rows if isinstance(row, list) and len(row) == 3 and all(isinstance(one, str) and one for one in row))
    return tuple(OtherPython(*row) for row in sound)


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
