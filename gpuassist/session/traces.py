"""All that gpuassist has left on this machine, looked at as a whole: changes that stand, installs that remain, its own data."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.changes.undo_all import UndoAllPlan, plan_undo_all
from gpuassist.context import Session
from gpuassist.session.installs_left import InstallsLeft, installs_left
from gpuassist.session.own_state import OwnState, own_state


class Traces(Struct, frozen=True):
    """How every change would be taken back, what installs have left, and the data that can be deleted once nothing needs it."""

    plan: UndoAllPlan
    installs: InstallsLeft
    state: OwnState


def look_at_traces(session: Session, *, take_out: bool = False) -> Traces:
    """Nothing is changed by it; raises `RepairError` where the journal cannot be used."""
    plan = plan_undo_all(session.world, take_out=take_out)
    installs = installs_left(session)
    return Traces(plan, installs, own_state(session, plan, installs))


def look_again(session: Session, traces: Traces) -> Traces:
    """The same after changes were taken back, which changes nothing of installs."""
    plan = plan_undo_all(session.world)
    return replace(traces, plan=plan, state=own_state(session, plan, traces.installs))
