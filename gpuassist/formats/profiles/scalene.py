"""What scalene leaves: its JSON, the page that holds the same, and the tables that `scalene view --cli` prints."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gpuassist.formats.profiles.names import line_kind, shortened
from gpuassist.formats.profiles.samples import SAMPLED_GAPS
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.profile import ProfileEntry, ProfileForm, ProfileReading, ShareBasis, TimeKind, TimeShare

_MOST_ENTRIES = 200
_MOST_SECONDS = 1e9
_LONGEST_LINE = 2000
_COLOURS = lazy_regex(r"\x1b\[[\d;]{0,20}m")
_TITLE = lazy_regex(
    r"^(?P<file>\S.{0,900}?): % of time = {1,9}\d{1,3}\.\d{1,3}%(?: \([^()]{1,30}\))? out of {1,9}(?P<seconds>\d{1,9}\.\d{1,6})s\.$"
)
_PERCENT = lazy_regex(r"^\s{0,20}(\d{1,3})%")
_SUMMARIES = lazy_regex(r"^\s{0,400}Function summaries:")
_SUMMARY = lazy_regex(r"^\s{0,400}(?P<name>[\w.<>]{1,200}) \(line (?P<line>\d{1,9})\): ")
_DEF = lazy_regex(r"^\s{0,200}(?:async )?def (?P<name>\w{1,200})\(")
_SCRIPT = "const profile = "
_COLUMNS = ("python", "native", "sys")  # what the time is split into, in this order; the same words again are of memory


class _Line(NamedTuple):
    """A line, with its percents of all the time: in Python, in native code, and in neither."""

    file: str
    number: int
    code: str
    function: str
    python: float
    native: float
    system: float


def read_scalene(document: Any) -> ProfileReading | None:
    """Lines with the share of Python, of native code and of the rest; None where it is none of scalene's."""
    if not isinstance(document, dict) or not isinstance(document.get("files"), dict) or "elapsed_time_sec" not in document:
        return None
    return _reading(_lines_of(document["files"]), _share(document["elapsed_time_sec"], most=_MOST_SECONDS))


def read_scalene_page(page: str) -> ProfileReading | None:
    """The same of the page that `scalene view --html` makes; None for any other."""
    begin = page.find(_SCRIPT)
    if begin < 0:
        return None
    document, _ = json.JSONDecoder().raw_decode(page, begin + len(_SCRIPT))
    return read_scalene(document)


def _lines_of(files: dict[str, Any]) -> Iterator[_Line]:
    for file, told in files.items():
        functions = {
            one["lineno"]: str(one.get("line", ""))
            for one in _dicts(told.get("functions") if isinstance(told, dict) else None)
            if isinstance(one.get("lineno"), int)
        }
        for line in _dicts(told.get("lines") if isinstance(told, dict) else None):
            number, begin = line.get("lineno"), line.get("start_function_line")
            yield _Line(
                file,
                number if isinstance(number, int) else 0,
                _code(str(line.get("line", ""))),
                functions.get(begin, "") if isinstance(begin, int) else "",
                *(_share(line.get(name)) for name in ("n_cpu_percent_python", "n_cpu_percent_c", "n_sys_percent")),
            )


def read_scalene_text(lines: Iterable[str]) -> ProfileReading | None:
    """The tables of all files, whole or with their lines of some activity alone; None where there is none."""
    tables, seconds, above = list[_Table](), 0.0, list[str]()
    for line in lines:
        plain = _COLOURS.sub("", line[:_LONGEST_LINE])
        title = _title(above, plain.strip()) if plain.rstrip().endswith("s.") else None
        if title is not None:
            tables.append(_Table(title.file))
            seconds = title.seconds
        elif tables:
            tables[-1].take(plain)
        above = [*above[-1:], plain.strip()] if plain.strip() and "│" not in plain else []
    return _reading((one for table in tables for one in table.told()), seconds) if tables else None


class _Title(NamedTuple):
    file: str
    seconds: float


def _title(above: list[str], line: str) -> _Title | None:
    """Of a line and the two above it, into which a long path has folded it."""
    for count in range(len(above) + 1):
        found = _TITLE.match(" ".join((*above[len(above) - count :], line)))
        if found is not None:
            rest = above[: len(above) - count]
            begin = rest[-1] if rest and "/" in rest[-1] and " " not in rest[-1] else ""  # the path alone is longer than a line
            return _Title(begin + found["file"].strip(), float(found["seconds"]))
    return None


