"""`gpuassist estimate`: its document, its exit statuses, and what is refused."""

from __future__ import annotations

import json

import pytest

from gpuassist.cli import estimate
from gpuassist.cli.context import UsageError
from gpuassist.present.marks import Exit
from tests.cli.made_session import run_live
from tests.rows import for_each

NUMBERS = "hidden=4096,layers=32,heads=32,kv_heads=8,inner=14336,vocab=128256"


@for_each(
    ("options", "status"),
    [
        (("--gpu", "24GiB", "--infer", "--quantize", "awq"), Exit.HEALTHY),
        (
            (
                "--gpu",
                "24GiB",
            ),
            Exit.PROBLEMS,
        ),
        (("--gpu", "RTX 4090", "--infer"), Exit.HEALTHY),
        (("--gpu", "64GiB", "--precision", "bf16", "--lora", "8", "--quantize", "nf4", "--checkpointing"), Exit.HEALTHY),
    ],
)
def test_it_ends_with_the_answer(options: tuple[str, ...], status: Exit) -> None:
    assert run_live(estimate, NUMBERS, *options).exit is status


def test_the_document_adds_up() -> None:
    document = json.loads(run_live(estimate, NUMBERS, "--gpu", "80GiB", "--precision", "bf16", "--json").out)
    assert document["schema"] == 1
    assert document["needed_bytes"] == sum(one["bytes"] for one in document["parts"])
    assert document["needed_low_bytes"] <= document["needed_bytes"] <= document["needed_high_bytes"]
    assert [one["part"] for one in document["parts"]] == [
        "parameters",
        "optimizer",
        "activations",
        "temporary",
        "context",
        "margin",
    ]
    assert document["takes_turns"] == {"part": "gradients", "bytes": 2 * document["model"]["parameters"]}
    assert document["gpus"] == [
        {
            "index": None,
            "name": "80GiB",
            "memory_total_bytes": 80 << 30,
            "memory_held_bytes": 0,
            "fits": document["fits"],
            "unusable": None,
        }
    ]
    assert document["levers"][0]["saves_bytes"] >= document["levers"][-1]["saves_bytes"] > 0


def test_a_recorded_machine_is_judged() -> None:
    ran = run_live(estimate, "1B", "--infer", "--json", machine_file="resources/machines/09-healthy-without-nvcc.json")
    assert [one["index"] for one in json.loads(ran.out)["gpus"]] == [0, 1]
    assert ran.exit is Exit.HEALTHY


def test_people_are_told_the_same_in_lines() -> None:
    out = run_live(estimate, NUMBERS, "--gpu", "24GiB").out
    assert out.startswith("✗ ")
    assert "P parameters" in out
    assert "beyond it" in out
    assert max(len(line) for line in out.splitlines()) <= 100


@for_each(
    "options",
    [
        ("nothing",),
        (NUMBERS, "--batch", "0"),
        (NUMBERS, "--seq", "-5"),
        (NUMBERS, "--gpus", "99999999"),
        (NUMBERS, "--shard", "zero3"),
        (NUMBERS, "--quantize", "nf4"),
        (NUMBERS, "--python", "python3"),
        ("train.py:make", "--infer"),
        (NUMBERS, "--gpu", "no such card"),
        ("/dev/zero",),
        ("/",),
    ],
)
def test_what_is_refused(options: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        run_live(estimate, *options, *(() if "--gpu" in options else ("--gpu", "8GiB")))
