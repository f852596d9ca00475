"""A new terminal: what a shell holds once the user's start-up files have run, asked of a real one, started as people start it.

A terminal window of a desktop session is two shells: the login shell that the session began with, without a terminal, and an
interactive one on the window's terminal, which inherits what that left. Other ways have one. What is asked, and how, stands in
`ask_shell`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from pathlib import PurePosixPath
from threading import Lock

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.address import without_secrets
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Command, Shadow, ShadowKind, Terminal, Variable
from gpuassist.model.text import text
from gpuassist.shellfiles.toolkits import CHOOSING
from gpuassist.system.ask_shell import LeftBehind, Reply, ShellAnswer, ask
from gpuassist.system.files import Files
from gpuassist.system.login import login_environment, terminal_variables, with_environment_d
from gpuassist.system.own_child import clean
from gpuassist.system.ownership import why_no_shell
from gpuassist.system.shell_questions import PLAIN
from gpuassist.system.world import World

SECONDS = 10.0
COMMANDS = ("nvcc", "gcc", "g++", "clang", "clang++", "cc", "python", "python3", "nvidia-smi")

_log = logging.getLogger(__name__)

_NAMES = frozenset(
    (
        *CHOOSING,
        *("LD_PRELOAD", "CUDAHOSTCXX", "CC", "CXX"),
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
_NO_SHELLS = frozenset(("busybox", "nologin", "false", "true", ""))
_LINES = frozenset({"bash", "zsh", "fish"}) | PLAIN

# What a shell sets for itself, and one that it starts by `exec` would not find a second time.
_OF_THE_SHELL = frozenset({"SHLVL", "_", "OLDPWD", "PWD"})


class Opening(str, Enum):
    """How a shell is started, which decides the start-up files that it reads and the branches that these take."""

    TERMINAL = "terminal"  # a terminal window of a desktop session: interactive, in what the session's login shell left
    BARE_TERMINAL = "bare terminal"  # the same without a session: `docker exec`, `su`, a terminal that systemd starts
    LOGIN = "login"  # a session over SSH, a text console, a pane of tmux: a login shell that is interactive
    SSH_COMMAND = "ssh command"  # `ssh HOST nvcc`: `-c` in a bare environment, where bash reads .bashrc all the same
    DESKTOP = "desktop"  # what the launcher starts: the session's login shell, then environment.d
    LOGIN_COMMAND = "login command"  # `bash -lc`, as display managers and IDEs start programs
    TERMINAL_COMMAND = "terminal command"  # `bash -c` in all that a terminal window holds: scripts and make that are started there
    COMMAND = "command"  # `bash -c` in a bare environment that knows what the session says of scripts: cron, services


_OPTIONS = {
    Opening.TERMINAL: ("-i",),
    Opening.BARE_TERMINAL: ("-i",),
    Opening.LOGIN: ("-l", "-i"),
    Opening.SSH_COMMAND: (),
    Opening.LOGIN_COMMAND: ("-l",),
    Opening.TERMINAL_COMMAND: (),
    Opening.COMMAND: (),
}
_ON_TERMINAL = frozenset({Opening.TERMINAL, Opening.BARE_TERMINAL, Opening.LOGIN})
_WITHOUT_LOGIN = frozenset({Opening.BARE_TERMINAL, Opening.LOGIN, Opening.SSH_COMMAND})
# What a login hands to scripts that decides which files they read (bash(1), "Invoked non-interactively"; zsh has ZDOTDIR).
_FOR_SCRIPTS = ("BASH_ENV", "ENV", "ZDOTDIR")
# The variables by which sshd says where somebody comes from; bash looks for the first (bash(1), "Invoked by remote shell daemon").
_FROM_SSH = {"SSH_CLIENT": "127.0.0.1 50022 22", "SSH_CONNECTION": "127.0.0.1 50022 127.0.0.1 22"}


class ShellState(Struct, frozen=True):
    """What a shell holds once it is ready, and how long it took until then.

    `complaints` are the shell's own error lines while it read the start-up files, `questions` what these asked and got no answer,
    `left_behind` the processes that they started and that still run, `through` the program that the shell runs in (tmux). Where the
    files hand over to another shell, `terminal` tells of that one.
    """

    terminal: Fact[Terminal]
    seconds: float
    complaints: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    left_behind: tuple[LeftBehind, ...] = ()
    through: str = ""


def ask_terminal(world: World, *, home: str = "", seconds: float = SECONDS) -> Fact[Terminal]:
    """What a new terminal of this user would hold; with another `home`, what it would hold if that were the user's."""
    return ask_shell(world, Opening.TERMINAL, home=home, seconds=seconds).terminal


