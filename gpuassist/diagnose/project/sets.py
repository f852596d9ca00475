"""What a project's files install together: each file of requirements with all that it takes in, each stage of a Dockerfile."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from gpuassist.formats.project import conda_environment, containers, locks, pyproject, python_source, requirements
from gpuassist.formats.project.read import read_file
from gpuassist.formats.project.values import (
    AskedAs,
    FileReading,
    LockedPackage,
    ProjectImage,
    ProjectIndex,
    ProjectRequirement,
    PythonWish,
    Trouble,
)
from gpuassist.model.text import text

PIP, UV, POETRY, PDM, PIPENV, CONDA = "pip", "uv", "poetry", "pdm", "pipenv", "conda"
_ELSEWHERE = (
    "cpu",
    "rocm",
    "amd",
    "xpu",
    "intel",
    "mac",
    "macos",
    "darwin",
    "osx",
    "mps",
    "windows",
    "win",
    "tpu",
    "npu",
    "hpu",
    "metal",
)
_DEEPEST = 50
_COMPILED = {"pip-compile", "uv-compile"}


class InstallSet(Struct, frozen=True):
    """What is installed at once by one tool. `name` is the file it is called by; `locked` what its lock file says, by package;
    `made_from` the file that a compiled one is made from. `bound` are the indexes that packages are bound to by name. Within a
    Dockerfile `image` is what it is installed into.
    """

    name: str
    tool: str
    requirements: tuple[ProjectRequirement, ...]
    indexes: tuple[ProjectIndex, ...] = ()
    channels: tuple[str, ...] = ()
    pythons: tuple[PythonWish, ...] = ()
    locked: Mapping[str, LockedPackage] = field(default_factory=dict)
    lock: str = ""
    lock_tool: str = ""
    made_from: str = ""
    compiled_by: str = ""
    bound: tuple[tuple[str, str], ...] = ()
    image: ProjectImage | None = None
    group: str = ""

    @property
    def hashed(self) -> bool:
        return any(one.hashed for one in self.requirements)

    def named(self, *names: str) -> tuple[ProjectRequirement, ...]:
        return tuple(one for one in self.requirements if one.name in names and one.origin is not AskedAs.BUILD)


class Project(Struct, frozen=True):
    """The files of a project by their path from its directory; `troubles` are what of it could not be read at all."""

    files: Mapping[str, bytes]
    readings: Mapping[str, FileReading]
    troubles: tuple[Trouble, ...] = ()

    def with_files(self, changed: Mapping[str, bytes]) -> Project:
        """The project with other words in some of its files."""
        read = {name: _read(name, content, self.readings) for name, content in changed.items()}
        return replace(self, files={**self.files, **changed}, readings={**self.readings, **read})


def read_project(files: Mapping[str, bytes], troubles: tuple[Trouble, ...] = ()) -> Project:
    """Reads every file by its name, and those that others take in as what they are taken in for."""
    readings = {name: read_file(name, content) for name, content in files.items()}
    limits = {
        path
        for one in readings.values()
        for include in one.includes
        if include.constraint
        for path in [path_of(one.file, include.path)]
    }
    for name in limits & readings.keys():
        readings[name] = read_file(name, files[name], constraint=True)
    return Project(files, readings, troubles)


def _read(name: str, content: bytes, before: Mapping[str, FileReading]) -> FileReading:
    old = before.get(name)
    limits = old is not None and bool(old.requirements) and all(one.origin is AskedAs.CONSTRAINT for one in old.requirements)
    return read_file(name, content, constraint=limits and old is not None and old.kind == requirements.KIND)


def path_of(file: str, path: str) -> str:
    """Where a file that another names lies, from the project's directory."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), path))


def sets_of(project: Project) -> tuple[InstallSet, ...]:
    """Every set, those of other platforms left out where there is one for this."""
    made = tuple(_every(project))
    with_torch = [one for one in made if one.named("torch", "pytorch", "torchvision", "torchaudio")]
    here = [one for one in with_torch if not is_elsewhere(one)]
    return tuple(one for one in made if not (here and one in with_torch and is_elsewhere(one)))


def is_elsewhere(one: InstallSet) -> bool:
    """Whether its file, or its group, is called by another kind of machine: `requirements-cpu.txt`."""
    words = f"{posixpath.basename(one.name)} {one.group}".lower().replace("_", " ").replace("-", " ").replace(".", " ")
    return bool(set(words.split()) & set(_ELSEWHERE))


