"""Pieces of work that do not come back hold up nobody else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from threading import Event

import pytest

from gpuassist.monitor import crew as crews
from gpuassist.monitor.crew import Crew


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews, "BUDGET_SECONDS", 0.05)


@pytest.fixture
def crew() -> Iterator[Crew]:
    crew = Crew("test")
    yield crew
    crew.close()


def test_pieces_are_done_in_their_order_by_one_thread(crew: Crew) -> None:
    done: list[int] = []
    crew.give((number, lambda number=number: done.append(number)) for number in range(20))  # type: ignore[misc]
    crew.wait(100)
    assert done == list(range(20))
    assert crew._hand == 1


def test_a_piece_that_hangs_is_left_alone_and_the_rest_is_done(crew: Crew) -> None:
    released, done = Event(), Event()
    held = _until(released)
    crew.give([("stuck", held), ("other", done.set)])
    crew.wait(100)
    assert (done.is_set(), crew.at_work, crew.late("other")) == (True, True, 0.0)
    time_late = crew.late("stuck")
    crew.give([("stuck", pytest.fail)])  # it is still at it, so it is not begun a second time
    crew.wait(100)
    assert crew.late("stuck") >= time_late
    released.set()
    while crew.at_work:
        time.sleep(0)
    again = Event()
    crew.give([("stuck", again.set)])
    crew.wait(100)
    assert again.is_set()


def test_all_may_hang_and_nobody_is_waited_for_longer_than_said(crew: Crew) -> None:
    released = Event()
    held = _until(released)
    crew.give((number, held) for number in range(50))
    began = time.monotonic()
    crew.wait(0.2)
    assert time.monotonic() - began < 2.0  # 50 of them would take 2.5 s
    assert crew.late(0) > 0.0
    released.set()


def test_what_a_piece_raises_is_told_and_the_rest_is_done(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda failed: told.append(failed.exc_value))
    error, done = ValueError("no sense"), Event()

    def fail() -> None:
        raise error

    crew.give([("one", fail), ("other", done.set)])
    while not told:
        time.sleep(0)
    crew.give([("another", Event().set)])
    crew.wait(100)
    assert (told, done.is_set()) == ([error], True)


def _until(released: Event) -> Callable[[], None]:
    def wait() -> None:
        released.wait(100)

    return wait
