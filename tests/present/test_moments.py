"""Moments on record are told in one form, by the user's own clock."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from gpuassist.present.moments import minute


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
