"""The process that asks NVML for the monitor: where a call hangs or the library crashes, this one is lost and nobody else.

It reads one request after the other (`system.frames`), `{"addresses": null}` or `{"addresses": [[0, "0000:01:00.0"]]}`, and answers
each as `monitor.board` says. It ends when its pipe closes, or when the thread that started it is gone.
"""

from __future__ import annotations

import os
import sys

from gpuassist.monitor.board import Board
from gpuassist.system import frames
from gpuassist.system.nvml import import_alone
from gpuassist.system.parent_end import die_with_parent

TYPE_CHECKING = False  # as type checkers know it: `types` is imported for them alone
if TYPE_CHECKING:
    from types import TracebackType

_REQUESTS, _ANSWERS = 0, 3  # see `system.worker`


def main() -> int:
    sys.excepthook = _tell_failure
    die_with_parent(int(sys.argv[-1]))
    import_alone()
    board = Board()
    while (request := frames.read(_REQUESTS)) is not None:
        frames.write(_ANSWERS, board.read(request["addresses"]))
    board.close()
    os._exit(0)  # nothing is left to put in order, and to do so takes Python 5 ms for which somebody waits


def _tell_failure(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    try:
        frames.write(_ANSWERS, {"failed": f"{kind.__name__}: {error}"})
    except OSError:
        pass  # nobody is there to be told
