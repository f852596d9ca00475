"""Signals that are counted while something runs that must be ended in order."""

from __future__ import annotations

import signal
import threading

import pytest

from gpuassist.system.interrupts import counted_interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_they_are_heard_and_not_raised(number: signal.Signals) -> None:
    with counted_interrupts() as came:
        assert not came()
        signal.raise_signal(number)  # which has been delivered when it returns; `kill` may choose another thread
        signal.raise_signal(number)
        assert came()


def test_afterwards_all_is_as_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with counted_interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_what_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with counted_interrupts() as came:
            signal.raise_signal(signal.SIGHUP)
            assert not came()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_thread_hears_of_none() -> None:
    heard: list[bool] = []

    def listen() -> None:
        with counted_interrupts() as came:
            heard.append(came())

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert heard == [False]


def test_a_wish_to_end_can_have_a_grace() -> None:
    with counted_interrupts(grace=1000.0) as came:
        signal.raise_signal(signal.SIGTERM)
        assert (came(), came.terminated) == (False, True)
        signal.raise_signal(signal.SIGINT)
        assert came()
