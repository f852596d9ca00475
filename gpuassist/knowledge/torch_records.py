"""What is known of a torch release as a whole, and of libraries that do not work together, as typed records."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.model.version import Version


@dataclass(frozen=True, slots=True)
class Companion:
    """A library that belongs to one patch release of torch; `version` is exact (`0.22.1`), or a range as pip writes it."""

    name: str
    version: str
    torch: Version


@dataclass(frozen=True, slots=True)
class TorchRelease:
    """A torch release (2.7) with its patches. `published` is the day of its first one (the month alone where no day is known);
    `known_in_detail` is false where gpuassist knows no builds of it, because it is older than they are.
    """

    release: Version
    patches: tuple[Version, ...]
    published: str
    pythons: tuple[Version, ...]
    companions: tuple[Companion, ...]
    known_in_detail: bool
    source: str
    checked: str

    def companions_of(self, torch: Version) -> tuple[Companion, ...]:
        """What belongs to a version of it: to its own patch, or to the newest before it; of 2.7 alone to the newest of all."""
        listed = {one.torch for one in self.companions}
        nearest = max({one for one in listed if one <= torch} or listed, default=None)
        return tuple(one for one in self.companions if one.torch == nearest)


@dataclass(frozen=True, slots=True)
class Party:
    """A library in some of its versions, as pip writes them (`>=2`, `<2.3`); "" is any version."""

    name: str
    versions: str


@dataclass(frozen=True, slots=True)
class BadPair:
    """Two libraries that do not work together in these versions: what is seen (`symptom`), why, and what helps. All in English."""

    key: str
    one: Party
    other: Party
    symptom: str
    why: str
    remedy: str
    source: str
    checked: str
