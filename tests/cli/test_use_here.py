"""Steps whose command is gpuassist's own."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from gpuassist.cli.context import Context, TerminalStreams
from gpuassist.cli.plan_run import use_here
from gpuassist.present.marks import Exit
from tests.changes.homes import make_toolkit
from tests.cli.made_session import live_session


@pytest.fixture
def context(home: Path) -> Context:
    make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / ".bashrc").write_text(f"export PATH={home}/cuda-11.7/bin:$PATH\n")
    return Context(live_session(), TerminalStreams(io.StringIO(), io.StringIO(), colour=False, interactive=False))


def test_it_is_made_and_proved_here(context: Context, home: Path) -> None:
    assert use_here(context, ("gpuassist use cuda 12.4",), yes=True, quiet=False) is Exit.HEALTHY
    assert f"{home}/cuda-12.4" in (home / ".bashrc").read_text()


def test_for_programs_it_says_nothing(context: Context) -> None:
    use_here(context, ("gpuassist use cuda 12.4",), yes=True, quiet=True)
    assert isinstance(context.terminal.out, io.StringIO)
    assert context.terminal.out.getvalue() == ""


def test_what_does_not_go_well_is_said(context: Context, home: Path) -> None:
    before = (home / ".bashrc").read_text()
    assert use_here(context, ("gpuassist use cuda 9.9",), yes=True, quiet=False) is not Exit.HEALTHY
    assert (home / ".bashrc").read_text() == before


def test_a_command_of_others_is_the_users(context: Context) -> None:
    assert use_here(context, ("sed -i s/a/b/ x",), yes=True, quiet=False) is Exit.WARNINGS
