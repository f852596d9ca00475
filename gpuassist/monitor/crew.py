"""Threads that do pieces of work for devices: one as long as none takes long, another one for the rest where one does.

A call of a driver cannot be interrupted, so whoever makes it keeps its thread until it returns; the devices that answer are read
meanwhile. It runs in the child (`monitor.sampling_child`) and stands without dataclasses and typing, as `system.nvml` says.
"""

from __future__ import annotations

import time
from threading import Condition, Thread

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    Piece = tuple[Hashable, Callable[[], None]]

BUDGET_SECONDS = 0.25
"""What one piece may take before others are done without it."""


class Crew:
    """Pieces are done in the order in which they are given, at most one of a key at a time."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._change = Condition()
        self._waiting: list[Piece] = []
        self._begun: dict[Hashable, float] = {}
        self._hand = 0  # the thread that takes pieces, by its number: any other ends with the piece that it has
        self._taken_at: float | None = None  # when that thread took what it is at
        self._manned = False

    def give(self, pieces: Iterable[Piece]) -> None:
        """What is still under way from an earlier time is not begun again."""
        with self._change:
            there = {*self._begun, *(key for key, _ in self._waiting)}
            self._waiting += [(key, piece) for key, piece in pieces if key not in there]
            if self._waiting:
                self._spur()

    def wait(self, seconds: float) -> None:
        """Until all is done but for what is over its budget, at most so long."""
        until = time.monotonic() + seconds
        with self._change:
            while self._waiting or self._taken_at is not None:
                now = time.monotonic()
                over = BUDGET_SECONDS if self._taken_at is None else self._taken_at + BUDGET_SECONDS - now
                if now >= until:
                    break
                if self._waiting and not self._manned:
                    self._spur()
                elif over > 0:
                    self._change.wait(min(over, until - now))
                elif self._waiting:
                    self._spur()
                else:
                    break

    def late(self, key: Hashable) -> float:
        """For how many seconds its piece has been under way beyond the budget; 0 where it is not."""
        with self._change:
            begun = self._begun.get(key)
        return 0.0 if begun is None else max(0.0, time.monotonic() - begun - BUDGET_SECONDS)

    @property
    def at_work(self) -> bool:
        with self._change:
            return bool(self._begun)

    def close(self) -> None:
        """Its threads end, each with what it is at."""
        with self._change:
            self._hand += 1
            self._waiting.clear()
            self._change.notify_all()

    def _spur(self) -> None:
        stuck = self._taken_at is not None and time.monotonic() - self._taken_at >= BUDGET_SECONDS
        if stuck or not self._manned:
            self._hand += 1
            self._taken_at, self._manned = None, True
            Thread(target=self._work, args=(self._hand,), name=f"gpuassist {self._name}", daemon=True).start()
        else:
            self._change.notify_all()

    def _work(self, hand: int) -> None:
        while True:
            with self._change:
                while not self._waiting and hand == self._hand:
                    self._change.wait()
                if hand != self._hand:
                    return
                key, piece = self._waiting.pop(0)
                self._begun[key] = self._taken_at = time.monotonic()
            done = False
            try:
                piece()
                done = True
            finally:  # what it raises ends this thread, and is told by `threading.excepthook`
                with self._change:
                    del self._begun[key]
                    if hand == self._hand:
                        self._taken_at, self._manned = None, done
                    if not (done and self._waiting):
                        self._change.notify_all()
