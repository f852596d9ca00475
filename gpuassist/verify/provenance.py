"""Why a process has the CUDA libraries that it has: the loader's own search, gone through once more over what the process reported.

The order is that of ld.so(8): LD_PRELOAD; RPATH of the object that asked, of what loaded that one, and of the program, unless the
object has a RUNPATH; LD_LIBRARY_PATH; that RUNPATH; the cache; the default directories. The loader's name for an object is the
directory in which it found it, as that was spelled, so a place matches or does not, and nothing is guessed from how a path looks.
"""

from __future__ import annotations

import posixpath

from msgspec import Struct

from gpuassist.model.libraries import LibraryLoaded, Way
from gpuassist.model.text import Text, text

_DEFAULTS = (
    *("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu"),
    *("/lib64", "/usr/lib64", "/lib", "/usr/lib"),
)
# What torch itself opens by its path before anything needs it (torch/__init__.py, _preload_cuda_deps).
_PRELOADED = frozenset(
    (
        *(
            "libcublas",
            "libcublasLt",
            "libcudnn",
            "libnvrtc",
            "libnvrtc-builtins",
            "libcudart",
            "libcupti",
            "libcufft",
            "libcurand",
        ),
        *(
            "libnvJitLink",
            "libcusparse",
            "libcusparseLt",
            "libcusolver",
            "libnccl",
            "libnvshmem_host",
            "libcufile",
            "libnvToolsExt",
        ),
    )
)
CUDNN = "libcudnn"
# Libraries that are opened by another one of the same maker at its first use, and needed by none.
_OPENERS = {"libcudnn_": CUDNN, "libnvrtc-builtins": "libnvrtc", "libnvidia-ptxjit": "libcuda", "libnvidia-nvvm": "libcuda"}
LIBRARY_PATH, PRELOAD, PYTHON_PATH = "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH"


class LoadedObject(Struct, frozen=True):
    """An object as the process reports it: the loader's name for it, its real file, and what its dynamic section says. `library` is
    empty of what is none of CUDA's, `serves` the CUDA that a libcuda serves.
    """

    name: str
    path: str
    soname: str = ""
    needed: tuple[str, ...] = ()
    rpath: str = ""
    runpath: str = ""
    library: str = ""
    version: str = ""
    package: str = ""
    serves: str = ""


class NamedValue(Struct, frozen=True):
    """A variable."""

    name: str
    value: str


class Cached(Struct, frozen=True):
    """What /etc/ld.so.cache has under a name."""

    name: str
    paths: tuple[str, ...]


class BuiltIn(Struct, frozen=True):
    """A library that is part of another one's file."""

    library: str
    path: str
    version: str


class Pinned(Struct, frozen=True):
    """A package that torch pins."""

    name: str
    version: str


class ProcessLibraries(Struct, frozen=True):
    """What a process reports (`verify/child/libraries.py`): its objects in the order in which they were loaded, the program first.

    `torch` is torch's directory, `preloads` whether it opens libraries itself, `awaited` are files that LD_LIBRARY_PATH holds of
    cuDNN's parts that are not loaded yet. `error` says why torch could not be imported; then nothing else is there.
    """

    torch: str = ""
    preloads: bool = False
    variables: tuple[NamedValue, ...] = ()
    system_preload: tuple[str, ...] = ()
    objects: tuple[LoadedObject, ...] = ()
    cached: tuple[Cached, ...] = ()
    built_in: tuple[BuiltIn, ...] = ()
    wanted: tuple[Pinned, ...] = ()
    awaited: tuple[str, ...] = ()
    error: str = ""

    def variable(self, name: str) -> str:
        """Its value when the process started; empty where it was not set."""
        return next((one.value for one in self.variables if one.name == name), "")


