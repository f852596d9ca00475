"""The steps that a shell says while it reads its start-up files (set -x), followed one by one: which changed what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

END = b": gpuassist end"
_TURNED_OFF = re.compile(rb"(?:set \+(?:[a-zA-Z]*x|o xtrace)|unsetopt xtrace|setopt no_?xtrace)")
_SAID = rb"(\x01+)%s\x020\x02([^\x02]*)\x02([^\x02]*)\x02(\d{0,9})\x02([^\x03]*)\x03([^\x01\n]*)"  # steps of no subshell
_LONGEST = 1 << 20


class TracedChange(Struct, frozen=True):
    """The step of that number changed a variable; none stands for a variable that is not set."""

    step: int
    variable: str
    file: str
    line: int
    before: str | None
    after: str | None


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
    """Takes what a shell prints, line by line, and keeps of it what changed a variable and where it was.

    A framework takes tens of thousands of steps, most of which change nothing: those cost a comparison and no more.
    """

    def __init__(self, mark: str, names: Sequence[str], at_most: int) -> None:
        self.names = names
        self._at_most = at_most
        self.count = 0
        self.whole = True
        self.ended = False
        self._mark = mark.encode()
        self._said = re.compile(_SAID % self._mark)
        self._pending = b""
        self._taken: dict[tuple[bytes, bytes], int] = {}
        self._depths: dict[bytes, int] = {}
        self._raw = b""
        self._place = (b"", b"0")
        self._command = b""
        self._values: tuple[str | None, ...] = ()
        self._held: list[str | None] = []
        self._standing: dict[str, list[TracedChange]] = {name: [] for name in names}
        # A value that is for one command alone, with the last step before it and its place.
        self._aside: dict[int, tuple[str | None, int, tuple[bytes, bytes]]] = {}

    @property
    def too_many(self) -> bool:
        """Whether as many came as are followed."""
        return self.count >= self._at_most

    @property
    def changes(self) -> tuple[TracedChange, ...]:
        """What changed for good, in order."""
        return tuple(sorted((one for standing in self._standing.values() for one in standing), key=lambda change: change.step))

    @property
    def taken(self) -> Mapping[tuple[str, int], int]:
        """The last step that each file and line took."""
        return {(_words(file), int(line or 0)): number for (file, line), number in self._taken.items()}

    @property
    def values(self) -> Mapping[str, str | None]:
        """What the variables held at the last step."""
        return dict(zip(self.names, self._values, strict=False))

    def take(self, line: bytes) -> None:
        """The next line, without its end; a step whose values hold line ends comes in several."""
        if not self._pending and self._mark not in line:
            return
        self._pending += line + b"\n"
        start = self._pending.rfind(self._mark)
        if b"\3" not in self._pending[start:] and len(self._pending) < _LONGEST:
            return
        for found in self._said.finditer(self._pending):
            level, frames, file, follow, values, command = found.groups()
            if values != self._raw:
                self._compare(values, command)
            if frames not in self._depths:
                self._depths[frames] = _depth(frames)
            # What `eval` runs counts lines from the eval on: the eval's own line is where it comes from.
            if len(level) <= self._depths[frames]:
                self._place = (file, follow)
                self._taken[self._place] = self.count
            if command.startswith((b"set +", b"unsetopt", b"setopt")):
                self.whole = self.whole and not _TURNED_OFF.match(command)
            self.ended = command.startswith(END)
            self._command = command
            self.count += 1
        self._pending = b""

    def _compare(self, raw: bytes, command: bytes) -> None:
        self._raw = raw
        self._values = tuple(_words(value[1:]) if value else None for value in raw.split(b"\2"))
        if not self._held:
            self._held = list(self._values)
        for index, value in enumerate(self._values):
            if index in self._aside and self._aside[index][0] == value:
                continue
            _, number, place = self._aside.pop(index, (None, self.count - 1, self._place))
            if value != self._held[index] and self._is_for_one_command(command, self.names[index], value):
                self._aside[index] = (value, number, place)
            elif self._held[index] != value:
                file, line = place
                # One that is taken back is none: what stands in front of a command, or of a function, is set for that alone.
                change = TracedChange(number, self.names[index], _words(file), int(line or 0), self._held[index], value)
                standing = self._standing[change.variable]
                if standing and standing[-1].before == change.after:
                    standing.pop()
                else:
                    standing.append(change)
                self._held[index] = value

    def _is_for_one_command(self, command: bytes, name: str, value: str | None) -> bool:
        """Whether a value is of a variable in front of a command: bash says such a step with the value already in place."""
        if value is None:
            return False
        says = name.encode() + b"=" + value.encode("utf-8", "surrogateescape")
        return command.replace(b"'", b"") == says and says not in self._command.replace(b"'", b"")


def _depth(frames: bytes) -> int:
    """How often bash repeats the sign where nothing is evaluated: once, and once more for each file that is being read in.

    zsh never repeats it, and says by itself where it evaluates.
    """
    if frames == b"(eval)":
        return 0
    count, *functions = frames.split(b" ")
    files = functions.count(b"source") if any(functions) else int(count) if count.isdigit() else 1 << 30
    return 1 + files


def _words(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")
