"""pyproject.toml (PEP 621, dependency groups, uv, poetry, pdm) and Pipfile: what they ask for, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from gpuassist.formats.packages import normalised
from gpuassist.formats.project.requirements import requirement_of
from gpuassist.formats.project.spellings import of_poetry
from gpuassist.formats.project.toml_document import NotTomlError, TomlText, read_toml
from gpuassist.formats.project.values import (
    AskedAs,
    FileReading,
    Include,
    IndexRole,
    ProjectIndex,
    ProjectRequirement,
    PythonWish,
    Spelling,
    Spot,
    Trouble,
)
from gpuassist.model.text import text, verbatim

KIND, PIPFILE = "pyproject", "pipfile"
_POETRY_GROUPS = ("dependencies", "dev-dependencies")


def read_pyproject(file: str, words: str) -> FileReading:
    """What the file says; of one that is no TOML the reason with its line."""
    try:
        whole, texts = read_toml(words)
    except NotTomlError as error:
        return FileReading(file, KIND, troubles=(Trouble(Spot(file, error.line or 1), verbatim(str(error)[:200])),))
    requirements: list[ProjectRequirement] = []
    troubles: list[Trouble] = []
    for one in texts:
        placed = _list_of(one)
        if placed is not None:
            origin, group = placed
            read = requirement_of(
                one.value, Spot(file, one.line), origin, inside=one.value, offset=one.first if one.plain else -1, group=group
            )
            if read is None:
                troubles.append(Trouble(Spot(file, one.line), text("this is no requirement: {words}", words=one.value[:120])))
            elif read.name:
                requirements.append(read)
    requirements += _of_poetry(file, texts, troubles)
    tool = _table(whole.get("tool"))
    return FileReading(
        file,
        KIND,
        tuple(requirements),
        (*_of_uv(file, texts, _table(tool.get("uv"))), *_named(file, texts, "poetry", tool), *_named(file, texts, "pdm", tool)),
        tuple(_dynamic(file, texts)),
        tuple(_pythons(file, texts)),
        troubles=tuple(troubles),
        made_by=next((name for name in ("uv", "poetry", "pdm") if name in tool), ""),
        sources=tuple(_sources(texts)),
    )


def read_pipfile(file: str, words: str) -> FileReading:
    try:
        _, texts = read_toml(words)
    except NotTomlError as error:
        return FileReading(file, PIPFILE, troubles=(Trouble(Spot(file, error.line or 1), verbatim(str(error)[:200])),))
    troubles: list[Trouble] = []
    requirements: list[ProjectRequirement] = []
    tables = _fields(texts)
    for one in texts:
        if one.path[0] in {"packages", "dev-packages"} and len(one.path) >= 2:
            origin = AskedAs.INSTALL if one.path[0] == "packages" else AskedAs.OPTIONAL
            requirements += _of_table(_Entry(file, one, tables.get(one.path[:-1], {}), 1, origin, ""), troubles)
    urls = (one for one in texts if one.path[0] == "source" and one.path[-1] == "url")
    names = {one.path[1]: one.value for one in texts if one.path[0] == "source" and one.path[-1] == "name"}
    indexes = tuple(
        ProjectIndex(
            one.value, IndexRole.INSTEAD if one.path[1] == 0 else IndexRole.NAMED, _spot(file, one), str(names.get(one.path[1], ""))
        )
        for one in urls
    )
    pythons = (
        PythonWish(f"=={one.value}.*", _spot(file, one), pinned=True, spelled=one.value)
        for one in texts
        if one.path in {("requires", "python_version"), ("requires", "python_full_version")}
    )
    return FileReading(
        file, PIPFILE, tuple(requirements), indexes, pythons=tuple(pythons), troubles=tuple(troubles), made_by="pipenv"
    )


def _list_of(one: TomlText) -> tuple[AskedAs, str] | None:
    """What kind of list of requirements a text stands in, and its group; none where it is none."""
    path = one.path
    if len(path) == 3 and path[:2] == ("project", "dependencies"):
        return AskedAs.INSTALL, ""
    if len(path) == 4 and path[:2] == ("project", "optional-dependencies"):
        return AskedAs.OPTIONAL, str(path[2])
    if len(path) == 3 and path[0] == "dependency-groups":
        return AskedAs.OPTIONAL, str(path[1])
    if len(path) == 3 and path[:2] == ("build-system", "requires"):
        return AskedAs.BUILD, ""
    if len(path) == 4 and path[:3] == ("tool", "uv", "dev-dependencies"):
        return AskedAs.OPTIONAL, "dev"
    if len(path) == 4 and path[:2] == ("tool", "uv") and path[2] in {"constraint-dependencies", "override-dependencies"}:
        return AskedAs.CONSTRAINT, ""
    if len(path) == 5 and path[:3] == ("tool", "pdm", "dev-dependencies"):
        return AskedAs.OPTIONAL, str(path[3])
    return None


def _of_poetry(file: str, texts: tuple[TomlText, ...], troubles: list[Trouble]) -> Iterator[ProjectRequirement]:
    tables = _fields(texts)
    for one in texts:
        if not one.under("tool", "poetry"):
            continue
        rest = one.path[2:]
        if rest[0] in _POETRY_GROUPS and len(rest) >= 2:
            depth, group = 3, "" if rest[0] == "dependencies" else "dev"
        elif rest[0] == "group" and len(rest) >= 4 and rest[2] == "dependencies":
            depth, group = 5, str(rest[1])
        else:
            continue
        origin = AskedAs.OPTIONAL if group else AskedAs.INSTALL
        yield from _of_table(_Entry(file, one, tables.get(one.path[:-1], {}), depth, origin, group), troubles)


class _Entry(Struct, frozen=True):
    """A text below the table of packages: `depth` is where the package's name is in its path, `fields` are the texts beside it."""

    file: str
    text: TomlText
    fields: dict[str, str]
    depth: int
    origin: AskedAs
    group: str


