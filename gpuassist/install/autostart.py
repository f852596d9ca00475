"""The entry that opens gpuassist after the restart (XDG autostart): made where the user asks for it, gone when nothing waits."""

from __future__ import annotations

import os
import sys

from gpuassist.context import Session
from gpuassist.system.ownership import require_own_state
from gpuassist.system.world import World

NAME = "gpuassist-resume.desktop"
_OURS = b"X-Gpuassist-Resume=true"
_ESCAPED = str.maketrans({"\\": "\\\\\\\\", '"': '\\\\"', "`": "\\\\`", "$": "\\\\$", "%": "%%"})


def autostart_path(world: World) -> str:
    return f"{os.path.dirname(world.surroundings.settings())}/autostart/{NAME}"


def add_autostart(session: Session, command: tuple[str, ...] = ()) -> str:
    """Makes the entry and says where; raises `OSError` where it cannot be written, and `UntrustedStateError`."""
    require_own_state(session.world, session.world.surroundings.settings())
    disk, path = session.world.disk, autostart_path(session.world)
    fresh = f"{path}.new"
    disk.make_directory(os.path.dirname(path))
    disk.remove(fresh)
    disk.create(fresh)
    disk.write(fresh, _entry(command or own_command(session.world)))
    disk.replace(fresh, path)
    return path


def remove_autostart(session: Session) -> None:
    """Takes the entry away; one of that name that is not ours stays."""
    disk, path = session.world.disk, autostart_path(session.world)
    try:
        if disk.exists(path) and _OURS in disk.read(path):
            disk.remove(path)
    except OSError:
        pass  # it opens a window once more, which then says that nothing waits


def own_command(world: World) -> tuple[str, ...]:
    """How this very program is started again."""
    image = world.surroundings.variables.get("APPIMAGE", "")  # what it runs from is unmounted when it ends
    if image:
        return (image,)
    if getattr(sys, "frozen", False):
        return (sys.executable,)
    archive = os.path.dirname(getattr(sys.modules["__main__"], "__file__", None) or "")  # of gpuassist.pyz a file and no directory
    return (sys.executable, archive) if os.path.isfile(archive) else (sys.executable, "-m", "gpuassist")


def _entry(command: tuple[str, ...]) -> bytes:
    # Desktop Entry Specification, "The Exec key": quoted words, in which \ " ` $ are escaped, and that as a string once more.
    words = " ".join(f'"{word.translate(_ESCAPED)}"' for word in command)
    lines = (
        "[Desktop Entry]",
        "Type=Application",
        "Name=gpuassist",
        "Comment=Goes on with an install after the restart",
        f"Exec={words}",
        "Terminal=false",
        _OURS.decode(),
        "",
    )
    return "\n".join(lines).encode("utf-8", "surrogateescape")
