"""How long it takes to explain a normal paste, a megabyte of training log, and a megabyte of failures again and again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.timing import report

MOST_PASTE_MILLISECONDS = 100.0
MOST_LOG_MILLISECONDS = 300.0
MOST_MADE_UP_MILLISECONDS = 1000.0  # of a text that no program writes: every message of a hundred, thousands of times
_CHILD = str(Path(__file__).with_name("explain_child.py"))
_RUNS = 5
MOST_GAP_MILLISECONDS = 50.0
_GAPS = 4
_GAP_SECONDS = 5


def main() -> bool:
    """Fresh processes, for the first text that a program is asked about costs the most."""
    runs = [_measured() for _ in range(_RUNS)]
    first = min(run["first"] for run in runs)
    detail = f"the slowest of {runs[0]['texts']} later ones: {_least(runs, 'later'):.0f} ms"
    kept = (
        report("a normal paste, the first after the start, in milliseconds", first, MOST_PASTE_MILLISECONDS, detail),
        report("1 MB of training log with an error at its end, in milliseconds", _least(runs, "log"), MOST_LOG_MILLISECONDS),
        report("1 MB of failures again and again, in milliseconds", _least(runs, "errors"), MOST_LOG_MILLISECONDS),
        report("the same, each line of another worker, in milliseconds", _least(runs, "numbered"), MOST_MADE_UP_MILLISECONDS),
        report("1 MB of one report again and again, in milliseconds", _least(runs, "reports"), MOST_MADE_UP_MILLISECONDS),
    )
    # What else this machine does can only lengthen a gap: the shortest of the longest is ours.
    gap = min(_gap() for _ in range(_GAPS))
    return report("longest gap of the GUI thread while 1 MB is pasted, in milliseconds", gap, MOST_GAP_MILLISECONDS) and all(kept)


def _gap() -> float:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "benchmarks.explain_gap_child", str(_GAP_SECONDS)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    return float(done.stdout)


def _measured() -> dict[str, float]:
    done = subprocess.run([sys.executable, _CHILD], capture_output=True, text=True, timeout=300, check=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def _least(runs: list[dict[str, float]], name: str) -> float:
    return min(run[name] for run in runs)  # of processor time: what it takes when nobody else wants the machine
