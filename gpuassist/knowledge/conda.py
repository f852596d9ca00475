"""Which torch build of conda's channels fits, and how it is asked for: loosely by its CUDA, or by its exact build."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuassist.knowledge.compatibility import driver_serves_cuda, kernels_run
from gpuassist.knowledge.records import Channel, CondaRecord, TorchBuild
from gpuassist.model.version import ComputeCapability, Target, Version


def specs(record: CondaRecord) -> tuple[str, ...]:
    """What `conda install` takes to get this build: torch with its version, and what selects the CUDA.

    On conda-forge the name of the build says that it is one with CUDA; without that a machine of no `__cuda` gets the other.
    """
    if record.channel is Channel.PYTORCH:
        return (f"pytorch={record.version}", f"{record.selector}={record.cuda}" if record.cuda else record.selector)
    if record.cuda is None:
        return (f"pytorch={record.version}=cpu*",)
    chosen = (f"pytorch={record.version}=cuda*", f"{record.selector}={record.cuda}")
    return (*chosen, "arm-variant=*=tegra") if record.tegra else chosen


def exact_spec(record: CondaRecord, python: Version) -> str | None:
    """The build itself: `pytorch=2.3.1=py3.11_cuda12.1_cudnn8.9.2_0`; None where its name holds what is not known: on conda-forge
    a hash, else a cuDNN, or a Python that it was not built for.
    """
    if record.channel is not Channel.PYTORCH or record.pythons is None or python.release not in record.pythons:
        return None
    if record.cuda is None:
        return f"pytorch={record.version}=py{python.release}_cpu_0"
    return f"pytorch={record.version}=py{python.release}_cuda{record.cuda}_cudnn{record.cudnn}_0" if record.cudnn else None


def limits(record: CondaRecord) -> tuple[str, ...]:
    """What else must stay below a version: builds that link MKL need one of their time, and a torch that does not know NumPy 2 is
    kept from it.
    """
    if record.channel is not Channel.PYTORCH or record.version >= Version((2, 3)):
        return ()
    return ("mkl<2024.1", "numpy<2")


def arguments(record: CondaRecord) -> str:
    """What `conda create` takes to get this build, the channels that hold it first."""
    torch, *selectors = specs(record)
    return " ".join((*(f"-c {channel}" for channel in record.channels), torch, *limits(record), *selectors))


def named_build(
    records: Iterable[CondaRecord],
    wheels: Iterable[TorchBuild],
    wanted: Version,
    *,
    machine: str = "x86_64",
    capabilities: Iterable[ComputeCapability] = (),
    driver: Version | None = None,
) -> CondaRecord | None:
    """The CUDA build of a torch release that a command may name: one that the table has, from conda-forge before PyTorch's own
    channel, of the newest CUDA. It has code for the GPUs and runs under the driver, as far as these are known.
    """
    code = {(one.release, one.cuda, one.machine): one.targets for one in wheels}
    every = tuple(capabilities)

    def fits(record: CondaRecord) -> bool:
        targets = record.targets or code.get((record.version.release, record.cuda, machine)) or ()
        return (
            record.cuda is not None
            and not record.tegra
            and all(kernels_run(one, targets, cuda=record.cuda) for one in every)
            and (driver is None or driver_serves_cuda(driver, record.cuda))
        )

    fitting = [one for one in builds(records, wanted, machine=machine) if fits(one)]
    return max(fitting, key=lambda one: (one.version, one.channel is Channel.CONDA_FORGE, one.cuda or Version(())), default=None)


def releases(records: Iterable[CondaRecord], channel: Channel) -> tuple[Version, ...]:
    """The torch versions of a channel, oldest first."""
    return tuple(sorted({one.version for one in records if one.channel is channel}))


def builds(records: Iterable[CondaRecord], version: Version, *, machine: str = "x86_64") -> tuple[CondaRecord, ...]:
    """The builds of a torch release (2.5, or exactly 2.5.1) for one CPU architecture, in the order of the file."""
    platform = {"x86_64": "linux-64", "aarch64": "linux-aarch64"}.get(machine, "")
    wanted = version.parts
    return tuple(one for one in records if one.platform == platform and one.version.parts[: len(wanted)] == wanted)


def accepts(record: CondaRecord, virtual: Version | None) -> bool:
    """Whether the solver takes a build on a machine whose virtual package `__cuda` is this (None: it has none)."""
    if not record.needs_virtual:
        return True
    return virtual is not None and (record.virtual_floor is None or virtual >= record.virtual_floor)


# The builds of conda's channels as builds to choose from, and back from the chosen one to how conda is asked for it.
_MACHINES = {"linux-64": "x86_64", "linux-aarch64": "aarch64"}
LAST_OF_PYTORCH = Version((2, 5, 1))  # PyTorch's own channel gets no newer release


def conda_builds(
    records: Iterable[CondaRecord], wheels: Iterable[TorchBuild], *, wanted: Version | None = None, tegra: bool = False
) -> tuple[TorchBuild, ...]:
    """The CUDA builds, of each release and CUDA the last patch, or the one that is `wanted`. What GPU code is in a build of
    PyTorch's channel is not written down: it is that of the wheel of the same release and CUDA, and a build without one is left
    out. Builds for Jetson alone come where `tegra` says that this is one.
    """
    code = {(one.release, one.cuda, one.machine): one.targets for one in wheels}
    newest: dict[tuple[Version, Version, str], TorchBuild] = {}
    for record in sorted(records, key=lambda one: one.version):
        if wanted is not None and record.version.parts[: len(wanted.parts)] != wanted.parts:
            continue
        if record.tegra and not tegra:
            continue
        for build in _build(record, code):
            assert build.cuda is not None
            newest[build.release, build.cuda, build.machine] = build
    return tuple(newest.values())


def record_of(records: Iterable[CondaRecord], build: TorchBuild, *, tegra: bool = False) -> CondaRecord | None:
    """The record that a build was made from, one for Jetson before others where this is one."""
    own = [
        one
        for one in records
        if (one.version, one.cuda, _MACHINES.get(one.platform, "")) == (build.newest, build.cuda, build.machine)
        and (tegra or not one.tegra)
    ]
    return max(own, key=lambda one: one.tegra, default=None)


def of_channel(records: Iterable[CondaRecord], channel: Channel) -> tuple[CondaRecord, ...]:
    return tuple(one for one in records if one.channel is channel)


def _build(record: CondaRecord, code: dict[tuple[Version, Version | None, str], tuple[Target, ...]]) -> Iterator[TorchBuild]:
    machine = _MACHINES.get(record.platform, "")
    targets = record.targets or code.get((record.version.release, record.cuda, machine))
    if record.cuda is None or targets is None or not machine:
        return
    yield TorchBuild(
        release=record.version.release,
        newest=record.version,
        tag=f"cu{record.cuda.major}{record.cuda.parts[1] if len(record.cuda.parts) > 1 else 0}",
        cuda=record.cuda,
        machine=machine,
        default=False,
        targets=targets,
        pythons=record.pythons or (),
        pins=None,
        source=record.source,
        checked=record.checked,
    )
