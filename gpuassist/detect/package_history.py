"""What was done to a machine's packages, from every log that this user may read: who, when, from, to.

Logs lie in /var/log, conda's in each environment; pip and uv keep none, so of theirs the last installation is told.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timezone, tzinfo
from io import BytesIO
from typing import TypeVar

from gpuassist.detect.installed_records import environment_events
from gpuassist.detect.log_files import Log, LogReading, read_all, read_head
from gpuassist.detect.ostree_deployments import deployments
from gpuassist.formats.package_logs.apt import APT_ENTRY, joined, read_apt, read_dpkg
from gpuassist.formats.package_logs.dnf_history import DNF_LAYOUTS
from gpuassist.formats.package_logs.entries import Moments, instant, words_of
from gpuassist.formats.package_logs.nvidia_installer import read_nvidia_installer
from gpuassist.formats.package_logs.ostree import deployment_events
from gpuassist.formats.package_logs.pacman import read_pacman
from gpuassist.formats.package_logs.rpm_logs import read_dnf_log, read_yum_log
from gpuassist.formats.package_logs.zypp import read_zypp
from gpuassist.model.machine import Machine
from gpuassist.model.past import PackageEvent, PackageHistory
from gpuassist.model.text import counted
from gpuassist.system.files import Files
from gpuassist.system.world import World

EVENTS_AT_MOST = 20_000
_APT, _DPKG, _PACMAN, _ZYPP = "/var/log/apt/history.log", "/var/log/dpkg.log", "/var/log/pacman.log", "/var/log/zypp/history"
_DNF_LOG, _YUM_LOG = "/var/log/dnf.rpm.log", "/var/log/yum.log"
_NVIDIA = ("/var/log/nvidia-installer.log", "/var/log/nvidia-uninstall.log")
_NVIDIA_AT_MOST = 1 << 20  # bytes of its beginning, and of its end: what compilers print stands between
_ZONE = "/etc/localtime"
_ZONE_AT_MOST = 1 << 18


def read_history(world: World, machine: Machine, since: str) -> PackageHistory:
    """The entries from the moment `since` on (ISO 8601; empty: as far as logs reach, within bounds), oldest first."""
    zone = zone_of(world.files)
    start = _start(since, zone)
    reading = LogReading(world, zone, start)
    events: list[PackageEvent] = []
    begun: list[float] = []  # from when on each kind of system log tells
    for system in (_of_debian, _of_pacman, _of_zypp, _of_dnf):
        told, first = system(reading)
        events += told
        begun += [first] if first is not None else []
    events += deployment_events(deployments(reading))
    events += _of_nvidia_installer(reading)
    events += environment_events(reading, machine)
    return PackageHistory(
        _in_order(reading, events),
        Moments(zone).of_epoch(max(*begun, start)) if begun and max(*begun, start) > float("-inf") else "",
        tuple(dict.fromkeys(reading.unread)),
    )


def zone_of(files: Files) -> tzinfo | None:
    """The machine's time zone, whatever this user's TZ says: package managers run as the system. None where it cannot be read."""
    from zoneinfo import ZoneInfo  # 5 ms, of use to nobody else

    if not files.exists(_ZONE):
        return timezone.utc  # as tzset(3) has it
    try:
        return ZoneInfo.from_file(_WithoutMore(read_head(files, _ZONE, _ZONE_AT_MOST)))
    except (OSError, ValueError, LookupError, EOFError, OverflowError, AssertionError, struct.error):
        return None  # all that zoneinfo raises for what is no file of a zone


class _WithoutMore(BytesIO):
    """A file whose end is an error: zoneinfo looks for the end of the last line for ever where a file is cut off."""

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        if size and not data:
            raise EOFError
        return data


def _start(since: str, zone: tzinfo | None) -> float:
    try:
        moment = datetime.fromisoformat(since.strip().replace("Z", "+00:00"))
    except ValueError:
        return float("-inf")
    return instant((moment if moment.tzinfo else moment.replace(tzinfo=zone or timezone.utc)).isoformat())


def _in_order(reading: LogReading, events: Iterable[PackageEvent]) -> tuple[PackageEvent, ...]:
    """Each once: where rotating was interrupted, a log stands there both packed and not."""
    timed = {_key(event): (instant(event.at), event) for event in reversed(list(events))}
    kept = [one for one in reversed(timed.values()) if one[0] >= reading.since]
    kept.sort(key=lambda one: one[0])
    if len(kept) > EVENTS_AT_MOST:
        reading.unread.append(
            counted(
                "{count} older entry of the package logs was left out",
                "{count} older entries of the package logs were left out",
                len(kept) - EVENTS_AT_MOST,
            )
        )
    return tuple(event for _at, event in kept[-EVENTS_AT_MOST:])


def _key(event: PackageEvent) -> tuple[str, ...]:
    return event.at, event.action.value, event.package, event.before, event.after, event.environment


# Each kind of log: its entries, and from when on it tells (None: nothing does).

_Told = tuple[list[PackageEvent], "float | None"]


def _of_debian(reading: LogReading) -> _Told:
    apt, apt_first = _all(reading, _APT, lambda log: read_apt(log.pieces, Moments(reading.zone), log.path), APT_ENTRY)
    dpkg, dpkg_first = _all(reading, _DPKG, lambda log: read_dpkg(log.pieces, Moments(reading.zone), log.path))
    since = Moments(timezone.utc).of_epoch(max(dpkg_first, 0.0)) if dpkg_first is not None else ""
    firsts = [one for one in (apt_first, dpkg_first) if one is not None]
    return list(joined(apt, dpkg, since)), max(firsts, default=None)


def _of_pacman(reading: LogReading) -> _Told:
    return _all(reading, _PACMAN, lambda log: read_pacman(log.pieces, Moments(reading.zone), log.path))


def _of_zypp(reading: LogReading) -> _Told:
    return _all(reading, _ZYPP, lambda log: read_zypp(log.pieces, Moments(reading.zone), log.path))


def _of_dnf(reading: LogReading) -> _Told:
    """What its databases keep, or its log of lines, which tells less, where there is none that can be read."""
    there = [path for path in DNF_LAYOUTS if reading.world.files.exists(path)]
    if there:
        from gpuassist.detect.dnf_databases import read_database  # with sqlite3, 5 ms that other systems need not pay

        histories = [one for path in there if (one := read_database(reading, path, DNF_LAYOUTS[path])) is not None]
    else:
        histories = []
    if any(one.first is not None for one in histories):
        firsts = [one.first for one in histories if one.first is not None]
        return [event for one in histories for event in one.events], max(min(firsts), reading.since)
    told, first = _all(reading, _DNF_LOG, lambda log: read_dnf_log(log.pieces, Moments(reading.zone), log.path))
    if first is not None:
        return told, first
    return _all(reading, _YUM_LOG, lambda log: _of_yum(reading, log))


def _of_yum(reading: LogReading, log: Log) -> Iterator[PackageEvent]:
    changed = reading.world.files.status(log.path).st_mtime
    written = datetime.fromtimestamp(changed, timezone.utc).astimezone(reading.zone or timezone.utc)
    return read_yum_log(log.pieces, Moments(reading.zone), log.path, written)


_Entry = TypeVar("_Entry")


def _all(
    reading: LogReading, path: str, read: Callable[[Log], Iterable[_Entry]], entry: bytes = b"\n"
) -> tuple[list[_Entry], float | None]:
    found: list[_Entry] = []
    first: float | None = None
    for log in reading.logs(path, entry):
        found += read(log)
        begun = log.first()
        first = begun if first is None else min(first, begun) if begun is not None else first
    return found, max(first, reading.since) if first is not None else None


def _of_nvidia_installer(reading: LogReading) -> Iterator[PackageEvent]:
    for path in _NVIDIA:
        if not reading.world.files.exists(path):
            continue
        try:
            with reading.world.files.opened(path) as opened:
                words = words_of(read_all(opened, _NVIDIA_AT_MOST))
                size = opened.seek(0, 2)
                if size > _NVIDIA_AT_MOST:
                    opened.seek(max(_NVIDIA_AT_MOST, size - _NVIDIA_AT_MOST))
                    words += words_of(read_all(opened, _NVIDIA_AT_MOST))
        except OSError as error:
            reading.unread.append(reading.why(path, error))
            continue
        event = read_nvidia_installer(words, Moments(reading.zone), path)
        if event is not None:
            yield event
