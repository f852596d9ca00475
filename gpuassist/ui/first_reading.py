"""This machine, read on a thread from the first paint on, while the frame that will show it is still being made.

Nothing here names a class of Qt, which another thread does meanwhile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING

from gpuassist.model.words import ENGLISH

if TYPE_CHECKING:
    from gpuassist.context import Session
    from gpuassist.session.inspect import Inspection

_log = logging.getLogger(__name__)

Tell = Callable[[object], None]


class FirstReading:
    """Begins when it is made; what it tells waits until somebody takes it."""

    def __init__(self, session: Session, read: Callable[[Session, Tell], Inspection] | None = None) -> None:
        self._told: SimpleQueue[object] = SimpleQueue()
        pool = ThreadPoolExecutor(1, thread_name_prefix="gpuassist-first-reading")
        self._came = pool.submit(read or inspect_live, session, self._told.put)
        self._came.add_done_callback(self._told.put)  # itself, as the last
        pool.shutdown(wait=False)

    def take(self, tell: Tell) -> Inspection:
        """Waits for the end, and passes on what was and is told; raises what the reading raised."""
        while (told := self._told.get()) is not self._came:
            tell(told)
        return self._came.result()


# The stages are imported where they run, on a job's thread: the first window is painted before they are.


def inspect_live(session: Session, tell: Tell) -> Inspection:
    """Reads and judges this machine, and keeps it for later comparisons where it is healthy."""
    from gpuassist.session.inspect import inspect
    from gpuassist.session.kept_machines import keep_healthy
    from gpuassist.session.past import explained

    found = explained(session, inspect(session, on_progress=tell))
    refused = keep_healthy(session.world, found)
    if refused is not None:
        _log.info("the machine was not kept: %s", ENGLISH(refused))
    return found
