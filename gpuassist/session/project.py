"""A project's own files against a machine: read, judged, the smallest change of them, and the steps for what the machine lacks.

Nothing of a project is run, imported or fetched; directories that others put there (environments, modules of third parties) are
left out, symlinked ones not followed, and everything is bounded.
"""

from __future__ import annotations

import posixpath
import stat
from collections import deque
from collections.abc import Iterator

from msgspec import Struct
from packaging.version import InvalidVersion

from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.plan_change import plan_change
from gpuassist.changes.wishes import FitProject
from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.project.ground import BROKEN, UNKNOWN, Mend, ProjectGround, ProjectLink, ground_of
from gpuassist.diagnose.project.links import links_of
from gpuassist.diagnose.project.mend import Mended, Relock, mend
from gpuassist.diagnose.project.sets import Project, path_of, read_project
from gpuassist.diagnose.project.stock import range_of, takes
from gpuassist.formats.project.python_source import SIGNS
from gpuassist.formats.project.read import LARGEST_BYTES, about_of, reader_of
from gpuassist.formats.project.values import Spot, Trouble
from gpuassist.install import hypothetical
from gpuassist.install.configuration import place_of
from gpuassist.install.place import step
from gpuassist.knowledge.choice import choose_driver
from gpuassist.knowledge.commands import use
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Goal, GoalKind, Outlook
from gpuassist.model.plan import Step
from gpuassist.model.project import CheckId, ProjectChange, ProjectOutlook
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version
from gpuassist.session.plan import plan_goals
from gpuassist.shellfiles.diff import unified
from gpuassist.system.files import Files

_DEEPEST, _DIRECTORIES, _FILES, _MODULES, _BYTES, _INCLUDES = 8, 2_000, 1_500, 4_000, 64 << 20, 300
_LEFT_OUT = frozenset(
    [
        "node_modules",
        "__pycache__",
        "site-packages",
        "dist-packages",
        "venv",
        "env",
        "envs",
        "build",
        "dist",
        "wheels",
        "htmlcov",
        "third_party",
        "third-party",
        "thirdparty",
        "3rdparty",
        "3rd_party",
        "external",
        "extern",
        "externals",
        "vendor",
        "vendored",
        "submodules",
        "docs",
        "doc",
    ]
)
_HIDDEN_READ = frozenset({".devcontainer", ".docker"})
_LOCK_KEYS = {"uv": "project-lock-uv", "poetry": "project-lock-poetry", "pdm": "project-lock-pdm", "pipenv": "project-lock-pipenv"}