def _fields(texts: tuple[TomlText, ...]) -> dict[tuple[str | int, ...], dict[str, str]]:
    """The texts of every table by its path."""
    made: dict[tuple[str | int, ...], dict[str, str]] = {}
    for one in texts:
        made.setdefault(one.path[:-1], {})[str(one.path[-1])] = one.value
    return made


def _of_table(entry: _Entry, troubles: list[Trouble]) -> Iterator[ProjectRequirement]:
    """A package of a table `name = "^2.0"` or `name = {version = "^2.0", source = "…"}`; other texts of it are passed over."""
    file, one, depth = entry.file, entry.text, entry.depth
    path = one.path
    name = normalised(str(path[depth]))
    if name == "python" or (path[-1] not in {"version", "git", "url", "path"} and len(path) > depth + 1):
        return
    fields = entry.fields if len(path) > depth + 1 else {}
    if path[-1] in {"git", "url", "path"} and len(path) > depth + 1:
        read = requirement_of(f"{name} @ {'git+' if path[-1] == 'git' else ''}{one.value}", Spot(file, one.line), entry.origin)
        if read is not None:
            yield read
        return
    versions = of_poetry(one.value)
    if versions is None:
        troubles.append(Trouble(Spot(file, one.line), text("{words} is no range of versions", words=one.value[:120])))
        return
    source = fields.get("source", fields.get("index", ""))
    yield ProjectRequirement(
        name,
        versions,
        _spot(file, one),
        spelled=one.value,
        spelling=Spelling.POETRY,
        marker=fields.get("markers", ""),
        source=source,
        origin=entry.origin,
        group=entry.group,
    )


