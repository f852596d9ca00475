"""Why torch could not even be imported: what was started is no Python, or a file on PYTHONPATH breaks it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.system.own_child import clean
from gpuassist.system.world import World

_SECONDS = 60.0
_FRAME = lazy_regex(r'^ {2,8}File "(?P<file>[^"\n]{1,4096})", line \d{1,7}', re.MULTILINE)
# The first line tells which torch it was, where one of PYTHONPATH was imported and is none.
_IMPORT = "import torch; print(torch.__file__, flush=True); torch.version.cuda"


class BrokenByPath(Struct, frozen=True):
    """The file that keeps torch from being imported, and the entry of PYTHONPATH that it lies under."""

    file: str
    entry: str


def is_python(world: World, interpreter: str, variables: Mapping[str, str]) -> bool:
    """Whether it does what a Python does, which any one can that starts at all."""
    command = (interpreter, "-E", "-S", "-c", "import sys; print(sys.version_info[0])")
    ran = world.processes.run(command, seconds=_SECONDS, environment=clean(variables))
    return ran.text.strip().isdigit() or b"Python" in ran.stderr


def broken_by_path(world: World, interpreter: str, variables: Mapping[str, str]) -> BrokenByPath | None:
    """The innermost file under an entry of PYTHONPATH at which the import breaks; None where it breaks without PYTHONPATH too."""
    entries = [os.path.normpath(one) for one in variables.get("PYTHONPATH", "").split(":") if one]
    if not entries:
        return None
    files = _files_at_fault(world, interpreter, variables)
    found = [BrokenByPath(file, entry) for file in files for entry in entries if file.startswith(f"{entry}/")]
    if not found:
        return None
    without = {name: value for name, value in variables.items() if name != "PYTHONPATH"}
    return found[-1] if not _files_at_fault(world, interpreter, without) else None


def _files_at_fault(world: World, interpreter: str, variables: Mapping[str, str]) -> list[str]:
    """The files through which it went when it broke, from the outside in; none where torch is imported well."""
    ran = world.processes.run((interpreter, "-c", _IMPORT), seconds=_SECONDS, environment=clean(variables))
    if ran.succeeded:
        return []
    files = [found["file"] for found in _FRAME.finditer(ran.stderr.decode("utf-8", "replace"))]
    return [os.path.normpath(one) for one in (*ran.text.splitlines()[:1], *files)] or [interpreter]
