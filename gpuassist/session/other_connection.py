"""One connection to another machine: its greeting, the copy that runs there, and what is asked of it at once. What comes from there
is taken for hostile.
"""

from __future__ import annotations

import itertools
import json
import secrets
import time
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

from gpuassist import __version__
from gpuassist.formats.remote_lines import NONE, RemoteLines
from gpuassist.formats.ssh_complaints import complaint_of
from gpuassist.model.text import Text, text
from gpuassist.monitor.streamed_samples import LinesEndedError
from gpuassist.session import remote_words as words
from gpuassist.system.remote_half import HalfError, OtherPython, RemoteHalf, file_near, half_of_file, half_of_this, usable
from gpuassist.system.ssh_link import NoSshError, SshLink, agent_text, ssh_command

SILENT_SECONDS = 30.0  # it says something every five
BEAT_SECONDS = 10.0
LOOK_SECONDS = 0.1
OUTSTANDING_AT_MOST = 16 << 20
"""Characters that nobody has taken yet: more than any recording has."""

LINE_AT_MOST = 4 << 20  # characters
BANNER_AT_MOST_BYTES = 16 << 20
"""What start-up files may print before anything of ours runs there."""
_PYTHONS_AT_MOST = 40

Tell = Callable[[Text], None]


class OtherMachineError(Exception):
    """It cannot be looked at: `reason` says why, and what to do; `waits` where no further try helps before somebody did that."""

    def __init__(self, reason: Text, *, waits: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.waits = reason, waits


class NotWantedHereError(Exception):
    """Whoever asked wants no answer any more."""


class OtherConnection:
    """It begins at once; `greet` and `settle` come before the first run."""

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
        self._link.forget_errors()

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
            message = self._general.get(timeout=LOOK_SECONDS)
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


class RemoteRun:
    """gpuassist as it runs there: what it prints, in pieces, until it ends. One thread takes them."""

    def __init__(self, number: int, connection: OtherConnection) -> None:
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
            message = self._next(LOOK_SECONDS)
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
