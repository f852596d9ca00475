"""The torch of each environment that a pasted list of packages, or what pip, uv, conda or mamba print as they install, names."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import lru_cache

from msgspec.structs import replace

from gpuassist.detect.readers.lines import Line, lines, lines_with, source
from gpuassist.formats.conda_build import CondaBuild, read_build
from gpuassist.formats.package_list import ListedPackage, listed_packages
from gpuassist.formats.torch_packages import LineKind, Mention, cpu_alone, mentions
from gpuassist.formats.torch_version import read_torch_version
from gpuassist.model.environment import Accelerator, Manager, Package, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version

_RELEASE = lazy_regex(r"^\d{1,4}\.\d{1,4}(?:\.\d{1,6}){0,2}$")
_AROUND = ("torch", "triton", "nvidia", "onnxruntime", "flash", "bitsandbytes", "numpy", "setuptools")
_CONDA_HOME = lazy_regex(r"/(?:(?:mini|ana)conda|(?:mini|mamba)forge|micromamba|conda)\d?$")


def read(paste: Paste) -> Machine:
    """What is installed once all is done that the text tells; a torch that is removed again is not named."""
    every = mentions(paste.words)
    groups: dict[str, list[Mention]] = {}
    for one in every:
        groups[one.prefix] = _after(groups.get(one.prefix, []), one)
    made = tuple(_environment(prefix, group) for prefix, group in groups.items() if group)
    if not made:
        return Machine()
    if len(made) == 1 and isinstance(made[0].torch, Known) and len(made[0].torch.value) == 1:
        made = (replace(_with_runtime(made[0], made[0].torch.value[0], paste), packages=_listed(paste)),)
    return Machine(environments=Known(made, _source(groups[made[0].prefix][-1])))


def _after(held: list[Mention], one: Mention) -> list[Mention]:
    """What an environment holds after one more line: a torch takes the place of the one of its own package manager."""
    if one.standing is LineKind.REMOVED:
        return [other for other in held if not _same(other, one)]
    same = next((other for other in held if _same(other, one)), None)
    if same is not None:  # pip lists conda's torch too, without its build
        fuller = max((same, one), key=lambda mention: (bool(mention.build), len(mention.version)))
        return [fuller if other is same else other for other in held]
    return [*(other for other in held if _is_conda(other) != _is_conda(one)), one]


def _same(one: Mention, other: Mention) -> bool:
    first, second = read_torch_version(one.version), read_torch_version(other.version)
    if first is None or second is None:
        return one.version == other.version
    return first.release == second.release and (not first.tag or not second.tag or first.tag == second.tag)


def _is_conda(one: Mention) -> bool:
    return one.tool == "conda"


def _environment(prefix: str, group: list[Mention]) -> PythonEnvironment:
    conda = next((one for one in group if _is_conda(one)), None)
    python = read_build(conda.build).python if conda else None
    # What conda calls an environment; empty where the directory does not say.
    if _CONDA_HOME.search(prefix):
        name = "base"
    else:
        name = posixpath.basename(prefix) if posixpath.basename(posixpath.dirname(prefix)) == "envs" else ""
    return PythonEnvironment(
        prefix,
        name,
        manager=Known(Manager.CONDA, _source(conda)) if conda else NOT_ASKED,
        python_version=Known(python, _source(conda)) if conda and python and len(python.parts) > 1 else NOT_ASKED,
        torch=Known(tuple(_torch(one) for one in group), _source(group[-1])),
    )


def _listed(paste: Paste) -> Fact[tuple[Package, ...]]:
    """What is listed around the torch; of a package that stands there in two versions none counts."""
    found: dict[str, dict[str, str]] = {}
    number = 0
    for one in listed(paste):
        found.setdefault(one.name, {})[one.version] = one.build
        number = number or one.line
    packages = tuple(Package(name, *next(iter(versions.items()))) for name, versions in found.items() if len(versions) == 1)
    return Known(packages, source("list of packages", number)) if packages else NOT_ASKED


@lru_cache(2)
def listed(paste: Paste) -> tuple[ListedPackage, ...]:
    """The packages of every list in a text, also where it names no torch."""
    lines = (*lines_with(paste, *_AROUND), *_shown(paste))
    return tuple(listed_packages((line.number, line.words) for line in sorted(set(lines), key=lambda line: line.number)))


def _shown(paste: Paste) -> Iterator[Line]:
    """The versions that `pip show` prints, below the names."""
    every = lines(paste) if "Name: " in paste.words and "Version: " in paste.words else ()
    yield from (line for line in every if line.words.startswith("Version: "))


def _torch(one: Mention) -> Torch:
    place = _source(one)
    build = read_build(one.build) if one.build else CondaBuild()
    installer = one.channel if one.channel == "conda-forge" else one.tool
    return Torch(
        "",
        version=Known(one.version, place),
        accelerator=_accelerator(one, build),
        cuda=Known(build.cuda, place) if build.cuda else NOT_ASKED,
        installer=Known(installer, place),
    )


def _accelerator(one: Mention, build: CondaBuild) -> Fact[Accelerator]:
    if build.cuda:
        return Known(Accelerator.CUDA, _source(one))
    return Known(Accelerator.CPU, _source(one)) if build.cpu or one.name == "pytorch-cpu" or cpu_alone(one) else NOT_ASKED


def _with_runtime(environment: PythonEnvironment, torch: Torch, paste: Paste) -> PythonEnvironment:
    """PyPI's torch does not name its CUDA; the runtime's wheel, which it is installed with, does."""
    version = read_torch_version(torch.version.value) if isinstance(torch.version, Known) else None
    conda = isinstance(torch.installer, Known) and torch.installer.value.startswith("conda")
    if version is None or version.tag or conda or isinstance(torch.accelerator, Known):
        return environment
    found = [one for one in listed(paste) if one.name.startswith("nvidia-cuda-runtime") and _RELEASE.match(one.version)]
    if not found:
        return environment
    # Beside those of another CUDA, which somebody else brought, the newest.
    runtime = max(found, key=lambda one: Version.parse(one.version))
    cuda = Known(Version(Version.parse(runtime.version).parts[:2]), source("list of packages", runtime.line))
    told = replace(torch, cuda=cuda, accelerator=Known(Accelerator.CUDA, cuda.source))
    return replace(environment, torch=Known((told,), cuda.source))


def _source(one: Mention) -> str:
    return source(f"{one.tool} {'list' if one.standing is LineKind.INSTALLED else 'install'}", one.line)
