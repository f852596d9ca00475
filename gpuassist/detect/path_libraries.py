"""The cuDNN that a new terminal's LD_LIBRARY_PATH leads to, which programs may load in place of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from gpuassist.model.driver import Library
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Terminal
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from gpuassist.system.world import World

_STEM = "libcudnn.so."
_MOST = 40  # directories: a module system can put hundreds there


def probe(world: World, terminal: Fact[Terminal]) -> Fact[tuple[Library, ...]]:
    """One for each major version of each directory, in the order in which they are searched."""
    if isinstance(terminal, Unknown):
        return terminal
    elements = dict.fromkeys(part.rstrip("/") for part in terminal.value.variable("LD_LIBRARY_PATH").split(":") if part[:1] == "/")
    found = tuple(one for directory in list(elements)[:_MOST] for one in _libraries(world.files, directory))
    return Known(found, "LD_LIBRARY_PATH")


def _libraries(files: Files, directory: str) -> Iterator[Library]:
    """By the name that programs ask for, `libcudnn.so.9`, and the full version in the name of the file behind it."""
    for name in files.names(directory):
        if name.startswith(_STEM) and name.removeprefix(_STEM).isdecimal():
            path = f"{directory}/{name}"
            real = files.real(path)
            words = PurePosixPath(real).name.removeprefix(_STEM)
            if not PurePosixPath(real).name.startswith(_STEM) or not words[:1].isdecimal() or "." not in words:
                version: Fact[Version] = Unknown(text("the name of {path} holds no full version", path=real))
            else:
                version = Known(Version.parse(words), real)
            yield Library(path, version)
