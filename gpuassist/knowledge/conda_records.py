"""What is known of torch in conda's channels, as typed records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gpuassist.model.version import Target, Version

_FIRST_WITH_VIRTUAL = Version((1, 12))


class Channel(str, Enum):
    """The channels that have a torch for Linux: PyTorch's own, up to 2.5.1, and conda-forge."""

    PYTORCH = "pytorch"
    CONDA_FORGE = "conda-forge"


@dataclass(frozen=True, slots=True)
class CondaRecord:
    """A torch release as a channel builds it for one platform and CUDA (`cuda` None: for the CPU alone).

    `selector` is the package that chooses the CUDA (`pytorch-cuda`, before it `cudatoolkit`, on conda-forge `cuda-version`),
    `channels` what `-c` has to name, in that order. None is not known: `cudnn`, `pythons`, `targets` (the GPU code inside). A
    `tegra` build is for Jetson alone.
    """

    channel: Channel
    version: Version
    platform: str
    cuda: Version | None
    selector: str
    channels: tuple[str, ...]
    cudnn: Version | None
    pythons: tuple[Version, ...] | None
    targets: tuple[Target, ...] | None
    tegra: bool
    source: str
    checked: str

    @property
    def needs_virtual(self) -> bool:
        """Whether its own recipe asks for the virtual package `__cuda`: on conda-forge since 1.12."""
        return self.channel is Channel.CONDA_FORGE and self.cuda is not None and self.version >= _FIRST_WITH_VIRTUAL

    @property
    def virtual_floor(self) -> Version | None:
        """What `__cuda` must reach where there is one: the CUDA's major, which is what the package `cuda-version` constrains."""
        return Version((self.cuda.major,)) if self.selector == "cuda-version" and self.cuda else None


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """A label of the channel `nvidia`, which holds the toolkit of exactly one CUDA release: 12.4.1."""

    cuda: Version
    source: str
    checked: str

    @property
    def channel(self) -> str:
        """What `-c` takes."""
        return f"nvidia/label/cuda-{self.cuda}"
