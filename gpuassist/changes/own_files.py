"""Which files a record of the journal may name: those of this user's own configuration, whoever wrote the record.

Undo puts other bytes into the file that a record names. So it has to be one that gpuassist changes: in the user's home or one of
his configuration directories, one of the files of an environment or a project that a choice is written in, one that says what a
project needs, or one that says itself, in the marks that the change left in it, that it was changed.
"""

from __future__ import annotations

import os
from pathlib import PurePosixPath

from gpuassist.formats.project.names import MARKS, is_source, names_needs
from gpuassist.model.plan import Receipt
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.edit import mentions
from gpuassist.system.world import World

_CONFIGURATION = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")
_PROJECT = frozenset({".envrc", ".env", "kernel.json"})
_DEEPEST = 8  # as deep as a project is looked through
_CONDA = frozenset({"etc/conda/activate.d", "etc/conda/deactivate.d"})


def why_strange(world: World, receipt: Receipt) -> Text | None:
    """Why this is no record of a change that gpuassist made for this user."""
    if not _is_whole(receipt.target) or not _is_whole(receipt.path):
        return text("it names no file")
    if any(not _is_whole(path) or not receipt.target.startswith(f"{path}/") for path in receipt.made_directories):
        return text("it names directories that do not lead to its file")
    # Where a part of its path has become a symlink since, what that leads to counts as well.
    for path in dict.fromkeys((receipt.target, world.files.real(receipt.target))):
        # A symlink of the user's configuration may still lead to it, as those of a checkout of dotfiles do.
        led_to = _is_configuration(world, receipt.path) and world.files.real(receipt.path) == world.files.real(path)
        known = _is_configuration(world, path) or _is_of_scope(world, path) or led_to
        known = known or (receipt.dialect == "text" and _is_of_project(world, PurePosixPath(path)))
        if not (known or _says_so(world, path, receipt)):
            return text("it names {path}, which is no file of your configuration", path=path)
    return None


def _is_whole(path: str) -> bool:
    return path.startswith("/") and "\0" not in path and os.path.normpath(path) == path


def _is_configuration(world: World, path: str) -> bool:
    around = world.surroundings
    named = (around.home, *(around.variables.get(name, "") for name in _CONFIGURATION))
    places = (one for place in named if place.startswith("/") for one in (place, world.files.real(place)))
    return any(path.startswith(f"{place.rstrip('/')}/") for place in places)


def _is_of_scope(world: World, path: str) -> bool:
    """Whether it has the name and place of a file that a scope writes: see `scopes`."""
    place = PurePosixPath(path)
    if place.name in _PROJECT:
        return True
    prefix = place.parent.parent
    if place.name.startswith("activate") and place.parent.name == "bin":
        return world.files.exists(f"{prefix}/pyvenv.cfg") or world.files.exists(f"{prefix}/bin/python")
    prefix = place.parent.parent.parent.parent
    hook = place.name.startswith("gpuassist") and str(place.parent.relative_to(prefix)) in _CONDA
    return hook and world.files.is_directory(f"{prefix}/conda-meta")


def _is_of_project(world: World, place: PurePosixPath) -> bool:
    """Whether `plan --project` may have written it: a file that says what a project needs, or a module or script inside of one."""
    if names_needs(place.name):
        return True
    parents = [str(parent) for parent in place.parents][:_DEEPEST]
    return is_source(place.name) and any(world.files.exists(f"{parent.rstrip('/')}/{mark}") for parent in parents for mark in MARKS)


def _says_so(world: World, path: str, receipt: Receipt) -> bool:
    """Whether the change's marks are in the file, or it is as before the change or not there, so that nothing is written to it."""
    try:
        content = world.disk.read(world.files.place(path))
    except FileNotFoundError:
        return True  # as of an environment that was removed; where something comes there, it is looked at anew
    except OSError:
        return False
    import hashlib  # which loads OpenSSL, 2 ms of a start that lists no change

    if receipt.existed and hashlib.sha256(content).hexdigest() == receipt.hash_before != receipt.hash_after:
        return True
    try:
        return mentions(content, receipt.change)
    except RepairError:  # its markers do not pair up, and undo says so
        return receipt.change.encode() in content
