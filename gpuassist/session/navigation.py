"""The wizard's navigation as pure data: which step is shown, the state of each, where back and next lead.

Nothing here knows widgets: the window pushes events in and shows the flow that comes out, and tests do the same without a window.
What a place is opened for is carried as its value; the stages that own those are not imported: the frame is made before they are.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.text import Text, text

if TYPE_CHECKING:
    from gpuassist.install.what_if import Wish
    from gpuassist.model.estimate import EstimateSetting
    from gpuassist.session.plan import InstallWish


class WizardStep(str, Enum):
    """The five steps, in the order of the side list."""

    MACHINE = "machine"
    FOUND = "found"
    REPAIR = "repair"
    VERIFY = "verify"
    LIVE = "live"


class SideTool(str, Enum):
    """What stands beside the steps, for any time: it needs no facts, has no state, and no way on leads from it."""

    EXPLAIN = "explain"
    WHAT_IF = "what-if"
    INSTALL = "install"
    GUIDES = "guides"
    HOLDERS = "holders"
    PROJECT = "project"
    ESTIMATE = "estimate"
    SNAPSHOT = "snapshot"
    PROFILE = "profile"


Place = WizardStep | SideTool
"""Whatever the side list leads to: its page is the module of `ui/pages` with its name, a tool's icon that of `resources/icons`."""

TITLES: dict[Place, Text] = {
    WizardStep.MACHINE: text("Your machine"),
    WizardStep.FOUND: text("Diagnosis"),
    WizardStep.REPAIR: text("Repair"),
    WizardStep.VERIFY: text("Verify"),
    WizardStep.LIVE: text("Live memory"),
    SideTool.EXPLAIN: text("Explain an error"),
    SideTool.WHAT_IF: text("Compatibility check"),
    SideTool.INSTALL: text("Install"),
    SideTool.GUIDES: text("Guides"),
    SideTool.HOLDERS: text("GPU processes"),
    SideTool.PROJECT: text("A project’s folder"),
    SideTool.ESTIMATE: text("Will it fit?"),
    SideTool.SNAPSHOT: text("Memory snapshot"),
    SideTool.PROFILE: text("Where time goes"),
}
SHOW_HOW = text("Show what to do")


class StepStatus(str, Enum):
    """What the side list shows beside a step."""

    TODO = "todo"
    BUSY = "busy"
    RIGHT = "right"
    WARNING = "warning"
    PROBLEM = "problem"
    UNKNOWN = "unknown"


class GoTo(Struct, frozen=True):
    """A place, for nothing in particular."""

    place: Place


class ToFinding(Struct, frozen=True):
    """Diagnosis, at what to do about this problem."""

    place: ClassVar[Place] = WizardStep.FOUND
    problem: str


class ToRepair(Struct, frozen=True):
    """Repair, so that new shells use this CUDA version."""

    place: ClassVar[Place] = WizardStep.REPAIR
    version: str


class RepairPart(str, Enum):
    """What can be repaired, each beside the others."""

    TOOLKIT = "toolkit"
    CLEAN = "clean"
    DEVICES = "devices"
    LINES = "lines"


class ToRepairPart(Struct, frozen=True):
    """Repair, at one of its parts."""

    place: ClassVar[Place] = WizardStep.REPAIR
    part: RepairPart


class ToVerify(Struct, frozen=True):
    """Verify, with the environment of this interpreter chosen."""

    place: ClassVar[Place] = WizardStep.VERIFY
    interpreter: str


class ToExplainText(Struct, frozen=True):
    """Explain an error, with this text in the box."""

    place: ClassVar[Place] = SideTool.EXPLAIN
    words: str


class ToExplainFile(Struct, frozen=True):
    """Explain an error, with the text of this file."""

    place: ClassVar[Place] = SideTool.EXPLAIN
    path: str


class ToWhatIf(Struct, frozen=True):
    """What if, with these parts chosen."""

    place: ClassVar[Place] = SideTool.WHAT_IF
    wish: Wish


class ToInstall(Struct, frozen=True):
    """Install, with these parts chosen."""

    place: ClassVar[Place] = SideTool.INSTALL
    wish: InstallWish


class ToWaitingInstall(Struct, frozen=True):
    """Install, to go on with the one that waits."""

    place: ClassVar[Place] = SideTool.INSTALL


class ToGuide(Struct, frozen=True):
    """The guide of this topic."""

    place: ClassVar[Place] = SideTool.GUIDES
    topic: str


class ToTerm(Struct, frozen=True):
    """The glossary's entry with this key."""

    place: ClassVar[Place] = SideTool.GUIDES
    key: str


