"""Where Python environments live: the prefixes of system, venv, conda, pyenv and uv, found by files, bounded in number and time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from msgspec import Struct

from gpuassist.model.environment import Manager
from gpuassist.model.fact import Fact, Known
from gpuassist.model.shell import Terminal
from gpuassist.system.files import Files
from gpuassist.system.world import World

AT_MOST = 64
_DIRECTORIES_AT_MOST = 600
_SECONDS = 1.5

_VENV_NAMES = (".venv", "venv", "env")
_VENV_FOLDERS = (".virtualenvs", ".local/share/virtualenvs", ".venvs", "venvs", "envs", ".cache/pypoetry/virtualenvs")
_CONDA_BASES = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", "miniconda", "anaconda", "conda", ".conda")
_CONDA_SYSTEM_BASES = ("/opt/conda", "/opt/miniconda3", "/opt/anaconda3", "/opt/miniforge3")


class Prefix(Struct, frozen=True):
    """A directory that holds an environment, and what made it."""

    path: str
    manager: Manager


def scan(world: World) -> Fact[tuple[Prefix, ...]]:
    """The environments of this user and the system's own, each real directory once: all but those that only a shell knows."""
    return Known(unique(world.files, _scan(world)), "HOME, /usr, /usr/local, /opt")


def with_active(world: World, terminal: Fact[Terminal], scanned: tuple[Prefix, ...]) -> tuple[Prefix, ...]:
    """What was scanned, and before it what a new terminal's or gpuassist's own shell has activated."""
    active = (path for variables in _environments_of(world, terminal) for path in _active(variables))
    return unique(world.files, (*active, *(prefix.path for prefix in scanned)))


def active_prefixes(world: World, terminal: Fact[Terminal]) -> frozenset[str]:
    """The real paths of the environments that a new terminal's or gpuassist's own shell has activated."""
    return frozenset(world.files.real(path) for variables in _environments_of(world, terminal) for path in _active(variables))


def unique(files: Files, paths: Iterable[str]) -> tuple[Prefix, ...]:
    """The paths that hold an environment, each real directory once."""
    found: dict[str, Prefix] = {}
    for path in paths:
        real = files.real(path)
        manager = _manager(files, real) if real not in found else None
        if manager is not None:
            found[real] = Prefix(path, manager)
        if len(found) >= AT_MOST:
            break
    return tuple(found.values())


def _environments_of(world: World, terminal: Fact[Terminal]) -> Iterator[Mapping[str, str]]:
    if isinstance(terminal, Known):
        yield {variable.name: variable.value for variable in terminal.value.variables}
    yield world.surroundings.variables


def _active(variables: Mapping[str, str]) -> Iterator[str]:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if variables.get(name, "").startswith("/"):
            yield variables[name].rstrip("/")


def _manager(files: Files, path: str) -> Manager | None:
    if files.is_file(f"{path}/pyvenv.cfg"):
        lines = files.read_text(f"{path}/pyvenv.cfg", 1 << 14).splitlines()
        return Manager.UV if any(line.split("=")[0].strip() == "uv" for line in lines) else Manager.VENV
    if files.is_directory(f"{path}/conda-meta"):
        return Manager.CONDA
    if not any(name.startswith("python3") for name in files.names(f"{path}/lib")):
        return None
    if "/uv/python/" in path:
        return Manager.UV
    return Manager.PYENV if PurePosixPath(path).parent.name == "versions" else Manager.SYSTEM


def _scan(world: World) -> Iterator[str]:
    home, variables = world.surroundings.home, world.surroundings.variables
    listed = world.files.text(f"{home}/.conda/environments.txt", 1 << 16).splitlines()
    yield from (line.strip() for line in listed if line.startswith("/"))
    for base in (*(f"{home}/{name}" for name in _CONDA_BASES), *_CONDA_SYSTEM_BASES):
        yield base
        yield from _children(world.files, f"{base}/envs")
    root = variables.get("PYENV_ROOT") or f"{home}/.pyenv"
    for version in _children(world.files, f"{root}/versions"):
        yield version
        yield from _children(world.files, f"{version}/envs")
    yield from _children(world.files, variables.get("UV_PYTHON_INSTALL_DIR") or f"{home}/.local/share/uv/python")
    for folder in (variables.get("WORKON_HOME", ""), *(f"{home}/{name}" for name in _VENV_FOLDERS)):
        yield from _children(world.files, folder) if folder else ()
    yield from ("/usr", "/usr/local")
    yield from _under_home(world, home)


def _children(files: Files, folder: str) -> Iterator[str]:
    return (f"{folder}/{name}" for name in files.names(folder))


def _under_home(world: World, home: str) -> Iterator[str]:
    """Environments that lie in HOME itself, in a project there, or in a project one folder further down."""
    deadline = world.clock.monotonic() + _SECONDS
    folders = [home]
    for _ in range(_DIRECTORIES_AT_MOST):
        if not folders or world.clock.monotonic() > deadline:
            return
        folder = folders.pop(0)
        yield from (f"{folder}/{name}" for name in _VENV_NAMES)
        depth = len(PurePosixPath(folder).parts) - len(PurePosixPath(home).parts)
        if depth > 0:
            yield folder
        if depth < 2:
            children = (child for child in _children(world.files, folder) if not PurePosixPath(child).name.startswith("."))
            folders += [child for child in children if world.files.is_directory(child) and not world.files.is_link(child)]
