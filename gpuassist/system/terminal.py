"""A new terminal: what an interactive shell holds once the user's start-up files have run, asked of a real one.

The login environment (/etc/environment, then the login shell from an otherwise empty environment) starts an interactive shell, as a
terminal window does in a desktop session. Both are one chain of processes: the login shell becomes the interactive one by `exec`.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

from gpuassist.model.address import without_secrets
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Command, Terminal, Variable
from gpuassist.model.text import Text, text
from gpuassist.system.files import Files
from gpuassist.system.login import login_environment
from gpuassist.system.ownership import why_no_shell
from gpuassist.system.processes import Ending, Outcome, clean
from gpuassist.system.world import World

SECONDS = 10.0
COMMANDS = ("nvcc", "gcc", "g++", "clang", "clang++", "cc", "python", "python3", "nvidia-smi")

_log = logging.getLogger(__name__)

_NAMES = frozenset(
    (
        *("PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"),
        *("LD_PRELOAD", "CUDACXX", "CUDAHOSTCXX", "CC", "CXX"),
        *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_ROOT", "PYENV_VERSION", "UV_TORCH_BACKEND"),
        *("PYTHONPATH", "PYTHONNOUSERSITE", "XDG_CONFIG_HOME", "CONDARC", "CONDA_CHANNELS", "CONDA_OVERRIDE_CUDA", "CONDA_OFFLINE"),
        *("PIP_CONFIG_FILE", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_CONSTRAINT"),
        *("UV_CONFIG_FILE", "UV_NO_CONFIG", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"),
        *("UV_OFFLINE", "UV_CONSTRAINT"),
    )
)
_PREFIXES = ("CUDA_", "PYTORCH_", "TORCH_", "NVCC_", "NVIDIA_")
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")  # NVIDIA_API_KEY and its like are nobody's business

# Where a user has no shell, or one without start-up files of its own, bash is what opens a usable terminal.
_BOURNE = frozenset(("sh", "dash", "ash", "busybox", "nologin", "false"))

# Each prints the sentinel, the path of every command that PATH finds, the sentinel again, and the environment with a NUL after each
# variable. A backslash keeps a user's alias of the same name out; `env` replaces the shell, so that no EXIT trap runs.
_FIND = {"bash": "type -P", "zsh": "whence -p"}
_POSIX_READ = (
    "\\builtin printf '%s\\0' \"$1\"; \\builtin {find} {names} || :; \\builtin printf '\\0%s\\0' \"$1\"; "
    '\\builtin exec /usr/bin/env -0 "$1=end"'
)
_FISH_READ = (
    "builtin printf '%s\\0' $argv[1]; command -s {names}; builtin printf '\\0%s\\0' $argv[1]; exec /usr/bin/env -0 $argv[1]=end"
)
_POSIX_CHAIN = 'exec "$0" -i -c "$1" "$0" "$2"'
_FISH_CHAIN = "exec $argv[1] -i -c $argv[2] $argv[3]"


class Opening(str, Enum):
    """How a shell is started, which decides the start-up files that it reads."""

    TERMINAL = "terminal"  # a terminal window of a desktop session: a login shell, from which an interactive one is started
    LOGIN = "login"  # a session over SSH, a text console, tmux: a login shell that is interactive
    LOGIN_COMMAND = "login command"  # `bash -lc`, as display managers and IDEs start programs
    COMMAND = "command"  # `bash -c`, scripts, make, cron


_OPTIONS = {Opening.LOGIN: ("-l", "-i"), Opening.LOGIN_COMMAND: ("-l",), Opening.COMMAND: ()}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a shell holds once it is ready, and how long it took until then."""

    terminal: Fact[Terminal]
    seconds: float


def ask_terminal(world: World, *, home: str = "", seconds: float = SECONDS) -> Fact[Terminal]:
    """What a new terminal of this user would hold; with another `home`, what it would hold if that were the user's."""
    return ask_shell(world, Opening.TERMINAL, home=home, seconds=seconds).terminal


def ask_shell(world: World, opening: Opening, *, home: str = "", seconds: float = SECONDS) -> Asked:
    """What a shell that is started like this would hold, and how long its start-up files took."""
    shell = usable_shell(world)
    kind = PurePosixPath(shell).name
    if kind not in ("bash", "zsh", "fish"):
        words = text("the login shell {shell} is none that can be asked (bash, zsh and fish can)", shell=shell)
        return Asked(Unknown(words), 0.0)
    refused = why_no_shell(world, shell, home)
    if refused is not None:
        return Asked(Unknown(refused), 0.0)
    sentinel = f"GPUASSIST_{secrets.token_hex(8)}"
    where = home or world.surroundings.home
    outcome = world.processes.run(
        _chain(shell, kind, sentinel) if opening is Opening.TERMINAL else _alone(shell, _OPTIONS[opening], sentinel),
        seconds=seconds,
        environment=login_environment(world.files, world.surroundings, shell=shell, home=where),
        directory=where if world.files.live and world.files.is_directory(where) else "/",
    )
    options = (("-l",), ("-i",)) if opening is Opening.TERMINAL else (_OPTIONS[opening] or ("-c",),)
    how = ", then ".join(f"{shell} {' '.join(one)}" for one in options)
    return Asked(_read(world, outcome, shell=shell, sentinel=sentinel, how=how), outcome.seconds)


