"""The user's own terminal with a command typed into it and not executed: whoever presses Enter there runs it, and nobody else."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gpuassist.context import Session
from gpuassist.system.child import start_detached
from gpuassist.system.own_child import clean
from gpuassist.system.ownership import why_not_run
from gpuassist.system.terminal import find_command

# bash alone can put a line before the cursor that is edited and confirmed (`read -e -i`, "Bash Builtins" of its manual).
_TYPE = 'for line in "$@"; do IFS= read -r -e -p "\\$ " -i "$line" typed || exit; eval "$typed"; done; exec "${SHELL:-bash}"'
# How each takes a command with its arguments; the desktop's own come before those that only some install.
_EMULATORS = (
    ("x-terminal-emulator", "-e"),
    ("ptyxis", "--"),
    ("gnome-terminal", "--"),
    ("konsole", "-e"),
    ("xfce4-terminal", "-x"),
    ("mate-terminal", "-x"),
    ("alacritty", "-e"),
    ("kitty", "--"),
    ("foot", "--"),
    ("xterm", "-e"),
)


def typing_command(session: Session, lines: Sequence[str]) -> tuple[str, ...]:
    """What opens a terminal with these lines, one after the other; empty where there is no desktop, no emulator or no bash."""
    files, variables = session.world.files, session.world.surroundings.variables
    if not (variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY")) or not lines:
        return ()
    path = variables.get("PATH", os.defpath)
    bash = next((one.path for one in find_command(files, path, "bash")), "")
    for name, option in _EMULATORS if bash else ():
        found = next((one.path for one in find_command(files, path, name)), "")
        if found and why_not_run(session.world, (found,)) is None:
            return (found, option, bash, "-c", _TYPE, "bash", *lines)
    return ()


def type_into_terminal(session: Session, lines: Sequence[str]) -> bool:
    """Opens it, and says whether it could be started; it lives on when gpuassist ends."""
    command = typing_command(session, lines)
    return bool(command) and start_detached(command, clean(session.world.surroundings.variables))
