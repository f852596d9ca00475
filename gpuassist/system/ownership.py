"""Whose a file is and who else may write it: what another user may have put there is not run, read as ours, or written to.

Trusted are root, who may do everything anyway, and the user himself. What stands on the way to a file counts as well: whoever may
write in one of its directories puts another in its place.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from pathlib import PurePosixPath

from gpuassist.model.text import Text, text
from gpuassist.system.files import Files
from gpuassist.system.untrusted_state import UntrustedStateError
from gpuassist.system.world import World

_LINKS_AT_MOST = 40  # as the kernel's MAXSYMLINKS
_ROOT = 0
_BASH = (".bashrc", ".bash_profile", ".bash_login", ".profile")
_ZSH = (".zshenv", ".zprofile", ".zshrc", ".zlogin")


def strangers_home(world: World) -> Text | None:
    """Why nothing in HOME may be run or changed: it is another user's."""
    around = world.surroundings
    owner = _owner(world.files, around.home)
    if owner is None or owner == around.uid:
        return None
    return text(
        "HOME is {home}, which belongs to another user (uid {owner}; you are uid {uid}). This happens under sudo, and where HOME "
        "was set by hand. Please run gpuassist as the user whose shell it is about, without sudo.",
        home=around.home,
        owner=owner,
        uid=around.uid,
    )


def why_no_shell(world: World, shell: str, home: str = "") -> Text | None:
    """Why the user's shell is not started to see what his start-up files do: they, or the shell itself, are another user's.

    This is asked wherever a shell is started that reads start-up files.
    """
    around = world.surroundings
    # A user of a container that has no entry there has HOME=/, where nobody but root writes.
    stranger = strangers_home(world) if (around.home, _owner(world.files, "/")) != ("/", _ROOT) else None
    if stranger is not None or around.uid != _ROOT:
        return stranger
    for path in _startup_places(world, PurePosixPath(shell).name, home or around.home):
        owner = _owner(world.files, path)
        if owner not in {None, _ROOT}:
            return text(
                "{path} belongs to another user (uid {owner}), and start-up files of others are not run as root",
                path=path,
                owner=owner,
            )
    return why_not_run(world, (shell,))


def why_not_run(world: World, command: Sequence[str], directory: str = "/") -> Text | None:
    """Why a program that was found, and not named by the user, is not run as root: others could have put it there.

    A name without a directory is looked for as it would be run: in gpuassist's own PATH, from `directory`.
    """
    if world.surroundings.uid != _ROOT or not command:
        return None
    program = command[0]
    if "/" not in program:
        found = on_path(world, program)
        if found is None:
            return None  # it is not there, and whoever runs it says so
        if not found.startswith("/"):
            return text("{program} is not run as root: PATH finds it wherever the current directory is", program=program)
        program = found
    if os.path.dirname(program) == os.path.dirname(sys.executable):
        return None  # whoever could write there could have changed what runs here already
    who_else = _who_else(world, os.path.join(directory, program))
    return None if who_else is None else text("{program} is not run as root: {reason}", program=program, reason=who_else)


def why_untrusted(world: World, status: os.stat_result) -> Text | None:
    """Why a file or directory with this status may hold what another user put there."""
    uid = world.surroundings.uid
    return _why_owner(status, uid, {_ROOT, uid}) or _writers(world, status)


def why_state_untrusted(world: World, directory: str) -> Text | None:
    """Why what gpuassist keeps in `directory` may not be read or written: others could have put it there, and what to do.

    `directory` is an absolute path of the operating system below one of `surroundings`' own; what is not there yet is no harm.
    """
    # The XDG base that a directory of ours lies in, which others use too, and all below it.
    own = tuple(takewhile(lambda path: path.name != "gpuassist", (PurePosixPath(directory), *PurePosixPath(directory).parents)))
    ours = own[-1].parent if own else PurePosixPath(directory)
    for place, base in ((str(ours.parent), True), (str(ours), False), *((str(one), False) for one in reversed(own))):
        reason = _why_directory(world, place, base=base)
        if reason is not None:
            return text(
                "{directory} is not used: {reason}, so that what is in it may be another's. {mend}",
                directory=place,
                reason=reason,
                mend=_mend(world, place, directory),
            )
    return None


def require_own_state(world: World, directory: str) -> None:
    """Raises `UntrustedStateError` where `why_state_untrusted` has a reason."""
    reason = why_state_untrusted(world, directory)
    if reason is not None:
        raise UntrustedStateError(reason)


def own_cache(world: World) -> str:
    """Where files can be made along the way: the cache directory, and where others could reach into that the system's own."""
    directory = world.surroundings.cache()
    if why_state_untrusted(world, directory) is None:
        return directory
    import tempfile  # costs a start 3 ms

    return tempfile.gettempdir()


def open_to_others(world: World, path: str) -> Text | None:
    """A warning where everybody, or a group of users, may write a start-up file or the directory it lies in."""
    try:
        status = world.files.status(path)
    except OSError:
        return None
    writers = _writers(world, status)
    if writers is None:
        return None
    if stat.S_ISDIR(status.st_mode):
        harm = text("whoever does puts start-up files of his own there, which run with your rights in every new terminal")
    else:
        harm = text("whoever does runs commands with your rights in every new terminal")
    command = f"chmod go-w {shlex.quote(path)}"
    return text("{path}: {writers}; {harm}. `{command}` ends that.", path=path, writers=writers, harm=harm, command=command)


