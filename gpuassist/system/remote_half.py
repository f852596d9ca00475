"""What is copied to another machine: gpuassist without its window, as one archive; a file that was made for that, or made here of
what is installed.

What is installed here holds compiled parts for one Python, unless it came from a `gpuassist-<machine>.pyz`, which has those of
several.
"""

from __future__ import annotations

import importlib.util
import io
import os
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex

LARGEST_BYTES = 64 << 20
_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
# tomli: until 3.10; typing_extensions: of msgspec, until 3.10
_NEEDED = ("msgspec", "tree_sitter", "tree_sitter_bash", "pynvml", "packaging", "tomli", "typing_extensions")
_OPTIONAL = frozenset({"tomli", "typing_extensions"})
_LEFT_OUT = (".pyi", ".pyc", ".c", ".h")
_FOR_ALL = ".abi3.so"
_DAY = (2020, 2, 2, 0, 0, 0)
_PYTHONS = lazy_regex(rb'^PYTHONS = "([0-9. ]{1,100})"', 8)  # re.MULTILINE
_MACHINE = lazy_regex(rb'^MACHINE = "([\w-]{1,40})"', 8)
_NUMBER = lazy_regex(r"3\.(\d{1,3})\.")


class OtherPython(Struct, frozen=True):
    """An interpreter of another machine: where it is, its version as `3.11.2`, and how the compiled modules end that it loads."""

    path: str
    version: str
    ending: str

    @property
    def short(self) -> str:
        return ".".join(self.version.split(".")[:2])


class RemoteHalf(Struct, frozen=True):
    """The archive, and the interpreter that shall run it."""

    archive: bytes
    python: OtherPython


class HalfError(Exception):
    """A file is no remote half, or one for other machines; its words say why, as the operating system or its own header does."""


def file_near(machine: str) -> str:
    """`gpuassist-<machine>.pyz` beside this program: in the folder of its executable, or in `dist` of a checkout; empty where it is
    in neither.
    """
    beside = os.path.dirname(os.path.realpath(sys.executable if getattr(sys, "frozen", False) else sys.argv[0] or sys.executable))
    for folder in (beside, os.path.join(os.path.dirname(_PACKAGE), "dist")):
        path = os.path.join(folder, f"gpuassist-{machine}.pyz")
        if os.path.isfile(path):
            return path
    return ""


def half_of_file(path: str, machine: str, pythons: Sequence[OtherPython]) -> RemoteHalf | None:
    """The file for the newest of these interpreters that it is for; none where it is for none of them. Raises `HalfError`."""
    try:
        if os.path.getsize(path) > LARGEST_BYTES:
            raise HalfError("")
        with open(path, "rb") as file:
            archive = file.read(LARGEST_BYTES)
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            entry = opened.read("__main__.py")
            opened.getinfo("gpuassist/__main__.py")
    except (OSError, zipfile.BadZipFile, KeyError, RuntimeError, NotImplementedError) as error:
        raise HalfError(error.strerror or "" if isinstance(error, OSError) else "") from error
    told, for_machine = _PYTHONS.search(entry), _MACHINE.search(entry)
    if told is None or for_machine is None:
        raise HalfError("")
    if for_machine[1].decode() != machine:
        return None
    known = told[1].decode().split()
    return next((RemoteHalf(archive, one) for one in pythons if one.short in known), None)


def half_of_this(pythons: Sequence[OtherPython]) -> RemoteHalf | None:
    """What is installed here, for the newest of these interpreters that can run it; none where there is none, or its parts are not
    to be had as files.
    """
    places = _places()
    if places is None:
        return None
    files = list(_files(places))
    compiled: dict[str, list[str]] = {}
    for name, _ in files:
        if name.endswith(".so"):
            compiled.setdefault(name.partition("/")[0], []).append(name)
    python = next((one for one in pythons if _runs(one, compiled.values())), None)
    return RemoteHalf(_archive(python.ending), python) if python is not None else None


@lru_cache(maxsize=2)
def _archive(ending: str) -> bytes:
    """The same for all machines of a fleet."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
        for name, path in _files(_places() or {}):
            if name.endswith(".so") and not name.endswith((ending, _FOR_ALL)):
                continue
            with open(path, "rb") as file:
                # which languages there are is told by the sources' names; the words are in what was compiled of them
                content = b"" if name.endswith(".po") else file.read()
            archive.writestr(zipfile.ZipInfo(name, _DAY), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def usable(python: OtherPython) -> bool:
    """Whether gpuassist can run on it at all."""
    found = _NUMBER.match(python.version)
    return found is not None and int(found[1]) >= 10


def _runs(python: OtherPython, compiled: Iterable[list[str]]) -> bool:
    return usable(python) and all(any(name.endswith((python.ending, _FOR_ALL)) for name in names) for names in compiled)


def _places() -> dict[str, str] | None:
    """Where each package lies; none where one of them is no file, as in a frozen program."""
    places = {"gpuassist": _PACKAGE}
    if not os.path.isfile(os.path.join(_PACKAGE, "__main__.py")):
        return None
    for name in _NEEDED:
        try:
            found = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            found = None
        place = next(iter(found.submodule_search_locations or ()), found.origin) if found is not None else None
        if place is not None and os.path.exists(place):
            places[name] = place
        elif name not in _OPTIONAL:
            return None
    resources = os.path.join(os.path.dirname(_PACKAGE), "resources")
    if not os.path.isdir(os.path.join(_PACKAGE, "_resources")):
        places["gpuassist/_resources"] = resources
    return places


def _files(places: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Each file by its name in the archive, and where it lies."""
    for name, place in places.items():
        if os.path.isfile(place):
            yield os.path.basename(place), place
            continue
        for folder, below, files in os.walk(place):
            inside = os.path.relpath(folder, place)
            below[:] = [
                one for one in below if one != "__pycache__" and not (name == "gpuassist" and inside == "." and one == "ui")
            ]
            for one in files:
                if not one.endswith(_LEFT_OUT):
                    yield os.path.normpath(os.path.join(name, inside, one)), os.path.join(folder, one)
