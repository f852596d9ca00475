"""A worker in an interpreter of its own, where CUDA was started before torch was imported here or by that (a sitecustomize.py, a
package that computes as it is imported): no fork could use CUDA any more, and a fresh process starts it for itself.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, Callable, Dict, List, NamedTuple

_ALIVE_EVERY_SECONDS = 0.5


class Start(NamedTuple):
    """What the worker goes on from: its device (empty: it finds out which there are), the checks of every device, how many of each
    are done, and until when a further one may begin.
    """

    device: str
    planned: Dict[str, List[Dict[str, str]]]
    done: Dict[str, int]
    until: float


def is_needed(torch: Any) -> bool:
    """Whether this fork cannot use CUDA because its parent has."""
    ask = getattr(torch._C, "_cuda_isInBadFork", None)
    return bool(ask is not None and ask())


def is_possible() -> bool:
    """Whether this is a script that can be started once more: within an image it is a text."""
    return os.path.isfile(sys.argv[0])


def become(descriptor: int, request: Dict[str, Any], start: Start) -> None:
    """Turns this fork into such an interpreter, which tells what it finds through the descriptor; never returns."""
    os.set_inheritable(descriptor, True)  # noqa: FBT003
    asked = json.dumps(dict(request, worker=start._asdict()))
    os.execv(sys.executable, [sys.executable, sys.argv[0], str(descriptor), asked])


def pulse(say: Callable[[str], None]) -> Callable[[], None]:
    """A sign of life as a line, at most twice a second: a fresh process shares no memory with its supervisor."""
    last = [0.0]

    def alive() -> None:
        now = time.monotonic()
        if now - last[0] >= _ALIVE_EVERY_SECONDS:
            last[0] = now
            say("alive")

    return alive
