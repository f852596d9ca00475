"""Every nvidia.ko that the running kernel could load, packed or not, and what it says of itself."""

from __future__ import annotations

import os
import posixpath

from gpuassist.detect.reading import made, read, unreadable
from gpuassist.formats.kernel_module import ModuleError, parse_modinfo_output, read_modinfo, unpack
from gpuassist.model.driver import KernelModule
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from gpuassist.system.processes import clean
from gpuassist.system.world import World

RELEASE = "/proc/sys/kernel/osrelease"
_PACKED_AT_MOST_BYTES = 256 << 20
_MODINFO_SECONDS = 5.0
_MODINFO_PROGRAMS = ("modinfo", "/usr/sbin/modinfo", "/sbin/modinfo")  # kmod's, often outside a user's PATH
_PLACES = (
    "updates/dkms",  # DKMS on Debian and Ubuntu
    "updates",
    "extra",  # DKMS and akmods on Fedora
    "extra/*",
    "weak-updates/*",
    "kernel/drivers/video",  # NVIDIA's own installer
    "kernel/nvidia-*",  # Ubuntu's prebuilt modules
    "kernel/drivers/char/drm",
    "extramodules",
)


def on_disk(world: World) -> Fact[tuple[KernelModule, ...]]:
    """The modules on disk for the running kernel."""
    files = world.files
    release = read(files, RELEASE)
    if isinstance(release, Unknown):
        return release
    base = next((base for base in _bases(release.value) if files.is_directory(base)), None)
    if base is None:
        return Unknown(text("{path} is not there, so the modules of this kernel cannot be listed", path=_bases(release.value)[0]))
    paths = dict.fromkeys(files.real(path) for path in (*_indexed(files, base), *_placed(files, base)) if files.is_file(path))
    return Known(tuple(_module(world, path) for path in paths), base)


def _bases(release: str) -> tuple[str, ...]:
    return f"/lib/modules/{release}", f"/usr/lib/modules/{release}", f"/run/booted-system/kernel-modules/lib/modules/{release}"


def _indexed(files: Files, base: str) -> list[str]:
    """Those that depmod has listed; the list may be older than the files, so it is not the only place looked at."""
    try:
        lines = files.read_text(f"{base}/modules.dep").splitlines()
    except OSError:
        return []
    paths = [line.partition(":")[0] for line in lines if "/nvidia.ko" in line]
    return [posixpath.join(base, path) for path in paths if posixpath.basename(path).startswith("nvidia.ko")]


def _placed(files: Files, base: str) -> list[str]:
    return [path for place in _PLACES for path in files.glob(f"{base}/{place}/nvidia.ko*")]


def _module(world: World, path: str) -> KernelModule:
    words = _words(world, path)
    licence = made(words, lambda found: found.get("license", ""))
    if isinstance(licence, Known) and not licence.value:
        licence = Unknown(text("{path} names no licence", path=path))
    return KernelModule(
        path,
        made(words, lambda found: Version.parse(found.get("version", ""))),
        licence,
        made(licence, lambda words: "GPL" in words),
    )


def _words(world: World, path: str) -> Fact[dict[str, str]]:
    files, ending = world.files, os.path.splitext(path)[1]
    try:
        if ending in {".gz", ".xz"}:
            unpacked = unpack(files.read_bytes(path, _PACKED_AT_MOST_BYTES), ending)
            return Known(read_modinfo(lambda offset, size: unpacked[offset : offset + size]), path)
        if ending == ".ko":
            return Known(read_modinfo(lambda offset, size: files.read_part(path, offset, size)), path)
    except OSError as error:
        return unreadable(path, error)
    except ModuleError as error:
        return Unknown(text("{path} is no kernel module that can be read: {error}", path=path, error=str(error)))
    for program in _MODINFO_PROGRAMS:
        outcome = world.processes.run(
            (program, world.files.place(path)), seconds=_MODINFO_SECONDS, environment=clean(world.surroundings.variables)
        )
        if outcome.succeeded:
            return Known(parse_modinfo_output(outcome.text), f"modinfo {path}")
    return Unknown(text("{path} is packed in a way that only the program modinfo reads, and that gave no answer", path=path))
