"""Real shells, each asked once: what it said of a home, it says again as long as that home is the same."""

from __future__ import annotations

import marshal
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gpuassist.system.ask_shell import child_command
from gpuassist.system.processes import ProcessResult
from gpuassist.system.streams import MARK
from gpuassist.system.world import RealProcesses

_OURS = ".local/state/gpuassist"  # no start-up file reads it
_FOUND = frozenset({"nvcc"})  # nor runs these: which of them a shell finds is a matter of their modes alone

_said: dict[tuple[object, ...], ProcessResult] = {}


class RememberedShells(RealProcesses):
    """The machine's programs; a shell is started anew where its request or any file of `home` differs from all before.

    Only tests whose homes have one path find anything again. An answer that took the whole time, that left a process behind or
    changed the home is asked for each time.
    """

    def __init__(self, home: Path) -> None:
        self._home = home

    def run(
        self,
        command: Sequence[str],
        *,
        seconds: float,
        environment: Mapping[str, str],
        directory: str = "/",
        stdin: bytes = b"",
        cancelled: Callable[[], bool] | None = None,
    ) -> ProcessResult:
        def really() -> ProcessResult:
            return RealProcesses.run(
                self, command, seconds=seconds, environment=environment, directory=directory, stdin=stdin, cancelled=cancelled
            )

        if tuple(command) != child_command():
            return really()
        request = marshal.loads(stdin)
        own = {request["scratch"]: "SCRATCH", request["environment"][MARK]: "MARK"}
        del request["seconds"]  # what is left of them
        asked = repr(_with(request, own))
        before = tuple(_tree(self._home))
        known = _said.get((asked, before))
        if known is not None:
            theirs = {name: word for word, name in own.items()}
            return replace(known, stdout=marshal.dumps(_with(marshal.loads(known.stdout), theirs)))
        result = really()
        if result.succeeded:
            came = marshal.loads(result.stdout)
            if came["answer"] and not came["left"] and tuple(_tree(self._home)) == before:
                _said[asked, before] = replace(result, stdout=marshal.dumps(_with(came, own)))
        return result


def _with(value: Any, words: Mapping[str, str]) -> Any:
    """A value as it is with some words in the place of others, wherever they stand in it."""
    if isinstance(value, str):
        for old, new in words.items():
            value = value.replace(old, new)
        return value
    if isinstance(value, dict):
        return {_with(name, words): _with(one, words) for name, one in sorted(value.items())}
    return [_with(one, words) for one in value] if isinstance(value, (list, tuple)) else value


def _tree(home: Path) -> Iterator[tuple[object, ...]]:
    for place, directories, names in os.walk(home):
        inside = Path(place)
        if inside == home / _OURS:
            directories.clear()
            continue
        for name in sorted((*directories, *names)):
            path = inside / name
            try:
                is_link = path.is_symlink()
                is_read = name not in _FOUND and path.is_file()
                content = os.readlink(path) if is_link else path.read_bytes() if is_read else b""
                yield str(path), path.lstat().st_mode, content
            except FileNotFoundError:
                pass  # a scratch place of another thread's, which has gone
