"""The start-up files of a new terminal in the order in which they are read, those that they read in among them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import Enum
from pathlib import PurePosixPath

from msgspec import Struct, field
from msgspec.structs import replace

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.statements import Reading
from gpuassist.system.files import Files
from gpuassist.system.login import login_environment
from gpuassist.system.ownership import strangers_home
from gpuassist.system.processes import Ending
from gpuassist.system.shell_questions import PLAIN
from gpuassist.system.terminal import usable_shell
from gpuassist.system.world import World

FILE_AT_MOST_BYTES = 1 << 20
_SOURCED_AT_MOST_BYTES = 256 << 10  # what is sourced beyond that is a program, such as a whole completion library
_DEEPEST = 6
_FILES_AT_MOST = 120
_ZSH = ("zshenv", "zprofile", "zshrc", "zlogin")
_ZSH_SECONDS = 5.0
_MARK = "gpuassist:"
_BRACES = lazy_regex(r"\{([^{}]*,[^{}]*)\}")  # `~/.{path,exports}`, one list; bash, zsh and fish write it alike
_FISH_VENDORS = "/usr/share/fish/vendor_conf.d"


class Stage(str, Enum):
    """When a file is read: by the login for everybody or for the user, or by each terminal; `ENVIRONMENT` before any shell."""

    ENVIRONMENT = "environment"
    SYSTEM_LOGIN = "system login"
    LOGIN = "login"
    SYSTEM_TERMINAL = "system terminal"
    TERMINAL = "terminal"
    SCRIPT = "script"  # what BASH_ENV names: bash reads it for a script, in cron as well


class ChainFile(Struct, frozen=True):
    """One file: `sourced_by` is the file and line that read it in, none where the shell itself does.

    `unread` says why a new terminal does not read a file that is there, `unreadable` why gpuassist could not; `ours` whether it is
    the user's own and may be written.
    """

    path: str
    dialect: Dialect
    stage: Stage
    sourced_by: tuple[str, int] | None = None
    content: bytes = b""
    exists: bool = True
    ours: bool = False
    unread: Text | None = None
    unreadable: Text | None = None
    reading: Reading = field(default_factory=lambda: Reading((), (), ()))


def startup_chain(world: World) -> tuple[ChainFile, ...]:
    """All of them for the login shell; a file that is not there is listed only where the user could make it."""
    return _Chain(world).files()


def dialect_of(path: str, otherwise: Dialect = Dialect.BASH) -> Dialect:
    """The language that a file's name says, else the other one."""
    name = PurePosixPath(path).name
    if name.endswith(".fish"):
        return Dialect.FISH
    if path == "/etc/environment":
        return Dialect.ENVIRONMENT
    if PurePosixPath(path).parent.name == "environment.d" and name.endswith(".conf"):
        return Dialect.ENVIRONMENT_D
    if name.lstrip(".") in {"zshrc", "zshenv", "zprofile", "zlogin"} or name.endswith((".zsh", ".zsh-theme")):
        return Dialect.ZSH
    if name.lstrip(".") in {"bashrc", "bash_profile", "bash_login", "profile", "bash.bashrc"} or name.endswith((".bash", ".sh")):
        return Dialect.BASH
    return otherwise


def sources(chain: tuple[ChainFile, ...], reader: str, path: str) -> bool:
    """Whether the file `reader`, or one that it reads in, reads in `path`."""
    inside = {file.path for file in chain if file.sourced_by and _comes_from(chain, file, reader)} | {reader}
    named = (source.path for file in chain if file.path in inside for source in file.reading.sources)
    return path in named


def _comes_from(chain: tuple[ChainFile, ...], file: ChainFile, reader: str) -> bool:
    above = {one.path: one.sourced_by[0] for one in chain if one.sourced_by}
    seen: set[str] = set()
    path = file.path
    while path in above and path not in seen:
        seen.add(path)
        path = above[path]
    return path == reader


