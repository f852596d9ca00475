"""How long it takes to read a start-up file of 2,000 lines, and to plan another toolkit in it with its diff, no shell started."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.timing import report

MOST_MILLISECONDS = 50.0
_CHILD = str(Path(__file__).with_name("shell_child.py"))


def main() -> bool:
    """One fresh process, which takes the shortest of several runs; `bash -n` of the file before and after is part of the plan."""
    done = subprocess.run([sys.executable, _CHILD], capture_output=True, text=True, timeout=300, check=True)
    measured = json.loads(done.stdout)
    detail = f"{measured['lines']} lines, {measured['seen']} that set a variable; reading alone {measured['reading']:.0f} ms"
    return report("start-up file read, planned for and compared, in milliseconds", measured["planning"], MOST_MILLISECONDS, detail)
