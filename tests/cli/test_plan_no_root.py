"""`plan --no-root` names no command that asks for root, and says what remains for the administrator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.cli import plan
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine, encode_machine
from gpuassist.model.words import ENGLISH
from tests.cli.made_session import live_session, run_live
from tests.values import Recipe, machine

BARE = Recipe(toolkits=(), nvcc="", environments=())


def told(folder: Path, made: Machine, *arguments: str) -> dict[str, Any]:
    path = folder / "machine.json"
    path.write_text(json.dumps(encode_machine(made, ENGLISH)), "utf-8")
    document = json.loads(run_live(plan, *arguments, "--json", machine_file=str(path), session=live_session({})).out)
    assert isinstance(document, dict)
    return document


def commands(document: dict[str, Any]) -> list[str]:
    return [line for step in document["steps"] for line in step["commands"]]


@pytest.mark.parametrize("goal", ["cuda==11.8", "cuda==12.4", "cuda==12.8"])
def test_no_step_to_a_toolkit_needs_root(tmp_path: Path, goal: str) -> None:
    document = told(tmp_path, machine(BARE), goal, "--no-root")
    assert commands(document)
    assert not any("sudo" in line for line in commands(document))
    assert not any(step["needs_root"] for way in document["ways"] for step in way["steps"])


def test_without_it_packages_come_first(tmp_path: Path) -> None:
    assert any("sudo apt install cuda-toolkit-12-8" in line for line in commands(told(tmp_path, machine(BARE), "cuda==12.8")))


def test_user_of_no_such_group_needs_no_option(tmp_path: Path) -> None:
    made = machine(BARE)
    made = replace(made, host=replace(made.host, administrator=Known(value=False, source="/proc/self/status")))
    assert commands(told(tmp_path, made, "cuda==12.8")) == commands(told(tmp_path, machine(BARE), "cuda==12.8", "--no-root"))


def test_driver_stays_the_administrators(tmp_path: Path) -> None:
    document = told(tmp_path, machine(BARE), "driver==580", "--no-root")
    assert any("the administrator of this machine" in note for note in document["notes"])
    assert all(step["needs_root"] for step in document["steps"])


def test_facts_that_a_plan_asks_of_the_machine_come_back_from_a_recording(tmp_path: Path) -> None:
    made = machine(BARE)
    host = replace(made.host, provider=Known("aws", "test"), product=Known("g6f.large", "test"))
    lines = commands(told(tmp_path, replace(made, host=host), "driver==580"))
    assert any("s3://ec2-linux-nvidia-drivers" in line for line in lines)
