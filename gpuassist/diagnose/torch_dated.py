"""Which torch a text is of, by the NCCL or cuDNN that it names: each release brings its own."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from gpuassist.diagnose.signature import SignatureInput, passages
from gpuassist.knowledge.compatibility import kernels_run
from gpuassist.knowledge.specifier import version_in
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.version import ComputeCapability, Target, Version

_NCCL = r"NCCL version:? ?\(?(\d{1,2}[.,] ?\d{1,2}[.,] ?\d{1,2})\b(?:\+cuda(\d{1,2}\.\d{1,2}))?"


class Carrier(Struct, frozen=True):
    """A build of torch that brings a library; `targets` is None where it is known by its CUDA alone."""

    release: Version
    cuda: Version
    default: bool
    targets: tuple[Target, ...] | None = None

    def runs(self, knowledge: Knowledge, capability: ComputeCapability) -> bool | None:
        """Whether it has code for a GPU; of what is known by its CUDA alone, whether that can compile such."""
        if self.targets is not None:
            return kernels_run(capability, self.targets, cuda=self.cuda)
        toolkit = knowledge.toolkit(self.cuda)
        return None if toolkit is None else any(_serves(target.capability, capability) for target in toolkit.targets)


class Runs(Struct, frozen=True):
    """Whether PyPI's own builds run on a GPU; `others` are the CUDA releases of builds elsewhere that do."""

    by_default: bool
    others: tuple[Version, ...]


class Carriers(Struct, frozen=True):
    """The builds that bring a version of NCCL, empty where none is known to; `nccl` is empty where the text names none."""

    nccl: str
    builds: tuple[Carrier, ...]

    @property
    def releases(self) -> str:
        """`1.7 to 1.9`."""
        found = sorted({build.release for build in self.builds})
        return "" if not found else str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}"

    def runs(self, knowledge: Knowledge, capability: ComputeCapability) -> Runs | None:
        """On which of them a GPU runs; None where that is not known of each."""
        told = [(build, build.runs(knowledge, capability)) for build in self.builds]
        if not told or any(runs is None for _, runs in told):
            return None
        own = any(runs for build, runs in told if build.default)
        return Runs(own, tuple(sorted({build.cuda for build, runs in told if runs and not build.default})))


@lru_cache(maxsize=1)
def carriers(setting: SignatureInput) -> Carriers:
    """What brings the NCCL that a text names; torch before 1.11 writes 2.10.3 as 21.0.3."""
    found = next(iter(passages(setting, ("nccl version",), _NCCL)), None)
    if found is None:
        return Carriers("", ())
    version = _nccl(Version.parse(found[1].replace(", ", ".").replace(",", ".")))
    cuda = version_in(found[2] or "")
    builds = tuple(
        build for build in _bringing(setting.case.knowledge, version) if cuda is None or build.cuda.release == cuda.release
    )
    return Carriers(str(version) if builds else "", builds)


def _nccl(version: Version) -> Version:
    major, minor, patch = version.parts[:3]
    return Version((major // 10, (major % 10) * 10 + minor, patch)) if major >= 20 else version


def _bringing(knowledge: Knowledge, nccl: Version) -> tuple[Carrier, ...]:
    own = {one.release: one for one in knowledge.torch_releases() if one.nccl == nccl}
    old = [Carrier(one.release, cuda, place == 0) for one in own.values() for place, cuda in enumerate(one.cudas)]
    built = [
        Carrier(build.release, build.cuda, build.default, build.targets)
        for build in knowledge.torch_builds()
        if build.cuda is not None and build.machine == "x86_64" and (build.release in own or str(nccl) in _pinned(build.pins))
    ]
    return (*old, *built)


def _pinned(pins: tuple[tuple[str, str], ...] | None) -> set[str]:
    return {version for name, version in pins or () if name.startswith("nvidia-nccl")}


def _serves(target: ComputeCapability, capability: ComputeCapability) -> bool:
    return target.major == capability.major and target <= capability
