"""The process that reads a snapshot: hostile or huge, it costs this process its life at most.

It hears one request (`system.frames`): `{"path", "first", "end", "memory_bytes"}`, and answers with `{"read", "of"}` now and
then, and at last with `{"done": [start, length]}` of the document in the file that it was handed, or `{"failed": {"message",
"parameters"}}`.
"""

from __future__ import annotations

import os
import resource
import stat
import sys
import time

from gpuassist.formats.torch_snapshot.byte_stream import SnapshotError
from gpuassist.formats.torch_snapshot.event_range import EventRange
from gpuassist.formats.torch_snapshot.read import read_snapshot
from gpuassist.model.text import Text, text, verbatim
from gpuassist.session.torch_snapshot.passage import pack
from gpuassist.system import frames
from gpuassist.system.parent_end import die_with_parent
from gpuassist.system.piped_child import ANSWERS, HANDED, REQUESTS

_PIECE = 1 << 20
_TELL_EVERY_SECONDS = 0.1

TYPE_CHECKING = False  # as type checkers know it
if TYPE_CHECKING:
    from typing import Any


def main() -> int:
    die_with_parent(int(sys.argv[-1]))
    request = frames.read(REQUESTS)
    if request is None:
        return 0
    limit = request["memory_bytes"]
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    answer: dict[str, Any]
    try:
        answer = {"done": _read(request)}
    except SnapshotError as error:
        answer = {"failed": told(error.reason)}
    except MemoryError:
        answer = {"failed": told(text("reading it takes more than the {mib} MiB that it may take here", mib=limit >> 20))}
    except OSError as error:
        answer = {"failed": told(verbatim(error.strerror or str(error)))}
    frames.write(ANSWERS, answer)
    os._exit(0)  # nothing is left to put in order


def told(reason: Text) -> dict[str, Any]:
    """A text as it goes through a pipe."""
    parameters = [[name, told(value) if isinstance(value, Text) else value] for name, value in reason.parameters]
    return {"message": reason.message, "parameters": parameters, "plural": reason.plural}


def _read(request: dict[str, Any]) -> tuple[int, int]:
    descriptor = os.open(request["path"], os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise SnapshotError(text("it is no file"))
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_SEQUENTIAL)
    read, next_tell = 0, 0.0

    def more() -> bytes:
        nonlocal read, next_tell
        now = time.monotonic()
        if now >= next_tell:
            frames.write(ANSWERS, {"read": read, "of": status.st_size})
            next_tell = now + _TELL_EVERY_SECONDS
        piece = os.read(descriptor, _PIECE)
        read += len(piece)
        return piece

    snapshot = read_snapshot(more, request["path"], EventRange(request["first"], request["end"]))
    frames.write(ANSWERS, {"read": read, "of": status.st_size})
    return pack(snapshot, HANDED)