def include_troubles(project: Project) -> Iterator[Trouble]:
    """Files that are taken in and are not there, or take each other in."""
    for name, reading in project.readings.items():
        for include in reading.includes:
            if "://" in include.path:
                yield Trouble(
                    include.spot, text("{path} is on the network, where gpuassist does not look", path=include.path[:200])
                )
                continue
            path = _found(project, reading, include.path)
            if path is None:
                yield Trouble(include.spot, text("there is no {path} to take in", path=include.path[:200]))
            elif path == name or _leads_to(project, path, name):
                yield Trouble(include.spot, text("{path} takes this file in again, in a circle", path=include.path[:200]))


def _leads_to(project: Project, start: str, wanted: str) -> bool:
    todo, seen = [start], {start}
    while todo:
        reading = project.readings.get(todo.pop())
        for include in reading.includes if reading is not None else ():
            path = path_of(reading.file, include.path) if reading is not None else ""
            if path == wanted:
                return True
            if path not in seen:
                seen.add(path)
                todo.append(path)
    return False


def _found(project: Project, reading: FileReading, path: str) -> str | None:
    """The project's file of that path; what a Dockerfile names lies in the image, and is known by where it came from."""
    direct = path_of(reading.file, path)
    if direct in project.readings:
        return direct
    if reading.kind == containers.KIND:
        last = posixpath.basename(path)
        same = sorted((name for name in project.readings if posixpath.basename(name) == last), key=len)
        return same[0] if same else None
    return None


def _every(project: Project) -> Iterator[InstallSet]:
    taken = {
        path
        for reading in project.readings.values()
        if reading.kind == requirements.KIND
        for include in reading.includes
        if (path := _found(project, reading, include.path)) is not None and path != reading.file
    }
    for name, reading in project.readings.items():
        if reading.kind == requirements.KIND and (name not in taken or _leads_to(project, name, name)):
            limits = bool(reading.requirements) and all(one.origin is AskedAs.CONSTRAINT for one in reading.requirements)
            source = name[: -len(".txt")] + ".in" if name.endswith(".txt") else ""
            compiled_into = name.endswith(".in") and name[: -len(".in")] + ".txt" in project.readings
            if not limits and not compiled_into and not posixpath.basename(name).startswith("constraint"):
                yield _of_requirements(project, reading, source if source in project.readings else "")
        elif reading.kind == pyproject.KIND:
            yield from _of_pyproject(project, reading)
        elif reading.kind == pyproject.PIPFILE:
            yield _locked(project, replace(_plain(project, reading, PIPENV), pythons=reading.pythons), {"Pipfile.lock": PIPENV})
        elif reading.kind == conda_environment.KIND:
            inner = _joined(project, reading, set(), 0)
            made = InstallSet(name, CONDA, inner[0], inner[1], reading.channels, reading.pythons)
            yield _locked(project, made, {"conda-lock.yml": "conda-lock", "conda-lock.yaml": "conda-lock"})
        elif reading.kind == python_source.SETUP and reading.requirements:
            yield _plain(project, reading, PIP)
        elif reading.kind == containers.KIND:
            yield from _of_dockerfile(project, reading)
        elif reading.kind == locks.KIND and not _has_source(project, name):
            locked = {one.name: one for one in reading.locked}
            yield InstallSet(name, reading.made_by or PIP, (), locked=locked, lock=name, lock_tool=reading.made_by)


def _has_source(project: Project, lock: str) -> bool:
    directory = posixpath.dirname(lock)
    kinds = {
        "Pipfile.lock": {pyproject.PIPFILE},
        "conda-lock.yml": {conda_environment.KIND},
        "conda-lock.yaml": {conda_environment.KIND},
    }
    wanted = kinds.get(posixpath.basename(lock), {pyproject.KIND})
    return any(one.kind in wanted and posixpath.dirname(name) == directory for name, one in project.readings.items())


def _of_requirements(project: Project, reading: FileReading, source: str) -> InstallSet:
    made = replace(_plain(project, reading, PIP), compiled_by=reading.made_by if reading.made_by in _COMPILED else "")
    return replace(made, made_from=source if made.compiled_by or made.hashed else "")


def _plain(project: Project, reading: FileReading, tool: str) -> InstallSet:
    asked, indexes = _joined(project, reading, set(), 0)
    return InstallSet(reading.file, tool, asked, indexes, pythons=_pythons(project, reading))


