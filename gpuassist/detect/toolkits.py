"""Installed CUDA toolkits: found by directory and by every nvcc on PATH, each described by its own files and its own nvcc."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.detect import compiler_driver
from gpuassist.detect.prefixes import Prefix, scan, with_active
from gpuassist.detect.runner import each
from gpuassist.formats.toolkit import parse_clang_limit, parse_gcc_limit, parse_version_json, parse_version_txt
from gpuassist.model.environment import Manager
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.shell import Terminal
from gpuassist.model.text import text
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from gpuassist.system.world import World

_DEBIAN = "/usr/lib/nvidia-cuda-toolkit"
_SIGNS = ("bin/nvcc", "version.json", "version.txt", "include/cuda.h", "lib64/libcudart.so", "nvvm")
_PYTHON = "Python environments"
_SECONDS = 2 * compiler_driver.SECONDS + 1


class _Place(Struct, frozen=True):
    """A toolkit's real root, its nvcc, the symlinked roots that lead to it, and the wrapper programs that call its nvcc."""

    root: str
    nvcc: str
    links: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()


def probe(world: World, terminal: Fact[Terminal], scanned: Fact[tuple[Prefix, ...]] | None = None) -> Fact[tuple[Toolkit, ...]]:
    """Every toolkit once, by its real root, newest first; `scanned` is what `prefixes.scan` found, where that ran already."""
    prefixes = scan(world) if scanned is None else scanned
    places = _places(world, terminal, with_active(world, terminal, value_or(prefixes, ())))
    found = each(
        places,
        lambda place: _describe(world, place),
        seconds=_SECONDS,
        otherwise=lambda place, unknown: Toolkit(place.root, version=unknown, nvcc=unknown, nvcc_version=unknown, targets=unknown),
    )
    searched = "/usr/local, /opt, /usr/lib, HOME, PATH"
    return Known(tuple(sorted(found, key=_newest_first)), searched if isinstance(prefixes, Unknown) else f"{searched}, {_PYTHON}")


def _places(world: World, terminal: Fact[Terminal], prefixes: tuple[Prefix, ...]) -> tuple[_Place, ...]:
    files = world.files
    found: dict[str, _Place] = {}
    for link in tuple(_roots(world, terminal, prefixes)):
        if any(files.exists(f"{link}/{sign}") for sign in _SIGNS):
            root = files.real(link)
            place = found.setdefault(root, _Place(root, f"{root}/bin/nvcc"))
            if link != root and link not in place.links:
                found[root] = replace(place, links=(*place.links, link))
    known = terminal.value.variable("PATH") if isinstance(terminal, Known) else ""
    directories = [*known.split(":"), *world.surroundings.variables.get("PATH", "").split(":")]
    programs = (f"{directory.rstrip('/')}/nvcc" for directory in directories if directory.startswith("/"))
    on_path = tuple(program for program in dict.fromkeys(programs) if files.is_file(program))
    real = each(on_path, lambda path: compiler_driver.locate(world, path), seconds=_SECONDS, otherwise=lambda path, _: path)
    for path, nvcc in zip(on_path, real, strict=True):
        root = str(PurePosixPath(nvcc).parent.parent)
        place = found.setdefault(root, _Place(root, nvcc))
        if files.real(path) != nvcc:
            found[root] = replace(place, wrappers=(*place.wrappers, path))
    return tuple(found.values())


def _roots(world: World, terminal: Fact[Terminal], prefixes: tuple[Prefix, ...]) -> Iterator[str]:
    """Where toolkits are installed, what variables name, and what environments bring."""
    home = world.surroundings.home
    patterns = ("/usr/local/cuda*", "/opt/cuda*", "/opt/nvidia/hpc_sdk/*/*/cuda/*", f"{home}/cuda*", f"{home}/.local/cuda*")
    for pattern in patterns:
        yield from world.files.glob(pattern)
    yield _DEBIAN
    for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
        told = terminal.value.variable(name) if isinstance(terminal, Known) else ""
        for value in (told, world.surroundings.variables.get(name, "")):
            if value.startswith("/"):
                yield str(PurePosixPath(value))
    for prefix in prefixes:
        if prefix.manager is Manager.CONDA and world.files.exists(f"{prefix.path}/bin/nvcc"):
            yield prefix.path
        for nvcc in world.files.glob(f"{prefix.path}/lib/python3*/site-packages/nvidia/*/bin/nvcc"):
            yield nvcc.removesuffix("/bin/nvcc")


