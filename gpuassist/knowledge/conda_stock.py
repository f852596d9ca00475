"""The builds of conda's channels as builds to choose from, and back from the chosen one to how conda is asked for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuassist.knowledge.conda_records import Channel, CondaRecord
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.version import Target, Version

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
    """Those of one channel."""
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
