"""What the version of a torch tells of its build: `2.1.0+cu121` of the index, `2.5.0a0+b465a5843b.nv24.09` of NVIDIA's own."""

from __future__ import annotations

import re
from enum import Enum

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Version

_VERSION = lazy_regex(
    r"v?(\d{1,9}\.\d{1,9}(?:\.\d{1,9})*)(?:[-.]?(a|b|rc|dev|post)\.?(\d+))?(?:\+([0-9a-z]+(?:[-._][0-9a-z]+)*))?", re.IGNORECASE
)
_CUDA = lazy_regex(r"cu(\d{1,2})(\d)(?=$|[-._])")
_INDEX = lazy_regex(r"cpu|xpu|(?:cu|rocm)\d[\d.]*")
_NVIDIA = lazy_regex(r"(?:^|\.)nv(\d\d\.\d\d)")
_HASH = lazy_regex(r"[0-9a-f]{7,40}")


class BuildOrigin(str, Enum):
    """Who built it, and when in a release's life."""

    RELEASE = "release"
    CANDIDATE = "candidate"
    NIGHTLY = "nightly"
    SOURCE = "source"  # built by its user from a checkout
    NVIDIA = "nvidia"  # in NVIDIA's container images and on Jetson


class TorchVersion(Struct, frozen=True):
    """`release` is the number (2.6.0), for anything but a release that of the one to come; `tag` what the index calls the build
    (`cu121`, `cpu`, `rocm6.4`; "" where the version does not say), `month` NVIDIA's own (24.09) and `day` that of a nightly.
    """

    release: Version
    origin: BuildOrigin
    tag: str = ""
    month: str = ""
    day: str = ""

    @property
    def cuda(self) -> Version | None:
        """The CUDA release that the tag names; None where it names none."""
        found = _CUDA.match(self.tag)
        return Version((int(found[1]), int(found[2]))) if found else None


def read_torch_version(words: str) -> TorchVersion | None:
    """From `torch.__version__`, or as a user writes it (`v2.6`, `2.6.0`); None where it is no version."""
    found = _VERSION.fullmatch(words.strip())
    if found is None:
        return None
    stage, number, local = (found[2] or "").lower(), found[3] or "", (found[4] or "").lower()
    tag, month = _INDEX.match(local), _NVIDIA.search(local)
    return TorchVersion(
        release=Version.parse(found[1]),
        origin=_origin(stage, local),
        tag=tag[0] if tag else "",
        month=month[1] if month else "",
        day=f"{number[:4]}-{number[4:6]}-{number[6:]}" if stage == "dev" and len(number) == len("20250226") else "",
    )


def _origin(stage: str, local: str) -> BuildOrigin:
    if _NVIDIA.search(local) or (stage == "a" and _HASH.fullmatch(local)):
        return BuildOrigin.NVIDIA
    if stage == "dev":
        return BuildOrigin.NIGHTLY
    if stage in {"rc", "b"}:
        return BuildOrigin.CANDIDATE
    return BuildOrigin.SOURCE if stage == "a" or local.startswith("git") else BuildOrigin.RELEASE
