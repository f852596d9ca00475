"""A connection to another machine by the user's own ssh: what is said there comes as bytes, what is to be said is written there.

ssh asks for passwords itself, on the terminal, and only where it stands on one: elsewhere it is told to ask nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from gpuassist.system.groups import begin, end_group, under_way

ERRORS_AT_MOST_BYTES = 16 << 10
_PIECE = 1 << 16
_LAST_WORDS_SECONDS = 2.0
_LAST_WAIT_SECONDS = 3.0  # for what runs there to be ended and removed
_AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "there", "agent.py")
# The user's configuration says the rest. No look at a machine needs forwarding, and a port that is taken would end ssh.
_OPTIONS = ("-T", "-a", "-x", "-o", "ClearAllForwardings=yes", "-o", "RemoteCommand=none")
_SILENT = ("-o", "BatchMode=yes")
_PYTHONS = " ".join(("python3", *(f"python3.{minor}" for minor in range(19, 5, -1)), "/usr/libexec/platform-python"))
READ_AGENT = "import sys;exec(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())))"
# One line in single quotes without any of ' \ !, which the login shell there takes as it stands, be it bash, dash, csh or fish.
_FIND = (
    "exec sh -c 'for p in {pythons}; do"
    ' if $p -S -c "" </dev/null >/dev/null 2>&1; then exec $p -S -c "{read}"; fi; done;'
    " echo; echo {token} none'"
)


class NoSshError(Exception):
    """There is no ssh here, or it could not be started; its words are the operating system's, empty where it is not installed."""


def ssh_command(host: str, token: str, *, may_ask: bool) -> tuple[str, ...]:
    """What begins the connection; `host` as `formats.ssh_host` has let it through."""
    there = _FIND.format(pythons=_PYTHONS, read=READ_AGENT, token=token)
    return ("ssh", *_OPTIONS, *(() if may_ask else _SILENT), "--", host, there)


def agent_text(token: str) -> bytes:
    """What the interpreter over there is given to run, behind its length."""
    with open(_AGENT, "rb") as file:
        source = f"TOKEN = {token!r}\n".encode() + file.read()
    return f"{len(source)}\n".encode() + source


class SshLink:
    """One ssh that runs, and is heard once `listen` was called."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], *, may_ask: bool) -> None:
        path = shutil.which(command[0], path=environment.get("PATH", os.defpath))
        if path is None:
            raise NoSshError("")
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        try:
            # Where it may ask it stays in the foreground of the terminal, and hears Ctrl-C as we do.
            self._child: subprocess.Popen[bytes] = begin(
                lambda: subprocess.Popen(
                    [path, *command[1:]], env=dict(environment), start_new_session=not may_ask, bufsize=0, **pipes
                ),
                lambda child: child.pid,
            )
        except (OSError, ValueError) as error:
            raise NoSshError(str(error)) from error
        self._errors = bytearray()
        self._given: SimpleQueue[bytes | None] = SimpleQueue()
        self._sent = self._taken = 0
        self._hearing = threading.Thread(target=self._hear_errors, name="ssh errors", daemon=True)
        self._hearing.start()
        threading.Thread(target=self._say, name="ssh requests", daemon=True).start()

    def listen(self, take: Callable[[bytes], None]) -> None:
        """Has `take` called with what is said there, on a thread of its own, and once with b"" when nothing more comes."""
        threading.Thread(target=self._hear, args=(take,), name="ssh answers", daemon=True).start()

    def send(self, data: bytes) -> None:
        """From any thread, without waiting."""
        self._sent += len(data)
        self._given.put(data)

    @property
    def unsent(self) -> int:
        """Bytes that the other side has not taken yet."""
        return self._sent - self._taken

    def forget_errors(self) -> None:
        """What was said until now was a banner and start-up files, and explains nothing that comes."""
        self._errors.clear()

    def errors(self) -> str:
        """The last of what ssh, and whatever runs there, said on standard error."""
        with suppress(subprocess.TimeoutExpired):  # its streams close one after the other, and then it ends
            self._child.wait(_LAST_WORDS_SECONDS)
        self._hearing.join(_LAST_WORDS_SECONDS)  # and no longer: one that shares its connection may hold it open for ever
        return bytes(self._errors).decode("utf-8", "replace")

    def hang_up(self, *, runs: bool = True) -> None:
        """From any thread, without waiting: what runs there, if anything does, ends by itself, and is cut off where it does not."""
        self._given.put(None)
        if not runs:
            self._kill()
        threading.Thread(target=self.close, name="ssh end", daemon=True).start()

    def close(self, *, patience: float = _LAST_WAIT_SECONDS) -> None:
        """Ends it, and gives what runs there the time to remove itself."""
        self._given.put(None)
        try:
            self._child.wait(patience)
        except subprocess.TimeoutExpired:
            self._kill()
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(1.0)
        under_way.discard(self._child.pid)

    def _kill(self) -> None:
        self._child.kill()
        end_group(self._child.pid)  # what it runs itself to reach the other side; there is no such group where it may ask

    def _hear(self, take: Callable[[bytes], None]) -> None:
        assert self._child.stdout is not None
        with self._child.stdout as pipe:
            while piece := _read(pipe.fileno()):
                take(piece)
        take(b"")

    def _hear_errors(self) -> None:
        assert self._child.stderr is not None
        with self._child.stderr as pipe:
            while piece := _read(pipe.fileno()):
                self._errors += piece
                del self._errors[:-ERRORS_AT_MOST_BYTES]

    def _say(self) -> None:
        pipe = self._child.stdin
        assert pipe is not None
        with suppress(OSError):
            while (data := self._given.get()) is not None:
                view = memoryview(data)
                while view:
                    written = os.write(pipe.fileno(), view[:_PIECE])
                    self._taken += written
                    view = view[written:]
        with suppress(OSError):
            pipe.close()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _PIECE)
    except OSError:
        return b""