class _Table:
    """The lines of a file as they are printed; which function they are of is told below them, or by their `def`."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._head = list[str]()
        self._columns: tuple[int, ...] = ()
        self._lines = list[_Line]()
        self._functions = dict[int, str]()
        self._closed = False

    def take(self, line: str) -> None:
        """The next line of the text."""
        summary = _SUMMARY.match(line)
        if _SUMMARIES.match(line):
            self._closed = True
        elif summary is not None and self._closed:
            self._functions[int(summary["line"])] = summary["name"]
        elif "│" in line and not self._closed:
            self._row(line.split("│"))

    def _row(self, cells: list[str]) -> None:
        number = cells[0].strip()
        if not number.isascii() or not number.isdigit() or len(number) > 9:
            if not self._columns or not number:
                self._name_columns(cells)
            return
        code = self._code(cells)
        if code.startswith("function summary for"):  # what follows are sums of the lines above
            self._closed = True
            return
        found = _DEF.match(code)
        if found is not None:
            self._functions.setdefault(int(number), found["name"])
        percents = [_percent(cells[place]) if place < len(cells) else 0.0 for place in self._columns]
        if any(percents):
            percents += [0.0] * (3 - len(percents))
            self._lines.append(_Line(self._file, int(number), code, "", *percents))

    def _name_columns(self, cells: list[str]) -> None:
        """The head has two lines, and a word of it may be cut off."""
        if self._code(cells).startswith("function summary for"):
            self._closed = True
            return
        if self._lines:
            return
        self._head = [f"{before} {cell}" for before, cell in zip(self._head or [""] * len(cells), cells, strict=False)]
        words = [one.lower() for one in self._head]
        found = [next((place for place, one in enumerate(words) if name[:3] in one), -1) for name in _COLUMNS]
        if found[:2] == [1, 2]:
            self._columns = (1, 2, 3) if found[2] == 3 else (1, 2)

    def _code(self, cells: list[str]) -> str:
        return _code("│".join(cells[max(1, len(self._head) - 1) :]))

    def told(self) -> Iterator[_Line]:
        """The lines with some time, each with its function."""
        begins = sorted(self._functions)
        for line in self._lines:
            place = bisect_right(begins, line.number)
            yield line._replace(function=self._functions[begins[place - 1]]) if place else line


def _reading(lines: Iterable[_Line], seconds: float) -> ProfileReading | None:
    entries = list[ProfileEntry]()
    sums = dict.fromkeys(TimeKind, 0.0)
    for line in lines:
        whole = line.python + line.native + line.system
        if not whole or not seconds:
            continue
        kind = line_kind(line.code, line.function)
        if kind in {TimeKind.PYTHON, TimeKind.OPERATORS}:  # these the sampling tells apart better than the words of a line
            sums[TimeKind.PYTHON] += line.python * seconds / 100
            sums[TimeKind.OPERATORS] += line.native * seconds / 100
            sums[TimeKind.REST] += line.system * seconds / 100
            kind = TimeKind.PYTHON if line.python >= line.native else TimeKind.OPERATORS
        else:
            sums[kind] += whole * seconds / 100
        entries.append(ProfileEntry(kind, shortened(f"{line.file}:{line.number}: {line.code}"), 0, whole * seconds / 100))
    if not entries:
        return None
    sums[TimeKind.REST] += max(0.0, seconds - sum(sums.values()))
    entries.sort(key=lambda one: -one.seconds)
    shares = tuple(TimeShare(kind, spent) for kind, spent in sums.items() if spent > 0)
    return ProfileReading(
        ProfileForm.SCALENE, ShareBasis.THREAD, seconds, shares, tuple(entries[:_MOST_ENTRIES]), gaps=SAMPLED_GAPS
    )


def _code(words: str) -> str:
    """Without the escapes of signs that a page may not hold."""
    plain = words[:_LONGEST_LINE].strip()
    for escape, sign in ((r"\u003c", "<"), (r"\u003e", ">"), (r"\u0026", "&")):
        plain = plain.replace(escape, sign)
    return plain


def _percent(cell: str) -> float:
    found = _PERCENT.match(cell)
    return min(100.0, float(found[1])) if found is not None else 0.0


def _share(value: object, *, most: float = 100.0) -> float:
    return float(value) if isinstance(value, (int, float)) and 0 <= value <= most else 0.0


def _dicts(value: object) -> Iterator[dict[str, Any]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())
