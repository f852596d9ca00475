"""The start-up files that a repair looks at: the one that gets the managed block, and the user's others that are read beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from gpuassist.detect.shell import startup_files
from gpuassist.formats.shell_reading import Reading
from gpuassist.formats.startup import Dialect, read_startup
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.shell import StartupFile
from gpuassist.model.text import Text, text
from gpuassist.repair.block import Block, RepairError, find
from gpuassist.repair.target import Target, examine
from gpuassist.system.terminal import usable_shell
from gpuassist.system.world import World

_NAMES = {
    "bash": Dialect.BASH,
    "sh": Dialect.BASH,
    "zsh": Dialect.ZSH,
    "fish": Dialect.FISH,
    "bashrc": Dialect.BASH,
    "profile": Dialect.BASH,
    "bash_profile": Dialect.BASH,
    "bash_login": Dialect.BASH,
    "zshrc": Dialect.ZSH,
    "zshenv": Dialect.ZSH,
    "zprofile": Dialect.ZSH,
    "zlogin": Dialect.ZSH,
}
_LOGIN_FILES = (".bash_profile", ".bash_login", ".profile")


@dataclass(frozen=True, slots=True)
class ShellFile:
    """A start-up file as it was read; `obstacle` says why it may not be changed, `block` is the managed one that stands in it."""

    target: Target
    dialect: Dialect
    reading: Reading
    block: Block | None = None
    obstacle: Text | None = None

    @property
    def path(self) -> str:
        """Its path as the user names it."""
        return self.target.path

    @property
    def content(self) -> bytes:
        """Its bytes."""
        return self.target.content


def main_file(world: World, rc: str) -> ShellFile:
    """The file that the managed block goes in; raises `RepairError` where its markers do not pair up."""
    path = rc or main_path(world)
    target = examine(world, path)
    return _read(target, dialect_of(path, usable_shell(world)), world.surroundings.home, find(target.content))


def main_path(world: World) -> str:
    """The file that the login shell reads for every terminal, which fish reads a directory of."""
    around = world.surroundings
    shell = PurePosixPath(usable_shell(world)).name
    if shell == "zsh":
        return f"{around.variables.get('ZDOTDIR') or around.home}/.zshrc"
    if shell == "fish":
        folder = around.variables.get("XDG_CONFIG_HOME") or f"{around.home}/.config"
        return f"{folder}/fish/conf.d/gpuassist.fish"
    return f"{around.home}/.bashrc"


def dialect_of(path: str, shell: str) -> Dialect:
    """The language of a start-up file, by its name and else by the shell that is to read it."""
    name = PurePosixPath(path).name
    known = _NAMES.get(name.rpartition(".")[2])
    return known or _NAMES.get(PurePosixPath(shell).name, Dialect.BASH)


def other_files(world: World, main: ShellFile) -> tuple[ShellFile, ...]:
    """The files that are there beside the main one, each once, in the order in which a new terminal reads them."""
    seen = {main.target.path_written}
    found: list[ShellFile] = []
    for path in _beside(world):
        target = examine(world, path)
        if target.exists and target.path_written not in seen:
            seen.add(target.path_written)
            found.append(_read_other(world, target))
    return tuple(found)


def login_file(world: World) -> str:
    """The file that bash reads as a login shell instead of .bashrc: the first of three that is there; empty where none is."""
    home = world.surroundings.home
    return next((f"{home}/{name}" for name in _LOGIN_FILES if world.files.exists(f"{home}/{name}")), "")


def recorded_file(machine: Machine, rc: str) -> tuple[ShellFile, str]:
    """The main file as a recording holds it, and whose home it lies in."""
    shell = value_or(machine.shell.login_shell, "")
    files = value_or(machine.shell.startup_files, ())
    name = {"zsh": "/.zshrc", "fish": "/conf.d/gpuassist.fish"}.get(PurePosixPath(shell).name, "/.bashrc")
    path = rc or next((file.path for file in files if file.path.endswith(name)), f"~{name}")
    home = str(PurePosixPath(path).parent)
    file = next((file for file in files if file.path == path), StartupFile(path, exists=False))
    target = _recorded_target(file)
    return _read(target, dialect_of(path, shell), home, find(target.content)), home


def _recorded_target(file: StartupFile) -> Target:
    path = file.path
    if isinstance(file.content, Known):
        return Target(path, path, file.content.value.encode("utf-8", "surrogateescape"), exists=True)
    note = text("the recording does not hold the text of {path}: the preview shows only what would be added", path=path)
    return Target(path, path, exists=file.exists, notes=(note,))


def _beside(world: World) -> Iterator[str]:
    yield from (file.path for file in startup_files(world) if file.exists)


def _read_other(world: World, target: Target) -> ShellFile:
    dialect = dialect_of(target.path, usable_shell(world))
    home = world.surroundings.home
    try:
        return _read(target, dialect, home, find(target.content))
    except RepairError as error:
        return ShellFile(target, dialect, _read(target, dialect, home, None).reading, obstacle=error.reason)


def _read(target: Target, dialect: Dialect, home: str, block: Block | None) -> ShellFile:
    reading = read_startup(target.content, dialect, {"HOME": home})
    return ShellFile(target, dialect, reading, block, target.obstacle)
