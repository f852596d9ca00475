"""What apt did, from `/var/log/apt/history.log`, and what dpkg did, from `/var/log/dpkg.log`; joined, for both tell of one act.

apt writes an entry a run (apt-pkg/deb/dpkgpm.cc, OpenLog and CloseLog), in English, in local time without its zone:

    Start-Date: 2026-11-14  06:12:03
    Commandline: /usr/bin/unattended-upgrade
    Requested-By: you (1000)
    Install: linux-image-6.8.0-48-generic:amd64 (6.8.0-48.48, automatic)
    Upgrade: nvidia-driver-570:amd64 (570.86-0ubuntu1, 570.95-0ubuntu1)
    Error: Sub-process /usr/bin/dpkg returned an error code (1)
    End-Date: 2026-11-14  06:12:40

The lists are what apt meant to do. dpkg writes a line for each thing that it begins (src/main/help.c, log_action, and
lib/dpkg/log.c): `2026-11-14 06:12:10 upgrade nvidia-driver-570:amd64 570.86-0ubuntu1 570.95-0ubuntu1`. An upgrade is whatever comes
in the place of an installed package (unpack.c); a removal is logged once, a purge that follows it is not one more (remove.c).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.formats.package_logs.entries import LogPiece, Moments, doer, instant, is_relevant, words_of
from gpuassist.formats.package_logs.order import exchange
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import PackageAction, PackageEvent

APT_ENTRY = b"\nStart-Date: "  # with the empty line before it
_LISTS = {
    b"Install": PackageAction.INSTALLED,
    b"Reinstall": PackageAction.REINSTALLED,
    b"Upgrade": PackageAction.UPGRADED,
    b"Downgrade": PackageAction.DOWNGRADED,
    b"Remove": PackageAction.REMOVED,
    b"Purge": PackageAction.REMOVED,
    b"Disappeared": PackageAction.REMOVED,
}
_TAGS = frozenset({*_LISTS, b"Start-Date", b"Commandline", b"Requested-By", b"Error", b"End-Date"})
_REQUESTED_BY = lazy_regex(r"(.*) \(\d+\)")
_PACKAGE = lazy_regex(
    r"(?P<name>[^ ,:()]+)(?::(?P<architecture>[a-z0-9-]+))? \((?P<first>[^ ,()]*)(?:, (?P<second>[^ ,()]+))?(?:, automatic)?\)?"
)
_VALUE_AT_MOST = 2000  # bytes of a package with its versions, or of a line of dpkg's
# `.` also stands for the line feed, which makes a jump of 19 characters cost nothing; that they are a moment is looked at later.
_DPKG = lazy_regex(rb"(?s)\n.{19} (?:upgrade|install|remove|disappear) ([^ :\n]+)")
_ACT_SECONDS = 24 * 3600  # from the start of apt's run to what dpkg does in it: questions wait for an answer
_CLOCK_SECONDS = 2
# dpkg names each package with its architecture, apt those of all architectures with the machine's own.
_OTHER_ARCHITECTURES = frozenset({"i386", "armhf", "x32"})


class AptEvent(Struct, frozen=True):
    """One package of apt's run; `sure` is false where the run failed, or did not come to its end: then apt meant to do it."""

    event: PackageEvent
    sure: bool


def read_apt(log: Iterable[LogPiece], moments: Moments, path: str) -> Iterator[AptEvent]:
    """The packages that GPU work depends on; an entry that is cut off is told as far as it goes."""
    for piece in log:
        place = piece.data.find(APT_ENTRY)
        while place >= 0:
            end = piece.data.find(APT_ENTRY, place + 1)
            yield from _of_entry(piece.data[place : end if end >= 0 else None], piece.line_at(place), moments, path)
            place = end


def _of_entry(entry: bytes, first_line: int, moments: Moments, path: str) -> Iterator[AptEvent]:
    lists: list[tuple[int, PackageAction, list[bytes]]] = []
    told: dict[bytes, str] = {}
    for number, line in enumerate(entry.split(b"\n")[1:], first_line):
        tag, colon, value = line.partition(b": ")
        if colon and tag in _LISTS:
            packages = value.split(b"), ")
            whole = packages if packages[-1].endswith(b")") else packages[:-1]
            relevant = [one for one in whole if is_relevant(one[: _name_end(one)])]
            if relevant:
                lists.append((number, _LISTS[tag], relevant))
        elif colon and tag in _TAGS:
            told.setdefault(tag, words_of(value[:_VALUE_AT_MOST]))
    at = moments.at(told.get(b"Start-Date", "")) if lists else ""
    if not at:
        return
    requested = _REQUESTED_BY.fullmatch(told.get(b"Requested-By", "").strip())
    sure = b"End-Date" in told and b"Error" not in told
    by, user = doer(told.get(b"Commandline", "")), requested[1] if requested else ""
    for number, action, packages in lists:
        for package in packages:
            event = _package(package, action)
            if event is not None:
                yield AptEvent(replace(event, at=at, source=f"{path}:{number}", by=by, user=user), sure)