class ToHolders(Struct, frozen=True):
    """Who holds the GPU, with this process chosen; with whichever holds most where it is not known."""

    place: ClassVar[Place] = SideTool.HOLDERS
    pid: int | None = None


class ToProject(Struct, frozen=True):
    """A project's folder, to be judged; the one that is looked at, or none, where it is empty."""

    place: ClassVar[Place] = SideTool.PROJECT
    directory: str = ""


class ToSnapshot(Struct, frozen=True):
    """A memory snapshot that torch wrote, to be opened."""

    place: ClassVar[Place] = SideTool.SNAPSHOT
    path: str


class ToEstimate(Struct, frozen=True):
    """Will it fit, with this model, and run as that says; as it stands there where it is None."""

    place: ClassVar[Place] = SideTool.ESTIMATE
    model: str = ""
    setting: EstimateSetting | None = None


class ToProfile(Struct, frozen=True):
    """Where time goes, with what a profiler left in this file; the one that is shown, or none, where it is empty."""

    place: ClassVar[Place] = SideTool.PROFILE
    path: str = ""


class ToRecording(Struct, frozen=True):
    """Live memory, with a run of this recording of samples: its newest, unless another is named."""

    place: ClassVar[Place] = WizardStep.LIVE
    path: str
    number: int | None = None


class ToServer(Struct, frozen=True):
    """Live memory, with the GPUs that a Prometheus server watches: those of these machines, or all."""

    place: ClassVar[Place] = WizardStep.LIVE
    address: str
    hosts: tuple[str, ...] = ()
    token_file: str = ""


_ToStep = ToFinding | ToRecording | ToServer | ToRepair | ToRepairPart | ToVerify
_ToAnswer = ToExplainText | ToExplainFile | ToWhatIf | ToGuide | ToTerm | ToHolders
Errand = _ToStep | _ToAnswer | ToInstall | ToWaitingInstall | ToProject | ToEstimate | ToSnapshot | ToProfile
"""A place with what to do there."""

Destination = GoTo | Errand


class WayOn(Struct, frozen=True):
    """A button's words, and what it does: leads to a `destination`, or copies `lines` against a `problem`, typed elsewhere."""

    title: Text
    destination: Destination | None = None
    lines: tuple[str, ...] = ()
    problem: str = ""


class Next(Struct, frozen=True):
    """The user pressed the way on."""


class Back(Struct, frozen=True):
    """The user wants to see the step shown before."""


class ReadingStarted(Struct, frozen=True):
    """A machine is being read: another one, or the same one again `after_write`, when what was found no longer holds."""

    after_write: bool = False


class ReadingEnded(Struct, frozen=True):
    """The machine was read and judged: how two steps stand, the CUDA version that a finding offers, what mends the worst one."""

    machine: StepStatus
    found: StepStatus
    repairable: str = ""
    mend: WayOn | None = None


class ReadingFailed(Struct, frozen=True):
    """Nothing could be read: a recording that is none, or a fault of our own."""


class Marked(Struct, frozen=True):
    """A page tells how its own step stands."""

    step: WizardStep
    state: StepStatus


Event = Destination | Next | Back | ReadingStarted | ReadingEnded | ReadingFailed | Marked


class SideListEntry(Struct, frozen=True):
    """One row of the side list."""

    step: WizardStep
    state: StepStatus
    enabled: bool
    current: bool


