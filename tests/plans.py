"""Machines and wishes with what a good engineer would answer: `tests/cases/plans`, one list a topic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gpuassist.install import hypothetical
from gpuassist.install.replacements import gpu_record
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.machine import Distribution, Machine
from gpuassist.model.text import text
from tests.plan_environments import environment_of, installed_by, with_settings
from tests.values import UBUNTU_22, Recipe, knowledge, machine

_HOST = ("secure_boot", "provider", "product", "hybrid", "administrator")
_DRIVER = ("uninstaller",)
_KERNELS = {"arch": "6.17.8-arch1-1", "fedora": "6.17.8-200.fc42.x86_64", "debian": "6.1.0-40-amd64"}
CASES = Path(__file__).parent / "cases" / "plans"
_LIKE = {
    "ubuntu": ("debian",),
    "rocky": ("rhel", "centos", "fedora"),
    "manjaro": ("arch",),
    "sles": ("suse",),
    "opensuse-tumbleweed": ("opensuse", "suse"),
    "opensuse-leap": ("suse", "opensuse"),
    "ol": ("fedora",),
    "amzn": ("fedora",),
}


def cases() -> list[dict[str, Any]]:
    """Every case of every topic."""
    return [{**case, "topic": path.stem} for path in sorted(CASES.glob("*.json")) for case in json.loads(path.read_text("utf-8"))]


def machine_of(case: dict[str, Any]) -> Machine:
    """The machine of a case: what it says, and else a sound RTX 4090 under Ubuntu 22.04."""
    words = dict(case["machine"])
    architecture, jetson = words.pop("architecture", "x86_64"), words.pop("jetson", False)
    installer = words.pop("installer", "pip")
    names = words.pop("gpus", ["RTX 4090"])
    kernel = words.pop("kernel", "")
    told = {name: words.pop(name) for name in _HOST if name in words}
    installed = {name: words.pop(name) for name in _DRIVER if name in words}
    words["environments"] = tuple(environment_of(one) for one in words.get("environments", [{"torch": "2.5.1+cu124"}]))
    words["distribution"] = _distribution(words["distribution"]) if "distribution" in words else UBUNTU_22
    listed = {name: tuple(words[name]) for name in ("toolkits", "gcc") if name in words}
    recipe = Recipe(gpus=tuple(one for one in map(_pci_id, names) if one), **{**words, **listed})
    made = machine(recipe)
    facts = {"architecture": architecture, "jetson": jetson, "kernel": kernel or _kernel(recipe.distribution), **told}
    host = replace(made.host, **{name: _fact(value) for name, value in facts.items()})
    driver = replace(made.driver, **{name: _fact(value) for name, value in installed.items()})
    made = installed_by(installer, _with_chips(replace(made, host=host, driver=driver), names))
    return with_settings(case.get("settings", {}), made)


def _fact(value: Any) -> Fact[Any]:
    """What JSON's null stands for could not be found out."""
    return Unknown(text("it could not be read")) if value is None else Known(value, "test")


def _kernel(distribution: Distribution) -> str:
    return _KERNELS.get(distribution.id, "6.8.0-60-generic")


def _pci_id(name: str) -> str:
    return gpu_record(knowledge(), name).pci_id


def _with_chips(made: Machine, names: list[str]) -> Machine:
    """GPUs inside a system on a chip are on no PCI bus."""
    for place, name in enumerate(names):
        if not _pci_id(name):
            chip = replace(hypothetical.gpu(gpu_record(knowledge(), name), place), kernel_driver=Known("nvidia", "test"))
            made = replace(made, gpus=Known((chip,), "test"))
    return made


def _distribution(words: str) -> Distribution:
    name, _, version = words.partition(" ")
    return Distribution(name, _LIKE.get(name, ()), version, words.title())
