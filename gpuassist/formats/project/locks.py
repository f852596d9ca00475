"""Lock files: which version of what is locked and where it comes from. They are read and never changed by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator

from gpuassist.formats.packages import normalised
from gpuassist.formats.project.values import FileReading, LockedPackage, Spot, Trouble
from gpuassist.formats.project.yaml_document import NotYamlError, read_yaml
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text, verbatim

KIND = "lock"
_FIELD = lazy_regex(r'(name|version)\s*=\s*"([^"\n]{1,200})"\s*$')
_SOURCE = lazy_regex(r'(?:source\s*=\s*\{.*?(?:registry|url|git)|url|reference)\s*=\s*"([^"\n]{1,500})"')
_TOOLS = {
    "uv.lock": "uv",
    "poetry.lock": "poetry",
    "pdm.lock": "pdm",
    "pylock.toml": "pip",
    "Pipfile.lock": "pipenv",
    "conda-lock.yml": "conda-lock",
    "conda-lock.yaml": "conda-lock",
}
NAMES = frozenset(_TOOLS)


def read_lock(file: str, words: str) -> FileReading:
    """By the file's name."""
    name = file.rpartition("/")[2]
    tool = _TOOLS.get(name, "")
    try:
        if tool == "pipenv":
            locked = tuple(_of_pipenv(file, words))
        elif tool == "conda-lock":
            locked = tuple(_of_conda_lock(file, words))
        else:
            locked = tuple(_of_tables(file, words))
    except (NotJsonError, NotYamlError) as error:
        spot = Spot(file, getattr(error, "line", 1))
        return FileReading(file, KIND, troubles=(Trouble(spot, verbatim(str(error)[:200])),), made_by=tool)
    troubles: tuple[Trouble, ...] = ()
    if not locked and words.strip() and "package" not in words:
        troubles = (Trouble(Spot(file, 1), text("it holds no package that is read here")),)
    return FileReading(file, KIND, locked=locked, troubles=troubles, made_by=tool)


def _of_tables(file: str, words: str) -> Iterator[LockedPackage]:
    """`[[package]]` tables line by line: such a file has 10^5 lines, and tools write them all alike."""
    name, version, source, line = "", "", "", 0
    inside = False
    for number, row in enumerate(words.split("\n"), start=1):
        bare = row.strip()
        if bare.startswith("["):
            if bare in {"[[package]]", "[[packages]]"}:
                if name and version:
                    yield LockedPackage(normalised(name), version, Spot(file, line), source)
                name, version, source, line, inside = "", "", "", number, True
            else:
                inside = bare in {"[package.source]", "[packages.index]"}
            continue
        if not inside:
            continue
        field = _FIELD.match(bare)
        if field is not None and field[1] == "name" and not name:
            name, line = field[2], number
        elif field is not None and field[1] == "version" and not version:
            version = field[2]
        elif not source and (found := _SOURCE.match(bare)) is not None:
            source = found[1]
    if name and version:
        yield LockedPackage(normalised(name), version, Spot(file, line), source)


def _of_pipenv(file: str, words: str) -> Iterator[LockedPackage]:
    document = read_json(words)
    rows = words.split("\n")
    meta = document.get("_meta") if isinstance(document, dict) else None
    listed = meta.get("sources") if isinstance(meta, dict) else None
    urls = (
        {str(one.get("name")): str(one.get("url")) for one in listed if isinstance(one, dict)} if isinstance(listed, list) else {}
    )
    for section in ("default", "develop"):
        packages = document.get(section) if isinstance(document, dict) else None
        for name, entry in packages.items() if isinstance(packages, dict) else ():
            version = entry.get("version") if isinstance(entry, dict) else None
            if isinstance(version, str):
                key = json.dumps(name)
                line = (
                    next((number for number, row in enumerate(rows, start=1) if row.strip().startswith(f"{key}:")), 1)
                    if _asked(name)
                    else 1
                )
                source = urls.get(str(entry.get("index")), "")
                yield LockedPackage(normalised(name), version.lstrip("="), Spot(file, line), source)


def _asked(name: str) -> bool:
    """Whether its line is worth looking for: to look for each of thousands takes the square of it."""
    return name.startswith(
        ("torch", "nvidia", "triton", "xformers", "numpy", "python", "flash", "jax", "tensorflow", "cupy", "vllm")
    )


def _of_conda_lock(file: str, words: str) -> Iterator[LockedPackage]:
    """conda-lock.yml: those for Linux, each with its build string in the name of its archive."""
    fields: dict[int, dict[str, str]] = {}
    lines: dict[int, int] = {}
    for one in read_yaml(words):
        if one.path[:1] == ("package",) and len(one.path) == 3 and isinstance(one.path[1], int):
            fields.setdefault(one.path[1], {})[str(one.path[2])] = one.value
            lines.setdefault(one.path[1], one.line)
    for number, entry in fields.items():
        if entry.get("platform", "linux-64").startswith("linux") and entry.get("name") and entry.get("version"):
            archive = entry.get("url", "").rpartition("/")[2]
            build = archive.rpartition("-")[2].removesuffix(".conda").removesuffix(".tar.bz2")
            source = entry.get("url", "") if entry.get("manager") == "pip" else entry.get("url", "").rpartition("/")[0]
            yield LockedPackage(normalised(entry["name"]), entry["version"], Spot(file, lines[number]), source, build)
