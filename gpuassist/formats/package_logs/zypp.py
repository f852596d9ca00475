"""What zypper, YaST and PackageKit did, from `/var/log/zypp/history`.

zypp/HistoryLog.cc: an entry a line, `|` between its columns (`\\|` within one), local time without its zone, `#` before comments:

    2026-11-14 06:12:03|command|root@desk|'zypper' 'dup'|
    2026-11-14 06:12:10|install|nvidia-compute-G06|580.95.05-1.1|x86_64|root@desk|NVIDIA|d99de2872270|
    2026-11-14 06:12:12|remove |kernel-default|6.4.0-150600.23.25.1|x86_64|root@desk|

Column 6 of what is installed or removed is who asked for it (user@host, or pid:program; empty where the solver added it). An
upgrade is an `install`: what it replaced is known only where the log tells of that as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuassist.formats.package_logs.entries import LogPiece, Moments, doer, is_relevant, words_of
from gpuassist.formats.package_logs.order import exchange
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import PackageAction, PackageEvent

_LINE = lazy_regex(rb"(?s)\n.{19}\|(?:install|remove |command)\|([^|\n]*)")
_COLUMN = lazy_regex(r"(?<!\\)\|")
_QUOTED = lazy_regex(r"'([^']*)'")
_LINE_AT_MOST = 4000
# Several versions of these stand beside each other, none replaces another: zypp.conf, multiversion = provides:multiversion(kernel).
_BESIDE_EACH_OTHER = ("kernel-",)


def read_zypp(log: Iterable[LogPiece], moments: Moments, path: str) -> Iterator[PackageEvent]:
    """The packages that GPU work depends on."""
    there: dict[str, str] = {}
    command = ""
    for piece in log:
        for match in _LINE.finditer(piece.data):
            place = match.start()
            asks = piece.data[place + 21 : place + 28] == b"command"
            if not asks and not is_relevant(match[1]):
                continue
            end = piece.data.find(b"\n", place + 1, place + _LINE_AT_MOST)
            line = words_of(piece.data[place + 1 : end if end >= 0 else place + _LINE_AT_MOST])
            columns = [one.replace("\\|", "|") for one in _COLUMN.split(line)]
            if asks:
                command = _command(columns[3]) if len(columns) > 3 else ""
                continue
            event = _event(columns, there, moments) if len(columns) > 5 else None
            if event is not None:
                user, by = _asked_by(columns[5])
                yield PackageEvent(
                    event.at,
                    event.action,
                    event.package,
                    event.before,
                    event.after,
                    f"{path}:{piece.line_at(place)}",
                    by or command,
                    user,
                )


def _event(columns: list[str], there: dict[str, str], moments: Moments) -> PackageEvent | None:
    at, name, version = moments.at(columns[0]), columns[2], columns[3]
    if not at:
        return None
    if columns[1].strip() == "remove":
        there.pop(name, None)
        return PackageEvent(at, PackageAction.REMOVED, name, version, "", "")
    before = "" if name.startswith(_BESIDE_EACH_OTHER) else there.get(name, "")
    there[name] = version
    return PackageEvent(at, exchange(before, version) if before else PackageAction.INSTALLED, name, before, version, "")


def _command(words: str) -> str:
    return doer(" ".join(_QUOTED.findall(words)) or words)


def _asked_by(words: str) -> tuple[str, str]:
    """The user and the program of `root@desk` and `2848:y2base`."""
    user, at, _ = words.partition("@")
    if at:
        return user, ""
    process, colon, program = words.partition(":")
    return "", program if colon and process.isdigit() else ""