def _startup_places(world: World, kind: str, home: str) -> Iterator[str]:
    if kind == "fish":
        folder = world.surroundings.variables.get("XDG_CONFIG_HOME") or f"{home}/.config"
        yield from (folder, f"{folder}/fish", f"{folder}/fish/conf.d", f"{folder}/fish/config.fish")
        yield from world.files.glob(f"{folder}/fish/conf.d/*.fish")
    yield from (f"{home}/{name}" for name in ((*_BASH, *_ZSH) if kind != "fish" else ()))


def on_path(world: World, name: str) -> str | None:
    """What a PATH finds, as the kernel is given it: an empty or relative element counts from the current directory."""
    for element in world.surroundings.variables.get("PATH", os.defpath).split(":"):
        place = os.path.join(element, name)
        if not element.startswith("/"):
            return name
        if world.files.is_file(place) and world.files.may(place, os.X_OK):
            return place
    return None


def _who_else(world: World, program: str) -> Text | None:
    """Who but root could have put a program there; none where nobody could."""
    # Where root is another user seen from outside (a user namespace), the system's files belong to whoever has its root directory.
    uid, trusted = world.surroundings.uid, {_ROOT, _owner(world.files, "/")}
    holding = {world.files.real(str(PurePosixPath(program).parent)), str(PurePosixPath(world.files.real(program)).parent)}
    for place in _way_to(world.files, program):
        try:
            status = world.files.own_status(place)
        except OSError:
            continue
        reason = _why_owner(status, uid, trusted)
        if reason is None and not (_is_sticky(status) and place not in holding):
            reason = _writers(world, status)  # in /tmp nobody renames what is another's, and whose that is comes next
        if reason is not None:
            return text("{path}: {reason}", path=place, reason=reason)
    return None


def _way_to(files: Files, path: str) -> Iterator[str]:
    """Every directory, symlink and file that the kernel passes on its way to what lies at `path`."""
    todo = [part for part in path.split("/") if part]
    here, followed = "/", 0
    yield here
    while todo:
        part = todo.pop(0)
        if part in {".", ".."}:
            here = str(PurePosixPath(here).parent) if part == ".." else here
            continue
        place = f"{here.rstrip('/')}/{part}"
        yield place
        if files.is_link(place) and followed < _LINKS_AT_MOST:
            followed += 1
            target = files.readlink(place)
            here = "/" if target.startswith("/") else here
            todo[:0] = [part for part in target.split("/") if part]
        else:
            here = place


def _why_directory(world: World, place: str, *, base: bool) -> Text | None:
    try:
        link, status = os.lstat(place), os.stat(place)
    except OSError:
        return None
    if not stat.S_ISDIR(status.st_mode):
        return text("it is no directory")
    uid = world.surroundings.uid
    reason = _why_owner(link, uid, {_ROOT, uid}) or _why_owner(status, uid, {_ROOT, uid})
    return reason or (None if base and _is_sticky(status) else _writers(world, status))


def _mend(world: World, place: str, directory: str) -> Text:
    around = world.surroundings
    known = {around.settings(): "XDG_CONFIG_HOME", around.cache(): "XDG_CACHE_HOME"}
    variable = next((name for path, name in known.items() if directory.startswith(path)), "XDG_STATE_HOME")
    if {os.lstat(place).st_uid, os.stat(place).st_uid} <= {_ROOT, around.uid}:
        command = f"chmod go-w {shlex.quote(place)}"
        return text("Please look at what is in it; `{command}` then makes it yours alone.", command=command)
    return text("Please have it taken away or given to you, or set {variable} to a directory of your own.", variable=variable)


def _is_sticky(status: os.stat_result) -> bool:
    return stat.S_ISDIR(status.st_mode) and bool(status.st_mode & stat.S_ISVTX)


def _why_owner(status: os.stat_result, uid: int, trusted: Collection[int | None]) -> Text | None:
    if status.st_uid in trusted:
        return None
    return text("it belongs to another user (uid {owner}; you are uid {uid})", owner=status.st_uid, uid=uid)


def _writers(world: World, status: os.stat_result) -> Text | None:
    mode = f"{stat.S_IMODE(status.st_mode):04o}"
    if stat.S_ISLNK(status.st_mode):  # its mode says nothing
        return None
    if status.st_mode & stat.S_IWOTH:
        return text("everybody may write in it (mode {mode})", mode=mode)
    if status.st_mode & stat.S_IWGRP and not _is_ours_alone(world, status.st_gid):
        return text("the group {group} may write in it (mode {mode})", group=status.st_gid, mode=mode)
    return None


def _is_ours_alone(world: World, group: int) -> bool:
    """Whether nobody but this user and root is in a group, as with the group that most distributions give each user."""
    if group == _ROOT:
        return True
    around, users = world.surroundings, _rows(world.files, "/etc/passwd")
    us = {around.user, "root", *(row[0] for row in users if row[2:3] == [str(around.uid)])}
    row = next((row for row in _rows(world.files, "/etc/group") if row[2:3] == [str(group)]), None)
    if row is None:
        return _is_named_after_user(world, group)
    others = {name for name in ",".join(row[3:]).split(",") if name}
    return not (others | {row[0] for row in users if row[3:4] == [str(group)]}) - us


def _is_named_after_user(world: World, group: int) -> bool:
    """Whether a group that only a directory service knows is this user's own: of its members it tells those that it names alone."""
    if not world.files.live:
        return False
    import grp  # its answer may come over the network

    try:
        entry = grp.getgrgid(group)
    except (KeyError, OSError):
        return False
    return entry.gr_name == world.surroundings.user and not set(entry.gr_mem) - {entry.gr_name, "root"}


def _rows(files: Files, path: str) -> list[list[str]]:
    return [line.split(":") for line in files.text(path).splitlines()]


def _owner(files: Files, path: str) -> int | None:
    try:
        return files.status(path).st_uid
    except OSError:
        return None
