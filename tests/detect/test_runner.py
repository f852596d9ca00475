"""Probes that end, crash and hang."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from gpuassist.detect.runner import Running, each
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.words import ENGLISH


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """An event that a hanging probe waits for; set at the end, so that its thread goes."""
    event = threading.Event()
    yield event
    event.set()


def _same(unknown: Unknown) -> Fact[int]:
    return unknown


def _why(fact: Fact[int]) -> str:
    assert isinstance(fact, Unknown), fact
    return ENGLISH(fact.reason)


def _raise() -> Fact[int]:
    raise ZeroDivisionError("by hand")


def test_result_is_what_the_probe_found() -> None:
    assert Running[Fact[int]]("one", lambda: Known(1, "here"), seconds=5, otherwise=_same).result() == Known(1, "here")


def test_result_can_be_asked_again() -> None:
    running = Running[Fact[int]]("one", lambda: Known(1, "here"), seconds=5, otherwise=_same)
    assert running.result() is running.result()


def test_crash_becomes_unknown_and_names_the_exception() -> None:
    running = Running[Fact[int]]("crash", _raise, seconds=5, otherwise=_same)
    assert _why(running.result()) == "gpuassist's own probe failed: ZeroDivisionError: by hand"


def test_traceback_of_a_crash_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        Running[Fact[int]]("crash", _raise, seconds=5, otherwise=_same).result()
    assert "in _raise" in caplog.text
    assert {record.levelname for record in caplog.records} == {"INFO"}


def test_hanging_probe_becomes_unknown_in_time(never: threading.Event) -> None:
    running = Running[Fact[int]]("hang", lambda: Known(int(never.wait(60)), ""), seconds=0.05, otherwise=_same)
    assert "longer than" in _why(running.result())


def test_hanging_probe_does_not_stop_the_rest(never: threading.Event) -> None:
    hanging = Running[Fact[int]]("hang", lambda: Known(int(never.wait(60)), ""), seconds=0.05, otherwise=_same)
    other = Running[Fact[int]]("other", lambda: Known(2, "here"), seconds=5, otherwise=_same)
    assert isinstance(hanging.result(), Unknown)
    assert other.result() == Known(2, "here")


def test_probe_may_wait_for_another() -> None:
    first = Running[Fact[int]]("first", lambda: Known(1, "here"), seconds=5, otherwise=_same)
    second = Running[Fact[int]]("second", lambda: first.result(), seconds=5, otherwise=_same)
    assert second.result() == Known(1, "here")


def test_hung_thread_does_not_keep_the_process_alive() -> None:
    code = (
        "import threading; from gpuassist.detect.runner import Running; "
        "print(Running('hang', threading.Event().wait, seconds=0.05, otherwise=lambda unknown: 'given up').result())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout == "given up\n"


def test_each_keeps_the_order_of_its_items() -> None:
    found = each([3, 1, 2], lambda item: item * 10, seconds=5, otherwise=lambda item, unknown: -item)
    assert found == (30, 10, 20)


def test_each_replaces_only_the_item_that_failed() -> None:
    found = each([1, 0, 2], lambda item: 2 // item, seconds=5, otherwise=lambda item, unknown: 99)
    assert found == (2, 99, 1)


def test_each_works_side_by_side() -> None:
    meeting = threading.Barrier(3, timeout=100)
    assert len(each([1, 2, 3], lambda item: meeting.wait(), seconds=100, otherwise=lambda item, unknown: -1)) == 3
    assert not meeting.broken


def test_each_of_nothing_is_nothing() -> None:
    assert each([], str, seconds=5, otherwise=lambda item, unknown: "") == ()