def libraries_of(process: ProcessLibraries) -> tuple[LibraryLoaded, ...]:
    """Every CUDA library of the process, with the reason."""
    search = _Search(process)
    found = [_loaded(search, number) for number, one in enumerate(process.objects) if one.library]
    built_in = [
        LibraryLoaded(one.library, one.path, one.version, text("it is linked into this file"), Way.BUILT_IN)
        for one in process.built_in
    ]
    return (*found, *built_in)


class _Reason(Struct, frozen=True):
    """How an object was found, in whose list (its place among the objects, -1 of none), and by which element of that list."""

    way: Way
    by: int = -1
    element: str = ""
    place: int = 0


class _Search:
    def __init__(self, process: ProcessLibraries) -> None:
        self.process = process
        self._cached = {one.name: one.paths for one in process.cached}
        self._library_path = elements_of(process.variable(LIBRARY_PATH))
        self.reasons = [self._reason(number) for number in range(len(process.objects))]

    def variable(self, number: int) -> str:
        """The variable that decided on an object, or on one in whose list it was found."""
        reason = self.reasons[number]
        if reason.way is Way.LIBRARY_PATH:
            return LIBRARY_PATH
        if reason.way is Way.PRELOAD:
            return PRELOAD if reason.element else ""
        if reason.by >= 0:
            return self.variable(reason.by)
        name = self.process.objects[number].name
        python_path = self.process.variable(PYTHON_PATH).split(":")
        return PYTHON_PATH if any(one and name.startswith(f"{one.rstrip('/')}/") for one in python_path) else ""

    def _asker(self, number: int) -> int:
        """The first object that needs this one and was there before it: its need loaded it. -1 of none: a program opened it."""
        objects = self.process.objects
        # What auditwheel renamed is asked for by its file's name.
        names = {objects[number].soname, posixpath.basename(objects[number].name)}
        return next((place for place in range(number) if names.intersection(objects[place].needed)), -1)

    def _openers(self, one: LoadedObject, number: int) -> list[int]:
        """What may have opened a library that nothing needs: one of its own family, else any CUDA library that was there."""
        libraries = [place for place in range(number) if self.process.objects[place].library]
        own = next((opener for prefix, opener in _OPENERS.items() if one.library.startswith(prefix)), "")
        return [place for place in libraries if self.process.objects[place].library == own] or libraries

    def _reason(self, number: int) -> _Reason:
        one = self.process.objects[number]
        for word in _preloaded(self.process.variable(PRELOAD)):
            if one.name == word or ("/" not in word and posixpath.basename(one.name) == word and number == 1):
                return _Reason(Way.PRELOAD, element=word)
        if one.name in self.process.system_preload:
            return _Reason(Way.PRELOAD)
        asker = self._asker(number)
        if asker < 0 and self._opened_by_torch(one):
            return _Reason(Way.PATH, element=one.name)
        # What opened it is not on record where nothing needs it; then any list that leads there may have been its own.
        askers = [asker] if asker >= 0 else self._openers(one, number)
        found = next((reason for place in askers if (reason := self._by_rpath(place, one))), None)
        found = found or self._by_library_path(one)
        found = found or next((reason for place in askers if (reason := self._by_runpath(place, one))), None)
        return found or self._by_system(one, asker)

    def _by_rpath(self, asker: int, one: LoadedObject) -> _Reason | None:
        objects = self.process.objects
        chain, place = list[int](), asker
        while place > 0 and place not in chain and not objects[asker].runpath:
            chain.append(place)
            place = self._asker(place)
        for holder in (*chain, 0) if not objects[asker].runpath else ():
            if objects[holder].runpath:  # then its RPATH does not count
                continue
            found = place_of(_expanded(objects[holder].rpath, objects[holder]), one.name)
            if found:
                return _Reason(Way.RPATH, holder, *found)
        return None

    def _by_library_path(self, one: LoadedObject) -> _Reason | None:
        found = place_of(self._library_path, one.name)
        return _Reason(Way.LIBRARY_PATH, -1, *found) if found else None

    def _by_runpath(self, asker: int, one: LoadedObject) -> _Reason | None:
        holder = self.process.objects[asker]
        found = place_of(_expanded(holder.runpath, holder), one.name)
        return _Reason(Way.RUNPATH, asker, *found) if found else None

    def _by_system(self, one: LoadedObject, asker: int) -> _Reason:
        if one.name in self._cached.get(one.soname, ()):
            return _Reason(Way.CACHE)
        if posixpath.dirname(one.name) in _DEFAULTS:
            return _Reason(Way.DEFAULT, element=posixpath.dirname(one.name))
        # Whoever needs a library by a name alone finds it in one of those places, or it was there before.
        opened = one.name.startswith("/") and asker < 0
        return _Reason(Way.PATH if opened else Way.UNKNOWN)

    def _opened_by_torch(self, one: LoadedObject) -> bool:
        parts = one.name.split("/")
        return self.process.preloads and one.library in _PRELOADED and "nvidia" in parts[-4:] and ".." not in parts


