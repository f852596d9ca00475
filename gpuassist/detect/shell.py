"""The user's shell: its start-up files, what a new terminal holds, and what gpuassist itself was started with."""

from __future__ import annotations

from pathlib import PurePosixPath

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Shell, StartupFile, Terminal
from gpuassist.model.text import Text, text
from gpuassist.system.ownership import why_no_shell
from gpuassist.system.terminal import ask_terminal, own_terminal, usable_shell
from gpuassist.system.world import World

SECONDS = 12.0  # beyond the time limit of the shell itself

# In the order in which each shell reads them; of bash's last three it reads the first that is there.
_BASH = (".bashrc", ".bash_profile", ".bash_login", ".profile")
_ZSH = (".zshenv", ".zprofile", ".zshrc", ".zlogin")


def probe(world: World) -> Shell:
    return around(world, ask_terminal(world))


def around(world: World, terminal: Fact[Terminal]) -> Shell:
    """The shell's facts where what a new terminal holds was asked already."""
    if isinstance(terminal, Unknown):
        directories_missing: Fact[tuple[str, ...]] = Unknown(text("the variables of a new terminal are not known"))
    else:
        named = [
            element
            for name in ("PATH", "LD_LIBRARY_PATH")
            for element in terminal.value.variable(name).split(":")
            if element.startswith("/")
        ]
        missing = tuple(element for element in dict.fromkeys(named) if not world.files.is_directory(element))
        directories_missing = Known(missing, terminal.source)
    return Shell(
        login_shell=Known(world.surroundings.login_shell, "SHELL, else the user database"),
        startup_files=Known(startup_files(world), "the home directory"),
        new_terminal=terminal,
        own=own_terminal(world),
        directories_missing=directories_missing,
    )


def left_out(world: World) -> Text | None:
    """What every answer on this machine goes without because it is not this user's own shell; none where nothing is left out."""
    refused = why_no_shell(world, usable_shell(world))
    return None if refused is None else text("What a new terminal finds was left out: {reason}", reason=refused)


def startup_files(world: World) -> tuple[StartupFile, ...]:
    """The files of the user's own that the login shell may read."""
    home = world.surroundings.home
    kind = PurePosixPath(usable_shell(world)).name
    if kind == "zsh":
        folder = world.surroundings.variables.get("ZDOTDIR") or home
        startup_paths: tuple[str, ...] = tuple(f"{folder}/{name}" for name in _ZSH)
    elif kind == "fish":
        folder = world.surroundings.configuration()
        startup_paths = (*world.files.glob(f"{folder}/fish/conf.d/*.fish"), f"{folder}/fish/config.fish")
    else:
        startup_paths = tuple(f"{home}/{name}" for name in _BASH) if kind == "bash" else ()
    return tuple(StartupFile(path, world.files.exists(path)) for path in startup_paths)
