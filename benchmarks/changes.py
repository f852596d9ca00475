"""`gpuassist changes` on a machine with 50 MB of package logs, from the start of the process to its end.

The made-up machine stands under a root of its own; its logs reach back over all that is asked for, so that all of them are read.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from benchmarks.made_logs import DAYS, MEGABYTES, write_logs
from benchmarks.timing import once, report

LIMIT_SECONDS = 0.5
ROUNDS = 7
_CHILD = [sys.executable, "-m", "benchmarks.changes_child"]


def main() -> bool:
    """Wall time; beside it what the process costs where there is no log."""
    with tempfile.TemporaryDirectory() as place:
        root, bare = Path(place, "machine"), Path(place, "bare")
        for one in (root, bare):
            one.mkdir(mode=0o700)
            Path(one, "home").mkdir(mode=0o700)
        written = write_logs(root)
        environment = {**os.environ, "HOME": str(root / "home"), "PATH": "/usr/bin:/bin", "SHELL": "/bin/bash", "TZ": "UTC"}
        since = ["--since", f"{DAYS} days ago"]
        for one in (root, bare):
            once([*_CHILD, str(one), *since], environment)
        asked = {"all": (root, since), "month": (root, []), "none": (bare, since)}
        least = dict.fromkeys(asked, float("inf"))
        for _ in range(ROUNDS):  # in turn; the least counts, which is the one that was disturbed least
            for name, (one, options) in asked.items():
                least[name] = min(least[name], once([*_CHILD, str(one), *options], environment).wall_seconds)
    detail = f"{written >> 20} MB of logs; {least['none']:.2f} s without any"
    kept = report(f"changes on {MEGABYTES} MB of logs, all of it asked for, in seconds", least["all"], LIMIT_SECONDS, detail)
    return report("the same, of the last 30 days, in seconds", least["month"], LIMIT_SECONDS, detail) and kept
