"""Version numbers and GPU architectures as values that compare the way their makers count."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex

_VERSION = lazy_regex(r"\d+(?:\.\d+)*")
_CAPABILITY = lazy_regex(r"(\d{1,4})\.(\d)")
_TARGET = lazy_regex(r"(sm|compute|lto)_(\d{1,2})(\d)([af]?)")


class VersionError(ValueError):
    """A text that should hold a version or an architecture does not."""


class Version(Struct, frozen=True, eq=False):
    """A dotted version number: a driver (570.86.16), a CUDA release (12.4), a torch release (2.5.1).

    `spelling` keeps the zeros of 580.65.06, which the numbers lose; it does not count when versions are compared.
    """

    parts: tuple[int, ...]
    spelling: str = ""

    @staticmethod
    def parse(words: str) -> Version:
        """The number that `words` starts with, past a leading V or v; what follows it (+cu124, rc1, .post2) is left out."""
        return _version(words)

    @property
    def major(self) -> int:
        """The first number: the branch of a driver, the CUDA major of a toolkit."""
        return self.parts[0]

    @property
    def release(self) -> Version:
        """The first two numbers: 12.4 of 12.4.131, with 0 where the second is missing."""
        return Version((*self.parts, 0)[:2])

    def __str__(self) -> str:
        return self.spelling or ".".join(map(str, self.parts))

    def __eq__(self, other: object) -> bool:
        return self.parts == other.parts if isinstance(other, Version) else NotImplemented

    def __ne__(self, other: object) -> bool:  # a Struct's own would ask whether it is the same object
        return self.parts != other.parts if isinstance(other, Version) else NotImplemented

    def __lt__(self, other: Version) -> bool:
        return self.parts < other.parts

    def __le__(self, other: Version) -> bool:
        return self.parts <= other.parts

    def __gt__(self, other: Version) -> bool:
        return self.parts > other.parts

    def __ge__(self, other: Version) -> bool:
        return self.parts >= other.parts

    def __hash__(self) -> int:
        return hash(self.parts)


class ComputeCapability(Struct, frozen=True, order=True):
    """What NVIDIA numbers a GPU's instruction set with: 8.9 of an RTX 4090."""

    major: int
    minor: int

    @staticmethod
    def parse(words: str) -> ComputeCapability:
        """From `8.9`, `12.0`."""
        return _capability(words)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


class Code(str, Enum):
    """The two kinds of GPU code in a file: finished machine code, and PTX that the driver still has to compile."""

    CUBIN = "sm"
    PTX = "compute"


class Target(Struct, frozen=True, order=True):
    """An architecture that code was, or can be, compiled for: `sm_90a`, `compute_120`."""

    capability: ComputeCapability
    code: Code
    suffix: str = ""

    @staticmethod
    def parse(words: str) -> Target:
        """From the compiler's own name of it; `lto_` counts as PTX, which it replaces."""
        return _target(words)

    def __str__(self) -> str:
        return f"{self.code.value}_{self.capability.major}{self.capability.minor}{self.suffix}"


# Few versions are named, each hundreds of times: to read the whole knowledge base takes a fifth less with them kept.
_KEPT = 4096


@lru_cache(_KEPT)
def _version(words: str) -> Version:
    found = _VERSION.match(words.strip().lstrip("Vv"))
    if found is None:
        raise VersionError(words)
    try:
        return Version(tuple(int(part) for part in found[0].split(".")), found[0])
    except ValueError as error:  # Python refuses to read a number of more than 4300 digits
        raise VersionError(words) from error


@lru_cache(_KEPT)
def _capability(words: str) -> ComputeCapability:
    found = _CAPABILITY.fullmatch(words.strip())
    if found is None:
        raise VersionError(words)
    return ComputeCapability(int(found[1]), int(found[2]))


@lru_cache(_KEPT)
def _target(words: str) -> Target:
    found = _TARGET.fullmatch(words.strip())
    if found is None:
        raise VersionError(words)
    code = Code.CUBIN if found[1] == "sm" else Code.PTX
    return Target(ComputeCapability(int(found[2]), int(found[3])), code, found[4])


# Whole numbers in foreign words. Python's own `int` raises for "²", which `str.isdigit` takes, and for more than 4300 digits.


_MOST_DIGITS = 18  # what fits into 64 bits, whichever they are


def whole_number(words: str) -> int | None:
    """The number that plain digits write; none of anything else, nor of more digits than anything here is counted with."""
    return int(words) if words.isascii() and words.isdigit() and len(words) <= _MOST_DIGITS else None
