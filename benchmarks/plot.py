"""One hour at 10 Hz, eight curves: the live page's own plot beside pyqtgraph given the whole arrays, each in a process of its own.

Both get noisy readings ten times a second. Ours draws as the live page does: from the history's buckets, when they changed, and at
most four times a second. Afterwards a reading of one tenth of a second must stand in the picture at its full height.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.timing import report

LIMIT = 0.15
SECONDS = 8.0
_CHILD = str(Path(__file__).with_name("plot_child.py"))


def main() -> bool:
    """Measures CPU time a tick; a lost peak ends the child with an error."""
    naive, ours = _cpu("naive"), _cpu("ours")
    detail = f"{ours:.2f} of {naive:.2f} ms a tick, no peak lost"
    return report("one hour at 10 Hz drawn / pyqtgraph given whole arrays", ours / naive, LIMIT, detail)


def _cpu(way: str) -> float:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYQTGRAPH_QT_LIB": "PySide6"}
    command = [sys.executable, _CHILD, way, str(SECONDS)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    return float(done.stdout)
