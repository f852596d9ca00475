"""Which file the loader would take for each library that a program needs, found as it finds it, without running anything.

The order is that of ld.so(8): RPATH of the object and of what loaded it (unless it has a RUNPATH), LD_LIBRARY_PATH, RUNPATH, the
cache, the default directories. What is loaded already under a name is taken again, breadth first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from pathlib import PurePosixPath

from msgspec import Struct

from gpuassist.formats.elf import Dynamic, read_cache, read_dynamic
from gpuassist.system.files import Files

CACHE = "/etc/ld.so.cache"
_CACHE_AT_MOST_BYTES = 16 << 20
_OBJECTS_AT_MOST = 600
_DEFAULTS = (
    *("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu"),
    *("/lib64", "/usr/lib64", "/lib", "/usr/lib"),
)


class Loaded(Struct, frozen=True):
    """A library as it would be loaded: its soname, the file (empty where none is found), and whether LD_LIBRARY_PATH decided it."""

    soname: str
    path: str
    by_variable: bool


class Loader:
    """Reads each file once, whatever is asked of it."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._cache = read_cache(files.head(CACHE, _CACHE_AT_MOST_BYTES))
        self._dynamics: dict[str, Dynamic | None] = {}

    def load(self, program: str, library_path: str = "") -> dict[str, Loaded]:
        """Everything that `program`, an executable or a library, would bring into the process, by soname."""
        return _Run(self, tuple(library_path.split(":")) if library_path else ()).load(program)

    @property
    def has_cache(self) -> bool:
        """Whether there is one that can be read: without it the loader has its default directories alone."""
        return bool(self._cache)

    def find(self, soname: str, library_path: str = "") -> str:
        """The file that a program gets which opens this name and has no RPATH; empty where it gets none."""
        return _Run(self, tuple(library_path.split(":")) if library_path else ()).find(soname, _Object("", Dynamic(), ()), ()).path

    def in_cache(self, soname: str) -> tuple[str, ...]:
        """What the cache alone holds under that name."""
        return self._cache.get(soname, ())

    def dynamic(self, path: str) -> Dynamic | None:
        """What the file asks of the loader; None where it is not there or no such file."""
        if path not in self._dynamics:
            try:
                self._dynamics[path] = read_dynamic(lambda offset, size: self._files.read_part(path, offset, size))
            except OSError:
                self._dynamics[path] = None
        return self._dynamics[path]

    def cached(self, soname: str) -> tuple[str, ...]:
        """What the cache and then the default directories hold under that name."""
        return (*self._cache.get(soname, ()), *(f"{directory}/{soname}" for directory in _DEFAULTS))

    def is_file(self, path: str) -> bool:
        return self._files.is_file(path)

    def real_directory(self, path: str) -> str:
        """Where the file really lies: what $ORIGIN stands for."""
        return str(PurePosixPath(self._files.real(path)).parent)


class _Object(Struct, frozen=True):
    path: str
    dynamic: Dynamic
    chain: tuple[str, ...]  # the RPATH directories of what loaded it, nearest first


class _Run:
    def __init__(self, loader: Loader, library_path: tuple[str, ...]) -> None:
        self._loader = loader
        self._library_path = library_path
        self._found: dict[str, Loaded] = {}

    def load(self, program: str) -> dict[str, Loaded]:
        dynamic = self._loader.dynamic(program)
        waiting = deque([_Object(program, dynamic, ())] if dynamic is not None else [])
        while waiting and len(self._found) < _OBJECTS_AT_MOST:
            one = waiting.popleft()
            # An RPATH beside a RUNPATH does not count, for nothing that is loaded below it either (elf_get_dynamic_info of glibc).
            own = "" if one.dynamic.runpath else one.dynamic.rpath
            chain = (*self._directories(own, one.path), *one.chain)
            for soname in one.dynamic.needed:
                if soname not in self._found:
                    loaded = self.find(soname, one, chain)
                    self._found[soname] = loaded
                    needed = self._loader.dynamic(loaded.path) if loaded.path else None
                    if needed is not None:
                        waiting.append(_Object(loaded.path, needed, chain))
        return self._found

    def find(self, soname: str, by: _Object, chain: tuple[str, ...]) -> Loaded:
        """What `by` gets under that name."""
        if "/" in soname:
            return Loaded(soname, soname if self._loader.is_file(soname) else "", by_variable=False)
        first = () if by.dynamic.runpath else chain
        for directories, by_variable in (
            (first, False),
            (self._library_path, True),
            (self._directories(by.dynamic.runpath, by.path), False),
        ):
            # An empty element, which means the directory that the program is started in, is nobody's to look into here.
            found = next((f"{one}/{soname}" for one in directories if one and self._fits(f"{one}/{soname}")), "")
            if found:
                return Loaded(soname, found, by_variable)
        return Loaded(soname, next((path for path in self._loader.cached(soname) if self._fits(path)), ""), by_variable=False)

    def _fits(self, path: str) -> bool:
        # A file of another architecture, or a linker script, is passed over as the loader does.
        return self._loader.is_file(path) and self._loader.dynamic(path) is not None

    def _directories(self, listed: str, path: str) -> tuple[str, ...]:
        if not listed:
            return ()
        values: Mapping[str, str] = {"ORIGIN": self._loader.real_directory(path), "LIB": "lib64", "PLATFORM": "x86_64"}
        for name, value in values.items():
            listed = listed.replace(f"${{{name}}}", value).replace(f"${name}", value)
        return tuple(listed.split(":"))
