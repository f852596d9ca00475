"""The machine as a project stands on it, and a link between the two with what mends it."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.project.sets import InstallSet
from gpuassist.diagnose.project.stock import Pick
from gpuassist.formats.project.values import Spot
from gpuassist.knowledge.choice import choose_driver
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.project import CheckId, LinkState, ProjectCheck
from gpuassist.model.text import Text, enumerated
from gpuassist.model.version import ComputeCapability, Version

HOLDS, BROKEN, UNKNOWN = LinkState.HOLDS, LinkState.BROKEN, LinkState.UNKNOWN


class Mend(str, Enum):
    """What mends a link that is broken: other words in the project's files, or something on the machine."""

    TORCH = "torch"
    ARCHITECTURE = "architecture"
    IMAGE = "image"
    DEVICES = "devices"
    DRIVER = "driver"
    TOOLKIT = "toolkit"
    NONE = "none"


class ProjectLink(Struct, frozen=True):
    """A check, with the set that it is about and what mends it; `driver` and `toolkit` are what that takes on the machine."""

    check: ProjectCheck
    mend: Mend = Mend.NONE
    of: InstallSet | None = None
    pick: Pick | None = None
    driver_for: Version | None = None


class ProjectGround(Struct, frozen=True):
    """The machine as a project stands on it: `driver` serves its GPUs, is there or (`driver_missing`) to be installed."""

    case: RuleInput
    driver: Version | None
    driver_cuda: Version | None
    driver_missing: bool

    @property
    def machine(self) -> str:
        return value_or(self.case.machine.host.architecture, "x86_64")

    @property
    def capabilities(self) -> tuple[ComputeCapability, ...]:
        return tuple(sorted({card.capability.value for card in self.case.cards if isinstance(card.capability, Known)}))

    def cards_of(self, capability: ComputeCapability) -> Text:
        return enumerated(card.name for card in self.case.cards if value_or(card.capability, None) == capability)


def ground_of(case: RuleInput) -> ProjectGround:
    """What of the machine a project is judged by."""
    there = value_or(case.driver, None)
    ruled_out = any(case.ruled_out(card) for card in case.cards)
    if there is not None and not ruled_out:
        cuda = value_or(case.machine.driver.cuda_version, None)
        branch = case.knowledge.branch(there.major)
        return ProjectGround(case, there, cuda or (branch.cuda if branch is not None else None), driver_missing=False)
    unread = isinstance(case.machine.driver.loaded, Unknown) and there is None
    best = choose_driver(case.knowledge.branches(), case.wishes, today=case.machine.taken_at[:10], one_module=not case.wsl).best
    if unread or best is None or not case.cards:
        return ProjectGround(case, there, None, driver_missing=there is None and not unread)
    return ProjectGround(case, Version((best.branch,)), best.cuda, driver_missing=True)


def check_of(id_: CheckId, state: LinkState, words: Text, spot: Spot | None = None) -> ProjectCheck:
    return ProjectCheck(id_, state, words, spot.file if spot else "", spot.line if spot else 0)