def _joined(
    project: Project, reading: FileReading, seen: set[str], depth: int
) -> tuple[tuple[ProjectRequirement, ...], tuple[ProjectIndex, ...]]:
    """What a file and those that it takes in ask for, each file once."""
    seen.add(reading.file)
    asked, indexes = list(reading.requirements), list(reading.indexes)
    for include in reading.includes if depth < _DEEPEST else ():
        path = _found(project, reading, include.path)
        if path is None or path in seen:
            continue
        more, others = _joined(project, project.readings[path], seen, depth + 1)
        asked += [replace(one, origin=AskedAs.CONSTRAINT) for one in more] if include.constraint else more
        indexes += others
    return tuple(asked), tuple(indexes)


def _of_pyproject(project: Project, reading: FileReading) -> Iterator[InstallSet]:
    """The project itself, and each group or extra that asks for a torch of its own: such are often alternatives."""
    tool = {"uv": UV, "poetry": POETRY, "pdm": PDM}.get(reading.made_by, PIP)
    beside = posixpath.dirname(reading.file)
    if posixpath.join(beside, "uv.lock") in project.readings:
        tool = UV
    elif tool == PIP and posixpath.join(beside, "poetry.lock") in project.readings:
        tool = POETRY
    asked, indexes = _joined(project, reading, set(), 0)
    made = InstallSet(reading.file, tool, (), indexes, pythons=_pythons(project, reading), bound=reading.sources)
    lock_names = {"uv.lock": UV, "poetry.lock": POETRY, "pdm.lock": PDM, "pylock.toml": PIP}
    groups = tuple(dict.fromkeys(one.group for one in asked if one.group and one.name in {"torch", "torchvision", "torchaudio"}))
    main = tuple(one for one in asked if one.group not in groups or one.origin is not AskedAs.OPTIONAL)
    if main or not groups:
        yield _locked(project, replace(made, requirements=main), lock_names)
    for group in groups:
        own = tuple(one for one in asked if one.group in {"", group} or one.origin is AskedAs.CONSTRAINT)
        one = replace(made, requirements=own, group=group)
        alone = len(groups) == 1 and not any(each.name == "torch" for each in main)
        yield _locked(project, one, lock_names) if alone else one


def _locked(project: Project, made: InstallSet, names: Mapping[str, str]) -> InstallSet:
    directory = posixpath.dirname(made.name)
    for name, tool in names.items():
        path = posixpath.join(directory, name)
        reading = project.readings.get(path)
        if reading is not None and reading.locked:
            locked: dict[str, LockedPackage] = {}
            for one in reading.locked:
                locked[one.name] = _of_linux(locked.get(one.name), one)
            return replace(made, locked=locked, lock=path, lock_tool=tool)
    return made


def _of_linux(before: LockedPackage | None, one: LockedPackage) -> LockedPackage:
    """Of several that a lock has for one package, that with a build for CUDA: those without one are for other systems."""
    if before is None:
        return one
    return one if "+cu" in one.version and "+cu" not in before.version else before


def _pythons(project: Project, reading: FileReading) -> tuple[PythonWish, ...]:
    """Its own, and the pin that lies beside it, or in the project's directory."""
    directory = posixpath.dirname(reading.file)
    places = dict.fromkeys((directory, ""))
    names = (posixpath.join(place, name) for place in places for name in (".python-version", ".tool-versions"))
    pins = tuple(wish for name in names if (other := project.readings.get(name)) is not None for wish in other.pythons)
    own = reading.pythons
    if reading.kind == requirements.KIND:  # the range that the package beside it names
        beside = (project.readings.get(posixpath.join(directory, name)) for name in ("pyproject.toml", "setup.py", "setup.cfg"))
        own = tuple(wish for other in beside if other is not None for wish in other.pythons)[:1]
    return (*pins[:1], *own)


def _of_dockerfile(project: Project, reading: FileReading) -> Iterator[InstallSet]:
    """What ends up in each stage that no other continues."""
    by_stage = {one.stage: one for one in reading.images}
    parents = {one.parent for one in reading.images}
    for image in reading.images:
        if image.stage in parents:
            continue
        chain, base = {image.stage}, image
        while base.parent and base.parent in by_stage and base.parent not in chain:
            chain.add(base.parent)
            base = by_stage[base.parent]
        part = replace(
            reading,
            requirements=tuple(one for one in reading.requirements if one.stage in chain),
            indexes=tuple(one for one in reading.indexes if one.stage in chain),
            includes=tuple(one for one in reading.includes if one.stage in chain),
        )
        asked, indexes = _joined(project, part, set(), 0)
        if asked:
            yield InstallSet(reading.file, PIP, asked, indexes, image=base)
