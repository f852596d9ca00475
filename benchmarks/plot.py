"""Eight noisy curves at 10 Hz: the live page's own plot beside pyqtgraph given the whole arrays, each in a process of its own.

Ours draws as the live page does: from the history's buckets, when they changed, and at most four times a second. Afterwards a
reading of one tenth of a second must stand in the picture at its full height.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.timing import not_run, report

HOUR_LIMIT = 0.03  # of pyqtgraph given whole arrays
DAY_LIMIT = 1.2  # of an hour
HOVER_LIMIT = 4.0  # ms
SECONDS = 8.0
_CHILD = str(Path(__file__).with_name("plot_child.py"))


def main() -> bool:
    """Measures CPU time a tick; a lost peak ends the child with an error."""
    hour, day, hover = _cpu("hour"), _cpu("day"), _cpu("hover")
    kept = [
        report("24 hours drawn / one hour", day / hour, DAY_LIMIT, f"{day:.2f} of {hour:.2f} ms a tick, no peak lost"),
        report("the crosshair moved in eight lanes, ms", hover, HOVER_LIMIT),
    ]
    if importlib.util.find_spec("pyqtgraph") is None:
        not_run("one hour at 10 Hz drawn / pyqtgraph given whole arrays", "needs pyqtgraph (make bench installs it)")
    else:
        naive = _cpu("naive")
        detail = f"{hour:.2f} of {naive:.2f} ms a tick, no peak lost"
        kept.append(report("one hour at 10 Hz drawn / pyqtgraph given whole arrays", hour / naive, HOUR_LIMIT, detail))
    return all(kept)


def _cpu(way: str) -> float:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYQTGRAPH_QT_LIB": "PySide6"}
    command = [sys.executable, _CHILD, way, str(SECONDS)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    return float(done.stdout)
