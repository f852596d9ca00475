"""Which line of which start-up file changed a variable: a real bash or zsh reads them as a new terminal does, and says each step.

Both print, before each command, what PS4 holds (set -x): here the file, the line and the variables' values, so that a value that
differs from the one before was set by the step in between. Nothing else of that output is kept: it may hold secrets.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import Text, text
from gpuassist.system.login import login_environment
from gpuassist.system.processes import OUTPUT_AT_MOST_BYTES, Ending, Outcome
from gpuassist.system.terminal import usable_shell
from gpuassist.system.world import World

SECONDS = 10.0

# bash ignores a PS4 from its environment where root runs it (since 4.4), so the files are read in by hand, in bash's own order. The
# steps go to a copy of standard error, so that a `2>/dev/null` in a start-up file hides none of them.
_BASH_LOGIN = """exec {BASH_XTRACEFD}>&2; gpuassist_steps=$1 gpuassist_then=$2; set --; PS4=$gpuassist_steps; set -x
[ -r /etc/profile ] && . /etc/profile
for gpuassist_file in ~/.bash_profile ~/.bash_login ~/.profile; do
[ -r "$gpuassist_file" ] && { . "$gpuassist_file"; break; }
done
exec "$0" --norc -i -c "$gpuassist_then" "$0" "$gpuassist_steps"
"""
_BASH_TERMINAL = """exec {BASH_XTRACEFD}>&2; PS4=$1; set --; set -x
[ -r /etc/bash.bashrc ] && . /etc/bash.bashrc
[ -r ~/.bashrc ] && . ~/.bashrc
set -x
: gpuassist end
"""
_ZSH_TERMINAL = "setopt xtrace promptsubst; PS4=$1; : gpuassist end"
_ZSH_LOGIN = 'exec "$0" -o xtrace -o promptsubst -i -c "$1" "$0" "$2"'
_END = b": gpuassist end"
_TURNED_OFF = re.compile(rb"(?:set \+(?:[a-zA-Z]*x|o xtrace)|unsetopt xtrace|setopt no_?xtrace)")


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
class Trace:
    """All changes in their order, the number of the last step that each (file, line) took, and what the variables hold in the end;
    `whole` is false where a start-up file kept steps back.
    """

    changes: tuple[TracedChange, ...]
    taken: Mapping[tuple[str, int], int]
    values: Mapping[str, str | None]
    whole: bool
    seconds: float


def trace_startup(world: World, names: Sequence[str], *, seconds: float = SECONDS) -> Fact[Trace]:
    """Watches a new terminal come up, for the variables of these names."""
    shell = usable_shell(world)
    kind = PurePosixPath(shell).name
    if kind not in {"bash", "zsh"}:
        return Unknown(text("{shell} does not say which line it is at", shell=shell), asked=False)
    home, mark = world.surroundings.home, f"GPUASSIST_{secrets.token_hex(8)}"
    environment = login_environment(world.files, world.surroundings, shell=shell, home=home)
    steps = _bash_steps(mark, names) if kind == "bash" else _zsh_steps(mark, names)
    outcome = world.processes.run(
        _bash_command(shell, steps) if kind == "bash" else _zsh_command(shell, steps),
        seconds=seconds,
        environment=environment if kind == "bash" else {**environment, "PS4": steps},
        directory=home if world.files.live and world.files.is_directory(home) else "/",
    )
    return _read(outcome, mark, names, shell)


@dataclass(frozen=True, slots=True)
class _Step:
    file: str
    line: int
    values: tuple[str | None, ...]
    evaluated: bool
    command: bytes


def _bash_command(shell: str, steps: str) -> tuple[str, ...]:
    return (shell, "--noprofile", "-l", "-c", _BASH_LOGIN, shell, steps, _BASH_TERMINAL)


def _zsh_command(shell: str, steps: str) -> tuple[str, ...]:
    return (shell, "-o", "xtrace", "-o", "promptsubst", "-l", "-c", _ZSH_LOGIN, shell, _ZSH_TERMINAL, steps)


def _bash_steps(mark: str, names: Sequence[str]) -> str:
    # bash repeats the first sign once for each file that is read in, command that is substituted, and eval.
    place = "${BASH_SUBSHELL}\2${#BASH_SOURCE[@]} ${FUNCNAME[*]-}\2${BASH_SOURCE-}\2${LINENO}"
    values = "\2".join(f"${{{name}+=}}${{{name}-}}" for name in names)
    return f"\1{mark}\2{place}\2{values}\3"


def _zsh_steps(mark: str, names: Sequence[str]) -> str:
    values = "\2".join(f"${{{name}+=}}${{{name}//\\%/%%}}" for name in names)
    return f"\1{mark}\2${{ZSH_SUBSHELL}}\2%N\2%x\2%I\2{values}\3"


def _read(outcome: Outcome, mark: str, names: Sequence[str], shell: str) -> Fact[Trace]:
    steps = list(_steps(outcome.stderr, mark.encode(), len(names)))
    if not steps or not steps[-1].command.startswith(_END):
        return Unknown(_why(outcome, shell))
    taken = {(step.file, step.line): number for number, step in enumerate(steps) if not step.evaluated}
    whole = not any(_TURNED_OFF.match(step.command) for step in steps)
    values = dict(zip(names, steps[-1].values, strict=True))
    return Known(Trace(tuple(_changes(steps, names)), taken, values, whole, outcome.seconds), f"{shell} -x")


def _why(outcome: Outcome, shell: str) -> Text:
    if outcome.ending is Ending.TIMED_OUT:
        return text("{shell} was not done with its start-up files after {seconds:.0f} s", shell=shell, seconds=outcome.seconds)
    if len(outcome.stderr) >= OUTPUT_AT_MOST_BYTES:
        return text("the start-up files of {shell} take more steps than are kept", shell=shell)
    return text("{shell} did not say which lines it ran", shell=shell)


def _steps(printed: bytes, mark: bytes, count: int) -> Iterator[_Step]:
    for found in re.finditer(rb"(\x01+)" + mark + rb"\x02([^\x03]*)\x03([^\x01\n]*)", printed):
        subshell, frames, file, line, *values = found[2].split(b"\2")
        if subshell == b"0" and len(values) == count:
            evaluated = frames == b"(eval)" or len(found[1]) > _depth(frames.decode("utf-8", "replace"))
            known = tuple(_words(value[1:]) if value else None for value in values)
            yield _Step(_words(file), int(line) if line.isdigit() else 0, known, evaluated, found[3])


def _depth(frames: str) -> int:
    """How often bash repeats the sign where nothing is evaluated: once, and once more for each file that is being read in."""
    count, *functions = frames.split(" ")
    files = functions.count("source") if any(functions) else int(count) if count.isdigit() else 1 << 30
    return 1 + files


def _words(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _changes(steps: list[_Step], names: Sequence[str]) -> list[TracedChange]:
    """The changes that were not taken back at once: a variable in front of a command, or of a function, is set for that alone."""
    lasting: dict[str, list[TracedChange]] = {name: [] for name in names}
    for change in _all_changes(steps, names):
        standing = lasting[change.variable]
        if standing and standing[-1].before == change.after:
            standing.pop()
        else:
            standing.append(change)
    return sorted((change for standing in lasting.values() for change in standing), key=lambda change: change.step)


def _all_changes(steps: list[_Step], names: Sequence[str]) -> Iterator[TracedChange]:
    places = _places(steps)
    held = list(steps[0].values)
    aside: dict[int, tuple[str | None, int]] = {}  # a value that is for one command alone, and the last step before it
    for number, (step, after) in enumerate(pairwise(steps)):
        for index, value in enumerate(after.values if step.values != after.values else ()):
            if index in aside and aside[index][0] == value:
                continue
            since = aside.pop(index)[1] if index in aside else number
            if _is_for_one_command(step, after, names[index], value):
                aside[index] = (value, since)
            elif held[index] != value:
                yield TracedChange(since, names[index], *places[since], held[index], value)
                held[index] = value


def _places(steps: list[_Step]) -> list[tuple[str, int]]:
    # What `eval` runs counts lines from the eval on: the eval's own line is where it comes from.
    places: list[tuple[str, int]] = []
    for step in steps:
        places.append(places[-1] if step.evaluated and places else (step.file, step.line))
    return places


def _is_for_one_command(step: _Step, after: _Step, name: str, value: str | None) -> bool:
    """Whether a value is of a variable in front of a command: bash says such a step with the value already in place."""
    if value is None:
        return False
    says = name.encode() + b"=" + value.encode("utf-8", "surrogateescape")
    return after.command.replace(b"'", b"") == says and says not in step.command.replace(b"'", b"")
