"""How the driver was set up: what forbids it, its options and firmware, who installed it, and whether nvidia-smi came with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpuassist.detect.reading import made, read
from gpuassist.formats.modprobe import forbidden_by_command_line, forbidden_by_file
from gpuassist.model.driver import Bar, Driver, KernelModule, Option
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.text import text
from gpuassist.system.files import Files

PARAMETERS = "/proc/driver/nvidia/params"
_COMMAND_LINE = "/proc/cmdline"
_MODPROBE = ("/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d")
_ASKED_MODULES = frozenset({"nvidia", "nouveau"})
_ASKED_OPTIONS = ("PreserveVideoMemoryAllocations", "UseKernelSuspendNotifiers", "EnableGpuFirmware", "ExcludedGpus")
_FIRMWARE = ("/lib/firmware", "/usr/lib/firmware", "/lib/firmware/updates", "/run/current-system/firmware")
_UNINSTALLERS = ("/usr/bin/nvidia-uninstall", "/usr/local/bin/nvidia-uninstall")
_DPKG, _PACMAN = "/var/lib/dpkg/info", "/var/lib/pacman/local"
# dpkg keeps a package's checksums as long as it is installed, its list of files longer.
_PACKAGES = (
    *(f"{_DPKG}/{name}.md5sums" for name in ("libnvidia-compute-*", "nvidia-utils-*", "libcuda1", "libcuda1:*", "nvidia-smi")),
    f"{_PACMAN}/nvidia-utils-*",
)
_PROGRAMS = (
    "/usr/bin/nvidia-smi",
    "/usr/local/bin/nvidia-smi",
    "/usr/lib/nvidia/current/nvidia-smi",
    "/usr/lib/wsl/lib/nvidia-smi",
    "/run/current-system/sw/bin/nvidia-smi",
    "/opt/bin/nvidia-smi",
)


def with_setup(files: Files, driver: Driver) -> Driver:
    """The driver with all of it."""
    argument = read(files, _COMMAND_LINE)
    told = [Bar(name, _COMMAND_LINE, words) for name, words in forbidden_by_command_line(value_or(argument, ""))]
    found = (*told, *_bars_of_files(files))
    return replace(
        driver,
        bars=Known(tuple(one for one in found if one.module in _ASKED_MODULES), "/etc/modprobe.d"),
        options=made(read(files, PARAMETERS), lambda words: tuple(_options(words))) if files.exists(PARAMETERS) else NOT_ASKED,
        firmware=_firmware(files, value_or(driver.loaded, ())),
        uninstaller=_uninstaller(files),
        driver_packages=_packages(files),
        nvidia_smi=_first(files, _PROGRAMS),
    )


def _bars_of_files(files: Files) -> Iterator[Bar]:
    """A file of one directory hides those of its name in the later ones."""
    seen: set[str] = set()
    for directory in _MODPROBE:
        for path in files.glob(f"{directory}/*.conf"):
            name = path.rpartition("/")[2]
            if name not in seen:
                seen.add(name)
                for module, number, line in forbidden_by_file(value_or(read(files, path), "")):
                    yield Bar(module, f"{path}:{number}", line)


def _options(words: str) -> Iterator[Option]:
    for line in words.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() in _ASKED_OPTIONS:
            yield Option(name.strip(), value.strip().strip('"'))


def _firmware(files: Files, loaded: tuple[KernelModule, ...]) -> Fact[tuple[str, ...]]:
    """The files of the loaded version; a container sees none of the host's."""
    version = loaded[0].version if loaded else NOT_ASKED
    if isinstance(version, Unknown):
        return version
    roots = [root for root in _FIRMWARE if files.is_directory(root)]
    if not roots:
        return Unknown(text("{path} is not there, so the driver's firmware cannot be looked for", path=_FIRMWARE[0]))
    found = dict.fromkeys(files.real(path) for root in roots for path in files.glob(f"{root}/nvidia/{version.value}/gsp*"))
    return Known(tuple(found), f"{_FIRMWARE[0]}/nvidia/{version.value}")


def _uninstaller(files: Files) -> Fact[str]:
    return _first(files, _UNINSTALLERS)


def _packages(files: Files) -> Fact[tuple[str, ...]]:
    place = next((place for place in (_DPKG, _PACMAN) if files.is_directory(place)), "")
    if not place:
        return Unknown(text("the packages of this distribution are not listed in files that can be read"))
    found = (path.rpartition("/")[2] for pattern in _PACKAGES for path in files.glob(pattern))
    return Known(tuple(name.removesuffix(".md5sums").partition(":")[0] for name in found), place)


def _first(files: Files, paths: tuple[str, ...]) -> Fact[str]:
    return Known(next((path for path in paths if files.exists(path)), ""), paths[0])
