"""The Python environment and the torch that a report on an environment tells, and the copies that pip and conda list."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.detect.readers.alike import same_torch
from gpuassist.detect.readers.facts import united
from gpuassist.detect.readers.labels import Field, Told
from gpuassist.formats.conda_build import read_build
from gpuassist.formats.torch_version import read_torch_version
from gpuassist.model.environment import Accelerator, Manager, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Target, Version

_PROGRAM = "collect_env"
_NOT_THERE = frozenset(("N/A", "Not installed", "not installed", "None"))
_NO_CUDA = frozenset(("None", "N/A", "Could not collect", "No CUDA"))
_TORCH = lazy_regex(r"^(?P<version>\d+\.\d+[\w.+!-]*)(?:\s*\((?:True|False|torchvision)[^)]{0,40}\))?(?:\s+@(?P<path>/\S+))?")
_PIP = lazy_regex(r"^torch(?:==|\s+\(?)(\d+\.\d+[\w.+!-]*)\)?$")
_CONDA = lazy_regex(r"^(?P<name>pytorch|torch)\s+(?P<version>\d+\.\d+[\w.+!-]*)\s+(?P<build>\S+)(?:\s+(?P<channel>\S+))?$")
_PYTHON = lazy_regex(r"^(\d\.\d{1,2}(?:\.\d{1,2})?)")
_GENCODE = lazy_regex(r"(?:code=\[?|(?<=,))((?:sm|compute)_\d{2,3}[af]?)")
_CONDA_ENVIRONMENT = lazy_regex(r"^(/\S+?/envs/([\w.+-]+))/lib/")
_PIP_CHANNELS = frozenset(("pypi", "<pip>"))


def environment(block: list[Told]) -> PythonEnvironment | None:
    """The environment; None where the report tells neither Python nor torch."""
    python = _python(block)
    torch = _torches(block)
    if torch == NOT_ASKED and python == NOT_ASKED:
        return None
    inside = next((found for path in _paths(torch) if (found := _CONDA_ENVIRONMENT.match(path))), None)
    name = f"python{python.value.release}" if isinstance(python, Known) else "python"
    return PythonEnvironment(
        prefix=inside[1] if inside else "",
        name=inside[2] if inside else name,
        manager=_manager(block),
        python_version=python,
        torch=torch,
    )


def _paths(torch: Fact[tuple[Torch, ...]]) -> Iterator[str]:
    return (one.path for one in (torch.value if isinstance(torch, Known) else ()))


def _python(block: list[Told]) -> Fact[Version]:
    for told in block:
        found = _PYTHON.match(told.value) if told.field is Field.PYTHON else None
        if found:
            return told.line.known(Version.parse(found[1]), _PROGRAM)
    return NOT_ASKED


def _manager(block: list[Told]) -> Fact[Manager]:
    """conda's builds of Python say who packaged them."""
    for told in block:
        if told.field is Field.PYTHON and ("conda-forge" in told.value or "Anaconda" in told.value):
            return told.line.known(Manager.CONDA, _PROGRAM)
    return NOT_ASKED


def _torches(block: list[Told]) -> Fact[tuple[Torch, ...]]:
    """The torch that Python imported first, then every other that is listed."""
    imported = next((told for told in block if told.field is Field.TORCH), None)
    if imported is not None and imported.value in _NOT_THERE:
        return imported.line.known((), _PROGRAM)
    found = [*_imported(block, imported), *_listed(block)]
    distinct: list[Torch] = []
    for torch in found:
        place = next((place for place, one in enumerate(distinct) if same_torch(one, torch)), None)
        if place is None:
            distinct.append(torch)
        else:
            distinct[place] = united(distinct[place], torch)
    first = distinct[0].version if distinct else NOT_ASKED
    return Known(tuple(distinct), first.source) if isinstance(first, Known) else NOT_ASKED


def _imported(block: list[Told], told: Told | None) -> Iterator[Torch]:
    found = _TORCH.match(told.value) if told else None
    if told is None or found is None:
        return
    accelerator, cuda = _built_for(block, found["version"])
    yield Torch(found["path"] or "", told.line.known(found["version"], _PROGRAM), accelerator, cuda, _flags(block))


def _built_for(block: list[Told], version: str) -> tuple[Fact[Accelerator], Fact[Version]]:
    rocm = next((told for told in block if told.field is Field.ROCM and told.value[:1].isdigit()), None)
    if rocm is not None:
        return rocm.line.known(Accelerator.ROCM, _PROGRAM), NOT_ASKED
    for told in block:
        if told.field is Field.CUDA and _PYTHON_LIKE.match(told.value):
            return told.line.known(Accelerator.CUDA, _PROGRAM), told.line.known(Version.parse(told.value), _PROGRAM)
        if told.field is Field.CUDA and told.value in _NO_CUDA and not _has_cuda_tag(version):
            read = read_torch_version(version)
            tag = read.tag if read else ""
            built = Accelerator.XPU if tag == "xpu" else Accelerator.ROCM if tag.startswith("rocm") else Accelerator.CPU
            return told.line.known(built, _PROGRAM), NOT_ASKED
    return NOT_ASKED, NOT_ASKED


_PYTHON_LIKE = lazy_regex(r"^\d{1,2}\.\d")


def _has_cuda_tag(version: str) -> bool:
    told = read_torch_version(version)
    return told is not None and told.cuda is not None


def _flags(block: list[Told]) -> Fact[tuple[Target, ...]]:
    """`-gencode;arch=compute_37,code=sm_37;…` of torch.__config__.show(): what its kernels were compiled to."""
    for told in block:
        if told.field is Field.FLAGS:
            targets = {Target.parse(word) for word in _GENCODE.findall(told.value)}
            if targets:
                return told.line.known(tuple(sorted(targets)), _PROGRAM)
    return NOT_ASKED


def _listed(block: list[Told]) -> Iterator[Torch]:
    """conda's copies before pip's: pip lists those that conda installed as well."""
    for told in block:
        if told.field is Field.CONDA:
            yield from _of_conda(told)
    for told in block:
        found = _PIP.match(told.value) if told.field is Field.PIP else None
        if found:
            yield Torch("", told.line.known(found[1], _PROGRAM), installer=told.line.known("pip", _PROGRAM))


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
