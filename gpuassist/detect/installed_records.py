"""What pip, uv and conda wrote down in each environment about the packages that GPU work depends on."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.detect.log_files import LogReading, read_head
from gpuassist.formats.package_logs.conda_history import CONDA_ENTRY, read_conda_history
from gpuassist.formats.package_logs.entries import Moments, doer
from gpuassist.formats.package_logs.kinds import subject_of
from gpuassist.formats.packages import normalised
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import value_or
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.past import PackageAction, PackageEvent
from gpuassist.model.text import text

_ENVIRONMENTS_AT_MOST = 64
_SITES_AT_MOST = 6
_RECORDS_AT_MOST = 400  # of one environment; one with torch and what stands on it has eighty
_RECORD = lazy_regex(r"([A-Za-z0-9][\w.-]{0,100}?)-(\d[\w.!+]{0,60})\.dist-info")
_CONDA_RECORD = lazy_regex(r"([a-z0-9_][\w.-]{0,100})-(\d[\w.!+]{0,60})-[\w.+]{1,80}\.json")
# What the distribution or conda installed, their own logs tell of (PEP 627: INSTALLER names the program).
_TOLD_ELSEWHERE = frozenset({"rpm", "debian", "apt", "pacman", "conda", "guix", "portage"})


def environment_events(reading: LogReading, machine: Machine) -> Iterator[PackageEvent]:
    """The last installation of each package by pip or uv, which leaves nothing of the one before, and conda's own history."""
    seen: set[str] = set()
    for number, environment in enumerate(value_or(machine.environments, ())):
        if number >= _ENVIRONMENTS_AT_MOST or reading.budget.spent:
            reading.unread.append(text("{path} and later environments were not looked at", path=environment.prefix))
            return
        yield from _of_conda(reading, environment)
        for site in value_or(environment.sites, ())[:_SITES_AT_MOST]:
            real = reading.world.files.real(site)
            if real not in seen:
                seen.add(real)
                yield from _of_site(reading, environment.prefix, site)


def _of_site(reading: LogReading, prefix: str, site: str) -> Iterator[PackageEvent]:
    if _changed(reading, site) < reading.since:  # nothing came into it or went since
        return
    found = (_RECORD.fullmatch(name) for name in reading.world.files.names(site))
    relevant = [match for match in found if match and subject_of(match[1], in_environment=True) is not None]
    moments = Moments(reading.zone)
    for match in relevant[:_RECORDS_AT_MOST]:
        place = f"{site}/{match[0]}"
        if _changed(reading, place) < reading.since:
            continue
        installer = _words(reading, f"{place}/INSTALLER").strip()[:40]
        source = next((one for one in (f"{place}/INSTALLER", f"{place}/RECORD") if _changed(reading, one) > 0), place)
        at = moments.of_epoch(_changed(reading, source))
        if at and installer not in _TOLD_ELSEWHERE and not (installer == "" and "/dist-packages" in site):
            by = doer(f"{installer} {_address(reading, place)}".strip()) if installer else ""
            yield PackageEvent(at, PackageAction.INSTALLED, normalised(match[1]), "", match[2], source, by, environment=prefix)


def _address(reading: LogReading, place: str) -> str:
    """Where a package came from that was not asked for by its name (PEP 610, direct_url.json)."""
    try:
        document: object = read_json(_words(reading, f"{place}/direct_url.json") or "null")
    except NotJsonError:
        return ""
    url = document.get("url") if isinstance(document, dict) else None
    return url if isinstance(url, str) else ""


def _of_conda(reading: LogReading, environment: PythonEnvironment) -> Iterator[PackageEvent]:
    files, folder = reading.world.files, f"{environment.prefix}/conda-meta"
    if not files.is_directory(folder):
        return
    kept = False
    path = f"{folder}/history"
    for log in reading.logs(path, CONDA_ENTRY) if files.exists(path) else ():
        yield from read_conda_history(log.pieces, Moments(reading.zone), log.path, environment.prefix)
        kept = kept or log.first() is not None
    if not kept:
        yield from _of_conda_records(reading, environment.prefix, folder)


def _of_conda_records(reading: LogReading, prefix: str, folder: str) -> Iterator[PackageEvent]:
    """The last installation of each: pixi writes records, and no history."""
    moments = Moments(reading.zone)
    found = (_CONDA_RECORD.fullmatch(name) for name in reading.world.files.names(folder))
    for match in [one for one in found if one and subject_of(one[1], in_environment=True) is not None][:_RECORDS_AT_MOST]:
        path = f"{folder}/{match[0]}"
        changed = _changed(reading, path)
        at = moments.of_epoch(changed) if changed >= reading.since else ""
        if at:
            yield PackageEvent(at, PackageAction.INSTALLED, match[1], "", match[2], path, environment=prefix)


def _changed(reading: LogReading, path: str) -> float:
    try:
        return reading.world.files.status(path).st_mtime
    except OSError:
        return 0.0


def _words(reading: LogReading, path: str) -> str:
    try:
        return read_head(reading.world.files, path, 1 << 14).decode("utf-8", "replace")
    except OSError:
        return ""
