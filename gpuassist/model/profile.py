"""What a profiler left, whatever wrote it: which kind of work took which share of the time, and by which names."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class ProfileForm(str, Enum):
    """What wrote it, and how."""

    TORCH_TRACE = "torch-trace"
    TORCH_TABLE = "torch-table"
    CPROFILE = "cprofile"
    NSYS_EXPORT = "nsys-export"
    NSYS_STATS = "nsys-stats"
    SPEEDSCOPE = "speedscope"
    STACKS = "stacks"
    SCALENE = "scalene"
    FLAME_GRAPH = "flame-graph"
    LINES = "lines"


class TimeKind(str, Enum):
    """What a moment went to, what counts first first: while a kernel runs nothing else holds the program up.

    `START` is what comes once, however long the program runs, and pauses; `REST` is what the file does not tell.
    """

    KERNELS = "kernels"
    COMMUNICATION = "communication"
    COPIES = "copies"
    DATA = "data"
    START = "start"
    WAITS = "waits"
    LAUNCHES = "launches"
    OPERATORS = "operators"
    PYTHON = "python"
    REST = "rest"


GPU_KINDS = (TimeKind.KERNELS, TimeKind.COMMUNICATION, TimeKind.COPIES)
"""What the GPU itself does."""


class ShareBasis(str, Enum):
    """What shares are of: each moment that passed, the time of a thread in its functions, or each device's time by itself."""

    MOMENTS = "moments"
    THREAD = "thread"
    DEVICE = "device"


class TimeShare(Struct, frozen=True):
    """The seconds of a kind of work."""

    kind: TimeKind
    seconds: float


class ProfileEntry(Struct, frozen=True):
    """A function, operator, kernel or call: `seconds` are its own, without what it calls; `place` is the line of the user's program
    that it was called from, where the file tells.
    """

    kind: TimeKind
    name: str
    calls: int
    seconds: float
    place: str = ""


class ProfileGap(str, Enum):
    """What the file cannot tell, or was not read of it."""

    NO_GPU = "no-gpu"
    NO_WAITING = "no-waiting"
    NO_PYTHON = "no-python"
    NO_LINES = "no-lines"
    NO_OPERATORS = "no-operators"
    NO_MOMENTS = "no-moments"
    PART_OF_ROWS = "part-of-rows"
    SAMPLED = "sampled"
    CUT_SHORT = "cut-short"
    UNREADABLE_EVENTS = "unreadable-events"
    TOO_MANY_EVENTS = "too-many-events"
    SEVERAL_PROCESSES = "several-processes"
    COARSE = "coarse"
    CALLS_BY_CODE = "calls-by-code"


class ProfileReading(Struct, frozen=True):
    """`seconds` is what was profiled, None where the file does not say; `shares` add up to it where the basis is `MOMENTS`.

    `timeline` has a row for each of the equal parts of that time: its share (0 to 1) of every kind of `shares`, in their order.
    """

    form: ProfileForm
    basis: ShareBasis
    seconds: float | None
    shares: tuple[TimeShare, ...]
    entries: tuple[ProfileEntry, ...]
    timeline: tuple[tuple[float, ...], ...] = ()
    gaps: tuple[ProfileGap, ...] = ()
    events: int = 0

    def spent(self, *kinds: TimeKind) -> float:
        """The seconds of these kinds together."""
        return sum(one.seconds for one in self.shares if one.kind in kinds)

    def first_of(self, *kinds: TimeKind) -> ProfileEntry | None:
        """Whichever of these kinds took most."""
        return max((one for one in self.entries if one.kind in kinds), key=lambda one: one.seconds, default=None)
