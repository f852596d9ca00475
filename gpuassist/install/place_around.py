"""What is around the torch that a plan changes: the environment that is meant, a free place for another, other Pythons."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, count
from pathlib import PurePosixPath

from gpuassist.install.around import NEW, Around
from gpuassist.model.environment import Manager, PythonEnvironment, Torch
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.package_settings import PackageSettings
from gpuassist.model.version import Version

_MAKERS = frozenset({Manager.SYSTEM, Manager.PYENV, Manager.UV})  # whose interpreters are no part of a project


def around(machine: Machine, environment: PythonEnvironment | None, torch: Torch | None, exists: Callable[[str], bool]) -> Around:
    """What a plan has to know of them; `exists` is asked of places that are not in the snapshot."""
    return Around(
        prefix=environment.prefix if environment else "",
        name=environment.name if environment else "",
        new=free_place(machine, exists),
        packages=value_or(environment.packages, ()) if environment else (),
        directory=torch.path if torch and torch.path.startswith("/") else "",
        pythons=tuple(_pythons(machine)),
        python=environment.python_version.value if environment and isinstance(environment.python_version, Known) else None,
        of_conda=environment is not None and value_or(environment.manager, Manager.VENV) is Manager.CONDA,
        torch_of_conda=torch is not None and value_or(torch.installer, "").startswith("conda"),
        conda_root=conda_root(machine),
        settings=value_or(machine.package_settings, PackageSettings()),
    )


def conda_root(machine: Machine) -> str:
    """The directory in which conda keeps the environments of this machine; empty where it has none."""
    every = (one.prefix for one in value_or(machine.environments, ()) if value_or(one.manager, Manager.VENV) is Manager.CONDA)
    return next((prefix.rpartition("/")[0] for prefix in every if PurePosixPath(prefix).parent.name == "envs"), "")


def free_place(machine: Machine, exists: Callable[[str], bool]) -> str:
    """Where a new environment can be made: in HOME, where the files of the user's shell tell where that is."""
    home = home_of(machine)
    taken = {one.prefix for one in value_or(machine.environments, ())}
    names = chain((NEW,), (f"{NEW}-{number}" for number in count(2)))
    if not home:
        return NEW
    return next(place for place in (f"{home}/{name}" for name in names) if place not in taken and not exists(place))


def home_of(machine: Machine) -> str:
    """The user's home directory; empty where nothing tells."""
    files = (PurePosixPath(one.path) for one in value_or(machine.shell.startup_files, ()))
    own = [one for one in files if one.name.startswith(".") and ".config" not in one.parts]
    return str(own[0].parent) if own else ""


def _pythons(machine: Machine) -> list[tuple[Version, str]]:
    return [
        (one.python_version.value, one.interpreter.value)
        for one in value_or(machine.environments, ())
        if value_or(one.manager, Manager.VENV) in _MAKERS
        and isinstance(one.python_version, Known)
        and isinstance(one.interpreter, Known)
    ]
