"""Which torch conda would install for an environment.yml: of the first channel that has it, its newest with the CUDA asked for."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from gpuassist.diagnose.project.sets import InstallSet
from gpuassist.diagnose.project.stock import Pick, TorchStock, exact_of, number_of, specifier, takes
from gpuassist.formats.project.values import LockedPackage, ProjectRequirement
from gpuassist.knowledge.conda import accepts, conda_builds
from gpuassist.knowledge.records import Channel, CondaRecord, TorchBuild
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.model.version import Version

SELECTORS = ("pytorch-cuda", "cudatoolkit", "cuda-version", "cpuonly")
_CUDA = lazy_regex(r"cuda_?(\d{1,2})\.?(\d)?")
_PLATFORMS = {"x86_64": "linux-64", "aarch64": "linux-aarch64"}


def channel_of(words: str) -> Channel | None:
    """The channel, by its name or its address."""
    last = words.rstrip("/").rpartition("/")[2].lower()
    return next((one for one in Channel if one.value == last), None)


def records_of(stock: TorchStock) -> tuple[CondaRecord, ...]:
    platform = _PLATFORMS.get(stock.machine, "")
    return tuple(one for one in stock.knowledge.conda() if one.platform == platform and not one.tegra)


def pick_of_conda(one: InstallSet, stock: TorchStock, asked: Sequence[ProjectRequirement]) -> Pick:
    main = asked[0] if asked else one.named("torchvision", "torchaudio")[0]
    told = Pick(main.spot, asked=main, wanted=main.versions)
    named = main.channel or next((each for each in one.channels if channel_of(each) is not None or each == "defaults"), "")
    channel = channel_of(named) if named else None
    if channel is None:
        return replace(told, why=text("what the channel {channel} holds of torch is not known", channel=named or "defaults"))
    range_ = specifier((main,)) if main.name == "pytorch" else specifier(())
    if range_ is None:
        return replace(told, why=text("this is no range of versions: {words}", words=main.spelled[:80]))
    every = [each for each in records_of(stock) if each.channel is channel]
    allowed = [each for each in every if takes(range_, str(each.version))]
    wanted = [each for each in allowed if _selected(one, main, each, stock)]
    served = [each for each in wanted if each.pythons is None or stock.python is None or stock.python.release in each.pythons]
    if served:
        best = max(served, key=lambda each: (each.version, each.cuda is not None, each.cuda or Version((0,))))
        build = build_of(best, stock)
        why = None if build is not None else text("the code inside torch {version} is not known", version=str(best.version))
        return replace(told, version=best.version, build=build, index=channel.value, why=why)
    if wanted and stock.python is not None:
        newest = max(wanted, key=lambda each: each.version)
        why = text(
            "{channel} has no torch {version} for Python {python}",
            channel=channel.value,
            version=str(newest.version),
            python=str(stock.python.release),
        )
        return replace(told, version=newest.version, why=why, broken=True, about_python=True, index=channel.value)
    if allowed:
        why = text(
            "{channel} has no torch {version} with that CUDA",
            channel=channel.value,
            version=main.versions or str(allowed[-1].version),
        )
        return replace(told, why=why, broken=True, index=channel.value)
    number = number_of(exact_of(main)) if main.name == "pytorch" else None
    known = stock.knowledge.torch_release(number) if number is not None else None
    broken = known is not None and known.known_in_detail
    return replace(
        told,
        why=text("{channel} has no torch {version} that is known", channel=channel.value, version=main.versions),
        broken=broken,
        index=channel.value,
    )


def build_of(record: CondaRecord, stock: TorchStock) -> TorchBuild | None:
    """The record as a build; one for the processor alone has no code for any GPU."""
    if record.cuda is None:
        return TorchBuild(
            record.version.release, record.version, "cpu", None, stock.machine, default=False, targets=(),
            pythons=record.pythons or (), pins=None, source=record.source, checked=record.checked,
        )  # fmt: skip
    return next(iter(conda_builds((record,), stock.knowledge.torch_builds())), None)


def build_of_lock(entry: LockedPackage, number: Version, stock: TorchStock) -> TorchBuild | None:
    """The build of a lock file by its build string: `cuda126_mkl_py312…`, `py3.11_cuda12.1_cudnn8.9.2_0`, `cpu_…`."""
    cuda = _cuda_of(entry.build)
    channel = Channel.PYTORCH if "/pytorch/" in f"{entry.source}/" else Channel.CONDA_FORGE
    for record in records_of(stock):
        same = record.version == number and record.channel is channel
        if same and (record.cuda is None if "cpu" in entry.build else cuda is not None and record.cuda == cuda):
            return build_of(record, stock)
    return None


def _cuda_of(words: str) -> Version | None:
    """`cuda11.7`, `cuda118`, `cuda_126`: its CUDA."""
    found = _CUDA.search(words)
    if found is None:
        return None
    if found[2] is None:
        return Version((int(found[1]),))
    return Version((int(found[1]), int(found[2])))


def _selected(one: InstallSet, main: ProjectRequirement, record: CondaRecord, stock: TorchStock) -> bool:
    """Whether what else the environment names takes this build."""
    cpu = bool(one.named("cpuonly", "pytorch-cpu")) or main.build.startswith(("cpu", "*cpu")) or "cpu" in main.build
    if record.cuda is None:
        return cpu or (record.channel is Channel.CONDA_FORGE and stock.virtual is None)
    if cpu or not accepts(record, stock.virtual):
        return False
    for selector in one.named("pytorch-cuda", "cudatoolkit", "cuda-version"):
        range_ = specifier((selector,))
        if range_ is not None and selector.versions and not takes(range_, str(record.cuda)):
            return False
    wanted = _cuda_of(main.build)
    return wanted is None or record.cuda.parts[: len(wanted.parts)] == wanted.parts
