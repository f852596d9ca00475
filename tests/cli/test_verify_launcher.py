"""`gpuassist verify --launcher`: what the ranks came to as a person and a program read it, and what is wrong usage."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gpuassist.cli import verify
from gpuassist.cli.context import UsageError
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.cli.made_session import live_session, run_live
from tests.cli.runs import Run
from tests.torch_environment import interpreter_that_runs
from tests.verify.lines import BEGIN, DONE, END, FAIL, IMPORTED, PASS, START
from tests.verify.test_runner import says

RANKS = {"device": "2 ranks"}
MEMBERS = ["node0 cuda:0 0000:01:00.0", "node1 cuda:0 0000:01:00.0"]
TOGETHER = {**START, "devices": [{**START["devices"][0], **RANKS, "name": "ranks", "members": MEMBERS}]}
GOOD = (IMPORTED, TOGETHER, *({**line, **RANKS} for line in (BEGIN, PASS, DONE)), END)
LOST = {**FAIL, **RANKS, "verdict": "error", "error": "rank 0 of 2 (node0 cuda:0): it does not answer"}
BAD = (IMPORTED, TOGETHER, {**BEGIN, **RANKS}, LOST, {**DONE, **RANKS}, END)
HERE = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "node0", "MASTER_PORT": "29500"}


def ran(folder: Path, documents: tuple[Any, ...], *arguments: str, **variables: str) -> Run:
    """The command in an interpreter that says these; what it was asked lies in `asked.json` beside it."""
    code = f"open({str(folder / 'asked.json')!r}, 'w').write(sys.argv[2])\n{says(*documents)}"
    python = interpreter_that_runs(folder, sys.executable, code)
    return run_live(verify, "--python", python, *arguments, session=live_session({**os.environ, **variables}))


def wrong(*arguments: str, **variables: str) -> str:
    with pytest.raises(UsageError) as caught:
        run_live(verify, "--python", sys.executable, *arguments, session=live_session({**os.environ, **variables}))
    return ENGLISH(caught.value.reason)


def test_torchruns_options_go_to_torchrun_and_ours_do_not(tmp_path: Path) -> None:
    run = ran(tmp_path, GOOD, "--launcher", "torchrun", "--nnodes", "2", "--level", "full", "--rdzv-endpoint=node0:29500", "--json")
    asked, document = json.loads((tmp_path / "asked.json").read_text("utf-8")), json.loads(run.out)
    assert asked["launcher"] == ["torchrun", "--nnodes", "2", "--rdzv-endpoint=node0:29500"]
    assert (asked["level"], run.exit) == ("full", Exit.HEALTHY)
    assert [(one["name"], one["ranks"]) for one in document["collectives"]] == [("ranks", MEMBERS)]
    assert (document["accelerator_verified"], document["devices"]) == (False, [])


def test_each_rank_is_named(tmp_path: Path) -> None:
    lines = ran(tmp_path, GOOD, "--launcher", "torchrun").out.splitlines()
    assert [f"rank {rank}: {member}" for rank, member in enumerate(MEMBERS)] == [line for line in lines if line.startswith("rank")]
    assert "2 ranks on 2 machines: 1 check passed." in lines


@pytest.mark.parametrize(("documents", "status"), [(GOOD, Exit.HEALTHY), (BAD, Exit.PROBLEMS)])
def test_the_first_rank_tells_and_all_exit_alike(tmp_path: Path, documents: tuple[Any, ...], status: Exit) -> None:
    first, second = (ran(tmp_path, documents, "--launcher", "env", **{**HERE, "RANK": rank}) for rank in "01")
    assert (first.exit, second.exit) == (status, status)
    assert (bool(first.out), second.out) == (True, "")
    assert second.err == ("" if documents is GOOD else f"{LOST['error']}\n")


def test_a_rank_that_dies_is_told_by_itself(tmp_path: Path) -> None:
    run = ran(tmp_path, (IMPORTED,), "--launcher", "env", **{**HERE, "RANK": "1"})
    assert (run.exit, run.out, run.err.startswith("rank 1: ")) == (Exit.PROBLEMS, "", True)


def test_one_rank_proves_nothing(tmp_path: Path) -> None:
    refusal = {"type": "error", "stage": "ranks", "python": "3.11.7", "error": "there is only one rank"}
    assert ran(tmp_path, (IMPORTED, refusal), "--launcher", "torchrun").exit is Exit.UNDETERMINED


def test_options_that_torchrun_does_not_take_are_wrong_usage(tmp_path: Path) -> None:
    refusal = {"type": "error", "stage": "options", "python": "3.11.7", "error": "unrecognized arguments: --nodes"}
    with pytest.raises(UsageError) as caught:
        ran(tmp_path, (IMPORTED, refusal), "--launcher", "torchrun", "--nodes", "2")
    assert "--nodes" in ENGLISH(caught.value.reason)


@pytest.mark.parametrize(
    ("left_out", "given", "named"),
    [
        ("RANK", {}, "SLURM_PROCID"),
        ("MASTER_ADDR", {}, "MASTER_ADDR"),
        ("MASTER_PORT", {}, "MASTER_PORT"),
        ("", {"MASTER_PORT": "http"}, "http"),
        ("", {"RANK": "2"}, "RANK=2"),
    ],
)
def test_a_process_that_no_launcher_has_started(left_out: str, given: dict[str, str], named: str) -> None:
    variables = {name: value for name, value in {**HERE, **given}.items() if name != left_out}
    assert named in wrong("--launcher", "env", **variables)


@pytest.mark.parametrize("more", [("--device", "0"), ("--in", "docker:a"), ("--python", sys.executable)])
def test_what_does_not_go_with_a_launcher(more: tuple[str, ...]) -> None:
    assert "--launcher" in wrong(*more, "--launcher", "torchrun")


@pytest.mark.parametrize("words", [("slurm",), ("env", "--nnodes", "2"), ()])
def test_what_is_no_launcher(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    verify.arguments(parser, ENGLISH)
    with pytest.raises(SystemExit):
        parser.parse_args(["--launcher", *words])
    capsys.readouterr()
