"""The driver's own library, through which every CUDA program reaches it: where it lies, and which file a program gets.

A driver puts it where the distribution keeps libraries. Where it comes from elsewhere (NixOS, the modules of a cluster, what a
cloud's nodes hand into a container), the loader is led there by its cache or by LD_LIBRARY_PATH, so it is asked as the loader asks.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gpuassist.detect.loader import CACHE, Loader
from gpuassist.formats.toolkit import holds_compatibility, holds_stubs
from gpuassist.model.driver import Library
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.shell import Terminal
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from gpuassist.system.world import World

SONAME = "libcuda.so.1"
_VARIABLE = "LD_LIBRARY_PATH"
_DIRECTORIES = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu/nvidia",
    "/usr/lib/aarch64-linux-gnu/tegra",
    "/usr/lib64",
    "/usr/lib64/nvidia",
    "/usr/lib",
    "/usr/lib/nvidia*",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",  # NixOS
    "/usr/local/nvidia/lib64",  # what NVIDIA's images have in LD_LIBRARY_PATH: nodes of clouds hand the driver in there
    "/usr/local/nvidia/lib",
)
_ELEMENTS_AT_MOST = 40  # directories: a module system can put hundreds there
_VERSION = lazy_regex(r"libcuda\.so\.(\d{3,}\.\d+(?:\.\d+)?)")
_ELF_32_BIT = b"\x7fELF\x01"


class LibcudaFacts(Struct, frozen=True):
    """The libraries of drivers that are there, and the file that a program gets which asks for `libcuda.so.1`: empty of none."""

    libraries: Fact[tuple[Library, ...]]
    taken: Fact[str]


def probe(world: World, terminal: Fact[Terminal]) -> LibcudaFacts:
    """By this terminal's variable as well as a new one's: either shows where this system keeps it."""
    values = [world.surroundings.variables.get(_VARIABLE, "")]
    if isinstance(terminal, Known):
        values.insert(0, terminal.value.variable(_VARIABLE))
    loader = Loader(world.files)
    return LibcudaFacts(_libraries(world.files, loader, values), _taken(world.files, loader, values))


def _libraries(files: Files, loader: Loader, values: list[str]) -> Fact[tuple[Library, ...]]:
    kept = [path for directory in _DIRECTORIES for path in files.glob(f"{directory}/libcuda.so*")]
    led_to = [path for path in loader.in_cache(SONAME) if _is_drivers(files, path)]
    elements = dict.fromkeys(element.rstrip("/") for value in values for element in value.split(":") if element[:1] == "/")
    by_variable = [path for element in list(elements)[:_ELEMENTS_AT_MOST] for path in _in_element(files, element)]
    found = dict.fromkeys(files.real(path) for path in (*kept, *led_to, *by_variable) if files.is_file(path))
    # Fedora and Arch keep a 32-bit driver beside the other, for games; no CUDA program loads it.
    libraries = tuple(Library(path, _version(path)) for path in found if files.head(path, len(_ELF_32_BIT)) != _ELF_32_BIT)
    asked = ("/usr/lib*/libcuda.so*", *([CACHE] if loader.has_cache else []), *([_VARIABLE] if elements else []))
    return Known(libraries, ", ".join(asked))


def _in_element(files: Files, directory: str) -> Iterator[str]:
    for name in files.names(directory):
        path = f"{directory}/{name}"
        if name.startswith("libcuda.so") and _is_drivers(files, path):
            yield path


def _is_drivers(files: Files, path: str) -> bool:
    """A toolkit's stub, and a library that serves newer CUDA on an older driver, are none of a driver that is installed."""
    directories = (path.rpartition("/")[0], files.real(path).rpartition("/")[0])
    return not any(holds_stubs(directory) or holds_compatibility(directory) for directory in directories)


def _taken(files: Files, loader: Loader, values: list[str]) -> Fact[str]:
    """Without a cache (NixOS, musl) programs find it by an RPATH of their own, if at all, and nothing here tells."""
    if not loader.has_cache:
        return Unknown(text("{path} is not there, so which file a program gets cannot be told", path=CACHE), asked=False)
    found = next((path for value in values if (path := loader.find(SONAME, value))), "") or loader.find(SONAME)
    return Known(files.real(found) if found else "", f"{_VARIABLE}, {CACHE}" if any(values) else CACHE)


def _version(path: str) -> Fact[Version]:
    found = _VERSION.fullmatch(path.rpartition("/")[2])
    if found is None:
        return Unknown(text("the name of {path} does not carry the driver's version", path=path))
    return Known(Version.parse(found[1]), path)
