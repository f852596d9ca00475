"""This machine, read on a thread from the first paint on, while the frame that will show it is still being made.

Nothing here names a class of Qt, which another thread does meanwhile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Union

from gpuassist.model.words import ENGLISH

if TYPE_CHECKING:
    from gpuassist.context import Session
    from gpuassist.session.inspect import Inspection

_log = logging.getLogger(__name__)

Tell = Callable[[object], None]


class FirstReading:
    """Begins when it is made; what it tells waits until somebody takes it."""

    def __init__(self, session: Session, read: Callable[[Session, Tell], Inspection] | None = None) -> None:
        self._session = session
        self._read = read or inspect_live
        self._told: SimpleQueue[object] = SimpleQueue()
        self._came: Union[Inspection, Exception, None] = None
        self._thread = Thread(target=self._run, name="gpuassist-first-reading", daemon=True)
        self._thread.start()

    def take(self, tell: Tell) -> Inspection:
        """Waits for the end, and passes on what was and is told; raises what the reading raised."""
        while (told := self._told.get()) is not self:
            tell(told)
        self._told.put(self)  # for whoever else asks
        if isinstance(self._came, Exception):
            raise self._came
        assert self._came is not None
        return self._came

    def _run(self) -> None:
        try:
            self._came = self._read(self._session, self._told.put)
        except Exception as error:  # noqa: BLE001 -- a border: raised again by whoever takes it
            self._came = error
        finally:
            self._told.put(self)


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
