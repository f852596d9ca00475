"""The torch of each environment that a pasted list of packages, or what pip, uv, conda or mamba print as they install, names."""

from __future__ import annotations

import posixpath

from msgspec.structs import replace

from gpuassist.detect.readers.lines import first, lines_with, source
from gpuassist.formats.conda_build import CondaBuild, read_build
from gpuassist.formats.packages import is_of_interest, normalised
from gpuassist.formats.torch_packages import LineKind, Mention, cpu_alone, mentions
from gpuassist.formats.torch_version import read_torch_version
from gpuassist.model.environment import Accelerator, Manager, Package, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version

_RUNTIME = lazy_regex(r"(?:^|\s)nvidia-cuda-runtime(?:-cu\d\d)?(?:\s+|==|-)(\d+\.\d+)\.\d+")
# A row of `pip list`, `pip freeze` or collect_env's own list.
_LISTED = lazy_regex(r"^\s*(?:\[pip3?\] )?([A-Za-z][\w.-]{1,60})(?:==|[ \t]{1,60})(\d[\w.!+]{0,40})\s*$")
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
    """What pip lists around the torch; of a package that stands there in two versions none counts."""
    found: dict[str, set[str]] = {}
    number = 0
    for line in lines_with(paste, *_AROUND):
        listed = _LISTED.match(line.words)
        if listed is not None and is_of_interest(normalised(listed[1])):
            found.setdefault(normalised(listed[1]), set()).add(listed[2])
            number = number or line.number
    packages = tuple(Package(name, *versions) for name, versions in found.items() if len(versions) == 1)
    return Known(packages, source("list of packages", number)) if packages else NOT_ASKED


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
    cuda = first(lines_with(paste, "nvidia-cuda-runtime"), _RUNTIME, "list of packages", lambda found: Version.parse(found[1]))
    if isinstance(cuda, Unknown):
        return environment
    told = replace(torch, cuda=cuda, accelerator=Known(Accelerator.CUDA, cuda.source))
    return replace(environment, torch=Known((told,), cuda.source))


def _source(one: Mention) -> str:
    return source(f"{one.tool} {'list' if one.standing is LineKind.INSTALLED else 'install'}", one.line)
