"""Environments of planned machines: what is installed in them beside torch, and by whom."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from gpuassist.model.codec import decode
from gpuassist.model.environment import Manager, Package
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.package_settings import PackageSettings
from tests.values import Env


def environment_of(words: dict[str, Any]) -> Env:
    """The environment of a case; `packages` are `name version [build]`."""
    manager = Manager(words.get("manager", "venv"))
    packages = tuple(Package(*one.split()) for one in words.get("packages", ()))
    name, active = words.get("name", "train"), words.get("active", True)
    return Env(name, words.get("torch", ""), words.get("python", "3.11"), manager, active=active, packages=packages)


def installed_by(installer: str, made: Machine) -> Machine:
    """The machine whose torches were put there by `pip`, `conda-forge`."""
    environments = []
    for one in value_or(made.environments, ()):
        torches = tuple(replace(torch, installer=Known(installer, "test")) for torch in value_or(one.torch, ()))
        environments.append(replace(one, torch=Known(torches, "test")))
    return replace(made, environments=Known(tuple(environments), "test"))


def with_settings(words: dict[str, Any], made: Machine) -> Machine:
    """The machine whose pip, uv and conda are told this; what is not said is not set."""
    if not words:
        return made
    told: PackageSettings = decode(PackageSettings, words)
    return replace(made, package_settings=Known(told, "test"))