def _name_end(package: bytes) -> int:
    colon = package.find(b":")
    return colon if colon >= 0 else package.find(b" ")


def _package(words: bytes, action: PackageAction) -> PackageEvent | None:
    """Of `libnvidia-gl-570:i386 (570.86, 570.95`; None where it has no version, as one whose settings alone were purged."""
    found = _PACKAGE.fullmatch(words_of(words[:_VALUE_AT_MOST]))
    if found is None:
        return None
    name = _name(found["name"], found["architecture"] or "")
    first, second = found["first"], found["second"] or ""
    if action in {PackageAction.UPGRADED, PackageAction.DOWNGRADED}:
        before, after = first if second else "", second
    elif action is PackageAction.REINSTALLED:
        before = after = first
    else:
        before, after = (first, "") if action is PackageAction.REMOVED else ("", first)
    return PackageEvent("", action, name, before, after, "") if after or before else None


def _name(name: str, architecture: str) -> str:
    return f"{name}:{architecture}" if architecture in _OTHER_ARCHITECTURES else name


def read_dpkg(log: Iterable[LogPiece], moments: Moments, path: str) -> Iterator[PackageEvent]:
    """The packages that GPU work depends on."""
    for piece in log:
        for match in _DPKG.finditer(piece.data):
            if is_relevant(match[1]):
                place = match.start()
                end = piece.data.find(b"\n", place + 1, place + _VALUE_AT_MOST)
                event = _of_line(words_of(piece.data[place + 1 : end if end >= 0 else place + _VALUE_AT_MOST]), moments)
                if event is not None:
                    yield replace(event, source=f"{path}:{piece.line_at(place)}")


def _of_line(line: str, moments: Moments) -> PackageEvent | None:
    words = line.split(" ")
    at = moments.at(" ".join(words[:2])) if len(words) == 6 else ""
    if not at:
        return None
    does, (name, _, architecture), before, after = words[2], words[3].partition(":"), words[4], words[5]
    name = _name(name, architecture)
    if does == "upgrade":
        return PackageEvent(at, exchange(before, after), name, before, after, "", "dpkg")
    if does == "install":  # of a package whose settings were kept, dpkg names the version that these are of
        return PackageEvent(at, PackageAction.INSTALLED, name, "", after, "", "dpkg")
    return PackageEvent(at, PackageAction.REMOVED, name, before, "", "", "dpkg")


def joined(apt: Iterable[AptEvent], dpkg: Iterable[PackageEvent], dpkg_since: str) -> Iterator[PackageEvent]:
    """One event for what both tell of, with apt's moment, by whom and for whom it was done, and both sources. What apt meant to do
    in a run that failed is left out where dpkg, whose log begins at `dpkg_since`, would have told of it.
    """
    meant: dict[tuple[str, str, str], list[tuple[float, AptEvent]]] = {}
    for one in apt:
        meant.setdefault(_key(one.event), []).append((instant(one.event.at), one))
    for runs in meant.values():
        runs.sort(key=_begun)
    for event in dpkg:
        runs = meant.get(_key(event), [])
        done = instant(event.at) if runs else 0.0
        place = bisect_right([begun for begun, _one in runs], done + _CLOCK_SECONDS) - 1
        if place < 0 or runs[place][0] < done - _ACT_SECONDS:
            yield event
        else:
            run = runs.pop(place)[1].event
            yield replace(run, source=f"{run.source}; {event.source}")
    told_since = instant(dpkg_since) if dpkg_since else float("inf")
    for runs in meant.values():
        yield from (one.event for begun, one in runs if one.sure or begun < told_since)


def _begun(run: tuple[float, AptEvent]) -> float:
    return run[0]


def _key(event: PackageEvent) -> tuple[str, str, str]:
    return event.package, event.before, event.after