class ProjectError(ValueError):
    """A directory holds no project that can be looked at; `reason` says why."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class _Gathered(Struct):
    files: dict[str, bytes]
    troubles: list[Trouble]
    taken: int = 0
    modules: int = 0


def project_outlook(session: Session, machine: Machine, directory: str) -> ProjectOutlook:
    """The answer for the project in a directory; raises `ProjectError` where that is none."""
    project = look_at_project(session.world.files, directory)
    return judge_project(session, machine, directory, project)


def judge_project(session: Session, machine: Machine, directory: str, project: Project) -> ProjectOutlook:
    """The same for files that were read before."""
    ground = ground_of(RuleInput(machine, session.knowledge))
    links = links_of(project, ground)
    mended = mend(project, ground)
    after = links_of(mended.project, ground)
    states = {link.check.state for link in links}
    fits = False if BROKEN in states else None if UNKNOWN in states or not project.files else True
    steps, notes = _steps(session, machine, directory, _Left(ground, after, mended))
    changes = tuple(
        ProjectChange(
            name,
            project.files[name],
            mended.project.files[name],
            unified(name, project.files[name], mended.project.files[name]),
            does,
            breaks,
        )
        for name, (does, breaks) in mended.changed.items()
        if project.files[name] != mended.project.files[name]
    )
    if not project.files:
        notes = (text("there is no file here that says what the project needs"), *notes)
    elif not links:
        notes = (text("nothing in these files asks for torch, CUDA or a GPU"), *notes)
    return ProjectOutlook(directory, fits, tuple(link.check for link in links), changes, steps, notes, tuple(sorted(project.files)))


def plan_project_change(session: Session, machine: Machine, outlook: ProjectOutlook, *, recorded: bool = False) -> ChangePlan:
    """The plan that writes the changes of an outlook; raises `RepairError`."""
    files = tuple((one.file, one.before, one.after) for one in outlook.changes)
    return plan_change(session.world, machine, FitProject(outlook.directory, files), recorded=recorded)


# Reading


def look_at_project(files: Files, directory: str) -> Project:
    """Every file of it that says something, and those that they take in."""
    if not files.is_directory(directory):
        raise ProjectError(text("{directory} is not a directory", directory=directory))
    found = _Gathered({}, [])
    todo: deque[tuple[str, int]] = deque([("", 0)])
    seen = 0
    while todo:
        inside, depth = todo.popleft()
        seen += 1
        if seen > _DIRECTORIES:
            found.troubles.append(
                Trouble(Spot(inside, 0), text("more than {count} directories: the others are not looked at", count=_DIRECTORIES))
            )
            break
        place = posixpath.join(directory, inside) if inside else directory
        for name in files.names(place):
            path = posixpath.join(inside, name)
            if reader_of(path) is not None and not files.is_directory(f"{place}/{name}"):
                _take(files, directory, path, found)
            elif depth < _DEEPEST and _is_own(files, place, name):
                todo.append((path, depth + 1))
    return _with_includes(files, directory, found)


def _is_own(files: Files, place: str, name: str) -> bool:
    """Whether a directory is one of the project's own."""
    path = f"{place}/{name}"
    if name in _LEFT_OUT or (name.startswith(".") and name not in _HIDDEN_READ) or name.endswith((".egg-info", ".dist-info")):
        return False
    if files.is_link(path) or not files.is_directory(path):
        return False
    return not any(files.exists(f"{path}/{sign}") for sign in ("pyvenv.cfg", "conda-meta", ".git"))


def _take(files: Files, directory: str, path: str, found: _Gathered) -> None:
    module = path.endswith(".py") and posixpath.basename(path) != "setup.py"
    if module:
        found.modules += 1
        if found.modules > _MODULES:
            return
    content = _content(files, posixpath.join(directory, path), path, found)
    if content is None or (module and not any(sign in content for sign in SIGNS)):
        return
    found.taken += len(content)
    if len(found.files) >= _FILES or found.taken > _BYTES:
        if not found.troubles or found.troubles[-1].spot.line:
            found.troubles.append(
                Trouble(Spot(path, 0), text("there is more than gpuassist looks at: this file and later ones are left out"))
            )
        return
    found.files[path] = content


def _content(files: Files, place: str, path: str, found: _Gathered) -> bytes | None:
    """The bytes of a regular file; of anything else why there are none."""
    try:
        status = files.status(place)
        if not stat.S_ISREG(status.st_mode):
            reason = text("it is not a regular file")
        elif status.st_size > LARGEST_BYTES:
            return files.read_bytes(place, LARGEST_BYTES + 1)
        else:
            return files.read_bytes(place, LARGEST_BYTES + 1)
    except OSError as error:
        reason = text("it cannot be read ({error})", error=error.strerror or str(error))
    found.troubles.append(Trouble(Spot(path, 1), reason, about_of(path)))
    return None


def _with_includes(files: Files, directory: str, found: _Gathered) -> Project:
    """The project with the files that others take in, wherever they lie."""
    looked: set[str] = set()
    project = read_project(found.files, tuple(found.troubles))
    while True:
        missing = [path for path in _included(project) if path not in found.files and path not in looked]
        if not missing or len(looked) > _INCLUDES:
            return project
        for path in missing:
            looked.add(path)
            place = posixpath.join(directory, path)
            if files.exists(place):
                content = _content(files, place, path, found)
                if content is not None:
                    found.files[path] = content
        project = read_project(found.files, tuple(found.troubles))


def _included(project: Project) -> Iterator[str]:
    for reading in project.readings.values():
        if reading.kind != "docker":  # what a Dockerfile names lies in the image
            yield from (path_of(reading.file, one.path) for one in reading.includes if "://" not in one.path)


# What the machine lacks, and what other tools have to do


class _Left(Struct, frozen=True):
    """What is left to do once the files are changed."""

    ground: ProjectGround
    links: tuple[ProjectLink, ...]
    mended: Mended