def own_terminal(world: World) -> Fact[Terminal]:
    """What gpuassist itself was started with, read without a process."""
    variables = clean(world.surroundings.variables)
    commands = tuple(found for name in COMMANDS for found in find_command(world.files, variables.get("PATH", ""), name))
    return Known(Terminal(world.surroundings.login_shell, that_matter(variables), commands), "gpuassist's own environment")


def find_command(files: Files, path: str, name: str) -> tuple[Command, ...]:
    """The program that a PATH finds first, as a tuple of one; empty where it finds none."""
    for directory in path.split(":"):
        place = f"{directory}/{name}"
        if directory.startswith("/") and files.is_file(place) and files.may(place, os.X_OK):
            return (Command(name, place, files.real(place)),)
    return ()


def that_matter(variables: Mapping[str, str]) -> tuple[Variable, ...]:
    """The variables that decide which GPU software is used, by name; what looks like a secret is left out."""
    return tuple(Variable(name, without_secrets(variables[name])) for name in sorted(variables) if _matters(name))


def usable_shell(world: World) -> str:
    """The user's login shell, or bash where that one is not meant for work at a terminal."""
    shell = world.surroundings.login_shell
    if PurePosixPath(shell).name not in _BOURNE:
        return shell
    return next((place for place in ("/bin/bash", "/usr/bin/bash") if world.files.is_file(place)), shell)


def _matters(name: str) -> bool:
    return name in _NAMES or (name.startswith(_PREFIXES) and not any(word in name for word in _SECRET))


def _chain(shell: str, kind: str, sentinel: str) -> tuple[str, ...]:
    names = " ".join(COMMANDS)
    if kind == "fish":
        return (shell, "-l", "-c", _FISH_CHAIN, shell, _FISH_READ.format(names=names), sentinel)
    return (shell, "-l", "-c", _POSIX_CHAIN, shell, _POSIX_READ.format(find=_FIND[kind], names=names), sentinel)


def _alone(shell: str, options: tuple[str, ...], sentinel: str) -> tuple[str, ...]:
    kind, names = PurePosixPath(shell).name, " ".join(COMMANDS)
    if kind == "fish":
        return (shell, *options, "-c", _FISH_READ.format(names=names), sentinel)
    return (shell, *options, "-c", _POSIX_READ.format(find=_FIND[kind], names=names), shell, sentinel)


def _read(world: World, outcome: Outcome, *, shell: str, sentinel: str, how: str) -> Fact[Terminal]:
    # Banners and prompts of the start-up files stand before the first sentinel; one that stays silent leaves nothing there.
    marker = sentinel.encode() + b"\0"
    _, found, rest = outcome.stdout.partition(marker)
    paths, _, environment = rest.partition(b"\0" + marker)
    variables = _variables(environment)
    if not found or variables.pop(sentinel, "") != "end":
        _log.info("no answer from %s: %s", shell, outcome)
        return Unknown(_why_silent(outcome, shell))
    commands = (_command(world.files, line) for line in paths.decode("utf-8", "replace").splitlines())
    seen = Terminal(shell, that_matter(variables), tuple(command for command in commands if command.path.startswith("/")))
    return Known(seen, how)


def _variables(environment: bytes) -> dict[str, str]:
    entries = (entry.decode("utf-8", "replace").partition("=") for entry in environment.split(b"\0") if b"=" in entry)
    return {name: value for name, _, value in entries}


def _command(files: Files, path: str) -> Command:
    return Command(PurePosixPath(path).name, path, files.real(path) if path.startswith("/") else path)


def _why_silent(outcome: Outcome, shell: str) -> Text:
    if outcome.ending is Ending.TIMED_OUT:
        return text("the start-up files of {shell} were not done after {seconds:.0f} s", shell=shell, seconds=outcome.seconds)
    if outcome.ending in (Ending.NOT_FOUND, Ending.NOT_STARTED):
        return text("{shell} could not be started: {words}", shell=shell, words=outcome.words)
    last = _last_complaint(outcome.stderr)
    if last:
        return text("{shell} ended before it was ready; it said: {words}", shell=shell, words=last)
    return text("{shell} ended before it was ready: a start-up file leaves it, or puts another program in its place", shell=shell)


def _last_complaint(stderr: bytes) -> str:
    # Without a terminal bash says on every interactive start that it has no job control: not a complaint of the user's files.
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines()]
    told = [line for line in lines if line and "job control" not in line and "terminal process group" not in line]
    return told[-1][:200] if told else ""
