"""NVIDIA's kernel modules on disk, packed or not: every one that a kernel could load, and what it says of itself."""

from __future__ import annotations

import os
import posixpath

from gpuassist.detect.small_files import made, read, unreadable
from gpuassist.formats.kernel_module import ModuleError, Read, parse_modinfo_output, read_modinfo, signer_of, unpack
from gpuassist.model.driver import KernelModule
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from gpuassist.system.own_child import clean
from gpuassist.system.world import World

RELEASE = "/proc/sys/kernel/osrelease"
_INDEX_AT_MOST_BYTES = 16 << 20  # modules.dep of a distribution's kernel is of 1 MB
# Bounded: a line without an end would be gone over once for each time that the name stands in it.
_LISTED = lazy_regex(r"(?m)^[^:\n]{0,500}nvidia[^:/\n]{0,60}(?=:)")
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
# Debian's own packages name the module after what they are of: nvidia-current.ko, nvidia-tesla-535.ko, nvidia-legacy-390xx.ko.
_MODULE = lazy_regex(r"nvidia(?:-current|-tesla(?:-\d+)?|-legacy-\d+xx)?(?:-open)?\.ko(?:\.\w+)?")


def on_disk(world: World) -> Fact[tuple[KernelModule, ...]]:
    """The modules on disk for the running kernel."""
    release = read(world.files, RELEASE)
    return release if isinstance(release, Unknown) else modules_of(world, release.value)


def modules_of(world: World, release: str, root: str = "") -> Fact[tuple[KernelModule, ...]]:
    """The modules on disk for a kernel, of the system whose files lie under `root`, which need not be the one that runs."""
    base = base_of(world.files, release, root)
    if not base:
        path = f"{root}{_bases(release)[0]}"
        return Unknown(text("{path} is not there, so the modules of this kernel cannot be listed", path=path))
    return Known(tuple(_module(world, path) for path in module_paths(world.files, base)), base)


def base_of(files: Files, release: str, root: str = "") -> str:
    """The directory with the modules of a kernel; empty where there is none."""
    return next((base for base in (f"{root}{one}" for one in _bases(release)) if files.is_directory(base)), "")


def module_paths(files: Files, base: str) -> tuple[str, ...]:
    """NVIDIA's modules in the directory of a kernel: the main one of each driver, by its real file."""
    # What depmod has listed may be older than the files, so it is not the only place looked at.
    indexed = [posixpath.join(base, path) for path in _LISTED.findall(files.text(f"{base}/modules.dep", _INDEX_AT_MOST_BYTES))]
    placed = (path for place in _PLACES for path in files.glob(f"{base}/{place}/nvidia*.ko*"))
    ours = (path for path in (*indexed, *placed) if _MODULE.fullmatch(posixpath.basename(path)))
    return tuple(dict.fromkeys(files.real(path) for path in ours if files.is_file(path)))


def _bases(release: str) -> tuple[str, ...]:
    return f"/lib/modules/{release}", f"/usr/lib/modules/{release}", f"/run/booted-system/kernel-modules/lib/modules/{release}"


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
        made(words, lambda found: found.get("signer", "")),
    )


def _words(world: World, path: str) -> Fact[dict[str, str]]:
    files, ending = world.files, os.path.splitext(path)[1]
    try:
        if ending in {".gz", ".xz"}:
            unpacked = unpack(files.read_bytes(path, _PACKED_AT_MOST_BYTES), ending)
            return Known(_with_signer(lambda offset, size: unpacked[offset : offset + size], len(unpacked)), path)
        if ending == ".ko":
            return Known(_with_signer(lambda offset, size: files.read_part(path, offset, size), files.status(path).st_size), path)
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


def _with_signer(part: Read, size: int) -> dict[str, str]:
    """The words of .modinfo, and who signed the module, as the program modinfo prints both."""
    return {**read_modinfo(part), "signer": signer_of(part, size)}
