"""Why torch could not be imported: the interpreter is none, or a file on PYTHONPATH breaks it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gpuassist.session.broken_start import broken_by_path, is_python
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.rows import for_each

WORLD = World(Surroundings.current())


@for_each("program, python", [("/bin/ls", False), ("/bin/echo", False), ("/bin/sh", False), ("", True)])
def test_a_python_is_told_from_other_programs(program: str, python: bool) -> None:
    assert is_python(WORLD, program or sys.executable, dict(os.environ)) is python


@for_each(
    "broken, torch, at_fault",
    [
        ("numbers_of_mine = (", "version = None\nimport helper", "helper.py"),
        ("raise ImportError('half-written')", "version = None\nimport helper", "helper.py"),
        ("", "version = None\nimport helper", ""),
        ("", "raise ImportError('not there either')", ""),
    ],
)
def test_the_file_that_breaks_the_import_is_named(broken: str, torch: str, at_fault: str, tmp_path: Path) -> None:
    # The site of an environment in which torch stands, put there by the interpreter itself.
    sound, mine = tmp_path / "site", tmp_path / "mine"
    for directory in (sound, mine):
        directory.mkdir(exist_ok=True)
    (sound / "torch.py").write_text(torch.replace("version = None", "class version:\n    cuda = None\n"))
    (sound / "helper.py").write_text("")
    (mine / "helper.py").write_text(broken)
    interpreter = tmp_path / "python"
    interpreter.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{sound}" exec {sys.executable} -S "$@"\n')
    interpreter.chmod(0o755)
    found = broken_by_path(WORLD, str(interpreter), {**os.environ, "PYTHONPATH": str(mine)})
    assert (found.file if found is not None else "") == (str(mine / at_fault) if at_fault else "")
