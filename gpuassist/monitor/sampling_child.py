"""The process that asks NVML for the monitor: where a call hangs or the library crashes, this one is lost and nobody else.

It reads one request after the other (`system.frames`), `{"addresses": null, "wanted": []}` or
`{"addresses": [[0, "0000:01:00.0"]]}`, and answers each as `monitor.board` says. It ends when its pipe closes, or when the thread
that started it is gone.
"""

from __future__ import annotations

import gc
import os
import sys
import threading  # which NVML's binding imports as well

from gpuassist.monitor.board import Board
from gpuassist.system import frames
from gpuassist.system.nvml import import_alone
from gpuassist.system.parent_end import die_with_parent

TYPE_CHECKING = False  # as type checkers know it: `types` is imported for them alone
if TYPE_CHECKING:
    from types import TracebackType

_REQUESTS, _ANSWERS = 0, 3  # see `system.piped_child`
_OBJECTS = 700  # Python's own threshold, which a start has raised


def main() -> int:
    sys.excepthook = _tell_failure
    threading.excepthook = _end_failed
    die_with_parent(int(sys.argv[-1]))
    import_alone()
    gc.freeze()  # what was imported stays: no look for garbage goes through it again
    gc.set_threshold(_OBJECTS)
    board = Board()
    while (request := frames.read(_REQUESTS)) is not None:
        frames.write(_ANSWERS, board.read(request["addresses"], request.get("wanted", ())))
    board.close()
    os._exit(0)  # nothing is left to put in order, and to do so takes Python 5 ms for which somebody waits


def _end_failed(failed: threading.ExceptHookArgs) -> None:
    """On a thread of a crew: the first one waits for requests, and would never hear of it."""
    if failed.exc_value is not None:
        _tell_failure(failed.exc_type, failed.exc_value, failed.exc_traceback)
    os._exit(1)


def _tell_failure(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    try:
        frames.write(_ANSWERS, {"failed": f"{kind.__name__}: {error}"})
    except OSError:
        pass  # nobody is there to be told
