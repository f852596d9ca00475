"""NVIDIA's modules that this computer builds for itself, by DKMS or akmods: what became of them for a kernel."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from gpuassist.model.fact import Fact, Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.next_start import BuildState, BuildTool, ModuleBuild
from gpuassist.system.files import Files

_DKMS = "/var/lib/dkms"
# NVIDIA's, Ubuntu's and Arch's packages call the module nvidia, Debian's by what they are of; nvidia-fs is no driver.
_NAME = lazy_regex(r"nvidia(?:-current|-tesla(?:-\d+)?|-legacy-\d+xx|-srv|-\d+(?:-server)?)?(?:-open)?")
_VERSION = lazy_regex(r"\d{2,4}(?:\.\d{1,6}){1,3}")
# dkms writes this into a log before it builds (dkms.in, do_build), and moves the log away once that was well.
_LOG_OF = lazy_regex(r"make\.log for \S+ for kernel (?P<kernel>\S+) \(")
_ERROR = lazy_regex(r"(?m)^.*?(?:\berror: |\*\*\* |No space left on device|Error! |cannot find -l).*$")
_LOG_AT_MOST_BYTES = 256 << 10
_ERROR_AT_MOST = 200
_VERSIONS_AT_MOST = 20
_AKMODS = "/usr/src/akmods"  # packages of akmods keep their sources here, /var/cache/akmods has the logs
_AKMODS_CACHE = "/var/cache/akmods"
_SERVICES = "/etc/systemd/system/*.wants/{name}.service"


def builds_of(files: Files, release: str) -> Fact[tuple[ModuleBuild, ...]]:
    """Every version whose sources are here, with what came of it for that kernel."""
    return Known((*_of_dkms(files, release), *_of_akmods(files, release)), _DKMS if files.is_directory(_DKMS) else _AKMODS)


def services_that_build(files: Files) -> Fact[tuple[str, ...]]:
    """Those that are enabled, and build what is missing before the desktop starts."""
    found = [name for name in ("dkms", "akmods") if files.glob(_SERVICES.format(name=name))]
    return Known(tuple(f"{name}.service" for name in found), "/etc/systemd/system")


def _of_dkms(files: Files, release: str) -> Iterator[ModuleBuild]:
    for name in files.names(_DKMS):
        if not _NAME.fullmatch(name):
            continue
        active = _installed(files, f"{_DKMS}/{name}", release)
        for version in files.names(f"{_DKMS}/{name}")[:_VERSIONS_AT_MOST]:
            if _VERSION.fullmatch(version):
                yield _of_version(files, f"{_DKMS}/{name}/{version}", release, installed=version == active)


def _installed(files: Files, place: str, release: str) -> str:
    """The version that is installed for the kernel: dkms' link kernel-RELEASE-MACHINE leads to it."""
    for link in files.glob(f"{place}/kernel-{release}-*"):
        real = files.real(link)
        if files.is_directory(real):
            return posixpath.relpath(real, place).partition("/")[0]
    return ""


def _of_version(files: Files, place: str, release: str, *, installed: bool) -> ModuleBuild:
    *_, name, version = place.rsplit("/", 3)
    if installed:
        return ModuleBuild(BuildTool.DKMS, name, version, BuildState.INSTALLED)
    if any(files.is_directory(f"{place}/{release}/{machine}/module") for machine in files.names(f"{place}/{release}")):
        return ModuleBuild(BuildTool.DKMS, name, version, BuildState.BUILT)
    log = f"{place}/build/make.log"
    words = files.text(log, _LOG_AT_MOST_BYTES)
    told = _LOG_OF.search(words[:4096])
    if told is not None and told["kernel"] == release:
        return ModuleBuild(BuildTool.DKMS, name, version, BuildState.FAILED, log, _first_error(words))
    return ModuleBuild(BuildTool.DKMS, name, version, BuildState.ADDED)


def _of_akmods(files: Files, release: str) -> Iterator[ModuleBuild]:
    sources = [name for name in files.names(_AKMODS) if name.startswith("nvidia") and "kmod" in name]
    if not sources:
        return
    failed = [
        path
        for path in files.glob(f"{_AKMODS_CACHE}/nvidia*/*.failed.log")
        if path.rpartition("/")[2].removesuffix(".failed.log").endswith(f"-for-{release}")
    ]
    if files.glob(f"/lib/modules/{release}/extra/nvidia*"):
        yield ModuleBuild(BuildTool.AKMODS, "nvidia", "", BuildState.INSTALLED)
    elif failed:
        words = files.text(failed[-1], _LOG_AT_MOST_BYTES)
        yield ModuleBuild(BuildTool.AKMODS, "nvidia", "", BuildState.FAILED, failed[-1], _first_error(words))
    else:
        yield ModuleBuild(BuildTool.AKMODS, "nvidia", "", BuildState.ADDED)


def _first_error(words: str) -> str:
    found = _ERROR.search(words)
    return found[0].strip()[:_ERROR_AT_MOST] if found else ""
