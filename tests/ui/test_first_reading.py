"""The machine is read before there is a frame: nothing that is told until then is lost, and no error either."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuassist.context import Session
from gpuassist.model.text import text
from gpuassist.session.inspect import Inspection
from gpuassist.ui.first_reading import FirstReading
from gpuassist.ui.page import Desk


def test_what_was_told_before_comes_first_and_then_the_machine(desk: Desk) -> None:
    wanted: object = object()
    told: list[object] = []

    def read(session: Session, tell: Callable[[object], None]) -> Inspection:
        tell(text("Reading your machine…"))
        tell(session)
        return wanted  # type: ignore[return-value]  # whatever it is, it comes home

    assert FirstReading(desk.session, read).take(told.append) is wanted
    assert told == [text("Reading your machine…"), desk.session]


def test_what_fails_there_fails_for_whoever_takes_it(desk: Desk) -> None:
    def read(session: Session, tell: Callable[[object], None]) -> Inspection:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        FirstReading(desk.session, read).take(print)
