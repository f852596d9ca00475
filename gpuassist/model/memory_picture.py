"""A card's memory, mostly at the moment when something did not fit, or torch's own part of it, as parts that add up."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.text import Text


class PartKind(str, Enum):
    """Who has a part of the memory, in the order in which parts are shown."""

    ALLOCATED = "allocated"
    WORKSPACE = "cublas-workspace"
    PRIVATE_POOLS = "private-pools"
    UNUSED = "reserved-unused"
    CACHED = "cached"
    CONTEXT = "context"
    PROCESS = "process"
    DESKTOP = "desktop"
    OTHERS = "others"
    REST = "rest"
    USED = "used"
    UNACCOUNTED = "unaccounted"
    FREE = "free"


class PictureOf(str, Enum):
    """What the whole is that the parts add up to: the card when a request failed, the card, or what torch reserved."""

    FAILURE = "failure"
    CARD = "card"
    RESERVED = "reserved"


class MemoryPart(Struct, frozen=True):
    """A piece of the card; `derived` where it was reckoned from other figures; `pid` is 0 and `name` empty but of a process. The
    desktop's `name` holds those of its programs.
    """

    kind: PartKind
    size_bytes: int
    derived: bool = False
    pid: int = 0
    name: str = ""


class MemoryPicture(Struct, frozen=True):
    """The whole of a card, or of what torch reserved on it: the sizes of `parts` add up to `total_bytes` exactly, and none is zero
    or less.

    `requested_bytes` and `device` are None where the message does not say; `beyond_bytes` is what this process has outside of the
    card, lent from the computer's memory; `notes` say what about the figures is not as it seems.
    """

    total_bytes: int
    parts: tuple[MemoryPart, ...]
    requested_bytes: int | None = None
    device: int | None = None
    beyond_bytes: int = 0
    notes: tuple[Text, ...] = ()
    of: PictureOf = PictureOf.FAILURE
