"""Looking at a step before it runs: its tools are asked what they would do, and that is held against the machine."""

from __future__ import annotations

from collections.abc import Callable

from gpuassist.context import Session
from gpuassist.install.dry_run_process import Conditions, look
from gpuassist.install.preview_blockers import judge
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Step, Tool
from gpuassist.model.solve import Looked, Solve
from gpuassist.model.text import Text


def look_before(
    session: Session,
    machine: Machine,
    step: Step,
    *,
    earlier: tuple[Step, ...] = (),
    directory: str = "",
    cancelled: Callable[[], bool] | None = None,
) -> Looked:
    """What the step would do to its environment; a step that changes none has nothing to look at. `earlier` are the steps before it
    that are not done yet: what they make and take out is taken as done. `directory` is where its programs run, else at home.
    """
    if step.run is None:
        return Looked(Known(Solve(Tool.PIP), ""))
    done = tuple(one.run for one in earlier if one.run is not None)
    seen = look(session, machine, step.run, Conditions(directory or session.world.surroundings.home, done, cancelled))
    if isinstance(seen, Text):
        return Looked(Unknown(seen), stops=(seen,))
    judged = judge(session.knowledge, machine, step, seen)
    solve = Known(Solve(step.run.tool, seen.changes), "; ".join(seen.sources))
    return Looked(solve, judged.requires, judged.stops, judged.warnings)
