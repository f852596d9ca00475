"""Probes side by side, each on a daemon thread with a time limit: one that crashes or hangs becomes an unknown of its own section.

A thread that hangs for ever is left behind: as a daemon it does not keep the process alive.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from msgspec import Struct

from gpuassist.model.fact import Unknown
from gpuassist.model.text import Text, text
from gpuassist.system.clock import Clock

T = TypeVar("T")
Item = TypeVar("Item")

_log = logging.getLogger(__name__)


class SectionProgress(Struct, frozen=True):
    """A section of the machine that was looked at, and how many of how many are done."""

    section: Text
    done: int
    total: int


def ignore(progress: SectionProgress) -> None:
    """For who does not want to know."""


class Running(Generic[T]):
    """A probe under way. `otherwise` turns the reason of its failure into the unknown facts that it would have found."""

    def __init__(
        self, name: str, work: Callable[[], T], *, seconds: float, otherwise: Callable[[Unknown], T], clock: Clock | None = None
    ) -> None:
        self.name = name
        self._work = work
        self._otherwise = otherwise
        self._seconds = seconds
        self._clock = clock or Clock()
        self._deadline = self._clock.monotonic() + seconds
        self._ended = threading.Event()
        self._found: list[T] = []
        threading.Thread(target=self._run, name=f"probe {name}", daemon=True).start()

    def result(self) -> T:
        """What it found; waits for it until its time is over."""
        if self._ended.wait(max(0.0, self._deadline - self._clock.monotonic())):
            return self._found[0]
        _log.info("the probe %s did not end within %s s", self.name, self._seconds)
        return self._otherwise(Unknown(text("looking took longer than {seconds:.0f} s", seconds=self._seconds)))

    def _run(self) -> None:
        try:
            self._found.append(self._work())
        except Exception as error:  # noqa: BLE001 -- the border of probes: a crash is a result that the user sees
            _log.info("the probe %s failed", self.name, exc_info=True)
            why = text("gpuassist's own probe failed: {kind}: {words}", kind=type(error).__name__, words=str(error))
            self._found.append(self._otherwise(Unknown(why)))
        finally:
            self._ended.set()


def each(
    items: Iterable[Item], work: Callable[[Item], T], *, seconds: float, otherwise: Callable[[Item, Unknown], T]
) -> tuple[T, ...]:
    """`work` on every item side by side, in the order of the items."""
    under_way = [
        Running(
            f"{work.__name__} {item}",
            lambda item=item: work(item),  # type: ignore[misc]
            seconds=seconds,
            otherwise=lambda unknown, item=item: otherwise(item, unknown),  # type: ignore[misc]
        )
        for item in items
    ]
    return tuple(one.result() for one in under_way)