def _describe(world: World, place: _Place) -> Toolkit:
    nvcc = place.nvcc
    there = world.files.exists(nvcc)
    nvcc_version = compiler_driver.ask_version(world, nvcc) if there else Unknown(text("{root} holds no nvcc", root=place.root))
    gcc_limit, clang_limit = _host_limits(world.files, place.root)
    return Toolkit(
        root=place.root,
        origin=Known(_origin(world, place.root), place.root),
        version=_version(world.files, place.root, nvcc_version),
        nvcc=Known(nvcc if there else "", nvcc),
        nvcc_version=nvcc_version,
        # One that hangs or is no nvcc at its first answer is not asked a second time: that would only take as long again.
        targets=compiler_driver.ask_targets(world, nvcc) if isinstance(nvcc_version, Known) else nvcc_version,
        gcc_limit=gcc_limit,
        clang_limit=clang_limit,
        links=place.links,
        wrappers=place.wrappers,
    )


def _origin(world: World, root: str) -> Origin:
    site, of_python, _ = root.partition("/site-packages/")
    if of_python and not _is_for_the_compiler_alone(world.files, f"{site}/site-packages"):
        return Origin.WHEEL
    if world.files.is_directory(f"{root}/conda-meta"):
        return Origin.CONDA
    if PurePosixPath(world.surroundings.home) in PurePosixPath(root).parents:
        return Origin.HOME
    # Arch and Gentoo package it as /opt/cuda; NVIDIA's own packages and installer say /usr/local/cuda-X.Y.
    return Origin.PACKAGE if root in (_DEBIAN, "/opt/cuda", "/usr") else Origin.LOCAL


_TOOLS = frozenset({"pip", "setuptools", "wheel", "cuda_toolkit"})


def _is_for_the_compiler_alone(files: Files, site: str) -> bool:
    """Whether an environment holds a toolkit's wheels and nothing else, so that it is no project's: the directory of a toolkit."""
    names = {name.partition("-")[0].lower() for name in files.names(site) if name.endswith(".dist-info")}
    return bool(names) and all(name in _TOOLS or name.startswith("nvidia_") for name in names)


def _version(files: Files, root: str, nvcc_version: Fact[Version]) -> Fact[Version]:
    for name in ("version.json", "version.txt"):
        path = f"{root}/{name}"
        data = files.head(path, 1 << 18)
        found = parse_version_json(data) if name.endswith("json") else parse_version_txt(data.decode("utf-8", "replace"))
        if found is not None:
            return Known(found, path)
    return nvcc_version


def _host_limits(files: Files, root: str) -> tuple[Fact[int], Fact[int]]:
    config = "include/crt/host_config.h"
    older = f"{root}/include/host_config.h"  # until 9.0
    debian = ("/usr/include/crt/host_config.h",) if root == _DEBIAN else ()
    for path in (f"{root}/{config}", *files.glob(f"{root}/targets/*/{config}"), older, *debian):
        try:
            words = files.read_text(path, 1 << 18)
        except OSError:
            continue
        return _limit(parse_gcc_limit(words), path), _limit(parse_clang_limit(words), path)
    missing = Unknown(text("{root} holds no crt/host_config.h", root=root))
    return missing, missing


def _limit(limit: int | None, path: str) -> Fact[int]:
    return Known(limit, path) if limit is not None else Unknown(text("{path} names no limit", path=path))


def _newest_first(toolkit: Toolkit) -> tuple[tuple[int, ...], str]:
    version = toolkit.version.value.parts if isinstance(toolkit.version, Known) else ()
    return tuple(-part for part in version) or (1,), toolkit.root
