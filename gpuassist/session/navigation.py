"""The wizard's navigation as pure data: which step is shown, the state of each, where back and next lead.

Nothing here knows widgets: the window pushes events in and shows the flow that comes out, and tests do the same without a window.
It imports nothing of the model either, because it is there before the first paint.
"""

from __future__ import annotations

from enum import Enum
from typing import Union

from msgspec import Struct
from msgspec.structs import replace


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


FILE_WISH, TEXT_WISH = "file:", "text:"
"""What the wish for the explain page begins with: a file's path, or the text itself, follows."""

GO_ON_WISH = "go-on"
"""The wish for the install page to go on with what waits."""

Place = Union[WizardStep, SideTool]
"""Whatever the side list leads to."""


class StepStatus(str, Enum):
    """What the side list shows beside a step."""

    TODO = "todo"
    BUSY = "busy"
    RIGHT = "right"
    WARNING = "warning"
    PROBLEM = "problem"
    UNKNOWN = "unknown"


class GoTo(Struct, frozen=True):
    """The user chose a place; `wish` is what to do there.

    For the repair page that is the CUDA version that new shells shall use, for what-if the words of a wish (`session.wish_words`),
    for install those of another (`session.install_wish`), for explain a text or a file (`session.explain_leads`), for the guides
    a topic, for the holders the number of a process.
    """

    step: Place
    wish: str = ""


class Next(Struct, frozen=True):
    """The user pressed the way on."""


class Back(Struct, frozen=True):
    """The user wants to see the step shown before."""


class ReadingStarted(Struct, frozen=True):
    """A machine is being read: another one, or the same one again `after_write`, when what was found no longer holds."""

    after_write: bool = False


class ReadingEnded(Struct, frozen=True):
    """The machine was read and judged: how the first two steps stand, and the CUDA version that a finding offers to switch to."""

    machine: StepStatus
    found: StepStatus
    repairable: str = ""


class ReadingFailed(Struct, frozen=True):
    """Nothing could be read: a recording that is none, or a fault of our own."""


class Marked(Struct, frozen=True):
    """A page tells how its own step stands."""

    step: WizardStep
    state: StepStatus


Event = Union[GoTo, Next, Back, ReadingStarted, ReadingEnded, ReadingFailed, Marked]


class SideListEntry(Struct, frozen=True):
    """One row of the side list."""

    step: WizardStep
    state: StepStatus
    enabled: bool
    current: bool


class Flow(Struct, frozen=True):
    """Where the user is; `trail` are the places shown before, oldest first; `repairable` is the version a finding offers."""

    current: Place = WizardStep.MACHINE
    states: tuple[tuple[WizardStep, StepStatus], ...] = tuple((step, StepStatus.TODO) for step in WizardStep)
    trail: tuple[Place, ...] = ()
    inspected: bool = False
    repairable: str = ""
    wish: str = ""

    def state(self, step: WizardStep) -> StepStatus:
        """How a step stands."""
        return dict(self.states)[step]

    def enabled(self, place: Place) -> bool:
        """Whether it can be shown now: what rests on facts waits for them, live memory and tools do not."""
        return isinstance(place, SideTool) or place in {WizardStep.MACHINE, WizardStep.LIVE} or self.inspected

    def entries(self) -> tuple[SideListEntry, ...]:
        """The side list."""
        return tuple(SideListEntry(step, state, self.enabled(step), step is self.current) for step, state in self.states)

    def next(self) -> WizardStep | None:
        """Where the way on leads: past a repair that nobody needs; none at the end or before the facts are there."""
        after = None if isinstance(self.current, SideTool) else _NEXT.get(self.current)
        if self.current is WizardStep.FOUND and not self.repairable:
            after = WizardStep.VERIFY
        return after if after is not None and self.enabled(after) else None

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
    if isinstance(event, GoTo):
        return _go(flow, event.step, event.wish)
    if isinstance(event, Next):
        after = flow.next()
        return flow if after is None else _go(flow, after, flow.repairable if after is WizardStep.REPAIR else "")
    if isinstance(event, Back):
        return flow if not flow.trail else replace(flow, current=flow.trail[-1], trail=flow.trail[:-1], wish="")
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
    states = {
        WizardStep.MACHINE: event.machine,
        WizardStep.FOUND: event.found,
        WizardStep.REPAIR: StepStatus.TODO,
        WizardStep.VERIFY: StepStatus.TODO,
    }
    return replace(_mark(flow, states), inspected=True, repairable=event.repairable, wish="")


def place_named(value: str) -> Place | None:
    """The step or the tool with this value; none has another."""
    return next((place for place in (*WizardStep, *SideTool) if place.value == value), None)


def _go(flow: Flow, place: Place, wish: str) -> Flow:
    if not flow.enabled(place):
        return flow
    if place is flow.current:
        return replace(flow, wish=wish or flow.wish)
    return replace(flow, current=place, wish=wish, trail=(*flow.trail, flow.current)[-_TRAIL_AT_MOST:])


def _mark(flow: Flow, states: dict[WizardStep, StepStatus]) -> Flow:
    return replace(flow, states=tuple((step, states.get(step, state)) for step, state in flow.states))
