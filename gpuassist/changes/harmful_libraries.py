"""Which directories on LD_LIBRARY_PATH hurt: they make a program of this machine load an older library than the one it brings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuassist.changes.library_path import DirectoryView, look
from gpuassist.changes.shell_files import ShellFile
from gpuassist.model.fact import Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.system.world import World


def hurting(world: World, machine: Machine, directories: Iterable[str]) -> dict[str, Text]:
    """Of these directories the ones that make a program of this machine load an older library than its own, and which."""
    if isinstance(machine.environments, Unknown):
        return {}
    views = (look(world, machine.environments, directory) for directory in dict.fromkeys(directories))
    return {view.directory: _hurt(view) for view in views if view.hurts}


def _hurt(view: DirectoryView) -> Text:
    use = view.hurts[0]
    return text(
        "with {directory} there, {program} in {environment} loads {taken} in place of its own {own}",
        directory=view.directory,
        program=use.program,
        environment=use.environment,
        taken=use.library.taken,
        own=use.library.own,
    )


def on_library_path(files: Iterable[ShellFile]) -> Iterator[str]:
    """The directories that the lines of these files put on LD_LIBRARY_PATH."""
    assignments = (one for file in files for statement in file.reading.statements for one in statement.assignments)
    elements = (element for one in assignments if one.variable == "LD_LIBRARY_PATH" for element in one.elements)
    return (element.directory.rstrip("/") for element in elements if element.directory.startswith("/"))
