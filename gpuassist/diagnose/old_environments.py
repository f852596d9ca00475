"""Who lives in the old environment: of all processes that hold it, those that have to be restarted, and what runs in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from gpuassist.knowledge.resident_programs import ResidentProgram, resident_of
from gpuassist.model.fact import Unknown
from gpuassist.model.old_environment import OldEnvironments, OldProgram, ProgramFamily, RunningProgram, RunningPrograms
from gpuassist.model.shell import Variable
from gpuassist.model.text import Text, text

_Family = ProgramFamily
# What hands its environment on and is restarted as a whole.
_SERVING = frozenset(
    {
        _Family.MULTIPLEXER,
        _Family.NOTEBOOK,
        _Family.EDITOR_SERVER,
        _Family.EDITOR,
        _Family.SERVER,
        _Family.TERMINAL,
        _Family.SESSION,
    }
)
# What is above everything else: what is old below it says nothing of it.
_ABOVE_ALL = frozenset({_Family.CONTAINER, _Family.MANAGER, _Family.DESKTOP})
# They ask a shell for its environment once and give that to what they run: what they were started with does not tell of it.
_ASKING = frozenset({_Family.EDITOR_SERVER, _Family.EDITOR})
_SHELL = "shell"  # the record of all of them
_ALIKE = frozenset({_Family.DESKTOP, _Family.TERMINAL, _Family.SHELL, _Family.SESSION})
# Options of shells that are followed by a word of theirs (bash(1), fish(1)).
_WITH_A_WORD = frozenset({"--init-file", "--rcfile", "-o", "+o", "-O", "+O", "-C", "--init-command"})


class Yardstick(Struct, frozen=True):
    """What is held against each process: `is_old` tells what is old of what it was started with, by its family. A shell on a
    terminal that came up between `since` and `until`, seconds since boot, read what the start-up files said before; both are 0
    where nothing tells.
    """

    is_old: Callable[[RunningProgram, ProgramFamily], tuple[Variable, ...]]
    since: float = 0.0
    until: float = 0.0


def who_is_old(running: RunningPrograms, records: tuple[ResidentProgram, ...], yardstick: Yardstick) -> OldEnvironments:
    """The rows, what others are started from first."""
    judge = _Judge(running, records, yardstick)
    rows = sorted(judge.rows(), key=lambda row: (_ORDER[row.family], row.pids))
    return OldEnvironments(tuple(rows), (*running.notes, *judge.unread()))


_ORDER = {family: place for place, family in enumerate(ProgramFamily)}


class _Row:
    """What is collected for one that has to be restarted."""

    def __init__(self, leader: RunningProgram) -> None:
        self.leaders = {leader.pid: leader}
        self.own: list[Variable] = []
        self.inside: list[Variable] = []
        self.itself = self.here = False
        self.shells = self.before = self.kernels = self.programs = 0


class _Judge:
    def __init__(self, running: RunningPrograms, records: tuple[ResidentProgram, ...], yardstick: Yardstick) -> None:
        self._programs = {one.pid: one for one in running.programs}
        self._own, self._records, self._yardstick = running.own, records, yardstick
        self._kinds = {pid: resident_of(records, one) for pid, one in self._programs.items()}
        self._here = {one.pid for one in self._upwards(running.own)}
        self._held = {one.pid: held for one in running.programs if (held := self._affected(one)) is not None}

    def rows(self) -> Iterator[OldProgram]:
        rows: dict[object, _Row] = {}
        for pid in self._held:
            one = self._programs[pid]
            leader, by_itself = self._leader(one)
            family = self._family(leader)
            same = (family, self._key(leader)) if family in _ALIKE else leader.pid
            row = rows.setdefault(same, _Row(leader))
            row.leaders[leader.pid] = leader
            row.here = row.here or pid in self._here or leader.pid in self._here
            self._count(row, one, leader, by_itself=by_itself)
        for row in rows.values():
            yield self._made(row)

    def unread(self) -> Iterator[Text]:
        """Servers whose environment may not be looked into."""
        for pid, one in self._programs.items():
            record = self._kinds[pid]
            first = record is not None and self._key(self._programs.get(one.parent)) != record.key
            if isinstance(one.variables, Unknown) and record is not None and first and record.family in _SERVING:
                name, reason = record.name or one.name, one.variables.reason
                yield text("what {name} ({pid}) was started with cannot be read: {reason}", name=name, pid=pid, reason=reason)

    def _affected(self, one: RunningProgram) -> tuple[Variable, ...] | None:
        """What is old of it, nothing of a shell of which its start tells; None where it is as it should be, or does not matter."""
        family = self._family(one)
        if family is _Family.BACKGROUND or any(above.pid == self._own for above in self._upwards(one.pid)):
            return None
        held = () if isinstance(one.variables, Unknown) else self._yardstick.is_old(one, family)
        before = self._yardstick.since < one.started < self._yardstick.until and self._is_open_shell(one)
        return held if held or before else None

    def _leader(self, one: RunningProgram) -> tuple[RunningProgram, bool]:
        """The one to be restarted, and whether what is old comes from it: not where a shell on a terminal stands between them."""
        chain = list(self._upwards(one.pid))
        between = False
        for place, above in enumerate(chain):
            family = self._family(above)
            if family in _SERVING or (family in _ABOVE_ALL and above.pid in self._held):
                return self._first_of(chain[place:]), not between
            between = between or self._is_open_shell(above)
        shells = [above for above in chain if self._is_open_shell(above)]
        if shells:
            return shells[-1], False
        desktop = next((self._programs[pid] for pid in self._held if self._family(self._programs[pid]) is _Family.DESKTOP), None)
        held = [above for above in chain if above.pid in self._held]
        # In a circle, which no kernel shows, the first is as good as any.
        top = held[-1] if chain[-1].parent not in {above.pid for above in chain} else min(held, key=lambda above: above.pid)
        return desktop or top, False

    def _first_of(self, chain: list[RunningProgram]) -> RunningProgram:
        """The process that the others of the same program come from: not one that somebody typed in a terminal of it."""
        first = chain[0]
        for above in chain[1:]:
            if self._is_open_shell(above):
                break
            if self._key(above) == self._key(first):
                first = above
        return first

    def _count(self, row: _Row, one: RunningProgram, leader: RunningProgram, *, by_itself: bool) -> None:
        held, family = self._held[one.pid], self._family(one)
        part = one.pid == leader.pid or self._is_like(one, leader)
        asked = by_itself and family is not _Family.SHELL and self._family(leader) in _ASKING
        row.own += held if part else ()
        row.inside += () if part else held
        row.itself = row.itself or (bool(held) and (part or asked))
        if self._is_open_shell(one):
            row.shells += 1
            row.before += not held
        elif family is _Family.KERNEL and not part:
            row.kernels += 1
        elif family is not _Family.SHELL and not part:
            row.programs += 1

    def _made(self, row: _Row) -> OldProgram:
        pids = tuple(sorted(row.leaders))
        leader = row.leaders[pids[0]]
        record, family = self._kinds[leader.pid], self._family(leader)
        return OldProgram(
            family,
            "ssh" if family is _Family.SESSION and self._key(leader) == _SHELL else self._key(leader),
            record.name if record is not None and record.name else leader.script.removeprefix("-") or leader.name,
            pids,
            row.itself,
            tuple(dict.fromkeys(row.own or row.inside)),
            row.shells,
            row.before,
            row.kernels,
            row.programs,
            row.here,
        )

    def _family(self, one: RunningProgram) -> ProgramFamily:
        record = self._kinds[one.pid]
        if one.pid == 1:
            return _Family.CONTAINER
        if record is not None and record.family is _Family.SHELL and one.variable("SSH_CONNECTION") and self._is_first(one):
            return _Family.SESSION
        return record.family if record is not None else _Family.PROGRAM

    def _is_first(self, one: RunningProgram) -> bool:
        return one.on_terminal and not any(self._serves(above) for above in self._upwards(one.parent))

    def _serves(self, one: RunningProgram) -> bool:
        record = self._kinds[one.pid]
        return record is not None and (record.family in _SERVING or record.family is _Family.SHELL)

    def _key(self, one: RunningProgram | None) -> str:
        record = self._kinds[one.pid] if one is not None else None
        return record.key if record is not None else ""

    def _is_like(self, one: RunningProgram, leader: RunningProgram) -> bool:
        """Whether it is a part of the same program: VS Code has a process for its window and one for its extensions."""
        return (
            bool(self._key(one))
            and self._key(one) == self._key(leader)
            and self._family(leader) not in {_Family.SHELL, _Family.SESSION}
        )

    def _is_open_shell(self, one: RunningProgram) -> bool:
        record = self._kinds[one.pid]
        return record is not None and record.family is _Family.SHELL and one.on_terminal and _waits_for_words(one.words)

    def _upwards(self, pid: int) -> Iterator[RunningProgram]:
        """It, and what started it, as far as that is known."""
        met: set[int] = set()
        while pid in self._programs and pid not in met:
            met.add(pid)
            yield self._programs[pid]
            pid = self._programs[pid].parent


def _waits_for_words(words: tuple[str, ...]) -> bool:
    """Whether a shell is one to type into: it runs no script and no command of its command line."""
    rest = iter(words[1:])
    for word in rest:
        if word in _WITH_A_WORD:
            next(rest, "")
        elif not word.startswith(("-", "+")) or (not word.startswith("--") and "c" in word):
            return False
    return True
