"""Which line of which start-up file changed a variable: a real bash or zsh reads them as a new terminal does, and says each step.

Both print, before each command, what PS4 holds (set -x): here the file, the line and the variables' values, so that a value that
differs from the one before was set by the step in between. Nothing else of that output is kept: it may hold secrets.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from msgspec import Struct

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.system.login import login_environment, terminal_variables
from gpuassist.system.ownership import why_no_shell
from gpuassist.system.streams import DESCRIPTOR, NotStarted, Quiet
from gpuassist.system.terminal import usable_shell
from gpuassist.system.world import World

# The steps, followed one by one.


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


# The shell that takes them.


SECONDS = 10.0

STEPS_AT_MOST = 300_000

# bash ignores a PS4 from its environment where root runs it (since 4.4), so the files are read in by hand, in bash's own order. The
# steps go to a descriptor of their own, so that a `2>/dev/null` in a start-up file hides none of them.
_BASH_LOGIN = """gpuassist_steps=$1 gpuassist_then=$2 BASH_XTRACEFD=$3; set --; PS4=$gpuassist_steps; set -x
[ -r /etc/profile ] && . /etc/profile
for gpuassist_file in ~/.bash_profile ~/.bash_login ~/.profile; do
[ -r "$gpuassist_file" ] && { . "$gpuassist_file"; break; }
done
exec "$0" --norc -i -c "$gpuassist_then" "$0" "$gpuassist_steps" "$BASH_XTRACEFD"
"""
_BASH_TERMINAL = """BASH_XTRACEFD=$2; PS4=$1; set --; set -x
[ -r /etc/bash.bashrc ] && . /etc/bash.bashrc
[ -r ~/.bashrc ] && . ~/.bashrc
set -x
: gpuassist end
"""
# zsh says its steps on standard error alone; it takes its PS4 from the environment and reads its files by itself. A descriptor of
# two digits is none that dash can name but by its path.
_ZSH_START = f'PS4=$1 exec "$0" -o xtrace -o promptsubst -l -c "$2" "$0" "$3" "$1" 2>/dev/fd/{DESCRIPTOR}'
_ZSH_LOGIN = 'exec "$0" -o xtrace -o promptsubst -i -c "$1" "$0" "$2"'
_ZSH_TERMINAL = "setopt xtrace promptsubst; PS4=$1; : gpuassist end"


class Trace(Struct, frozen=True):
    """All changes in their order, the number of the last step that each (file, line) took, and what the variables hold in the end;
    `whole` is false where a start-up file kept steps back.
    """

    changes: tuple[TracedChange, ...]
    taken: Mapping[tuple[str, int], int]
    values: Mapping[str, str | None]
    whole: bool
    seconds: float


def trace_startup(
    world: World, names: Sequence[str], *, seconds: float = SECONDS, steps_at_most: int = STEPS_AT_MOST
) -> Fact[Trace]:
    """Watches a new terminal come up, for the variables of these names."""
    shell = usable_shell(world)
    kind = PurePosixPath(shell).name
    if kind not in {"bash", "zsh"}:
        return Unknown(text("{shell} does not say which line it is at", shell=shell), asked=False)
    refused = why_no_shell(world, shell)
    if refused is not None:
        return Unknown(refused)
    home, mark = world.surroundings.home, f"GPUASSIST_{secrets.token_hex(8)}"
    terminal = terminal_variables(world.files, world.surroundings)
    environment = {**login_environment(world.files, world.surroundings, shell=shell, home=home), **terminal}
    command = (
        (shell, "--noprofile", "-l", "-c", _BASH_LOGIN, shell, bash_steps(mark, names), _BASH_TERMINAL, DESCRIPTOR)
        if kind == "bash"
        else ("/bin/sh", "-c", _ZSH_START, shell, zsh_steps(mark, names), _ZSH_LOGIN, _ZSH_TERMINAL)
    )
    directory = home if world.files.live and world.files.is_directory(home) else "/"
    stream = world.streams.start(command, environment=environment, directory=directory)
    if isinstance(stream, NotStarted):
        return Unknown(text("{shell} could not be started: {words}", shell=shell, words=stream.words))
    try:
        steps = Steps(mark, names, steps_at_most)
        began = world.clock.monotonic()
        lasted = 0.0
        line: bytes | Quiet = b""
        while not steps.ended and not steps.too_many and lasted < seconds:
            line = stream.line(seconds=seconds - lasted)
            if isinstance(line, Quiet):
                break
            steps.take(line)
            lasted = world.clock.monotonic() - began
        if steps.ended:
            return Known(Trace(steps.changes, steps.taken, steps.values, steps.whole, lasted), "set -x")
        if steps.too_many:
            return Unknown(text("the start-up files take more than {count} steps", count=steps.count))
        if lasted >= seconds or line is Quiet.SILENT:
            return Unknown(text("the start-up files were not done after {seconds:.0f} s", seconds=seconds))
        return Unknown(text("a start-up file leaves the shell, or puts another program in its place"))
    finally:
        stream.end()
