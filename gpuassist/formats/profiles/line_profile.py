"""The tables of line_profiler: `kernprof -l -v`, `python -m line_profiler FILE.lprof`, its `profile_output.txt`.

The time of a line holds what the line calls, so the same second stands in the table of each function above it. What a line calls is
told by its code alone: where that names a function that has a table of its own, the time of that table is the function's.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpuassist.formats.profiles.names import line_kind, shortened
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.profile import ProfileEntry, ProfileForm, ProfileGap, ProfileReading, ShareBasis, TimeKind, TimeShare

_LONGEST_LINE = 2000
_MOST_ENTRIES = 200
_MOST_FUNCTIONS = 2000
_MOST_UNNAMED = 1000
_MOST_CALLS = 200  # of one word, by time: where thousands of tables have one name, each would look at each line
_MOST_SECONDS = 1e9
_COLOURS = lazy_regex(r"\x1b\[[\d;]{0,20}m")
_UNIT = lazy_regex(r"^\s{0,20}Timer unit: (\d{1,3}(?:\.\d{1,9})?(?:e-\d{1,2})?) s$")
_TOTAL = lazy_regex(r"^\s{0,20}Total time: (\d{1,9}(?:\.\d{1,9})?(?:e-\d{1,2})?) s$")
_FILE = lazy_regex(r"^\s{0,20}File: (\S.{0,1000})$")
_FUNCTION = lazy_regex(r"^\s{0,20}Function: (\S.{0,300}) at line (\d{1,9})$")
_NUMBER = r"\d{1,15}(?:\.\d{1,9})?(?:e[+-]?\d{1,2})?"
_RULE = lazy_regex(r"^={20,200}$")
_ROW = lazy_regex(
    rf"^\s{{0,20}}(?P<line>\d{{1,9}})\s{{1,40}}(?P<hits>\d{{1,15}})\s{{1,40}}(?P<time>{_NUMBER})\s{{1,40}}{_NUMBER}"
    r"(?:\s{1,40}(?P<percent>\d{1,3}\.\d)(?= |$))?(?:\s{1,80}(?P<code>.*))?$"
)
_BARE_ROW = lazy_regex(r"^\s{0,20}(?P<line>\d{1,9})(?:\s{1,80}(?P<code>.*))?$")
_FOLDED_PERCENT = lazy_regex(r"^\s{0,20}\d{1,3}\.\d\s{1,80}(?P<code>.*)$")
_SLACK = 1.02  # by which two tables of the same time may differ
_WORD = lazy_regex(r"(?<![\w])([A-Za-z_]\w{0,200})\(")
_LOADERS = frozenset({"__getitem__", "__getitems__", "__next__", "__iter__"})  # no code names them
_MODULES = frozenset({"forward", "__call__"})
_CALLS_MODULE = lazy_regex(r"\b(?:self\.\w{1,100}|\w{0,100}(?:model|net|module|layer|block|encoder|decoder|head)\w{0,100})\(")


class _Line:
    """A line of a table: `own` is what is left of its time without the functions that have tables of their own."""

    def __init__(self, number: int, hits: int, seconds: float, code: str) -> None:
        self.number, self.hits, self.own, self.code = number, hits, seconds, code
        self.calls = set[str]()
        self.takes = self.calls_module = False

    def look(self) -> None:
        """What its code calls."""
        self.calls = {found[1] for found in _WORD.finditer(self.code[:400])}
        self.takes = self.code.startswith("for ") or line_kind(self.code) is TimeKind.DATA
        self.calls_module = _CALLS_MODULE.search(self.code[:400]) is not None

    @property
    def may_call_unnamed(self) -> bool:
        """Whether it may call what it does not name."""
        return self.takes or self.calls_module


class _Function:
    def __init__(self, file: str, name: str, total: float) -> None:
        self.file, self.name, self.total = file, name, total
        self.is_folded = False
        self.lines = list[_Line]()
        self._calls = set[str]()
        self._texts = list[str]()
        self._first = -1

    def take(self, row: str, unit: float) -> None:
        """The next line of its table."""
        told = _ROW.match(row)
        bare = _BARE_ROW.match(row)
        if self._first < 0 and (told is not None or bare is not None):
            self._first = int((told or bare)["line"])  # type: ignore[index]
        if told is not None:
            seconds = min(float(told["time"]) * unit, _MOST_SECONDS)
            self.lines.append(_Line(int(told["line"]), int(told["hits"]), seconds, (told["code"] or "").strip()))
            self.is_folded = self.is_folded or told["percent"] is None
        found = told or _FOLDED_PERCENT.match(row) or bare
        self._texts.append((found["code"] or "").strip() if found is not None else "")

    def close(self) -> None:
        """Where the left half was folded for a narrow terminal, the code stands by itself, one line below the other."""
        for line in self.lines:
            place = line.number - self._first
            if self.is_folded:
                line.code = self._texts[place] if 0 <= place < len(self._texts) else ""
            line.look()
            self._calls |= line.calls

    @property
    def called(self) -> str:
        """The word by which code calls it: a class by its name."""
        holder, _, last = self.name.rpartition(".")
        return holder.rpartition(".")[2] if last == "__init__" and holder else last

    def names(self, other: _Function) -> bool:
        """Whether any of its lines calls it."""
        return other.called in self._calls

    def is_behind(self, line: _Line) -> bool:
        """Whether the line may call it unnamed: a loop takes from a data set, and a part of a model is called as a whole."""
        return line.takes if self.called in _LOADERS else line.calls_module


def read_lines(lines: Iterable[str]) -> ProfileReading | None:
    """All tables of a text together; None where there is none."""
    functions = [one for one in _functions(lines) if one.lines]
    if not functions:
        return None
    _take_calls_out(functions)
    sums, entries = dict.fromkeys(TimeKind, 0.0), list[ProfileEntry]()
    for function in functions:
        for line in function.lines:
            kind = line_kind(line.code, function.name)
            sums[kind] += line.own
            name = f"{function.file}:{line.number}: {line.code or function.name}"
            entries.append(ProfileEntry(kind, shortened(name), line.hits, line.own))
    entries.sort(key=lambda one: -one.seconds)
    shares = tuple(TimeShare(kind, spent) for kind, spent in sums.items() if spent > 0)
    kept = tuple(one for one in entries[:_MOST_ENTRIES] if one.seconds > 0)
    gaps = (ProfileGap.NO_GPU, ProfileGap.NO_MOMENTS, ProfileGap.CALLS_BY_CODE)
    seconds = sum(sums.values())
    return (
        ProfileReading(ProfileForm.LINES, ShareBasis.THREAD, seconds, shares, kept, gaps=gaps, events=len(entries))
        if kept
        else None
    )


def _functions(lines: Iterable[str]) -> list[_Function]:
    unit, total, file = 1e-6, None, ""
    found = list[_Function]()
    current: _Function | None = None
    in_table = False
    for line in lines:
        plain = _COLOURS.sub("", line[:_LONGEST_LINE]).rstrip()
        if (told := _UNIT.match(plain)) is not None:
            unit = min(1.0, float(told[1]))
        elif (told := _TOTAL.match(plain)) is not None:
            total, file, current, in_table = float(told[1]), "", None, False
        elif total is not None and current is None and (told := _FILE.match(plain)) is not None:
            file = told[1]
        elif total is not None and current is None and (told := _FUNCTION.match(plain)) is not None:
            if len(found) >= _MOST_FUNCTIONS:
                break
            current = _Function(file, told[1], total)
            found.append(current)
        elif _RULE.match(plain):
            in_table = current is not None
        elif in_table and current is not None:
            current.take(plain, unit)
    for one in found:
        one.close()
    return found


def _take_calls_out(functions: list[_Function]) -> None:
    """Takes the time of each function out of the lines that call it; of two that call each other neither is known to be outside."""
    by_word = dict[str, list[tuple[int, _Line]]]()
    unnamed = list[tuple[int, _Line]]()
    for place, function in enumerate(functions):
        for line in function.lines:
            for word in line.calls:
                by_word.setdefault(word, []).append((place, line))
            if line.may_call_unnamed:
                unnamed.append((place, line))
    by_word = {word: sorted(lines, key=lambda one: -one[1].own)[:_MOST_CALLS] for word, lines in by_word.items()}
    unnamed = sorted(unnamed, key=lambda one: -one[1].own)[:_MOST_UNNAMED]
    for place, function in enumerate(functions):
        calling = [line for of, line in by_word.get(function.called, ()) if of != place and not function.names(functions[of])]
        if not calling and function.called in _LOADERS | _MODULES:
            calling = _unnamed_call(function, [line for of, line in unnamed if of != place])
        whole = sum(one.own for one in calling)
        part = min(1.0, function.total / whole) if whole else 0.0
        for line in calling:
            line.own *= 1 - part


def _unnamed_call(function: _Function, lines: list[_Line]) -> list[_Line]:
    """The line that most probably calls what no code names: of those that are long enough the shortest."""
    found = [one for one in lines if one.own * _SLACK >= function.total and function.is_behind(one)]
    return [min(found, key=lambda one: one.own)] if found else []
