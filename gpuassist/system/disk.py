"""Writing to disk in single steps, each of which can fail or be the last before a crash: the port behind every change of a file.

Paths are the operating system's own. Nothing is decided here: which order of steps keeps a file whole is repair's business.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager

_FS_IOC_GETFLAGS = 0x80086601  # linux/fs.h, for a 64-bit long; the kernel writes 32 bits of it
_IMMUTABLE, _APPEND_ONLY = 0x10, 0x20
_WAIT = 0.05
READ_ONLY = "gpuassist was started with --read-only"
"""Stands where the operating system's own words for a failed step would."""


class Disk:
    """The real disk; each method is one step."""

    read_only = False

    def require_writing(self, path: str) -> None:
        """Raises `OSError` where nothing may be written; asked before every step that would, also by those that take no port."""

    def read(self, path: str) -> bytes:
        """The whole file; raises for what is not a regular file, and never waits for a writer as a pipe would."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            return file.read()

    def read_own(self, path: str, limit: int = -1) -> tuple[bytes, os.stat_result]:
        """The file, at most `limit` bytes of it, and whose what was read is and who may write it; raises for a symlink too, and is
        not led elsewhere.
        """
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        with open(descriptor, "rb") as file:
            return file.read(limit), os.fstat(descriptor)

    def create(self, path: str, mode: int = 0o600) -> None:
        self.require_writing(path)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode))

    def write(self, path: str, content: bytes) -> None:
        self.require_writing(path)
        with open(path, "wb") as file:
            file.write(content)

    def append(self, path: str, content: bytes) -> None:
        self.require_writing(path)
        with open(path, "ab") as file:
            file.write(content)

    def flush(self, path: str) -> None:
        """Waits until a file, or what a directory lists, has reached the disk."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def copy_attributes(self, source: str, path: str) -> None:
        """Gives `path` the owner, mode and extended attributes (ACLs, SELinux label) of `source`; raises where it cannot."""
        self.require_writing(path)
        status = os.stat(source)
        now = os.stat(path)
        if (now.st_uid, now.st_gid) != (status.st_uid, status.st_gid):
            os.chown(path, status.st_uid, status.st_gid)
        os.chmod(path, status.st_mode & 0o7777)
        for name in _attribute_names(source):
            _copy_attribute(source, path, name)

    def set_mode(self, path: str, mode: int) -> None:
        self.require_writing(path)
        os.chmod(path, mode)

    def replace(self, path: str, target: str) -> None:
        """Puts `path` in the place of `target` in one step: whoever looks finds the old file or the new one."""
        self.require_writing(target)
        os.replace(path, target)

    def place_new(self, path: str, target: str) -> None:
        """Gives `path` the name `target`, which must not be there yet."""
        self.require_writing(target)
        try:
            os.link(path, target)
        except FileExistsError:
            # NFS may carry a call out, lose the answer and say of the second one that the name is taken.
            one, other = os.lstat(path), os.lstat(target)
            if (one.st_dev, one.st_ino) != (other.st_dev, other.st_ino):
                raise
            os.unlink(path)
        except OSError as error:
            # A file system without hard links (vfat, some network ones).
            if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}:
                raise
            if os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from error
            os.replace(path, target)
        else:
            os.unlink(path)

    def remove(self, path: str) -> None:
        self.require_writing(path)
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass

    def make_directory(self, path: str) -> None:
        """Makes a directory, and what leads to it, that only this user may enter whatever the umask says."""
        self.require_writing(path)
        missing = [path]
        while not os.path.isdir(missing[-1]) and os.path.dirname(missing[-1]) not in {missing[-1], ""}:
            missing.append(os.path.dirname(missing[-1]))
        for one in reversed(missing):  # `os.makedirs` makes those on the way as open as the umask lets it
            _make_private(one)

    def add_directory(self, path: str, mode: int) -> None:
        """Makes one directory that was not there, with these permission bits whatever the umask says."""
        self.require_writing(path)
        os.mkdir(path, mode & 0o700)
        os.chmod(path, mode)

    def remove_directory(self, path: str) -> bool:
        """Takes an empty directory away, and says whether it is gone; one that holds something stays."""
        self.require_writing(path)
        try:
            os.rmdir(path)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                raise
            return False
        return True

    def remove_tree(self, path: str) -> None:
        """Takes a directory away with all that it holds, symlinks in it as such; one that is gone already is what was wanted."""
        self.require_writing(path)
        import shutil  # costs a start 4 ms

        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            if os.path.lexists(path):  # something in it went at the same moment
                shutil.rmtree(path)

    def names(self, path: str) -> tuple[str, ...]:
        """What a directory holds, sorted; empty where there is none."""
        try:
            return tuple(sorted(os.listdir(path)))
        except (FileNotFoundError, NotADirectoryError):
            return ()

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def own_status(self, path: str) -> os.stat_result:
        """The status of what has this name itself, which may be a symlink."""
        return os.lstat(path)

    def is_locked_by_flag(self, path: str) -> bool:
        """Whether `chattr +i` or `+a` keeps even its owner from replacing it; false where the file system has no such flags."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return False
        try:
            answer = fcntl.ioctl(descriptor, _FS_IOC_GETFLAGS, struct.pack("l", 0))
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return bool(struct.unpack("l", answer)[0] & (_IMMUTABLE | _APPEND_ONLY))

    @contextmanager
    def lock(self, path: str, seconds: float) -> Iterator[None]:
        """Holds a lock file; raises `BlockingIOError` where another process holds it for longer than `seconds`."""
        self.require_writing(path)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            until = time.monotonic() + seconds
            while not _took(descriptor):
                if time.monotonic() >= until:
                    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
                time.sleep(_WAIT)
            yield
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # a program that another thread is just starting has a copy of it
            os.close(descriptor)

    def is_locked(self, path: str) -> bool:
        """Whether somebody holds this lock file now; any number may ask at once without seeing one another. Raises `OSError` where
        it cannot be told.
        """
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False


def _make_private(path: str) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
    else:
        os.chmod(path, 0o700)


def _took(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _attribute_names(path: str) -> list[str]:
    try:
        return os.listxattr(path)
    except OSError:
        return []


def _copy_attribute(source: str, path: str, name: str) -> None:
    try:
        os.setxattr(path, name, os.getxattr(source, name))
    except OSError as error:
        # A label that the system sets by itself, or a file system without such attributes: nothing of the user's is lost.
        if error.errno not in {errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.ENODATA}:
            raise


@contextmanager
def scratch(parent: str) -> Iterator[str]:
    """A new empty directory in `parent`, made where it is not there; only this user may look in, and it goes in the end."""
    import tempfile  # costs a start what shutil costs it

    Disk().make_directory(parent)
    with tempfile.TemporaryDirectory(prefix="scratch-", dir=parent, ignore_cleanup_errors=True) as directory:
        yield directory


class ReadOnlyDisk(Disk):
    """Nothing is written, as on a file system that is mounted so."""

    read_only = True

    def require_writing(self, path: str) -> None:
        raise OSError(errno.EROFS, READ_ONLY, path)
