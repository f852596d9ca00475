"""The start-up files of a recorded machine: as much as its recording holds of them."""

from __future__ import annotations

from pathlib import PurePosixPath

from gpuassist.detect.startup.chain import ChainFile, Stage, dialect_of
from gpuassist.model.fact import Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.shell import StartupFile
from gpuassist.model.text import text
from gpuassist.shellfiles.dialect import Dialect, read_startup

_LOGIN = frozenset({".bash_profile", ".bash_login", ".profile", ".zshenv", ".zprofile", ".zlogin"})


def recorded_chain(machine: Machine) -> tuple[ChainFile, ...]:
    """Its files, those that a login reads first."""
    shell = PurePosixPath(value_or(machine.shell.login_shell, "")).name
    own = {"zsh": Dialect.ZSH, "fish": Dialect.FISH}.get(shell, Dialect.BASH)
    files = [_file(file, own) for file in value_or(machine.shell.startup_files, ()) if file.exists]
    return tuple(sorted(files, key=lambda file: file.stage is not Stage.LOGIN))


def _file(file: StartupFile, own: Dialect) -> ChainFile:
    path = PurePosixPath(file.path)
    stage = Stage.LOGIN if path.name in _LOGIN else Stage.TERMINAL
    dialect = dialect_of(file.path, own)
    if isinstance(file.content, Unknown):
        return ChainFile(file.path, dialect, stage, unreadable=text("the recording does not hold its text"))
    content = file.content.value.encode("utf-8", "surrogateescape")
    reading = read_startup(content, dialect, {"HOME": str(path.parent)})
    return ChainFile(file.path, dialect, stage, content=content, ours=True, reading=reading)
