"""What is known of container images, as typed records: NVIDIA's monthly framework images, and the systems that images stand on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gpuassist.model.version import ComputeCapability, Version


class ImageFamily(str, Enum):
    """The kinds of images that are read, by the repository that they are pulled from."""

    NGC_PYTORCH = "nvcr.io/nvidia/pytorch"
    NGC_TENSORRT = "nvcr.io/nvidia/tensorrt"
    CUDA = "nvidia/cuda"
    TORCH = "pytorch/pytorch"


@dataclass(frozen=True, slots=True)
class ImageRecord:
    """One month of an NVIDIA framework image: `month` is 23.10, `torch` the version that the torch inside tells of itself, without
    the `.nv24.10` that it has appended since 2024.

    None is not known, and "" (of torch) none inside. `driver` is what the release notes ask for on any GPU; `compat_drivers`
    are older drivers that do on data-centre GPUs, by the compatibility package in the image (empty where the notes name none).
    `capability_min` is the oldest GPU that the notes name, `jetpack` the JetPack that the month's `-igpu` variant is made for.
    """

    family: ImageFamily
    month: Version
    cuda: Version
    torch: str | None
    tensorrt: Version | None
    python: Version | None
    system: str | None
    driver: Version | None
    compat_drivers: tuple[Version, ...]
    capability_min: ComputeCapability | None
    jetpack: Version | None
    source: str
    checked: str

    @property
    def name(self) -> str:
        """As it is pulled."""
        return f"{self.family.value}:{self.month}-py3"


@dataclass(frozen=True, slots=True)
class SystemRecord:
    """A distribution as image names spell it (`ubuntu22.04`), with its C library."""

    name: str
    glibc: Version
    source: str
    checked: str
