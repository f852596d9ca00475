"""How wide what is printed may be: as the terminal is, and never wider than what is good to read."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.cli.context import Context, TerminalStreams
from gpuassist.cli.paragraphs import width_of
from gpuassist.context import Session
from gpuassist.model.words import ENGLISH
from tests.cli.made_session import live_session
from tests.fakes import world_under
from tests.values import knowledge

WIDEST = 100


class Closed(io.StringIO):
    """A stream whose terminal has gone."""

    def fileno(self) -> int:
        raise OSError("closed")


def width(columns: str | None, out: TextIO | None = None) -> int:
    variables = {"PATH": "/usr/bin"} if columns is None else {"COLUMNS": columns}
    session = Session(world_under(Path("/nonexistent"), variables=variables), knowledge(), ENGLISH)
    stream = out or io.StringIO()
    return width_of(Context(session, TerminalStreams(stream, stream, colour=False, interactive=False)))


@given(st.integers(1, WIDEST))
def test_a_narrow_terminal_is_kept_to(columns: int) -> None:
    assert width(str(columns)) == columns


@given(st.integers(WIDEST, 10_000))
def test_a_wide_one_is_not_filled(columns: int) -> None:
    assert width(str(columns)) == WIDEST


@pytest.mark.parametrize("columns", [None, "", "0", "-5", "wide", "80.5", " 80", "²", "9" * 5000])
def test_without_a_width_it_is_what_reads_well(columns: str | None) -> None:
    assert width(columns) == WIDEST


def test_a_terminal_that_has_gone_has_none() -> None:
    assert width(None, Closed()) == WIDEST


def test_a_pipe_has_none() -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader), os.fdopen(writer, "w") as out:
        assert width(None, out) == WIDEST


def test_a_real_terminal_is_asked() -> None:
    leader, follower = os.openpty()
    with os.fdopen(leader), os.fdopen(follower, "w") as out:
        asked = os.get_terminal_size(out.fileno()).columns
        assert width(None, out) == min(asked or WIDEST, WIDEST)


def test_a_live_session_is_asked_the_same_way() -> None:
    out = io.StringIO()
    context = Context(live_session({"COLUMNS": "72"}), TerminalStreams(out, out, colour=False, interactive=False))
    assert width_of(context) == 72
