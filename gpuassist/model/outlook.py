"""What a wish would take: how the chains look with it, the steps that make every link hold, and what stands in the way."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.chain import Chain
from gpuassist.model.plan import Step
from gpuassist.model.text import Text
from gpuassist.model.version import Version


class GoalKind(str, Enum):
    """What a goal is about."""

    DRIVER = "driver"
    CUDA = "cuda"
    TORCH = "torch"
    GPU = "gpu"
    ENGINE = "engine"
    HOLD = "hold"
    RELEASE = "release"


NEWEST = "newest"


class Goal(Struct, frozen=True):
    """A wish in short: `version` is None where any will do; `name` is the GPU's PCI id, the tag of a torch build (`cu128`), the
    engine, whose release `spelled` has as it was typed (`0.0.33.post2`), or `NEWEST` for the newest driver that serves every GPU,
    also where the one that is there does.
    """

    kind: GoalKind
    version: Version | None = None
    name: str = ""
    spelled: str = ""


class Method(str, Enum):
    """How another torch is brought about: beside what is there, in its place with all that belonged to it taken out first, by
    exchanging torch alone, or in a container; how a toolkit is: by NVIDIA's packages, by its installer into HOME, by conda, or by
    the wheels of its compiler.
    """

    NEW = "new-environment"
    CLEAN = "clean-out"
    IN_PLACE = "in-place"
    CONTAINER = "container"
    PACKAGES = "packages"
    RUNFILE = "runfile"
    CONDA = "conda"
    WHEELS = "wheels"


class WayPlan(Struct, frozen=True):
    """One way with all the steps that it takes, those that every way has in common among them, and what to know of it."""

    way: Method
    text: Text
    steps: tuple[Step, ...]
    notes: tuple[Text, ...] = ()


class Link(Struct, frozen=True):
    """Two parts, named with the GPU that they are for, whether they fit, and why not; None where that cannot be told."""

    first: Text
    second: Text
    holds: bool | None
    reason: Text


class Outlook(Struct, frozen=True):
    """`before` is the chain of each GPU with the wish in place and nothing else changed, `after` when the steps are done. `steps`
    is the smallest change that makes every link hold, empty where all hold already, or where `blocked_by` says why none does.
    `undetermined` is what is not known of this machine and could change the answer; `links` are those of `before`, every one of
    every GPU, those that a picture leaves out because they hold as well. `ways` are the ways to the same end where there is a
    choice, the best first: `steps` are its steps.
    """

    goal: Text
    before: tuple[Chain, ...]
    after: tuple[Chain, ...]
    steps: tuple[Step, ...]
    blocked_by: tuple[Text, ...] = ()
    notes: tuple[Text, ...] = ()
    undetermined: tuple[Text, ...] = ()
    links: tuple[Link, ...] = ()
    ways: tuple[WayPlan, ...] = ()
