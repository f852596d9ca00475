"""The toolkits of a machine seen from the chosen one: where a directory leads, and where it would lie in the chosen one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from gpuassist.model.fact import Known
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.shellfiles.reading import Element

LISTS = frozenset({"PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"})
HOMES = frozenset({"CUDA_HOME", "CUDA_PATH"})


class Lead(str, Enum):
    """Where a directory leads: to the chosen toolkit, to another one, elsewhere, or where only a running shell can tell."""

    CHOSEN = "chosen"
    OTHER = "other"
    ELSEWHERE = "elsewhere"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Installed:
    """The toolkits of this machine seen from the chosen one; `real` follows symlinks, `exists` says what is a directory."""

    chosen: Toolkit
    others: tuple[Toolkit, ...]
    real: Callable[[str], str]
    home: str = ""
    exists: Callable[[str], bool] = bool

    def lead(self, directory: str) -> Lead:
        """Where a directory leads."""
        if not directory:
            return Lead.UNKNOWN
        candidates = (directory.rstrip("/") or "/", self.real(directory))
        if any(_belongs(candidate, self.chosen) for candidate in candidates):
            return Lead.CHOSEN
        if any(_belongs(candidate, other) for other in self.others for candidate in candidates) or looks_like_cuda(directory):
            return Lead.OTHER
        return Lead.ELSEWHERE

    def moved(self, element: Element) -> str | None:
        """An element of another toolkit's, in the words it is written in, for the chosen one; none where that has no such place."""
        root = self._root_of(element.directory)
        place = self.chosen.root + element.directory[len(root) :]
        if not root or not self.exists(place.rstrip("/")):
            return None
        lead = next((lead for lead in ("~", "$HOME", "${HOME}") if element.written.startswith(lead + "/")), "")
        if lead and self.home and place.startswith(self.home + "/"):
            return lead + place[len(self.home) :]
        return place

    def _root_of(self, directory: str) -> str:
        roots = [root for other in self.others for root in (other.root, *other.links) if _belongs(directory, other)]
        inside = [root for root in roots if directory == root or directory.startswith(root + "/")]
        return max(inside, key=len) if inside else _cuda_root(directory)


def _belongs(directory: str, toolkit: Toolkit) -> bool:
    if isinstance(toolkit.origin, Known) and toolkit.origin.value in {Origin.CONDA, Origin.WHEEL}:
        return False  # such a directory holds a whole Python environment: taking it off PATH would take more than a toolkit away
    if toolkit.root in {"/", "/usr", "/usr/local"}:
        return False
    return any(directory == root or directory.startswith(root + "/") for root in (toolkit.root, *toolkit.links))


def looks_like_cuda(directory: str) -> bool:
    """Whether its name says CUDA, for a toolkit that is no longer installed: `/usr/local/cuda`, `/opt/cuda`, `…/cuda-10.2`."""
    return bool(_cuda_root(directory))


def _cuda_root(directory: str) -> str:
    parts = directory.split("/")
    for number, part in enumerate(parts):
        if part.startswith("cuda-") and part[5:].replace(".", "").isdigit():
            return "/".join(parts[: number + 1])
    return next((root for root in ("/usr/local/cuda", "/opt/cuda") if directory == root or directory.startswith(root + "/")), "")
