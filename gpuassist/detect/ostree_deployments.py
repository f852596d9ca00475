"""The deployments of an rpm-ostree system, from their files where this user may read them, else from what rpm-ostree answers."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.detect.log_files import LogReading, read_head
from gpuassist.formats.distribution import read_os_release
from gpuassist.formats.package_logs.entries import Moments
from gpuassist.formats.package_logs.ostree import Deployment, read_origin, read_status
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.system.own_child import clean

_BOOTED = "/run/ostree-booted"  # made by ostree-prepare-root(1)
_ORIGINS = "/ostree/deploy/*/deploy/*.origin"
_STATUS = ("rpm-ostree", "status", "--json")
_SECONDS = 3.0  # its daemon may have to be started first
_DEPLOYMENTS_AT_MOST = 20
_LIBRARY = lazy_regex(r"libcuda\.so\.(\d+\.[\d.]+)")


def deployments(reading: LogReading) -> tuple[Deployment, ...]:
    """None on any other system. What cannot be told of them is noted."""
    files = reading.world.files
    if not files.exists(_BOOTED):
        return ()
    found = tuple(_from_files(reading))
    if not found:
        found = _from_status(reading)
    if not any(one.kernel for one in found):
        reading.unread.append(text("What packages the deployments of {system} held was not told", system="rpm-ostree"))
    return found


def _from_files(reading: LogReading) -> Iterator[Deployment]:
    files, moments = reading.world.files, Moments(reading.zone)
    for origin in files.glob(_ORIGINS)[:_DEPLOYMENTS_AT_MOST]:
        system = origin.removesuffix(".origin")
        try:
            image, packages = read_origin(read_head(files, origin, 1 << 16).decode("utf-8", "replace"))
            at = moments.of_epoch(files.status(origin).st_mtime)
            release = read_os_release(read_head(files, f"{system}/usr/lib/os-release", 1 << 16).decode("utf-8", "replace"))
        except OSError as error:
            reading.unread.append(reading.why(origin, error))
            continue
        kernels = files.names(f"{system}/usr/lib/modules")
        libraries = (_LIBRARY.fullmatch(name) for name in files.names(f"{system}/usr/lib64"))
        if at:
            yield Deployment(
                origin,
                at,
                release.get("OSTREE_VERSION", "") or release.get("VERSION_ID", ""),
                image,
                packages,
                max(kernels, default=""),
                next((match[1] for match in libraries if match), ""),
            )


def _from_status(reading: LogReading) -> tuple[Deployment, ...]:
    environment = clean({"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    outcome = reading.world.processes.run(_STATUS, seconds=_SECONDS, environment=environment)
    return read_status(outcome.text, Moments(reading.zone), " ".join(_STATUS)) if outcome.succeeded else ()
