"""The Python environment and the torch that a report on an environment tells, and the copies that pip and conda list."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.detect.readers.facts import same_torch, united
from gpuassist.detect.readers.labels import Field, Told, values
from gpuassist.detect.readers.lines import first
from gpuassist.formats.conda_build import read_build
from gpuassist.formats.torch_version import read_torch_version
from gpuassist.model.environment import Accelerator, Manager, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Target, Version

_PROGRAM = "collect_env"
_NOT_THERE = frozenset(("N/A", "Not installed", "not installed", "None"))
_NO_CUDA = frozenset(("None", "N/A", "Could not collect", "No CUDA"))
_TORCH = lazy_regex(r"^(?P<version>\d+\.\d+[\w.+!-]*)(?:\s*\((?:True|False|torchvision)[^)]{0,40}\))?(?:\s+@(?P<path>/\S+))?")
_PIP = lazy_regex(r"^torch(?:==|\s+\(?)(\d+\.\d+[\w.+!-]*)\)?$")
_CONDA = lazy_regex(r"^(?P<name>pytorch|torch)\s+(?P<version>\d+\.\d+[\w.+!-]*)\s+(?P<build>\S+)(?:\s+(?P<channel>\S+))?$")
_PYTHON = lazy_regex(r"^(\d\.\d{1,2}(?:\.\d{1,2})?)")
_OF_CONDA = lazy_regex(r"conda-forge|Anaconda")  # conda's builds of Python say who packaged them
_GENCODE = lazy_regex(r"(?:code=\[?|(?<=,))((?:sm|compute)_\d{2,3}[af]?)")
_CONDA_ENVIRONMENT = lazy_regex(r"^(/\S+?/envs/([\w.+-]+))/lib/")
_PIP_CHANNELS = frozenset(("pypi", "<pip>"))


def environment(block: list[Told]) -> PythonEnvironment | None:
    """The environment; None where the report tells neither Python nor torch."""
    python = first(values(block, Field.PYTHON), _PYTHON, _PROGRAM, lambda found: Version.parse(found[1]))
    torch = _torches(block)
    if torch == NOT_ASKED and python == NOT_ASKED:
        return None
    inside = next((found for one in value_or(torch, ()) if (found := _CONDA_ENVIRONMENT.match(one.path))), None)
    name = f"python{python.value.release}" if isinstance(python, Known) else "python"
    return PythonEnvironment(
        prefix=inside[1] if inside else "",
        name=inside[2] if inside else name,
        manager=first(values(block, Field.PYTHON), _OF_CONDA, _PROGRAM, lambda _: Manager.CONDA),
        python_version=python,
        torch=torch,
    )


def _torches(block: list[Told]) -> Fact[tuple[Torch, ...]]:
    """The torch that Python imported first, then every other that is listed."""
    imported = next((told for told in block if told.field is Field.TORCH), None)
    if imported is not None and imported.value in _NOT_THERE:
        return imported.line.known((), _PROGRAM)
    found: list[Torch] = []
    own = _TORCH.match(imported.value) if imported else None
    if imported is not None and own is not None:
        accelerator, cuda = _built_for(block, own["version"])
        version = imported.line.known(own["version"], _PROGRAM)
        # `-gencode;arch=compute_37,code=sm_37;…` of torch.__config__.show(): what its kernels were compiled to.
        flags = first(values(block, Field.FLAGS), _GENCODE, _PROGRAM, _targets)
        found.append(Torch(own["path"] or "", version, accelerator, cuda, flags))
    # conda's copies before pip's: pip lists those that conda installed as well.
    for told in block:
        if told.field is Field.CONDA:
            found += _of_conda(told)
    for line in values(block, Field.PIP):
        listed = _PIP.match(line.words)
        if listed:
            found.append(Torch("", line.known(listed[1], _PROGRAM), installer=line.known("pip", _PROGRAM)))
    distinct: list[Torch] = []
    for torch in found:
        place = next((place for place, one in enumerate(distinct) if same_torch(one, torch)), None)
        if place is None:
            distinct.append(torch)
        else:
            distinct[place] = united(distinct[place], torch)
    named = distinct[0].version if distinct else NOT_ASKED
    return Known(tuple(distinct), named.source) if isinstance(named, Known) else NOT_ASKED


def _targets(found: re.Match[str]) -> tuple[Target, ...]:
    return tuple(sorted({Target.parse(word) for word in _GENCODE.findall(found.string)}))


def _built_for(block: list[Told], version: str) -> tuple[Fact[Accelerator], Fact[Version]]:
    rocm = next((told for told in block if told.field is Field.ROCM and told.value[:1].isdigit()), None)
    if rocm is not None:
        return rocm.line.known(Accelerator.ROCM, _PROGRAM), NOT_ASKED
    for told in block:
        if told.field is Field.CUDA and _PYTHON_LIKE.match(told.value):
            return told.line.known(Accelerator.CUDA, _PROGRAM), told.line.known(Version.parse(told.value), _PROGRAM)
        read = read_torch_version(version)
        if told.field is Field.CUDA and told.value in _NO_CUDA and not (read is not None and read.cuda is not None):
            tag = read.tag if read else ""
            built = Accelerator.XPU if tag == "xpu" else Accelerator.ROCM if tag.startswith("rocm") else Accelerator.CPU
            return told.line.known(built, _PROGRAM), NOT_ASKED
    return NOT_ASKED, NOT_ASKED


_PYTHON_LIKE = lazy_regex(r"^\d{1,2}\.\d")


def _of_conda(told: Told) -> Iterator[Torch]:
    found = _CONDA.match(told.value)
    if found is None:
        return
    version: Fact[str] = told.line.known(found["version"], _PROGRAM)
    channel = found["channel"] or ""
    if channel in _PIP_CHANNELS or found["build"] in _PIP_CHANNELS or found["build"].startswith("pypi"):
        yield Torch("", version, installer=told.line.known("pip", _PROGRAM))
        return
    build = read_build(found["build"])
    installer = told.line.known("conda-forge" if "conda-forge" in channel else "conda", _PROGRAM)
    torch = Torch("", version, installer=installer)
    if build.cuda is not None:
        torch = replace(torch, accelerator=told.line.known(Accelerator.CUDA, _PROGRAM), cuda=told.line.known(build.cuda, _PROGRAM))
    elif build.cpu:
        torch = replace(torch, accelerator=told.line.known(Accelerator.CPU, _PROGRAM))
    yield torch