def _preloaded(value: str) -> tuple[str, ...]:
    return tuple(value.replace(":", " ").split())  # either separates (ld.so(8))


def elements_of(value: str) -> tuple[str, ...]:
    """As the loader spells them; a semicolon separates as well, and an empty one is the current directory."""
    return tuple(one if one.strip("/") == "" else one.rstrip("/") for one in value.replace(";", ":").split(":")) if value else ()


def _expanded(listed: str, holder: LoadedObject) -> tuple[str, ...]:
    # The loader puts in the directory under which it opened the holder, symlinks and all; of the program its real one.
    origin = posixpath.dirname(holder.name)
    return elements_of(listed.replace("${ORIGIN}", origin).replace("$ORIGIN", origin))


def place_of(directories: tuple[str, ...], name: str) -> tuple[str, int] | None:
    """The element that leads to a file, and its number from one; below it the loader also looks for variants for the processor."""
    directory = posixpath.dirname(name)
    for number, element in enumerate(directories, 1):
        if directory == (element or ".") or (element and directory.startswith(f"{element}/glibc-hwcaps/")):
            return element, number
    return None


def _loaded(search: _Search, number: int) -> LibraryLoaded:
    one, reason = search.process.objects[number], search.reasons[number]
    version = one.version or (f"CUDA {one.serves}" if one.serves else "")
    why = _why(search, number)
    if one.package:
        why = text("{why}; it belongs to the package {package}", why=why, package=one.package)
    return LibraryLoaded(one.library, one.path, version, why, reason.way, one.package, search.variable(number))


def _why(search: _Search, number: int) -> Text:
    objects, reason = search.process.objects, search.reasons[number]
    one = objects[number]
    holder = posixpath.basename(objects[reason.by].path) if reason.by >= 0 else ""
    directory = posixpath.dirname(one.name)
    ways = {
        Way.PRELOAD: text("LD_PRELOAD names {path}", path=reason.element)
        if reason.element
        else text("/etc/ld.so.preload names {path}", path=one.name),
        Way.RPATH: text("the RPATH of {holder} leads to {directory}", holder=holder, directory=directory),
        Way.LIBRARY_PATH: text(
            "element {place} of LD_LIBRARY_PATH is {directory}", place=reason.place, directory=reason.element or "(empty)"
        ),
        Way.RUNPATH: text("the RUNPATH of {holder} leads to {directory}", holder=holder, directory=directory),
        Way.CACHE: text("the loader's cache (/etc/ld.so.cache) leads to {path}", path=one.name),
        Way.DEFAULT: text("{directory} is one of the loader's default directories", directory=reason.element),
        Way.PATH: text("torch itself opened {path} when it was imported", path=one.name)
        if reason.element
        else text("a program opened {path} by its full path", path=one.name),
        Way.UNKNOWN: text("none of the places that the loader reports leads to {path}", path=one.name),
    }
    return ways[reason.way]