class _Chain:
    def __init__(self, world: World) -> None:
        self.world = world
        self.look: Files = world.files
        self.home = world.surroundings.home
        self.kind = PurePosixPath(usable_shell(world)).name
        self.known: dict[str, str] = {"HOME": self.home, "USER": world.surroundings.user}
        self.found: list[ChainFile] = []
        self.direct: set[str] = set()

    def files(self) -> tuple[ChainFile, ...]:
        self._read("/etc/environment", Stage.ENVIRONMENT)
        if self.kind == "zsh":
            self._zsh()
        elif self.kind == "fish":
            variables = self.world.surroundings.variables
            folder = f"{variables.get('XDG_CONFIG_HOME') or self.home + '/.config'}/fish"
            self._fish_snippets(f"{folder}/conf.d")
            self._read("/etc/fish/config.fish", Stage.SYSTEM_TERMINAL)
            self._read(f"{folder}/config.fish", Stage.TERMINAL, listed=True)
        elif self.kind == "bash":
            login = [f"{self.home}/{name}" for name in (".bash_profile", ".bash_login", ".profile")]
            there = [path for path in login if self.look.exists(path)]
            self._direct(("/etc/profile", "/etc/bash.bashrc", *there[:1], f"{self.home}/.bashrc"))
            self._read("/etc/profile", Stage.SYSTEM_LOGIN)
            for path in there[:1]:
                self._read(path, Stage.LOGIN)
            for path in there[1:]:
                if path not in {file.path for file in self.found}:
                    self._unread(path, Stage.LOGIN, text("bash reads {first} instead of it", first=there[0]))
            self._read("/etc/bash.bashrc", Stage.SYSTEM_TERMINAL)
            self._read(f"{self.home}/.bashrc", Stage.TERMINAL, listed=True)
        elif self.kind in PLAIN:
            # sh, dash and ksh: a login reads .profile, an interactive shell the file that ENV names (dash(1), ksh(1)).
            self._direct(("/etc/profile", f"{self.home}/.profile"))
            self._read("/etc/profile", Stage.SYSTEM_LOGIN)
            self._read(f"{self.home}/.profile", Stage.LOGIN, listed=True)
            self._named("ENV", Stage.TERMINAL)
        if self.kind != "fish":
            self._named("BASH_ENV", Stage.SCRIPT)
        return tuple(self.found)

    def _named(self, variable: str, stage: Stage) -> None:
        """The file that a variable names, where a start-up file sets it."""
        path = self.known.get(variable, "")
        if path.startswith("/") and not any(self.look.real(one.path) == self.look.real(path) for one in self.found):
            self._read(path, stage)

    def _zsh(self) -> None:
        # Distributions build zsh with its files in /etc or in /etc/zsh; what is there tells.
        system = "/etc/zsh" if self.look.is_directory("/etc/zsh") else "/etc"
        folder = self.known.get("ZDOTDIR", self.home)
        self._direct(f"{place}/{dot}{name}" for place, dot in ((system, ""), (self.home, ".")) for name in _ZSH)
        self._read(f"{system}/zshenv", Stage.SYSTEM_LOGIN)
        self._read(f"{self.known.get('ZDOTDIR', self.home)}/.zshenv", Stage.LOGIN)
        folder = self._zdotdir()
        self._direct(f"{folder}/.{name}" for name in _ZSH)
        for name in ("zprofile", "zlogin"):
            self._read(f"{system}/{name}", Stage.SYSTEM_LOGIN)
            self._read(f"{folder}/.{name}", Stage.LOGIN)
        self._read(f"{system}/zshrc", Stage.SYSTEM_TERMINAL)
        self._read(f"{folder}/.zshrc", Stage.TERMINAL, listed=True)
        if folder != self.home:
            for name in _ZSH[1:]:
                self._unread(f"{self.home}/.{name}", Stage.TERMINAL, text("ZDOTDIR says {folder}", folder=folder))

    def _zdotdir(self) -> str:
        """Where zsh looks for its other files. It is set in more ways than a reader knows (`${ZDOTDIR:-…}`, in a branch): zsh
        tells.
        """
        known = self.known.get("ZDOTDIR", self.home)
        mentioned = any(b"ZDOTDIR" in file.content for file in self.found)
        if not mentioned or not self.look.live or strangers_home(self.world) is not None:
            return known
        environment = login_environment(self.look, self.world.surroundings, shell=usable_shell(self.world), home=self.home)
        command = (usable_shell(self.world), "-c", f"print -rn -- {_MARK}${{ZDOTDIR:-$HOME}}")
        outcome = self.world.processes.run(command, seconds=_ZSH_SECONDS, environment=environment)
        said = outcome.stdout.decode("utf-8", "surrogateescape").rpartition(_MARK)[2]
        return said.rstrip("/") if outcome.ending is Ending.EXITED and said.startswith("/") else known

    def _fish_snippets(self, own: str) -> None:
        """Of files with one name fish reads the first that it finds, and all in this order (its own config.fish)."""
        seen: set[str] = set()
        folders = ((own, Stage.TERMINAL), ("/etc/fish/conf.d", Stage.SYSTEM_TERMINAL), (_FISH_VENDORS, Stage.SYSTEM_TERMINAL))
        for folder, stage in folders:
            for path in self.look.glob(f"{folder}/*.fish"):
                name = PurePosixPath(path).name
                if name in seen:
                    self._unread(path, stage, text("fish reads a file of the same name instead of it"))
                else:
                    self._read(path, stage)
                seen.add(name)

    def _direct(self, paths: Iterator[str] | tuple[str, ...]) -> None:
        self.direct |= {self.look.real(path) for path in paths}

    def _read(self, path: str, stage: Stage, *, listed: bool = False) -> None:
        if self.look.exists(path):
            self._follow(self._file(path, stage, None), 0, (self.look.real(path),))
        elif listed:
            self.found.append(ChainFile(path, self._dialect(path), stage, exists=False, ours=True))

    def _unread(self, path: str, stage: Stage, why: Text) -> None:
        if self.look.exists(path):
            self.found.append(replace(self._file(path, stage, None), unread=why))

    def _file(self, path: str, stage: Stage, sourced_by: tuple[str, int] | None) -> ChainFile:
        dialect = self._dialect(path)
        file = ChainFile(path, dialect, stage, sourced_by, ours=self._ours(path))
        limit = _SOURCED_AT_MOST_BYTES if sourced_by else FILE_AT_MOST_BYTES
        if not self.look.is_file(path):
            return replace(file, unreadable=text("it is not a regular file"), ours=False)
        try:
            content = self.look.read_bytes(path, limit + 1)
        except OSError as error:
            return replace(file, unreadable=text("it cannot be read: {reason}", reason=error.strerror or str(error)), ours=False)
        if len(content) > limit:
            return replace(file, unreadable=text("it is larger than {count} KiB", count=limit >> 10))
        return replace(file, content=content, reading=read_startup(content, dialect, self.known))

    def _follow(self, file: ChainFile, depth: int, stack: tuple[str, ...]) -> None:
        self.found.append(file)
        self.known.update({name: value for name, value in file.reading.values if name not in {"HOME", "PATH"}})
        for source in file.reading.sources:
            for path in self._paths(source.path):
                real = self.look.real(path)
                if depth >= _DEEPEST or len(self.found) >= _FILES_AT_MOST or real in {*stack, *self.direct}:
                    continue
                if any(self.look.real(one.path) == real for one in self.found):
                    continue
                self._follow(self._file(path, file.stage, (file.path, source.line)), depth + 1, (*stack, real))

    def _paths(self, path: str) -> tuple[str, ...]:
        if not path.startswith("/"):
            return ()
        braces = _BRACES.search(path)
        if braces is not None:
            words = (f"{path[: braces.start()]}{word}{path[braces.end() :]}" for word in braces[1].split(","))
            return tuple(dict.fromkeys(found for word in words for found in self._paths(word)))
        if any(sign in path for sign in "*?["):
            return tuple(found for found in self.look.glob(path) if self.look.is_file(found))
        return (path,) if self.look.exists(path) else ()

    def _dialect(self, path: str) -> Dialect:
        own = {"zsh": Dialect.ZSH, "fish": Dialect.FISH}.get(self.kind, Dialect.BASH)
        named = dialect_of(path, own)
        # A shell reads what it sources in its own language, whatever the file's name says.
        return own if named in {Dialect.BASH, Dialect.ZSH, Dialect.FISH} else named

    def _ours(self, path: str) -> bool:
        if not path.startswith(self.home.rstrip("/") + "/"):
            return False
        try:
            mine = self.look.status(path).st_uid == self.world.surroundings.uid
        except OSError:
            return False
        return mine and self.look.may(path, os.W_OK)
