"""Looking at a step before it runs: its tool is asked what it would do, and what it says is held against the machine."""

from __future__ import annotations

from collections.abc import Iterable

from gpuassist.formats.package_metadata import PackageMetadata
from gpuassist.formats.pip_report import Planned, read_pip_report
from gpuassist.formats.shortened import shortened
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Run, Step, Tool
from gpuassist.model.solve import Looked, PackageChange, Solve
from gpuassist.model.text import Text, text
from gpuassist.repair.dry_run import Does, looking, read_act
from gpuassist.session.context import Session
from gpuassist.session.installed import installed_in, site_directories
from gpuassist.system.processes import Outcome, clean
from gpuassist.system.scratch import scratch

_SECONDS = 300.0
_REPORT_AT_MOST_BYTES = 64 << 20
_WORDS_AT_MOST = 600


def look_before(session: Session, machine: Machine, step: Step) -> Looked:
    """What the step would do to its environment; a step that changes none has nothing to look at."""
    if step.run is None:
        return Looked(Known(Solve(Tool.PIP), "no program"))
    return _look(session, machine, step.run)


def _look(session: Session, machine: Machine, run: Run) -> Looked:
    files = session.world.files
    there = installed_in(files, site_directories(files, machine, run))
    removed = set[str]()
    after = dict(there)
    source = ""
    for program in run.programs:
        act = read_act(program)
        if act.does is Does.REMOVES:
            removed.update(name for name in act.names if name in after)
            for name in act.names:
                after.pop(name, None)
        elif act.does is Does.INSTALLS:
            with scratch(session.world.surroundings.cache()) as directory:
                report = f"{directory}/report.json"
                command = looking(act, report)
                source = " ".join(command)
                outcome = session.world.processes.run(
                    command, seconds=_SECONDS, environment=clean(session.world.surroundings.variables)
                )
                planned = read_pip_report(_written(session, report))
            if not outcome.succeeded or planned is None:
                reason = _failed(outcome)
                return Looked(Unknown(reason), stops=(reason,))
            after.update((one.name, PackageMetadata(one.name, one.version, one.requires)) for one in planned)
            changes = _changes(there, after, planned)
            return Looked(Known(Solve(run.tool, changes), source))
    return Looked(Known(Solve(run.tool, _changes(there, after, ())), source))


def _changes(
    before: dict[str, PackageMetadata], after: dict[str, PackageMetadata], planned: Iterable[Planned]
) -> tuple[PackageChange, ...]:
    sources = {one.name: one.source for one in planned}
    names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name) or name in sources)
    return tuple(
        PackageChange(
            name,
            before[name].version if name in before else "",
            after[name].version if name in after else "",
            source=sources.get(name, ""),
        )
        for name in names
    )


def _written(session: Session, path: str) -> str:
    try:
        return session.world.files.read_text(path, _REPORT_AT_MOST_BYTES)
    except OSError:
        return ""


def _failed(outcome: Outcome) -> Text:
    said = outcome.stderr.decode("utf-8", "replace").strip() or outcome.words or outcome.ending.value
    return text("What would be installed could not be told: {words}", words=shortened(said, _WORDS_AT_MOST))
