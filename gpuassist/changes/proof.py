"""The proof of a repair: which nvcc a real new terminal finds now, and if it is not the wished one, what still wins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import PurePosixPath

from gpuassist.detect.compiler_driver import ask_version, locate
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version
from gpuassist.system.terminal import SECONDS, ask_terminal
from gpuassist.system.world import World


class Holds(str, Enum):
    """Whether a new terminal does what was planned."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Winner:
    """The nvcc that a new terminal finds: where, which file that is after symlinks and wrappers, and what it says of itself."""

    path: str
    real_path: str
    version: Fact[Version]


@dataclass(frozen=True, slots=True)
class Proof:
    """What a new terminal was asked, and what it answered; `winner` is none where it finds no nvcc."""

    terminal: Fact[Terminal]
    winner: Winner | None
    holds: Holds
    words: Text


def prove_toolkit(world: World, root: str, *, shell: str = "bash", seconds: float = SECONDS) -> Proof:
    """Opens a new terminal with the shell whose files were changed, and looks which nvcc wins there."""
    return judge_terminal(world, root, ask_terminal(with_shell(world, shell), seconds=seconds))


def judge_terminal(world: World, root: str, terminal: Fact[Terminal]) -> Proof:
    """Whether the toolkit wins in a new terminal that was asked already."""
    if isinstance(terminal, Unknown):
        return Proof(terminal, None, Holds.UNKNOWN, text("no new terminal could be asked: {reason}", reason=terminal.reason))
    winner = _winner(world, terminal.value)
    if winner is None:
        return Proof(terminal, None, Holds.NO, text("a new terminal finds no nvcc"))
    if winner.path != f"{root}/bin/nvcc" and winner.real_path != locate(world, f"{root}/bin/nvcc"):
        return Proof(terminal, winner, Holds.NO, text("the wished toolkit does not win: {winner}", winner=_sentence(winner)))
    for name in ("CUDA_HOME", "CUDA_PATH"):
        home = terminal.value.variable(name)
        # CMake and build scripts take the toolkit from CUDA_PATH where that is set; nobody needs it.
        if (home or name == "CUDA_HOME") and world.files.real(home) != world.files.real(root):
            words = text("a new terminal finds {path}, but {name} is {home}", path=winner.path, name=name, home=home or "''")
            return Proof(terminal, winner, Holds.NO, words)
    return Proof(terminal, winner, Holds.YES, _sentence(winner))


def with_bash(world: World) -> World:
    """The same world for a user whose login shell is bash."""
    return with_shell(world, "bash")


def with_shell(world: World, shell: str) -> World:
    """The same world for a user whose login shell is this one."""
    if PurePosixPath(world.surroundings.login_shell).name == shell:
        return world
    places = (f"/bin/{shell}", f"/usr/bin/{shell}", f"/usr/local/bin/{shell}")
    place = next((place for place in places if world.files.is_file(place)), places[0])
    return replace(world, surroundings=replace(world.surroundings, login_shell=place))


def _winner(world: World, terminal: Terminal) -> Winner | None:
    command = terminal.command("nvcc")
    if command is None:
        return None
    real = locate(world, command.path)
    return Winner(command.path, real, ask_version(world, real))


def _sentence(winner: Winner) -> Text:
    if isinstance(winner.version, Known):
        version = str(winner.version.value)
        return text("a new terminal finds {path} (nvcc {version})", path=winner.path, version=version)
    return text("a new terminal finds {path}, but it does not answer: {reason}", path=winner.path, reason=winner.version.reason)
