"""What dnf and yum did, from their logs of lines: `/var/log/dnf.rpm.log` and `/var/log/yum.log`. The history that dnf keeps in a
database tells more, see `dnf_history`.

dnf (dnf/logging.py; dnf/transaction.py, FILE_ACTIONS, which are not translated) tells what came and, at the end, what it replaced:

    2026-11-14T06:12:10+0100 SUBDEBUG Upgrade: nvidia-driver-3:580.95.05-1.fc42.x86_64
    2026-11-14T06:12:14+0100 SUBDEBUG Upgraded: nvidia-driver-3:570.86.15-1.fc42.x86_64

yum (yum/rpmtrans.py) `Nov 14 06:12:10 Updated: kernel-devel-3.10.0-1160.el7.x86_64`, without the year.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.formats.package_logs.entries import LogPiece, Moments, is_relevant, words_of
from gpuassist.formats.package_logs.order import exchange
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import PackageAction, PackageEvent

_DNF = lazy_regex(
    rb"\n(\d{4}-[^ \n]{15,24}) (?:SUBDEBUG|INFO|DEBUG) "
    rb"(Installed|Erase|Upgraded?|Downgraded?|Reinstall|Obsolete|Obsoleted): ([^ \n]{1,300})"
)
_YUM = lazy_regex(rb"\n([A-Z][a-z]{2}) ([ \d]\d) (\d\d:\d\d:\d\d) (Installed|Updated|Erased): ([^ \n]{1,300})")
_CAME = {
    b"Installed": PackageAction.INSTALLED,
    b"Obsolete": PackageAction.INSTALLED,
    b"Upgrade": PackageAction.UPGRADED,
    b"Downgrade": PackageAction.DOWNGRADED,
    b"Reinstall": PackageAction.REINSTALLED,
    b"Updated": PackageAction.UPGRADED,
}
_REPLACED = frozenset({b"Upgraded", b"Downgraded"})
_MONTHS = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")
_OTHER_ARCHITECTURES = frozenset({"i386", "i586", "i686"})


class Nevra(Struct, frozen=True):
    """A package as rpm names it; `name` with its architecture where that is another than the machine's, `version` with epoch (but
    0) and release.
    """

    name: str
    version: str


def nevra(words: str) -> Nevra | None:
    """Of `nvidia-driver-3:580.95.05-1.fc42.x86_64`, also with the epoch before the name, as yum writes it."""
    epoch, colon, rest = words.partition(":")
    if colon and epoch.isdigit():
        words = rest
    full, _, architecture = words.rpartition(".")
    name, _, release = full.rpartition("-")
    name, _, version = name.rpartition("-")
    if not (name and version and release and architecture):
        return None
    if colon and epoch.isdigit():
        version = f"{epoch}:{version}"
    return Nevra(named(name, architecture), f"{version.removeprefix('0:')}-{release}")


def named(name: str, architecture: str) -> str:
    return f"{name}.{architecture}" if architecture in _OTHER_ARCHITECTURES else name


def read_dnf_log(log: Iterable[LogPiece], moments: Moments, path: str) -> Iterator[PackageEvent]:
    """The packages that GPU work depends on; neither who nor what asked for it is logged."""
    found: list[PackageEvent] = []
    waiting: dict[str, int] = {}  # where the new version of a package stands that was told of, and not yet the old one
    for piece in log:
        for match in _DNF.finditer(piece.data):
            package = _relevant(match[3])
            at = moments.at(words_of(match[1])) if package is not None else ""
            if package is None or not at:
                continue
            if match[2] in _REPLACED:
                place = waiting.pop(package.name, -1)
                if place >= 0:
                    found[place] = replace(found[place], before=package.version)
                continue
            action = _CAME.get(match[2], PackageAction.REMOVED)
            if action in {PackageAction.UPGRADED, PackageAction.DOWNGRADED}:
                waiting[package.name] = len(found)
            found.append(_event(at, action, package, f"{path}:{piece.line_at(match.start())}"))
    yield from found


def read_yum_log(log: Iterable[LogPiece], moments: Moments, path: str, written: datetime) -> Iterator[PackageEvent]:
    """The same of a log that ends in the local time `written`: from there the years are counted back."""
    lines = [(piece, match) for piece in log for match in _YUM.finditer(piece.data)]
    year, above = written.year, (written.month, written.day, "~")
    found: list[PackageEvent] = []
    for piece, match in reversed(lines):
        month = _MONTHS.index(match[1]) + 1 if match[1] in _MONTHS else 0
        here = (month, int(match[2]), match[3].decode())
        year, above = year - (here > above), here
        package = _relevant(match[5])
        at = moments.at(f"{year:04}-{month:02}-{here[1]:02} {here[2]}") if package is not None else ""
        if package is not None and at:
            action = _CAME.get(match[4], PackageAction.REMOVED)
            found.append(_event(at, action, package, f"{path}:{piece.line_at(match.start())}"))
    yield from _with_before(reversed(found))


def _with_before(events: Iterable[PackageEvent]) -> Iterator[PackageEvent]:
    """What an update replaced, where the log tells of that as well: yum's lines name the new version alone."""
    there: dict[str, str] = {}
    for event in events:
        before = there.get(event.package, "") if event.action is PackageAction.UPGRADED else event.before
        there[event.package] = event.after
        action = exchange(before, event.after) if before and event.after else event.action
        yield replace(event, before=before, action=action)


def _relevant(words: bytes) -> Nevra | None:
    package = nevra(words_of(words))
    return package if package is not None and is_relevant(package.name.partition(".")[0].encode()) else None


def _event(at: str, action: PackageAction, package: Nevra, source: str) -> PackageEvent:
    before = package.version if action in {PackageAction.REMOVED, PackageAction.REINSTALLED} else ""
    after = "" if action is PackageAction.REMOVED else package.version
    return PackageEvent(at, action, package.name, before, after, source)