def ask_shell(world: World, opening: Opening, *, home: str = "", seconds: float = SECONDS) -> ShellState:
    """What a shell that is started like this would hold, and how long its start-up files took."""
    return _Asker(world, home or world.surroundings.home, seconds).asked(opening)


def ask_ways(world: World, openings: Sequence[Opening] = tuple(Opening), *, seconds: float = SECONDS) -> dict[Opening, ShellState]:
    """The same for several ways, side by side; what comes after another shell waits for that one, which is started once."""
    asker = _Asker(world, world.surroundings.home, seconds)
    with ThreadPoolExecutor(len(openings) or 1) as pool:
        return dict(zip(openings, pool.map(asker.asked, openings), strict=True))


class _Asker:
    """Asks the shells of one user, each way of starting one."""

    def __init__(self, world: World, home: str, seconds: float) -> None:
        self._world, self._home, self._seconds = world, home, seconds
        self._shell = usable_shell(world)
        self._kind = PurePosixPath(self._shell).name
        self._login = login_environment(world.files, world.surroundings, shell=self._shell, home=home)
        self._one_session, self._one_window = Lock(), Lock()
        self._session: Reply | None = None
        self._window: Reply | None = None

    def asked(self, opening: Opening) -> ShellState:
        if self._kind not in _LINES:
            words = text("the login shell {shell} is none that can be asked (bash, zsh and fish can)", shell=self._shell)
            return ShellState(Unknown(words), 0.0)
        refused = why_no_shell(self._world, self._shell, self._home)
        if refused is not None:
            return ShellState(Unknown(refused), 0.0)
        return self._told(self._reply_of(opening), _how(self._shell, opening))

    def _reply_of(self, opening: Opening) -> Reply:
        if opening in _WITHOUT_LOGIN:
            return self._reply(opening, self._login)
        if opening is Opening.TERMINAL:
            return self._in_window()
        if opening is Opening.TERMINAL_COMMAND:
            window = self._in_window()
            if window.answer is None:
                return window
            return self._reply(opening, _inherited(window.answer.environment), self._left(window))
        session = self._after_login()
        if opening is Opening.LOGIN_COMMAND:
            return session
        if opening is Opening.DESKTOP:
            if session.answer is None:
                return session
            merged = with_environment_d(self._world.files, session.answer.environment, home=self._home)
            return replace(session, answer=ShellAnswer(session.answer.shell, 0, merged, {}, ()))
        held = session.answer.environment if session.answer is not None else {}
        given = {name: held[name] for name in _FOR_SCRIPTS if name in held}
        return self._reply(opening, {**self._login, **given})

    def _after_login(self) -> Reply:
        with self._one_session:
            if self._session is None:
                self._session = self._reply(Opening.LOGIN_COMMAND, self._login)
            return self._session

    def _in_window(self) -> Reply:
        with self._one_window:
            if self._window is None:
                self._window = self._open_window(self._after_login())
            return self._window

    def _open_window(self, session: Reply) -> Reply:
        if session.answer is None and not session.ended:
            return session
        # A login shell that never gets to its command began no session: the window then is one of a session without it.
        begun = session.answer.environment if session.answer is not None else self._login
        reply = self._reply(Opening.TERMINAL, _inherited(begun), self._left(session))
        return replace(
            reply,
            seconds=session.seconds + reply.seconds,
            complaints=tuple(dict.fromkeys((*session.complaints, *reply.complaints))),
            questions=(*session.questions, *reply.questions),
            left_behind=tuple(dict.fromkeys((*session.left_behind, *reply.left_behind))),
        )

    def _left(self, earlier: Reply) -> float:
        return max(0.1, self._seconds - earlier.seconds)

    def _reply(self, opening: Opening, environment: Mapping[str, str], seconds: float = 0.0) -> Reply:
        world, on_terminal = self._world, opening in _ON_TERMINAL
        terminal = terminal_variables(world.files, world.surroundings) if on_terminal else {}
        ssh = _FROM_SSH if opening is Opening.SSH_COMMAND else {}
        # The line that is typed starts with a space; zsh leaves such lines out of its history where it is told to.
        quiet = ("-o", "histignorespace") if self._kind == "zsh" and on_terminal else ()
        return ask(
            world,
            (self._shell, *quiet, *_OPTIONS[opening]),
            names=COMMANDS,
            environment={**environment, **terminal, **ssh},
            directory=self._home if world.files.live and world.files.is_directory(self._home) else "/",
            on_terminal=on_terminal,
            seconds=seconds or self._seconds,
        )

    def _told(self, reply: Reply, how: str) -> ShellState:
        if reply.answer is None:
            _log.info("no answer from %s: %s", self._shell, reply)
            fact: Fact[Terminal] = Unknown(reply.why)
        else:
            # The shell that answered, by the path that it was started with where it is that one.
            who = self._shell if not reply.shell or self._world.files.real(self._shell) == reply.shell else reply.shell
            path = reply.answer.environment.get("PATH", "")
            found = {name: _program(self._world.files, reply.answer, path, name) for name in COMMANDS}
            commands = tuple(command for command in found.values() if command is not None)
            shadows = []
            for kind, name, words in map(_named, reply.answer.named):
                program = found.get(name)
                if kind and not (kind == "hash" and program is not None and words == program.path):
                    shadows.append(Shadow(name, ShadowKind(kind), words))
            fact = Known(Terminal(who, that_matter(reply.answer.environment), commands, tuple(shadows)), how)
        return ShellState(fact, reply.seconds, reply.complaints, reply.questions, reply.left_behind, reply.through)


