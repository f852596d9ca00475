"""What serves a GPU: the first and last CUDA and driver, its kernel module, torch builds with code for it, what a plan takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from gpuassist.knowledge.choice import BuildHost, GpuWish, Workload, choose_driver, choose_toolkit_release, choose_torch
from gpuassist.knowledge.compatibility import CodePath, first_toolkit_for, is_jetson, last_toolkit_for, way_to_run
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version
from gpuassist.session.lookup.answer import fields, plain

if TYPE_CHECKING:
    from gpuassist.knowledge.records import GpuRecord, TorchBuild
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.model.version import ComputeCapability
    from gpuassist.session.lookup.answer import Document

_OF_GRACE = lazy_regex(r"\bG[HB]\d00\b")
_RUNS = frozenset({CodePath.NATIVE, CodePath.COMPILED_BY_DRIVER})


def what_serves(knowledge: Knowledge, gpu: GpuRecord) -> Document:
    """Of a GPU whose compute capability is not published nothing is known but its kernel module."""
    architecture = next(one for one in knowledge.architectures() if one.name == gpu.architecture)
    capability = gpu.compute_capability
    jetson = _is_of_jetson(gpu)
    first, last = toolkits_of(knowledge, capability) if capability else (None, None)
    last_branch = None if jetson or architecture.last_branch is None else str(architecture.last_branch)
    return {
        **fields(
            first_cuda=first,
            last_cuda=last,
            jetson=jetson,
            last_driver=last_branch,
            open_module=gpu.module,
        ),
        "torch_builds": plain(list(_builds_with_code(knowledge, gpu))),
        "plan": None if jetson or capability is None else _taken(knowledge, gpu, capability),
    }


def first_driver(knowledge: Knowledge, gpus: Iterable[GpuRecord]) -> Version | None:
    """The oldest driver that serves any of the GPUs of a name: what lists it, or what its chip came with."""
    found = list[Version]()
    for gpu in gpus:
        architecture = next(one for one in knowledge.architectures() if one.name == gpu.architecture)
        chip = next(one for one in architecture.chips if one.chip == gpu.chip)
        first = gpu.first_driver or chip.first_driver
        if first is None or _is_of_jetson(gpu):
            return None
        found.append(first)
    return min(found, default=None)


def first_drivers(knowledge: Knowledge, gpus: Sequence[GpuRecord]) -> Document:
    """The first driver of a name, and whether it is that of the product or the one with which its generation came."""
    first = first_driver(knowledge, gpus)
    of_product = all(gpu.first_driver for gpu in gpus)
    return fields(first_driver=first, first_driver_of=None if first is None else "product" if of_product else "generation")


def is_of_grace(gpu: GpuRecord) -> bool:
    """Whether it is sold as a board with NVIDIA's own processor, an ARM."""
    return bool(_OF_GRACE.search(gpu.name))


def toolkits_of(knowledge: Knowledge, capability: ComputeCapability) -> tuple[Version | None, Version | None]:
    """The first and the last CUDA release whose nvcc compiles for a compute capability; None as last while the newest does."""
    early = knowledge.early_toolkits(capability)
    first = early.first if early else first_toolkit_for(capability, knowledge.toolkits())
    return first, (early.last if early else None) or last_toolkit_for(capability, knowledge.toolkits())


def notes_on_serving(knowledge: Knowledge, gpu: GpuRecord) -> Iterator[Text]:
    """What the fields alone leave open."""
    oldest = min((one.branch for one in knowledge.branches()), default=None)
    if _is_of_jetson(gpu):
        yield text("Its driver is part of JetPack, and comes and goes with it.")
    elif first_driver(knowledge, (gpu,)) is None and gpu.compute_capability is not None and oldest is not None:
        yield text("No driver branch that I know is too old for it; {branch} is the oldest of them.", branch=oldest)


def _is_of_jetson(gpu: GpuRecord) -> bool:
    return gpu.integrated and gpu.compute_capability is not None and is_jetson(gpu.compute_capability)


def _platforms(gpu: GpuRecord) -> tuple[str, ...]:
    return ("aarch64",) if gpu.integrated or is_of_grace(gpu) else ("x86_64", "aarch64")


def _builds_with_code(knowledge: Knowledge, gpu: GpuRecord) -> Iterator[Document]:
    """Of each platform and tag the oldest and the newest release that runs on it, oldest CUDA first."""
    found: dict[tuple[int, Version, str], list[tuple[TorchBuild, CodePath]]] = {}
    for build in knowledge.torch_builds():
        if gpu.compute_capability is None or build.cuda is None or build.machine not in _platforms(gpu):
            continue
        way = way_to_run(gpu.compute_capability, build.targets, cuda=build.cuda)
        if way in _RUNS:
            found.setdefault((_platforms(gpu).index(build.machine), build.cuda, build.tag), []).append((build, way))
    for (_, cuda, tag), builds in sorted(found.items()):
        oldest, newest = (choose(builds, key=lambda one: one[0].release) for choose in (min, max))
        yield fields(
            tag=tag,
            platform=newest[0].machine,
            cuda=cuda,
            first=min(_first_patch(knowledge, one) for one, _ in builds),
            newest=newest[0].newest,
            code=(oldest if oldest[1] is CodePath.COMPILED_BY_DRIVER else newest)[1],
        )


def _first_patch(knowledge: Knowledge, build: TorchBuild) -> Version:
    """A build is on record by its newest patch, and came with the release's first."""
    release = knowledge.torch_release(build.release)
    return min(release.patches, default=build.newest) if release else build.newest


def _taken(knowledge: Knowledge, gpu: GpuRecord, capability: ComputeCapability) -> Document:
    """What `gpuassist plan` takes on a machine with this GPU and nothing installed, on the day that the branches were looked at."""
    branches = knowledge.branches()
    architecture = next(one for one in knowledge.architectures() if one.name == gpu.architecture)
    as_of = max((one.checked for one in branches), default="")
    choice = choose_driver(branches, (GpuWish(architecture, gpu.chip, gpu.module),), today=as_of)
    driver = Version((choice.best.branch,)) if choice.best else None
    driver_cuda = choice.best.cuda if choice.best else None
    host = BuildHost(_platforms(gpu)[0], driver, None, driver_cuda)
    torch = choose_torch(knowledge.torch_builds(), (capability,), host)
    build = torch.build if torch.obstacle is None else None
    workload = Workload((capability,), driver=driver, driver_cuda=driver_cuda)
    return fields(
        driver=choice.best.branch if choice.best else None,
        open_module=choice.open_module if choice.best else None,
        cuda=choose_toolkit_release(knowledge.toolkits(), workload),
        torch=f"{build.newest}+{build.tag}" if build else None,
        as_of=as_of,
    )
