"""The steps that a shell says while it reads its start-up files (set -x), followed one by one: which changed what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

END = b": gpuassist end"
_TURNED_OFF = re.compile(rb"(?:set \+(?:[a-zA-Z]*x|o xtrace)|unsetopt xtrace|setopt no_?xtrace)")
_LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class TracedChange:
    """The step of that number changed a variable; none stands for a variable that is not set."""

    step: int
    variable: str
    file: str
    line: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class _Step:
    place: tuple[str, int]
    values: tuple[str | None, ...]
    evaluated: bool
    command: bytes


def bash_steps(mark: str, names: Sequence[str]) -> str:
    """What bash is to say before each step, as its PS4."""
    # bash repeats the first sign once for each file that is read in, command that is substituted, and eval.
    place = "${BASH_SUBSHELL}\2${#BASH_SOURCE[@]} ${FUNCNAME[*]-}\2${BASH_SOURCE-}\2${LINENO}"
    values = "\2".join(f"${{{name}+=}}${{{name}-}}" for name in names)
    return f"\1{mark}\2{place}\2{values}\3"


def zsh_steps(mark: str, names: Sequence[str]) -> str:
    """What zsh is to say before each step, as its PS4 with promptsubst; there a % in a value would be an order."""
    values = "\2".join(f"${{{name}+=}}${{{name}//\\%/%%}}" for name in names)
    return f"\1{mark}\2${{ZSH_SUBSHELL}}\2%N\2%x\2%I\2{values}\3"


class Steps:
    """Takes what a shell prints, line by line, and keeps of it what changed a variable and where it was."""

    def __init__(self, mark: str, names: Sequence[str]) -> None:
        self.names = names
        self.count = 0
        self.whole = True
        self.ended = False
        self.taken: dict[tuple[str, int], int] = {}
        self._mark = mark.encode()
        self._said = re.compile(rb"(\x01+)" + self._mark + rb"\x02([^\x03]*)\x03([^\x01\n]*)")
        self._pending = b""
        self._last: _Step | None = None
        self._raw: list[bytes] = []
        self._place = ("", 0)
        self._held: list[str | None] = []
        self._standing: dict[str, list[TracedChange]] = {name: [] for name in names}
        # A value that is for one command alone, with the last step before it and its place.
        self._aside: dict[int, tuple[str | None, int, tuple[str, int]]] = {}

    @property
    def changes(self) -> tuple[TracedChange, ...]:
        """What changed for good, in order."""
        return tuple(sorted((one for standing in self._standing.values() for one in standing), key=lambda change: change.step))

    @property
    def values(self) -> Mapping[str, str | None]:
        """What the variables held at the last step."""
        return dict(zip(self.names, self._last.values, strict=True)) if self._last else {}

    def take(self, line: bytes) -> None:
        """The next line, without its end; a step whose values hold line ends comes in several."""
        self._pending += line + b"\n"
        start = self._pending.rfind(self._mark)
        if start >= 0 and b"\3" not in self._pending[start:] and len(self._pending) < _LONGEST:
            return
        for step in self._steps(self._pending) if start >= 0 else ():
            self._follow(step)
        self._pending = b""

    def _steps(self, printed: bytes) -> Iterator[_Step]:
        for found in self._said.finditer(printed):
            subshell, frames, file, line, *values = found[2].split(b"\2")
            if subshell == b"0" and len(values) == len(self.names):
                evaluated = frames == b"(eval)" or len(found[1]) > _depth(frames.decode("utf-8", "replace"))
                place = (_words(file), int(line) if line.isdigit() else 0)
                yield _Step(place, self._known(values), evaluated, found[3])

    def _known(self, values: list[bytes]) -> tuple[str | None, ...]:
        if self._last is not None and values == self._raw:
            return self._last.values
        self._raw = values
        return tuple(_words(value[1:]) if value else None for value in values)

    def _follow(self, step: _Step) -> None:
        if self._last is None:
            self._held = list(step.values)
        elif step.values is not self._last.values:
            self._compare(self._last, step)
        # What `eval` runs counts lines from the eval on: the eval's own line is where it comes from.
        self._place = self._place if step.evaluated else step.place
        if not step.evaluated:
            self.taken[step.place] = self.count
        self.whole = self.whole and not _TURNED_OFF.match(step.command)
        self.ended = step.command.startswith(END)
        self._last = step
        self.count += 1

    def _compare(self, last: _Step, step: _Step) -> None:
        for index, value in enumerate(step.values):
            if index in self._aside and self._aside[index][0] == value:
                continue
            _, number, place = self._aside.pop(index, (None, self.count - 1, self._place))
            if _is_for_one_command(last, step, self.names[index], value):
                self._aside[index] = (value, number, place)
            elif self._held[index] != value:
                self._changed(TracedChange(number, self.names[index], *place, self._held[index], value))
                self._held[index] = value

    def _changed(self, change: TracedChange) -> None:
        # One that is taken back is none: what stands in front of a command, or of a function, is set for that alone.
        standing = self._standing[change.variable]
        if standing and standing[-1].before == change.after:
            standing.pop()
        else:
            standing.append(change)


def _depth(frames: str) -> int:
    """How often bash repeats the sign where nothing is evaluated: once, and once more for each file that is being read in."""
    count, *functions = frames.split(" ")
    files = functions.count("source") if any(functions) else int(count) if count.isdigit() else 1 << 30
    return 1 + files


def _words(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _is_for_one_command(step: _Step, after: _Step, name: str, value: str | None) -> bool:
    """Whether a value is of a variable in front of a command: bash says such a step with the value already in place."""
    if value is None:
        return False
    says = name.encode() + b"=" + value.encode("utf-8", "surrogateescape")
    return after.command.replace(b"'", b"") == says and says not in step.command.replace(b"'", b"")
