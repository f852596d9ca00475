"""Which line of which start-up file changed a variable: a real bash or zsh reads them as a new terminal does, and says each step.

Both print, before each command, what PS4 holds (set -x): here the file, the line and the variables' values, so that a value that
differs from the one before was set by the step in between. Nothing else of that output is kept: it may hold secrets.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from msgspec import Struct

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.system.login import login_environment, terminal_variables
from gpuassist.system.ownership import why_no_shell
from gpuassist.system.shell_steps import Steps, TracedChange, bash_steps, zsh_steps
from gpuassist.system.streams import DESCRIPTOR, NotStarted, Quiet, Stream
from gpuassist.system.terminal import usable_shell
from gpuassist.system.world import World

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
    command = _bash_command(shell, bash_steps(mark, names)) if kind == "bash" else _zsh_command(shell, zsh_steps(mark, names))
    directory = home if world.files.live and world.files.is_directory(home) else "/"
    stream = world.streams.start(command, environment=environment, directory=directory)
    if isinstance(stream, NotStarted):
        return Unknown(text("{shell} could not be started: {words}", shell=shell, words=stream.words))
    try:
        return _watched(world, stream, Steps(mark, names, steps_at_most), seconds)
    finally:
        stream.end()


def _bash_command(shell: str, steps: str) -> tuple[str, ...]:
    return (shell, "--noprofile", "-l", "-c", _BASH_LOGIN, shell, steps, _BASH_TERMINAL, DESCRIPTOR)


def _zsh_command(shell: str, steps: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", _ZSH_START, shell, steps, _ZSH_LOGIN, _ZSH_TERMINAL)


def _watched(world: World, stream: Stream, steps: Steps, seconds: float) -> Fact[Trace]:
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
