"""`gpuassist doctor` keeps the machine that it found healthy, and no recorded one."""

from __future__ import annotations

import argparse
import io
import json
import os
from pathlib import Path

import pytest

from gpuassist.cli import doctor, inspection
from gpuassist.cli.context import Context, TerminalStreams
from gpuassist.context import Session
from gpuassist.model.finding import Answer, Diagnosis, Severity
from gpuassist.model.machine import encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.session.inspect import Inspection
from gpuassist.session.kept_machines import DOCTOR, kept, root
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.values import knowledge, machine


@pytest.fixture
def context(home: Path) -> Context:
    world = World(Surroundings(str(home), "you", os.geteuid(), {"PATH": "/usr/bin"}))
    return Context(Session(world, knowledge(), ENGLISH), TerminalStreams(io.StringIO(), io.StringIO(), False, False), "")


def run(context: Context, monkeypatch: pytest.MonkeyPatch, *severities: Severity) -> Exit:
    answers = tuple(Answer("some", one, "", "", (), (), ()) for one in severities)
    found = Inspection(machine(), Diagnosis(), answers, (), 0.1, recorded=False, title="")
    monkeypatch.setattr(inspection, "inspect", lambda session, *, on_progress: found)
    return doctor.run(argparse.Namespace(json=True, lang="", fleet=None), context)


def test_a_healthy_machine_is_kept(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(context, monkeypatch, Severity.WARNING) is Exit.WARNINGS
    assert [one.by for one in kept(context.session.world).machines] == [DOCTOR]


def test_one_with_a_problem_is_not(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(context, monkeypatch, Severity.PROBLEM) is Exit.PROBLEMS
    assert not Path(root(context.session.world)).exists()


def test_what_cannot_be_kept_changes_no_answer(context: Context, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    Path(root(context.session.world)).parent.mkdir(parents=True)
    Path(root(context.session.world)).write_text("in the way", "utf-8")
    assert run(context, monkeypatch) is Exit.HEALTHY
    assert isinstance(context.terminal.err, io.StringIO)
    assert context.terminal.err.getvalue() == ""


def test_a_recorded_machine_is_not_kept(home: Path, tmp_path: Path) -> None:
    (tmp_path / "machine.json").write_text(json.dumps(encode_machine(machine(), ENGLISH)), "utf-8")
    world = World(Surroundings(str(home), "you", os.geteuid(), {"PATH": "/usr/bin"}))
    streams = TerminalStreams(io.StringIO(), io.StringIO(), False, False)
    context = Context(Session(world, knowledge(), ENGLISH), streams, str(tmp_path / "machine.json"))
    assert doctor.run(argparse.Namespace(json=True, lang="", fleet=None), context) is Exit.HEALTHY
    assert not Path(root(world)).exists()