def _how(shell: str, opening: Opening) -> str:
    if opening is Opening.DESKTOP:
        return f"{shell} -l, then environment.d"
    earlier = {Opening.TERMINAL: f"{shell} -l, then ", Opening.TERMINAL_COMMAND: f"{shell} -i, then "}
    return f"{earlier.get(opening, '')}{shell} {' '.join(_OPTIONS[opening] or ('-c',))}"


def _inherited(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in _OF_THE_SHELL}


def _program(files: Files, answer: ShellAnswer, path: str, name: str) -> Command | None:
    """What PATH finds; bash tells a path that it remembers instead, and other shells than bash, zsh and fish tell none."""
    hashed = any(kind == "hash" and of == name for kind, of, _ in answer.named)
    if name not in answer.paths or hashed:
        return next(iter(find_command(files, path, name)), None)
    told = answer.paths[name]
    return Command(name, told, files.real(told)) if told.startswith("/") else None


def _named(said: tuple[str, str, str]) -> tuple[str, str, str]:
    """What a name stands for beside a program, as (kind, name, text): dash and ksh tell it by what `command -v` prints, zsh says
    what it remembers after the name.
    """
    kind, name, words = said
    if kind == "hash":
        return kind, name, words.removeprefix(f"{name}=")
    if kind != "named":
        return said
    if words.startswith("/"):
        return "", name, words
    return ("alias" if words.startswith("alias ") else "function"), name, words


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
    names = (name for name in sorted(variables) if name in _NAMES or name.startswith(_PREFIXES))
    told = (name for name in names if name in _NAMES or not any(word in name for word in _SECRET))
    return tuple(Variable(name, without_secrets(variables[name])) for name in told)


def usable_shell(world: World) -> str:
    """The user's login shell, or bash where that one is not meant for work at a terminal."""
    shell = world.surroundings.login_shell
    if PurePosixPath(shell).name not in _NO_SHELLS:
        return shell
    return next((place for place in ("/bin/bash", "/usr/bin/bash") if world.files.is_file(place)), shell)
