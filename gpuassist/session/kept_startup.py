"""The start-up files as they stand: the user's own, those that they read in by name, and the system's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from gpuassist.model.fact import value_or
from gpuassist.model.machine import Machine
from gpuassist.model.past import KeptStartupFile, StartupLine
from gpuassist.system.world import World

_FILES_AT_MOST = 40
_LARGEST = 1 << 20
_READ_FOR_LINES = 64 << 10  # what is larger is a program's, such as nvm's, and only its digest tells
_SYSTEM = ("/etc/environment", "/etc/profile", "/etc/bash.bashrc", "/etc/bashrc", "/etc/zsh/zshrc", "/etc/zsh/zshenv")
_SYSTEM_FOLDERS = ("/etc/profile.d/*.sh",)
_SESSION = "environment.d/*.conf"  # what systemd gives a user's session (environment.d(5))


def startup_files(
    world: World, machine: Machine, known: Mapping[str, tuple[StartupLine, ...]] | None = None
) -> tuple[KeptStartupFile, ...]:
    """Those of this machine; `known` are the lines of files that were read before, by their digests."""
    found: dict[str, KeptStartupFile] = {}
    own = [one.path for one in value_or(machine.shell.startup_files, ()) if one.exists]
    own += world.files.glob(f"{world.surroundings.configuration()}/{_SESSION}")
    for path in own[:_FILES_AT_MOST]:
        found[path] = _as_it_stands(world, path, known or {})
    read_in = [path for one in found.values() for path in _read_in(world, one.lines)]
    system = (*_SYSTEM, *(path for folder in _SYSTEM_FOLDERS for path in world.files.glob(folder)))
    for path in (*read_in, *system):
        if len(found) < _FILES_AT_MOST and path not in found and world.files.is_file(path):
            found[path] = _as_it_stands(world, path, known or {})
    return tuple(found.values())


def _as_it_stands(world: World, path: str, known: Mapping[str, tuple[StartupLine, ...]]) -> KeptStartupFile:
    try:  # a pipe would be waited for
        content = world.files.read_bytes(path, _LARGEST + 1) if world.files.is_file(path) else None
    except OSError:
        content = None
    if content is None or len(content) > _LARGEST:
        return KeptStartupFile(path, "", ())
    digest = hashlib.sha256(content).hexdigest()
    lines = known.get(digest)
    if lines is None and len(content) <= _READ_FOR_LINES:
        from gpuassist.shellfiles.kept_lines import kept_lines  # most looks find the files as they were

        lines = kept_lines(content)
    return KeptStartupFile(path, digest, lines or ())


def _read_in(world: World, lines: tuple[StartupLine, ...]) -> Iterator[str]:
    """The files that these lines read in, where the name says which they are."""
    home = world.surroundings.home
    for line in lines:
        if not line.text.startswith("source "):
            continue
        path = line.text.removeprefix("source ").partition("; ")[0]
        for sign in ("~", "$HOME", "${HOME}"):
            if path.startswith(f"{sign}/"):
                path = home + path[len(sign) :]
        if path.startswith("/") and "$" not in path:
            yield path
