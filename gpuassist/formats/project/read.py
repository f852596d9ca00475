"""Which of a project's files are read, and by which reader: by their names, as their tools find them."""

from __future__ import annotations

from collections.abc import Callable

from gpuassist.formats.project.build_lines import read_build
from gpuassist.formats.project.conda_environment import read_environment
from gpuassist.formats.project.containers import read_compose, read_dockerfile
from gpuassist.formats.project.locks import NAMES as LOCKS
from gpuassist.formats.project.locks import read_lock
from gpuassist.formats.project.names import (
    BUILD_NAMES,
    COMPOSE,
    DOCKERFILE,
    ENDINGS,
    ENVIRONMENT,
    REQUIREMENTS,
    REQUIREMENTS_FOLDER,
)
from gpuassist.formats.project.pyproject import read_pipfile, read_pyproject
from gpuassist.formats.project.python_source import SIGNS, read_python, read_setup_cfg
from gpuassist.formats.project.requirements import read_requirements
from gpuassist.formats.project.values import FileReading, PythonWish, Spot, Trouble
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text

LARGEST_BYTES = 8 << 20
_VERSION = lazy_regex(r"(?:python-|cpython-?)?(\d{1,2}(?:\.\d{1,3}){0,2})t?")


def reader_of(file: str) -> Callable[[str, str], FileReading] | None:
    """What reads a file of that path; none where it says nothing of this."""
    name = file.rpartition("/")[2]
    if name in LOCKS:
        return read_lock
    exact = _EXACT.get(name)
    if exact is not None:
        return exact
    if name in BUILD_NAMES or name.endswith(ENDINGS):
        return read_build
    if REQUIREMENTS.fullmatch(name) or REQUIREMENTS_FOLDER.fullmatch(file):
        return read_requirements
    if COMPOSE.fullmatch(name):
        return read_compose
    if ENVIRONMENT.fullmatch(name):
        return read_environment
    if DOCKERFILE.fullmatch(name) and not name.endswith((".md", ".dockerignore", ".py", ".sh")):
        return read_dockerfile
    return read_python if name.endswith(".py") else None


def read_file(file: str, content: bytes, *, constraint: bool = False) -> FileReading:
    """What a file says; of one that is no text, or too large, that."""
    reader = read_requirements if constraint else reader_of(file) or read_requirements
    about = _ABOUT.get(reader, "torch-build")
    reason = _unreadable(content)
    if reason is not None:
        return FileReading(file, "", troubles=(Trouble(Spot(file, 1), reason, about),))
    if reader is read_python and not any(sign in content for sign in SIGNS):
        return FileReading(file, "")
    words = content.decode("utf-8", "surrogateescape")
    if reader is read_requirements:
        return read_requirements(file, words, constraint=constraint)
    return reader(file, words)


def about_of(file: str) -> str:
    """The id of the check that a file decides, for what cannot be read of it."""
    reader = reader_of(file)
    return _ABOUT.get(reader, "torch-build") if reader is not None else "torch-build"


def _unreadable(content: bytes) -> Text | None:
    if len(content) > LARGEST_BYTES:
        return text("it is larger than {size} MiB and is not read", size=LARGEST_BYTES >> 20)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return text("it is written in UTF-16: save it as UTF-8")
    if b"\0" in content[: 1 << 16] or b"\0" in content:
        return text("it is a binary file: it holds NUL bytes")
    return None


def _read_setup(file: str, words: str) -> FileReading:
    return read_python(file, words, setup=True)


def _read_python_version(file: str, words: str) -> FileReading:
    """.python-version: the first version that is named; what pyenv calls otherwise (`system`, `pypy3.10`) is not known."""
    for number, place, line in _rows(words):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        return _python(file, number, place + line.index(bare), bare)
    return FileReading(file, "python-version")


def _read_tool_versions(file: str, words: str) -> FileReading:
    """.tool-versions of asdf and mise: `python 3.11.4`."""
    for number, place, line in _rows(words):
        parts = line.split()
        if len(parts) >= 2 and parts[0] == "python":
            return _python(file, number, place + line.index(parts[1], line.index("python") + 6), parts[1])
    return FileReading(file, "python-version")


def _python(file: str, number: int, place: int, spelled: str) -> FileReading:
    found = _VERSION.fullmatch(spelled)
    if found is None:
        reason = text("{words} names no version of CPython", words=spelled[:80])
        return FileReading(file, "python-version", troubles=(Trouble(Spot(file, number), reason, "python"),))
    version = found[1]
    exact = f"=={version}" if version.count(".") == 2 else f"=={version}.*"
    spot = Spot(file, number, place, place + len(spelled))
    return FileReading(file, "python-version", pythons=(PythonWish(exact, spot, pinned=True, spelled=spelled),))


def _rows(words: str) -> list[tuple[int, int, str]]:
    rows, place = [], 0
    for number, line in enumerate(words.split("\n")[:1000], start=1):
        rows.append((number, place, line))
        place += len(line) + 1
    return rows


_EXACT: dict[str, Callable[[str, str], FileReading]] = {
    "pyproject.toml": read_pyproject,
    "Pipfile": read_pipfile,
    "setup.py": _read_setup,
    "setup.cfg": read_setup_cfg,
    ".python-version": _read_python_version,
    ".tool-versions": _read_tool_versions,
}
_ABOUT: dict[Callable[..., FileReading], str] = {
    read_dockerfile: "image",
    read_compose: "image",
    read_build: "architecture",
    _read_setup: "extension",
    read_python: "cuda",
    _read_python_version: "python",
    _read_tool_versions: "python",
}
