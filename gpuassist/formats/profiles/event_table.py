"""Events with a begin, a length and a name, gathered: the share of each kind, the time of each name, and who called what.

Names are numbers here, and events columns: of a gigabyte of them three million are left.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gpuassist.formats.profiles.intervals import Stretches, shared_out
from gpuassist.formats.profiles.names import LONG_CALL_SECONDS, is_own_line, long_call_kind
from gpuassist.formats.profiles.own_time import EventRows, own_times
from gpuassist.model.profile import (
    GPU_KINDS,
    ProfileEntry,
    ProfileForm,
    ProfileGap,
    ProfileReading,
    ShareBasis,
    TimeKind,
    TimeShare,
)

PARTS = 240
"""Of the time, in the picture."""

_MOST_NAMES = 20_000
_MOST_NESTED = 8_000_000
_MOST_THREADS = 4096
_ENTRIES_OF_A_KIND = 40
_KINDS = tuple(TimeKind)
_NUMBER = {kind: number for number, kind in enumerate(_KINDS)}
_LAUNCHES = _NUMBER[TimeKind.LAUNCHES]
_NESTED = np.array([kind not in GPU_KINDS for kind in _KINDS])
_BATCH = 1 << 16


class EventTable:
    """Gathers; `unit` is that of the times in seconds. An annotation holds other events and is no time of its own."""

    def __init__(self, unit: float) -> None:
        self._unit = unit
        self._codes: dict[tuple[str, str], int] = {}
        self._names: list[str] = []
        self._kinds: list[int] = []
        self._hollow: list[bool] = []
        self._stretches = {kind: Stretches() for kind in _KINDS}
        self._threads: dict[object, int] = {}
        self._batch_codes, self._batch_begins, self._batch_lengths = array("i"), array("d"), array("d")
        self._batch_threads = array("h")
        self._nested = list[EventRows]()
        self._nested_count = 0
        self._own_lines = False
        self._totals, self._calls = np.zeros(0), np.zeros(0)
        self._begin, self._end = np.inf, -np.inf
        self.events = 0
        self.overflowed = False

    def code(self, kind: TimeKind, name: str, *, hollow: bool = False) -> int:
        """The number of a name; beyond some thousands of a file's names the others of a kind share one."""
        key = (kind.value, name)
        found = self._codes.get(key)
        if found is not None:
            return found
        if len(self._names) >= _MOST_NAMES and name:
            return self.code(kind, "")
        self._codes[key] = len(self._names)
        self._names.append(name)
        self._kinds.append(_NUMBER[kind])
        self._hollow.append(hollow)
        self._own_lines = self._own_lines or (kind is TimeKind.PYTHON and is_own_line(name))
        return len(self._names) - 1

    def thread(self, owner: object) -> int:
        found = self._threads.get(owner)
        if found is None:
            found = self._threads[owner] = len(self._threads) if len(self._threads) < _MOST_THREADS else 0
        return found

    def add(self, code: int, begin: float, length: float, thread: int) -> None:
        """One event."""
        self._batch_codes.append(code)
        self._batch_begins.append(begin)
        self._batch_lengths.append(length)
        self._batch_threads.append(thread)
        if len(self._batch_codes) >= _BATCH:
            self._take()

    def add_many(self, codes: Iterable[int], begins: Iterable[float], lengths: Iterable[float], threads: Iterable[int]) -> None:
        """The same for a piece of a file."""
        self._batch_codes.extend(codes)
        self._batch_begins.extend(begins)
        self._batch_lengths.extend(lengths)
        self._batch_threads.extend(threads)
        if len(self._batch_codes) >= _BATCH:
            self._take()

    def reading(self, form: ProfileForm, gaps: tuple[ProfileGap, ...]) -> ProfileReading:
        """What was gathered."""
        self._take()
        if not self.events or not self._end > self._begin:
            return ProfileReading(form, ShareBasis.MOMENTS, None, (), (), gaps=gaps, events=self.events)
        kinds = [kind for kind in _KINDS if kind is not TimeKind.REST]
        unites = [self._stretches[kind].united() for kind in kinds]
        shared = shared_out(unites, float(self._begin), float(self._end), PARTS)
        whole = float(self._end - self._begin)
        used = [place for place in range(shared.shape[1]) if shared[:, place].sum() > 0]
        shares = tuple(TimeShare(_KINDS[place], float(shared[:, place].sum()) * self._unit) for place in used)
        timeline = tuple(tuple(round(float(part), 4) for part in row) for row in shared[:, used] / (whole / PARTS))
        return ProfileReading(
            form,
            ShareBasis.MOMENTS,
            whole * self._unit,
            shares,
            tuple(self._entries()),
            timeline,
            (*gaps, *self._gaps()),
            self.events,
        )

    def has(self, *kinds: TimeKind) -> bool:
        """Whether there is anything of these kinds."""
        return any(_NUMBER[kind] in self._kinds for kind in kinds)

    @property
    def has_own_lines(self) -> bool:
        """Whether functions of the user's own files are among the names."""
        return self._own_lines

    def _gaps(self) -> tuple[ProfileGap, ...]:
        coarse = max(one.coarse for one in self._stretches.values()) * self._unit
        told = [ProfileGap.TOO_MANY_EVENTS] if self.overflowed else []
        return tuple(told + ([ProfileGap.COARSE] if coarse > 1e-4 else []))

    def _take(self) -> None:
        codes = np.array(self._batch_codes, dtype=np.int32)
        begins, lengths = np.array(self._batch_begins), np.array(self._batch_lengths)
        threads = np.array(self._batch_threads, dtype=np.int16)
        for one in (self._batch_codes, self._batch_begins, self._batch_lengths, self._batch_threads):
            del one[:]
        sound = np.isfinite(begins) & (lengths >= 0) & (np.abs(begins) < 1e18) & (lengths < 1e15)
        if not sound.all():
            codes, begins, lengths, threads = codes[sound], begins[sound], lengths[sound], threads[sound]
        if not len(codes):
            return
        self.events += len(codes)
        ends = begins + lengths
        self._tell_long_calls(codes, lengths)
        kinds = np.array(self._kinds, dtype=np.int8)[codes]
        solid = ~np.array(self._hollow)[codes]
        for number in np.unique(kinds[solid]):
            of_kind = (kinds == number) & solid
            self._stretches[_KINDS[number]].add(begins[of_kind], ends[of_kind])
        self._begin = min(self._begin, begins.min())
        self._end = max(self._end, ends.max())
        self._sum(codes, lengths)
        self._keep_nested(EventRows(codes, threads, begins, lengths), kinds)

    def _tell_long_calls(self, codes: NDArray[np.int32], lengths: NDArray[np.float64]) -> None:
        """Those of a name under a number of their own, so that its row and its share say the same."""
        long = lengths * self._unit > LONG_CALL_SECONDS
        for code in np.unique(codes[long]).tolist():
            if self._kinds[code] == _LAUNCHES:
                name = self._names[code]
                codes[long & (codes == code)] = self.code(long_call_kind(name), name)

    def _sum(self, codes: NDArray[np.int32], lengths: NDArray[np.float64]) -> None:
        count = self._make_room()
        self._totals[:count] += np.bincount(codes, lengths, count)
        self._calls[:count] += np.bincount(codes, minlength=count)

    def _make_room(self) -> int:
        """In the sums, for each name that there is."""
        count = len(self._names)
        if len(self._totals) < count:
            self._totals = np.concatenate((self._totals, np.zeros(count * 2 - len(self._totals))))
            self._calls = np.concatenate((self._calls, np.zeros(len(self._totals) - len(self._calls))))
        return count

    def _keep_nested(self, rows: EventRows, kinds: NDArray[np.int8]) -> None:
        nested = _NESTED[kinds]
        room = _MOST_NESTED - self._nested_count
        if nested.sum() > room:
            self.overflowed = True
            return
        self._nested_count += int(nested.sum())
        self._nested.append(EventRows(*(column[nested] for column in rows)))

    def _entries(self) -> list[ProfileEntry]:
        self._make_room()
        totals, places = self._totals.copy(), dict[int, str]()
        if self._nested:
            rows = EventRows(*(np.concatenate(one) for one in zip(*self._nested, strict=True)))
            self._nested = []
            lines = np.array([kind == _NUMBER[TimeKind.PYTHON] and is_own_line(name) for kind, name in self._rows()])
            own, called_from = own_times(rows, lines)
            count = len(own)
            if not self.overflowed:
                of_cpu = _NESTED[np.array(self._kinds)[:count]]
                totals[:count] = np.where(of_cpu, own, totals[:count])
            places = {code: self._names[line] for code, line in called_from.items()}
        made = list[ProfileEntry]()
        for number, kind in enumerate(_KINDS):
            shown = self._calls.astype(bool)
            of_kind = [code for code, one in enumerate(self._kinds) if one == number and shown[code] and not self._hollow[code]]
            of_kind.sort(key=lambda code: -totals[code])
            for code in of_kind[:_ENTRIES_OF_A_KIND]:
                name = self._names[code] or "…"
                seconds = float(totals[code]) * self._unit
                made.append(ProfileEntry(kind, name, int(self._calls[code]), seconds, places.get(code, "")))
        return made

    def _rows(self) -> list[tuple[int, str]]:
        return list(zip(self._kinds, self._names, strict=True))
