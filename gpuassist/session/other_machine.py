"""Another machine over the user's own ssh: looked at and watched by a half of gpuassist that runs there, and changed by nothing.

One connection serves all that is asked. It begins when something is asked for, and again where it was lost; what was copied
there is removed with its end.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock

from gpuassist.context import Session
from gpuassist.formats.ssh_host import is_ssh_host
from gpuassist.model.codec import DecodeError
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.machine import Machine, decode_machine
from gpuassist.model.text import Text, text
from gpuassist.monitor.streamed_samples import LinesEndedError, StreamedSource
from gpuassist.session import remote_words as words
from gpuassist.session.other_connection import LOOK_SECONDS, NotWantedHereError, OtherConnection, OtherMachineError, RemoteRun, Tell
from gpuassist.session.watch import Watch
from gpuassist.system.own_child import clean

HELLO_SECONDS = 45.0
DETECT_SECONDS = 180.0
_READ_ONLY = "--read-only"  # nothing of gpuassist's own is written there either


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
        self._connection: OtherConnection | None = None
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

    def _connected(self, tell: Tell, ends: Callable[[], bool]) -> OtherConnection:
        while not self._lock.acquire(timeout=LOOK_SECONDS):
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
            began = OtherConnection(self.host, self._variables, may_ask=self.may_ask, seconds=self._seconds)
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
