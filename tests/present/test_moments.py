"""Moments on record are told in one form, by the user's own clock."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from gpuassist.present.moments import minute, minute_abroad, minute_utc


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A clock nine hours before that of the records."""
    with monkeypatch.context() as there:
        there.setenv("TZ", "JST-9")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("tokyo")
@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("2026-11-22T11:14:24.645+00:00", "2026-11-22 20:14"),
        ("2026-11-22T11:14:24Z", "2026-11-22 20:14"),
        ("2026-11-22T20:14:24+09:00", "2026-11-22 20:14"),
        ("yesterday", "yesterday"),
        ("", ""),
        ("9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59-12:00"),
    ],
)
def test_a_moment_is_told_by_the_users_clock(at: str, told: str) -> None:
    assert minute(at) == told


@pytest.mark.usefixtures("tokyo")
def test_who_reads_it_elsewhere_is_told_how_far_that_clock_is_from_utc() -> None:
    at = "2026-11-22T20:14:24+09:00"
    assert (minute_abroad(at), minute_utc(at)) == ("2026-11-22 20:14 +0900", "2026-11-22 11:14")
    assert (minute_abroad("yesterday"), minute_utc("")) == ("yesterday", "")
