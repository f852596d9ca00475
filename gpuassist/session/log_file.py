"""The log on disk: what went wrong in gpuassist itself, a record a line, in a file that only its user can read.

At most `FILES_AT_MOST` files of `LARGEST_BYTES`: a full one takes a number behind its name, and the oldest goes. What cannot be
written is left: a log is worth no error.
"""

from __future__ import annotations

import faulthandler
import fcntl
import logging
import os
import stat
import threading
import time

from gpuassist.formats.visible import on_one_line
from gpuassist.system.ownership import why_state_untrusted
from gpuassist.system.world import World

LOG_NAME = "gpuassist.log"
LARGEST_BYTES = 256 * 1024
FILES_AT_MOST = 4
_RECORD_AT_MOST = 16 * 1024
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class OwnLog(logging.Handler):
    """Opened at its first record: where nothing happens, nothing is made."""

    def __init__(self, world: World, *, largest_bytes: int = LARGEST_BYTES) -> None:
        super().__init__(logging.WARNING)
        self.path = log_path(world)
        self._world, self._largest = world, largest_bytes
        self._writing = threading.Lock()
        self._refused: bool | None = None
        self._crashes = -1

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self._line(record)
            with self._writing:
                if self._may_write():
                    self._write(line)
        except (OSError, ValueError, TypeError):  # a record whose words do not fit its parameters is a TypeError
            self._refused = True

    def _may_write(self) -> bool:
        if self._refused is None:
            directory = self._world.surroundings.state()
            self._refused = why_state_untrusted(self._world, directory) is not None
            if not self._refused:
                self._world.disk.make_directory(directory)
        return not self._refused

    def _line(self, record: logging.LogRecord) -> bytes:
        words = on_one_line(record.getMessage())
        head = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z', time.localtime(record.created))} {record.levelname} [{os.getpid()}]"
        lines = [f"{head} {record.name}: {words}"]
        if record.exc_info and record.exc_info[0] is not None:
            import traceback

            lines += (f"    {on_one_line(line)}" for line in "".join(traceback.format_exception(*record.exc_info)).splitlines())
        return ("\n".join(lines)[:_RECORD_AT_MOST] + "\n").encode("utf-8", "backslashreplace")

    def listen_for_crashes(self) -> None:
        """Has what ends the program from outside of Python, in Qt or a driver's library, leave the stacks of all threads in the
        log. It is opened for that: in a crash nothing can be.
        """
        try:
            with self._writing:
                if self._crashes < 0 and self._may_write():
                    self._crashes = self._open()
                    faulthandler.enable(self._crashes)
        except OSError:
            self._refused = True

    def end_crashes(self) -> None:
        """The log goes again where nothing was written to it."""
        descriptor, self._crashes = self._crashes, -1
        if descriptor < 0:
            return
        faulthandler.disable()
        try:
            if os.fstat(descriptor).st_size == 0 and os.path.samestat(os.fstat(descriptor), os.lstat(self.path)):
                os.unlink(self.path)
        except OSError:
            pass
        finally:
            os.close(descriptor)

    def _open(self) -> int:
        self._world.disk.require_writing(self.path)
        descriptor = os.open(self.path, _FLAGS, 0o600)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != self._world.surroundings.uid:
                raise PermissionError(self.path)
            if status.st_mode & 0o077:
                os.fchmod(descriptor, 0o600)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def _write(self, line: bytes) -> None:
        descriptor = self._open()
        try:
            os.write(descriptor, line)
            status = os.fstat(descriptor)
            if status.st_size > self._largest:
                self._rotate(descriptor)
        finally:
            os.close(descriptor)

    def _rotate(self, descriptor: int) -> None:
        """Once, where two programs have filled it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_ino != os.stat(self.path).st_ino:
            return
        names = [self.path, *(f"{self.path}.{number}" for number in range(1, FILES_AT_MOST))]
        for older, newer in zip(reversed(names), reversed(names[:-1]), strict=False):
            if os.path.lexists(newer):
                os.replace(newer, older)


def log_path(world: World) -> str:
    """Where it lies, or would."""
    return os.path.join(world.surroundings.state(), LOG_NAME)


def keep_log(world: World) -> OwnLog:
    """From now on warnings and worse are kept there; `end_log` ends it."""
    made = OwnLog(world)
    logging.getLogger().addHandler(made)
    return made


def end_log(log: OwnLog) -> None:
    log.end_crashes()
    logging.getLogger().removeHandler(log)