def _of_uv(file: str, texts: tuple[TomlText, ...], uv: Mapping[str, Any]) -> Iterator[ProjectIndex]:
    listed = uv.get("index")
    tables = [_table(one) for one in listed] if isinstance(listed, list) else []
    for one in texts:
        if one.path[:3] == ("tool", "uv", "index") and one.path[-1] == "url" and isinstance(one.path[3], int):
            table = tables[one.path[3]] if one.path[3] < len(tables) else {}
            role = IndexRole.BESIDE
            if table.get("explicit") is True:
                role = IndexRole.NAMED
            elif table.get("default") is True:
                role = IndexRole.INSTEAD
            yield ProjectIndex(one.value, role, _spot(file, one), str(table.get("name", "")))
        elif one.path in {("tool", "uv", "index-url"), ("tool", "uv", "pip", "index-url")}:
            yield ProjectIndex(one.value, IndexRole.INSTEAD, _spot(file, one))
        elif one.path[:3] == ("tool", "uv", "extra-index-url") or one.path[:4] == ("tool", "uv", "pip", "extra-index-url"):
            yield ProjectIndex(one.value, IndexRole.BESIDE, _spot(file, one))
        elif one.path[:3] == ("tool", "uv", "find-links"):
            yield ProjectIndex(one.value, IndexRole.LINKS, _spot(file, one))


def _named(file: str, texts: tuple[TomlText, ...], tool: str, tools: Mapping[str, Any]) -> Iterator[ProjectIndex]:
    """The sources of poetry and pdm; poetry's `explicit` ones serve only what names them, a `primary` one stands for PyPI."""
    listed = _table(tools.get(tool)).get("source")
    tables = [_table(one) for one in listed] if isinstance(listed, list) else []
    for one in texts:
        if one.path[:3] == ("tool", tool, "source") and one.path[-1] == "url" and isinstance(one.path[3], int):
            table = tables[one.path[3]] if one.path[3] < len(tables) else {}
            told = str(table.get("priority", "default" if table.get("default") is True else "")).lower()
            if told == "explicit":
                role = IndexRole.NAMED
            elif told in {"supplemental", "secondary"} or table.get("secondary") is True or tool == "pdm":
                role = IndexRole.BESIDE
            else:
                role = IndexRole.INSTEAD
            if table.get("type") == "find_links":
                role = IndexRole.LINKS
            if tool == "pdm" and table.get("name") == "pypi":
                role = IndexRole.INSTEAD
            yield ProjectIndex(one.value, role, _spot(file, one), str(table.get("name", "")))


def _sources(texts: tuple[TomlText, ...]) -> Iterator[tuple[str, str]]:
    """What `tool.uv.sources` binds a package to: the name of an index, those for Linux alone."""
    tables = _fields(texts)
    for one in texts:
        if one.path[:3] != ("tool", "uv", "sources") or one.path[-1] != "index" or len(one.path) < 5:
            continue
        marker = tables.get(one.path[:-1], {}).get("marker", "")
        if ("darwin" in marker and "!=" not in marker) or ("win32" in marker and "!=" not in marker):
            continue
        yield normalised(str(one.path[3])), one.value


def _pythons(file: str, texts: tuple[TomlText, ...]) -> Iterator[PythonWish]:
    for one in texts:
        if one.path == ("project", "requires-python"):
            yield PythonWish("".join(one.value.split()), _spot(file, one), spelled=one.value)
        elif one.path == ("tool", "poetry", "dependencies", "python"):
            versions = of_poetry(one.value)
            if versions is not None:
                yield PythonWish(versions, _spot(file, one), spelled=one.value, spelling=Spelling.POETRY)


def _dynamic(file: str, texts: tuple[TomlText, ...]) -> Iterator[Include]:
    """The files of requirements that setuptools reads in."""
    for one in texts:
        if one.path[:5] == ("tool", "setuptools", "dynamic", "dependencies", "file"):
            yield Include(one.value, _spot(file, one))


def _spot(file: str, one: TomlText) -> Spot:
    return Spot(file, one.line, one.first, one.end) if one.plain else Spot(file, one.line)


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