class Flow(Struct, frozen=True):
    """Where the user is; `trail` are the places before, `repairable` is a finding's version, `mend` what mends the worst."""

    current: Place = WizardStep.MACHINE
    states: tuple[tuple[WizardStep, StepStatus], ...] = tuple((step, StepStatus.TODO) for step in WizardStep)
    trail: tuple[Place, ...] = ()
    inspected: bool = False
    repairable: str = ""
    mend: WayOn | None = None
    errand: Errand | None = None

    def state(self, step: WizardStep) -> StepStatus:
        """How a step stands."""
        return dict(self.states)[step]

    def enabled(self, place: Place) -> bool:
        """Whether it can be shown now: what rests on facts waits for them, live memory and tools do not."""
        return isinstance(place, SideTool) or place in {WizardStep.MACHINE, WizardStep.LIVE} or self.inspected

    def entries(self) -> tuple[SideListEntry, ...]:
        """The side list."""
        return tuple(SideListEntry(step, state, self.enabled(step), step is self.current) for step, state in self.states)

    def lead(self) -> WayOn | None:
        """The one obvious act: what mends the worst finding. Under a problem on every page from the machine to live memory, and
        where installs are planned; under a warning on the two that are about it.
        """
        if self.mend is None or self.state(WizardStep.FOUND) is StepStatus.BUSY or self._verifies():
            return None
        problem, both = self.state(WizardStep.FOUND) is StepStatus.PROBLEM, {WizardStep.FOUND, WizardStep.REPAIR}
        if self.current not in ({*WizardStep, SideTool.INSTALL} if problem else both):
            return None
        unseen = self.mend.lines and self.mend.problem and self.current is not WizardStep.FOUND  # nobody copies what he cannot see
        return WayOn(SHOW_HOW, ToFinding(self.mend.problem)) if unseen else self.mend

    def way(self) -> Destination | None:
        """Where the way on leads: to what mends the worst finding, and never past a problem to its verification; none at the end or
        before the facts are there.
        """
        after = None if isinstance(self.current, SideTool) else _NEXT.get(self.current)
        if after is None or not self.enabled(after):
            return None
        if self.current is WizardStep.MACHINE:
            return GoTo(after)
        if after is WizardStep.LIVE:
            stands = self.state(WizardStep.FOUND) is StepStatus.PROBLEM and self.state(WizardStep.VERIFY) is not StepStatus.RIGHT
            return None if stands else GoTo(after)
        lead, problem = self.lead(), self.state(WizardStep.FOUND) is StepStatus.PROBLEM
        if lead is not None and (problem or self.current is WizardStep.FOUND):
            order: tuple[Place, ...] = (*WizardStep, *SideTool)
            goes_on = lead.destination is not None and order.index(lead.destination.place) > order.index(self.current)
            return lead.destination if goes_on else None
        stands = problem or self.state(WizardStep.FOUND) is StepStatus.BUSY
        return None if stands else GoTo(WizardStep.VERIFY)

    def _verifies(self) -> bool:
        """Whether a verification runs, or has passed: then nothing leads away from it."""
        return self.current is WizardStep.VERIFY and self.state(self.current) in {StepStatus.BUSY, StepStatus.RIGHT}

    def next(self) -> Place | None:
        """The place that the way on leads to."""
        way = self.way()
        return way.place if way is not None else None

    def back(self) -> Place | None:
        """What was shown before this."""
        return self.trail[-1] if self.trail else None


_NEXT = {
    WizardStep.MACHINE: WizardStep.FOUND,
    WizardStep.FOUND: WizardStep.REPAIR,
    WizardStep.REPAIR: WizardStep.VERIFY,
    WizardStep.VERIFY: WizardStep.LIVE,
}
_TRAIL_AT_MOST = 32


def follow(flow: Flow, event: Event) -> Flow:
    """The flow after an event; one that cannot be followed now leaves it as it is."""
    if isinstance(event, Destination):
        return _go(flow, event)
    if isinstance(event, Next):
        way = flow.way()
        return flow if way is None else _go(flow, way)
    if isinstance(event, Back):
        return flow if not flow.trail else replace(flow, current=flow.trail[-1], trail=flow.trail[:-1], errand=None)
    if isinstance(event, Marked):
        return _mark(flow, {event.step: event.state})
    if isinstance(event, ReadingStarted):
        again = {WizardStep.FOUND: StepStatus.BUSY} if event.after_write and flow.inspected else {}
        return _mark(flow, {WizardStep.MACHINE: StepStatus.BUSY, **again})
    if isinstance(event, ReadingFailed):
        if flow.state(WizardStep.FOUND) is StepStatus.BUSY:  # something was written since the facts that are there were read
            return _mark(flow, {WizardStep.MACHINE: StepStatus.UNKNOWN, WizardStep.FOUND: StepStatus.UNKNOWN})
        before = StepStatus.RIGHT if flow.inspected else StepStatus.UNKNOWN
        return _mark(flow, {WizardStep.MACHINE: before})
    todo = dict.fromkeys((WizardStep.REPAIR, WizardStep.VERIFY), StepStatus.TODO)
    states = {WizardStep.MACHINE: event.machine, WizardStep.FOUND: event.found, **todo}
    return replace(_mark(flow, states), inspected=True, repairable=event.repairable, mend=event.mend, errand=None)


def _go(flow: Flow, destination: Destination) -> Flow:
    errand = None if isinstance(destination, GoTo) else destination
    if not flow.enabled(destination.place):
        return flow
    if destination.place is flow.current:
        return replace(flow, errand=errand or flow.errand)
    return replace(flow, current=destination.place, errand=errand, trail=(*flow.trail, flow.current)[-_TRAIL_AT_MOST:])


def _mark(flow: Flow, states: dict[WizardStep, StepStatus]) -> Flow:
    return replace(flow, states=tuple((step, states.get(step, state)) for step, state in flow.states))
