"""Machines and wishes with what a good engineer would answer: `tests/cases/plans`, one list a topic."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpuassist.model.environment import Manager
from gpuassist.model.fact import Known
from gpuassist.model.machine import Distribution, Machine
from gpuassist.session import imagined
from gpuassist.session.replacing import gpu_record
from tests.values import UBUNTU_22, Env, Recipe, knowledge, machine

CASES = Path(__file__).parent / "cases" / "plans"
_LIKE = {"ubuntu": ("debian",), "rocky": ("rhel", "centos", "fedora"), "opensuse-tumbleweed": ("opensuse", "suse")}


def cases() -> list[dict[str, Any]]:
    """Every case of every topic."""
    return [{**case, "topic": path.stem} for path in sorted(CASES.glob("*.json")) for case in json.loads(path.read_text("utf-8"))]


def machine_of(case: dict[str, Any]) -> Machine:
    """The machine of a case: what it says, and else a sound RTX 4090 under Ubuntu 22.04."""
    words = dict(case["machine"])
    architecture, jetson = words.pop("architecture", "x86_64"), words.pop("jetson", False)
    names = words.pop("gpus", ["RTX 4090"])
    words["environments"] = tuple(_environment(one) for one in words.get("environments", [{"torch": "2.5.1+cu124"}]))
    words["distribution"] = _distribution(words["distribution"]) if "distribution" in words else UBUNTU_22
    listed = {name: tuple(words[name]) for name in ("toolkits", "gcc") if name in words}
    recipe = Recipe(gpus=tuple(one for one in map(_pci_id, names) if one), **{**words, **listed})
    made = machine(recipe)
    host = replace(made.host, architecture=Known(architecture, "test"), jetson=Known(jetson, "test"))
    return _with_chips(replace(made, host=host), names)


def _pci_id(name: str) -> str:
    return gpu_record(knowledge(), name).pci_id


def _with_chips(made: Machine, names: list[str]) -> Machine:
    """GPUs inside a system on a chip are on no PCI bus."""
    for place, name in enumerate(names):
        if not _pci_id(name):
            chip = replace(imagined.gpu(gpu_record(knowledge(), name), place), kernel_driver=Known("nvidia", "test"))
            made = replace(made, gpus=Known((chip,), "test"))
    return made


def _environment(words: dict[str, Any]) -> Env:
    manager = Manager(words.get("manager", "venv"))
    return Env(words.get("name", "train"), words.get("torch", ""), words.get("python", "3.11"), manager, active=True)


def _distribution(words: str) -> Distribution:
    name, _, version = words.partition(" ")
    return Distribution(name, _LIKE.get(name, ()), version, words.title())
