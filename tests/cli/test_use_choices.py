"""`gpuassist use cuda` and `use devices` without a choice: what there is, what is chosen and by which line, and how to choose."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pytest

from gpuassist.changes.devices_plan import plan_use_devices
from gpuassist.changes.wishes import UseDevices
from gpuassist.cli import use
from gpuassist.cli.context import Context, TerminalStreams, UsageError
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.changes.homes import make_toolkit, world_at
from tests.cli.runs import run


@pytest.fixture
def session(home: Path) -> Session:
    make_toolkit(home / "cuda-11.7", "11.7.99")
    make_toolkit(home / "cuda-12.4", "12.4.131")
    lines = f"# mine\nexport PATH={home}/cuda-11.7/bin:$PATH\nexport CUDA_VISIBLE_DEVICES=1\n"
    (home / ".bashrc").write_text(lines)
    return Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)


def missing(session: Session, *options: str) -> str:
    """What is said on standard error, before the usage error that it is."""
    out, err = io.StringIO(), io.StringIO()
    parser = argparse.ArgumentParser()
    use.arguments(parser, session.words)
    parser.set_defaults(lang="")
    context = Context(session, TerminalStreams(out, err, colour=False, interactive=False))
    with pytest.raises(UsageError):
        use.run(parser.parse_args(options), context)
    assert out.getvalue() == ""
    return err.getvalue()


def test_toolkits_are_listed_with_the_one_that_wins_and_its_line(session: Session, home: Path) -> None:
    said = missing(session, "cuda")
    assert [f"{home}/cuda-{release}" in said for release in ("12.4", "11.7")] == [True, True]
    assert f"{home}/cuda-11.7/bin/nvcc" in said
    assert "~/.bashrc:2" in said
    assert "gpuassist use cuda " in said


def test_line_of_our_own_is_named_as_well(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text("")
    assert run(use, session, "cuda", "12.4", "--yes").exit is Exit.HEALTHY
    number = next(number for number, line in enumerate((home / ".bashrc").read_text().splitlines(), 1) if "PATH=" in line)
    assert f"~/.bashrc:{number}" in missing(session, "cuda")


def test_chosen_gpus_are_told_with_their_line(session: Session) -> None:
    said = missing(session, "devices")
    assert "CUDA_VISIBLE_DEVICES=1" in said
    assert "~/.bashrc:3" in said
    assert "gpuassist use devices all" in said


@pytest.mark.parametrize("what", ["cuda", "devices"])
def test_a_document_is_for_a_choice_alone(session: Session, what: str) -> None:
    assert missing(session, what, "--json") == ""


def test_one_gpu_is_one(session: Session) -> None:
    gpus = tuple(Gpu(pci_id=Known("10de:2684", "test"), index=Known(place, "test")) for place in range(2))
    machine = Machine(gpus=Known(gpus, "test"))
    plans = {words: plan_use_devices(session.world, machine, UseDevices(words)).plan.goal for words in ("1", "0,1")}
    assert [ENGLISH(goal).count("GPUs") for goal in plans.values()] == [0, 1]