def _steps(session: Session, machine: Machine, directory: str, left: _Left) -> tuple[tuple[Step, ...], tuple[Text, ...]]:
    steps: list[Step] = []
    notes: list[Text] = []
    for outlook in _plans(session, machine, left):
        steps += [one for one in outlook.steps if one not in steps]
        notes += [*outlook.blocked_by, *outlook.undetermined]
    steps += _python_steps(session, machine, left)
    steps += [_lock_step(session, machine, directory, one) for one in left.mended.relocks]
    return tuple(steps), tuple(dict.fromkeys(notes))


def _plans(session: Session, machine: Machine, left: _Left) -> Iterator[Outlook]:
    broken = [link for link in left.links if link.check.state is BROKEN]
    cuda = max((link.driver_for for link in broken if link.driver_for is not None), default=None)
    if any(link.mend is Mend.DRIVER for link in broken) or cuda is not None:
        yield plan_goals(session, machine, (_driver_goal(left.ground, cuda),))
    compiled = next((link for link in broken if link.mend is Mend.TOOLKIT), None)
    if compiled is not None:
        build = compiled.pick.build if compiled.pick is not None else None
        yield plan_goals(session, _with_torch(machine, build), (Goal(GoalKind.CUDA),))


def _driver_goal(ground: ProjectGround, cuda: Version | None) -> Goal:
    """The driver that runs what the project asks for; whichever fits where none runs at all."""
    if cuda is None or ground.driver_missing:
        return Goal(GoalKind.DRIVER)
    case = ground.case
    best = choose_driver(
        case.knowledge.branches(), case.wishes, today=case.machine.taken_at[:10], cuda=cuda, one_module=not case.wsl
    ).best
    return Goal(GoalKind.DRIVER, Version((best.branch,))) if best is not None else Goal(GoalKind.DRIVER)


def _with_torch(machine: Machine, build: TorchBuild | None) -> Machine:
    """The machine as it is once the project's torch is there: a toolkit has to be of its CUDA."""
    return hypothetical.with_torch(machine, build) if build is not None and build.cuda is not None else machine


def _python_steps(session: Session, machine: Machine, left: _Left) -> Iterator[Step]:
    """A Python that the project takes, where none of this machine's is one."""
    link = next(
        (each for each in left.links if each.check.id is CheckId.PYTHON and each.check.state is BROKEN and each.of is not None),
        None,
    )
    if link is None or link.of is None or link.mend is not Mend.NONE:
        return
    ranges = [range_of(wish.versions) for wish in link.of.pythons if not wish.pinned]
    known = {python for release in session.knowledge.torch_releases()[-8:] for python in release.pythons}
    try:
        fitting = [one for one in sorted(known) if all(each is None or takes(each, f"{one}.0") for each in ranges)]
    except InvalidVersion:
        return
    if fitting and not any(wish.pinned for wish in link.of.pythons):
        place = place_of(RuleInput(machine, session.knowledge))
        words = (text("Get Python {python}, which the project asks for", python=str(fitting[0])), None)
        yield step((use("python-install-uv", version=str(fitting[0])),), place, session.knowledge.commands, words)


def _lock_step(session: Session, machine: Machine, directory: str, one: Relock) -> Step:
    place = place_of(RuleInput(machine, session.knowledge))
    inside = posixpath.normpath(posixpath.join(directory, posixpath.dirname(one.lock)))
    names = {
        "directory": inside,
        "file": posixpath.basename(one.lock),
        "path": posixpath.relpath(one.source, posixpath.dirname(one.lock) or "."),
    }
    if one.tool == "conda-lock":
        key = "project-lock-conda"
    elif one.tool in {"pip-compile", "uv-compile"}:
        key = {"pip-compile": "project-compile", "uv-compile": "project-compile-uv"}[one.tool] + ("" if one.hashed else "-plain")
    else:
        key = _LOCK_KEYS.get(one.tool, "project-lock-uv")
        key += "-upgrade" if one.upgrade and one.tool in {"uv", "poetry"} else ""
    does = text("Have {tool} make {lock} anew from {source}", tool=one.tool, lock=one.lock, source=one.source)
    check = text("`gpuassist plan --project {directory}` finds torch fit in {lock}", directory=directory, lock=one.lock)
    return step((use(key, **names),), place, session.knowledge.commands, (does, check))
