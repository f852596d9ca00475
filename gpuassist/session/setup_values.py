"""The set-up of a GPU as values: its stages from the driver to live memory, how each stands, and what is remembered of it."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.text import Text
from gpuassist.session.navigation import Destination


class SetupStageId(str, Enum):
    """The stages, in the order in which they are gone through."""

    DRIVER = "driver"
    RESTART = "restart"
    TOOLKIT = "toolkit"
    TORCH = "torch"
    VERIFY = "verify"
    LIVE = "live"


class SetupStageState(str, Enum):
    """How a stage stands; `waits`: it is done as far as it can be before the restart."""

    DONE = "done"
    NOW = "now"
    LATER = "later"
    NOT_NEEDED = "not-needed"
    WAITS = "waits"
    UNKNOWN = "unknown"


class SetupStage(Struct, frozen=True):
    """A stage: `why` it stands so on this machine, `does` what is done first (none where `why` says all), the place in the window
    and the command line that go on with it. `problem` is the finding that stands in the way, `blocked` whether no change removes
    what does, `failed` whether it was tried and came out wrong; `at` is when it was done, as ISO 8601, empty where nobody saw that.
    """

    id: SetupStageId
    state: SetupStageState
    why: Text
    destination: Destination
    command: str = ""
    does: Text | None = None
    problem: str = ""
    blocked: bool = False
    failed: bool = False
    at: str = ""


class Setup(Struct, frozen=True):
    """All stages, with exactly one that is now, or none where all is done. `back` greets who comes back from the restart,
    `notice` says what of the remembered could not be used; `gpus` counts those that are to be served. `hidden`: the user wants
    no line of it in the window; `closed`: that all is done was said.
    """

    stages: tuple[SetupStage, ...]
    gpus: int = 0
    recorded: bool = False
    back: Text | None = None
    notice: Text | None = None
    hidden: bool = False
    closed: bool = False

    @property
    def now(self) -> SetupStage | None:
        """The stage that is to be gone through now; none where all is done."""
        return next((one for one in self.stages if one.state is SetupStageState.NOW), None)

    @property
    def needed(self) -> tuple[SetupStage, ...]:
        """The stages of this machine: those that count."""
        return tuple(one for one in self.stages if one.state is not SetupStageState.NOT_NEEDED)

    @property
    def next(self) -> SetupStage | None:
        """The stage after the one that is now."""
        later = [one for one in self.stages if one.state in {SetupStageState.NOW, SetupStageState.LATER}]
        places = [place for place, one in enumerate(later) if one.state is SetupStageState.NOW]
        return next(iter(later[places[0] + 1 :]), None) if places else None

    def stage(self, wanted: SetupStageId) -> SetupStage:
        return next(one for one in self.stages if one.id is wanted)


class SetupRecord(Struct, frozen=True):
    """What the machine itself does not tell. `environment` is the prefix of the environment that is set up, empty for whichever
    is meant; `compiles`: the user asked for a toolkit, for what `project` holds where that is not empty. `restart_boot` is the
    boot in which the restart was asked for, and `restart_cause` what for; `back_boot` the one that came after it, and `back_now`
    the stage that was now then. `done` are the stages with when they were first seen done. `closed`: that all is done was said.
    """

    begun_at: str = ""
    environment: str = ""
    compiles: bool = False
    restart_boot: str = ""
    restart_cause: str = ""
    back_boot: str = ""
    back_now: str = ""
    live_at: str = ""
    hidden: bool = False
    closed: bool = False
    project: str = ""
    done: tuple[tuple[str, str], ...] = ()


class SetupProof(Struct, frozen=True):
    """What was verified: the UUIDs of GPUs that passed, of those that failed, and of those whose verification was cut short or
    skipped, with the driver and the torch that are there; `count` GPUs passed at `made_at`. `earlier_driver` is
    that of the newest one with another driver or torch, empty of none.
    """

    passed: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    incomplete: frozenset[str] = frozenset()
    count: int = 0
    made_at: str = ""
    earlier_at: str = ""
    earlier_driver: str = ""
    earlier_torch: str = ""
