"""The plan that puts other words in a project's own files; changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.changes.line_plan import new_id, step_of
from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.target import FileTarget, examine
from gpuassist.changes.wishes import FitProject
from gpuassist.model.plan import Plan, Step
from gpuassist.model.text import Text, text
from gpuassist.system.world import World


def plan_fit_project(world: World, wish: FitProject) -> ChangePlan:
    """Plans it; where a file is not what was judged, or may not be written, that is the plan's obstacle."""
    directory = wish.directory.rstrip("/")
    targets = tuple((examine(world, f"{directory}/{name}"), before, after) for name, before, after in wish.files)
    obstacle = next(
        (reason for target, before, _ in targets if (reason := _forbids(world, directory, target, before)) is not None), None
    )
    change = new_id(world, tuple(part for _, before, after in targets for part in (before, after)) or (directory.encode(),))
    notes = tuple(dict.fromkeys(note for target, _, _ in targets for note in target.notes))
    goal = text("Make the project in {directory} fit this machine", directory=directory)
    plan = Plan(change, goal, tuple(_steps(targets)), notes)
    return ChangePlan(wish, plan, f"plan --project {directory}", obstacle=obstacle)


def _steps(targets: tuple[tuple[FileTarget, bytes, bytes], ...]) -> Iterator[Step]:
    for target, _, after in targets:
        if target.obstacle is None:
            yield step_of(target.edit(after, "text"), text("Write it in {path}", path=target.path))


def _forbids(world: World, directory: str, target: FileTarget, before: bytes) -> Text | None:
    """Why it may not be written: also where it is no file of the project, whatever led to it."""
    if target.obstacle is not None:
        return target.obstacle
    if not target.exists or target.content != before:
        return text("{path} is not what it was when it was judged; please look again", path=target.path)
    if not target.path_written.startswith(f"{world.files.real(directory).rstrip('/')}/"):
        return text("{path} leads to {target}, which is outside the project", path=target.path, target=target.path_written)
    return None
