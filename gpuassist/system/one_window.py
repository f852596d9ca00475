"""One window for each user and display: whoever starts second asks the first to show itself, by a socket that is the user's own.

The first holds a lock as long as it lives, so that a socket that a killed one left is known for what it is. Both look who is at
the other end (SO_PEERCRED, unix(7)): root and the user, and two users, are never one another's first.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import struct
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from gpuassist.system.surroundings import Surroundings

if TYPE_CHECKING:
    import socket

WAIT_SECONDS = 1.0  # for a first one that does not answer
_LARGEST = 4096
_AGAIN_SECONDS = 0.02
_PATH_AT_MOST = 100  # sun_path has 108


class SecondStart(Struct, frozen=True):
    """What the first is asked for: a page as `kept_place.place_words` has it, empty for the one it shows, and the sign by which a
    desktop lets a program raise itself.
    """

    place: str = ""
    token: str = ""


class OneWindow:
    """A place to meet at; none where the user has no runtime directory of his own."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._uid = surroundings.uid
        self._path = _path(surroundings)
        self._lock = -1
        self._server: socket.socket | None = None

    def ask_first(self, wanted: SecondStart, seconds: float = WAIT_SECONDS) -> bool:
        """Whether another window has shown itself instead of ours; if not, we are the first, or one of our own."""
        if not self._path:
            return False
        until = time.monotonic() + seconds
        while not self._take_lock():
            answered = self._ask(wanted, until)
            if answered is not None or time.monotonic() >= until:
                return bool(answered)
            time.sleep(_AGAIN_SECONDS)  # it is between its lock and its socket, or about to end
        return False

    def listen(self, asked: Callable[[SecondStart, Callable[[], None]], None]) -> None:
        """Where we are the first: calls `asked(what, answer)` on a thread for each that comes; it ends with `close`."""
        if self._lock < 0:
            return
        import socket

        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            if os.path.lexists(self._path):
                os.unlink(self._path)
            os.fchmod(server.fileno(), 0o600)  # Linux gives the file the mode of the socket
            server.bind(self._path)
            server.listen(4)
        except OSError:
            server.close()
            return
        self._server = server
        threading.Thread(target=self._serve, args=(server, asked), name="gpuassist-second-starts", daemon=True).start()

    def close(self) -> None:
        """The next one is the first."""
        if self._server is not None:
            import socket

            try:
                os.unlink(self._path)
                self._server.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept
            except OSError:
                pass
            self._server.close()
            self._server = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _take_lock(self) -> bool:
        try:
            self._lock = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError:
            self._path = ""
            return True
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            self._lock = -1
            return False
        return True

    def _ask(self, wanted: SecondStart, until: float) -> bool | None:
        """Whether the first has shown itself; none where nobody listens yet."""
        import socket

        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one:
            one.settimeout(max(0.01, until - time.monotonic()))
            try:
                one.connect(self._path)
            except (FileNotFoundError, ConnectionRefusedError):
                return None
            except OSError:
                return False
            try:
                if _peer(one) != self._uid:
                    return False
                one.sendall(json.dumps({"place": wanted.place, "token": wanted.token}).encode() + b"\n")
                return one.recv(16) == b"shown\n"
            except OSError:  # too late, or it ended
                return False

    def _serve(self, server: socket.socket, asked: Callable[[SecondStart, Callable[[], None]], None]) -> None:
        while True:
            try:
                one, _ = server.accept()
            except OSError:
                return
            one.settimeout(WAIT_SECONDS)
            try:
                wanted = _read(one) if _peer(one) == self._uid else None
            except (OSError, ValueError, RecursionError):
                wanted = None
            if wanted is None:
                one.close()
            else:
                asked(wanted, lambda one=one: _answer(one))  # type: ignore[misc]


def _answer(one: socket.socket) -> None:
    try:
        one.sendall(b"shown\n")
    except OSError:
        pass
    one.close()


def _read(one: socket.socket) -> SecondStart | None:
    content = b""
    while not content.endswith(b"\n") and len(content) < _LARGEST:
        piece = one.recv(_LARGEST)
        if not piece:
            return None
        content += piece
    found = json.loads(content)
    place, token = (found.get("place"), found.get("token")) if isinstance(found, dict) else (None, None)
    if not isinstance(place, str) or not isinstance(token, str) or "\0" in token:
        return None
    return SecondStart(place, token)


def _peer(one: socket.socket) -> int:
    import socket

    return int(struct.unpack("3i", one.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])


def _path(surroundings: Surroundings) -> str:
    """In the runtime directory, where that is this user's alone; one for each display."""
    variables = surroundings.variables
    directory = variables.get("XDG_RUNTIME_DIR", "")
    if not directory.startswith("/"):
        return ""
    try:
        status = os.stat(directory)
    except OSError:
        return ""
    if status.st_uid != surroundings.uid or not stat.S_ISDIR(status.st_mode) or status.st_mode & 0o077:
        return ""
    display = variables.get("WAYLAND_DISPLAY") or variables.get("DISPLAY") or variables.get("QT_QPA_PLATFORM", "")
    name = "".join(letter if letter.isalnum() or letter in "-._" else "_" for letter in display)
    path = f"{directory.rstrip('/')}/gpuassist-window-{name}"
    return path if len(os.fsencode(path)) <= _PATH_AT_MOST else ""
