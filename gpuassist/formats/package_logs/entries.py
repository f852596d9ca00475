"""What readers of logs share: pieces of a log that end between two entries, moments as ISO 8601, and words of any encoding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, timezone, tzinfo

from gpuassist.formats.package_logs.kinds import subject_of
from gpuassist.formats.package_settings import without_login
from gpuassist.model.lazy_regex import lazy_regex

_RUNS_OF_NUL = lazy_regex(rb"\0+")
_LONGEST_ENTRY = 8 << 20  # bytes of one entry; that of an upgrade to another release, 3,000 packages, is 250 KB
_COMMAND_AT_MOST = (
    300  # characters of a command line: `apt install` with a list of a hundred names tells no more than its beginning
)


class LogPiece:
    """Some entries of a log. `data` begins with the line feed before the first of them, `line` is the number of that line."""

    def __init__(self, data: bytes, line: int) -> None:
        self.data = data
        self.line = line
        self._known = (0, line)  # a place that was asked for, and its line: entries are asked for in their order

    def line_at(self, place: int) -> int:
        """The number of the line that follows the line feed at `place`."""
        known, line = self._known if self._known[0] <= place else (0, self.line)
        self._known = (place, line + self.data.count(b"\n", known, place))
        return self._known[1]


def pieces(blocks: Iterable[bytes], first_line: int = 1, entry: bytes = b"\n") -> Iterator[LogPiece]:
    """The log of these blocks, cut before an `entry` (what its entries begin with, after a line feed).

    What a crash leaves behind, a run of NULs in place of what was not written yet, counts as the end of a line.
    """
    rest = b"\n"
    for block in blocks:
        data = rest + block
        cut = data.rfind(entry, 1)
        if cut < 0 and len(data) < _LONGEST_ENTRY:
            rest = data
            continue
        cut = cut if cut > 0 else len(data)
        yield LogPiece(_without_nul(data[:cut]), first_line)
        first_line += data.count(b"\n", 1, cut) + (cut < len(data))
        rest = data[cut:] or b"\n"
    if len(rest) > 1:
        yield LogPiece(_without_nul(rest), first_line)


def _without_nul(data: bytes) -> bytes:
    return _RUNS_OF_NUL.sub(b"\n", data) if b"\0" in data else data


class _Relevance(dict[bytes, bool]):
    """Names that were judged: a log of 50 MB asks 500,000 times about 3,000 of them, which lru_cache makes twice as dear."""

    def __missing__(self, name: bytes) -> bool:
        if len(self) >= _NAMES_AT_MOST:
            self.clear()
        found = self[name] = subject_of(name.decode("ascii", "replace")) is not None
        return found


_NAMES_AT_MOST = 1 << 14
# Whether GPU work depends on a package of the system with this name: what a log is filtered by.
is_relevant = _Relevance().__getitem__


def words_of(data: bytes) -> str:
    """What a log holds, in UTF-8 or, where it is not, as the Latin-1 that older systems write."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def doer(command: str) -> str:
    """A command line as it is told: the program without its directory, addresses without a login, not without end."""
    program, space, rest = " ".join(command[: 4 * _COMMAND_AT_MOST].split()).partition(" ")
    if program.startswith("/"):
        program = program.rpartition("/")[2]
    shown = " ".join(without_login(word) if "://" in word else word for word in (program + space + rest).split(" "))
    return shown if len(shown) <= _COMMAND_AT_MOST else f"{shown[:_COMMAND_AT_MOST]}…"


# Moments. apt, dpkg, zypper and conda write the local time without its zone, pacman and dnf with it.


_MOMENT = lazy_regex(r"(\d{4})-(\d\d)-(\d\d)(?:T| {1,2})(\d\d):(\d\d)(?::(\d\d))?(?:[.,]\d{1,6})?(?:(Z)|([+-])(\d\d):?(\d\d))?", 0)
FIRST_MOMENT = lazy_regex(rb"\d{4}-\d\d-\d\d(?:T| {1,2})\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Moments:
    """Makes moments of what one log writes, in its order: of an hour that there is twice, when clocks are put back, the second is
    meant where the first would lie before the entry above. `zone` is the machine's, None where it is not known: such moments stay
    without an offset. A clock that jumped is told as it was.
    """

    def __init__(self, zone: tzinfo | None) -> None:
        self._zone = zone
        self._above: datetime | None = None
        self._words = self._found = ""

    def at(self, words: str) -> str:
        """A moment as ISO 8601; empty where the words are none."""
        if words != self._words:
            self._words, self._found = words, self._at(words)
        return self._found

    def _at(self, words: str) -> str:
        match = _MOMENT.fullmatch(words.strip())
        if match is None:
            return ""
        year, month, day, hour, minute, second, utc, sign, hours, minutes = match.groups()
        try:
            moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0))
            if sign:
                ahead = timedelta(hours=int(hours), minutes=int(minutes))
                moment = moment.replace(tzinfo=timezone(ahead if sign == "+" else -ahead))
            elif utc:
                moment = moment.replace(tzinfo=timezone.utc)
            else:
                moment = self._local(moment)
            return moment.isoformat(timespec="seconds")
        except (ValueError, OverflowError):
            return ""

    def local(self, moment: datetime) -> str:
        """ISO 8601 of a local time without a zone."""
        return self._local(moment).isoformat(timespec="seconds")

    def of_epoch(self, seconds: float) -> str:
        """ISO 8601 of seconds since 1970; empty where that is no moment."""
        try:
            moment = _EPOCH + timedelta(seconds=int(seconds))
            return moment.astimezone(self._zone or timezone.utc).isoformat(timespec="seconds")
        except (ValueError, OverflowError):
            return ""

    def _local(self, moment: datetime) -> datetime:
        if self._zone is None:
            return moment
        meant, second = (moment.replace(tzinfo=self._zone, fold=fold) for fold in (0, 1))
        # Two moments of one zone are compared by what clocks show, so each is told in UTC before.
        if self._above is not None and meant.utcoffset() != second.utcoffset():
            above = self._above.astimezone(timezone.utc)
            if meant.astimezone(timezone.utc) < above <= second.astimezone(timezone.utc):
                meant = second
        self._above = meant
        return meant


def instant(at: str) -> float:
    """Seconds since 1970 of a moment that `Moments` made, for putting them in order; one without an offset counts as UTC."""
    try:
        moment = datetime.fromisoformat(at.replace("Z", "+00:00"))
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
        return (moment - _EPOCH).total_seconds()
    except (ValueError, OverflowError):
        return 0.0
