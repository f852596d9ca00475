"""Python environments and the torch in each, read from files: no interpreter runs and torch is not imported."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

from msgspec import Struct

from gpuassist.detect import libraries, torch_askers, torches
from gpuassist.detect.loader import Loader
from gpuassist.detect.prefixes import Prefix, active_prefixes, scan, with_active
from gpuassist.formats.packages import (
    conda_packages,
    conda_python,
    library_versions,
    parse_pyvenv,
    python_packages,
    python_version,
)
from gpuassist.model.environment import LoadedLibrary, Manager, Package, PythonEnvironment, TorchAsker
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.shell import Terminal
from gpuassist.model.text import text
from gpuassist.model.version import Version, VersionError
from gpuassist.system.files import Files
from gpuassist.system.ownership import why_not_run
from gpuassist.system.world import World

_PROJECT_NAMES = (".venv", "venv", "env")


def probe(
    world: World, terminal: Fact[Terminal], scanned: Fact[tuple[Prefix, ...]] | None = None
) -> Fact[tuple[PythonEnvironment, ...]]:
    """Every environment that was found, active ones first; `scanned` is what `prefixes.scan` found, where that ran already."""
    prefixes = scan(world) if scanned is None else scanned
    if isinstance(prefixes, Unknown):
        return prefixes
    view = _View(world, active_prefixes(world, terminal), terminal, Loader(world.files))
    found = [environment for prefix in with_active(world, terminal, prefixes.value) for environment in _describe(view, prefix)]
    found.sort(key=lambda one: not (isinstance(one.active, Known) and one.active.value))
    return Known(tuple(found), prefixes.source)


class _View(Struct, frozen=True):
    """What describing any environment needs: the world, the real prefixes that are active, a new terminal, the loader."""

    world: World
    active: frozenset[str]
    terminal: Fact[Terminal]
    loader: Loader

    def variable(self, name: str) -> str:
        return self.terminal.value.variable(name) if isinstance(self.terminal, Known) else ""


def _describe(view: _View, prefix: Prefix) -> tuple[PythonEnvironment, ...]:
    files = view.world.files
    versions = library_versions(files.names(f"{prefix.path}/lib"))
    if prefix.manager is not Manager.SYSTEM:
        return (_environment(view, prefix, versions),)
    # A system prefix holds one environment for each Python that is installed in it.
    return tuple(
        _environment(view, prefix, (version,)) for version in versions if files.exists(f"{prefix.path}/bin/python{version}")
    )


def _environment(view: _View, prefix: Prefix, versions: tuple[Version, ...]) -> PythonEnvironment:
    files, path = view.world.files, prefix.path
    settings = parse_pyvenv(files.text(f"{path}/pyvenv.cfg", 1 << 14))
    accounts = (
        (python_version(settings), f"{path}/pyvenv.cfg"),
        (conda_python(files.names(f"{path}/conda-meta")), f"{path}/conda-meta"),
        (_version_in_name(prefix), path),
        (versions[0] if versions else None, f"{path}/lib"),
    )
    unknown: Fact[Version] = Unknown(text("{path} holds no Python library", path=path))
    version = next((Known(told, source) for told, source in accounts if told is not None), unknown)
    name = f"python{versions[0]}" if prefix.manager is Manager.SYSTEM else "python"
    sites = torches.site_directories(view.world, prefix, settings, version=version, python_path=view.variable("PYTHONPATH"))
    # By the names of their records alone; of a package that lies in two of the directories the first counts, as for Python.
    found: dict[str, Package] = {}
    for site in sites:
        for package in python_packages(files.names(site)):
            found.setdefault(package.name, package)
    of_conda = conda_packages(files.names(f"{prefix.path}/conda-meta")) if prefix.manager is Manager.CONDA else ()
    if isinstance(view.terminal, Unknown):
        loaded: Fact[tuple[LoadedLibrary, ...]] = Unknown(text("the variables of a new terminal are not known"))
    else:
        read = libraries.read(files, sites, view.loader, view.variable("LD_LIBRARY_PATH"))
        loaded = Known(read, f"{', '.join(sites)}; LD_LIBRARY_PATH")
    torch = tuple(torches.read(files, site) for site in sites if torches.is_there(files, site))
    askers: Fact[tuple[TorchAsker, ...]] = NOT_ASKED
    if torch and isinstance(version, Known):
        askers = Known(torch_askers.read(files, sites, version.value), ", ".join(sites))
    return PythonEnvironment(
        prefix=path,
        name=_name(files, prefix, name),
        manager=Known(prefix.manager, path),
        interpreter=_interpreter(view.world, path, name),
        python_version=version,
        active=Known(files.real(path) in view.active, "VIRTUAL_ENV, CONDA_PREFIX"),
        torch=Known(torch, ", ".join(sites)),
        packages=Known((*found.values(), *of_conda), ", ".join(sites)),
        libraries=loaded,
        sites=Known(sites, path),
        stray=libraries.stray(files, prefix, sites),
        askers=askers,
    )


def _version_in_name(prefix: Prefix) -> Version | None:
    """pyenv names a version's directory after it (3.11.7), uv so too (cpython-3.12.1-linux-x86_64-gnu)."""
    if prefix.manager not in (Manager.PYENV, Manager.UV):
        return None
    try:
        return Version.parse(PurePosixPath(prefix.path).name.removeprefix("cpython-").removeprefix("pypy-"))
    except VersionError:
        return None


def _interpreter(world: World, path: str, name: str) -> Fact[str]:
    files = world.files
    place = next((one for one in (f"{path}/bin/{name}", f"{path}/bin/python3") if files.exists(one) or files.is_link(one)), "")
    if not place:
        return Unknown(text("{path} holds no python", path=f"{path}/bin"))
    if not files.is_file(place):
        return Unknown(text("{path} leads to {target}, which is not there", path=place, target=files.real(place)))
    if not files.may(place, os.X_OK):
        return Unknown(text("{path} may not be run by this user", path=place))
    refused = why_not_run(world, (place,))
    return Known(place, place) if refused is None else Unknown(refused)


def _name(files: Files, prefix: Prefix, interpreter: str) -> str:
    path = PurePosixPath(prefix.path)
    if prefix.manager is Manager.SYSTEM:
        return interpreter
    if prefix.manager is Manager.CONDA and files.is_directory(f"{path}/condabin"):
        return "base"
    return f"{path.parent.name}/{path.name}" if path.name in _PROJECT_NAMES else path.name
