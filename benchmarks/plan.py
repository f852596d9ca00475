"""Plans from recorded machines, as `gpuassist plan` makes them once it has started: the first of a process, and those after it."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.timing import report

MOST_MILLISECONDS = 50.0
_CHILD = str(Path(__file__).with_name("plan_child.py"))
_ROUNDS = 5


def main() -> bool:
    """Fresh processes for the first plan, which reads the knowledge; the slowest of the others in each."""
    measured = [_measure() for _ in range(_ROUNDS)]
    first = min(one["first"] for one in measured) * 1000  # of processor time: what it takes when nobody else wants the machine
    slowest = min(one["slowest"] for one in measured) * 1000
    detail = f"median {statistics.median(one['first'] for one in measured) * 1000:.1f} ms of {_ROUNDS} processes"
    others = f"of {measured[0]['plans']} machines, goals and tools: {measured[0]['name']}"
    kept = (
        report("first plan of a process, in milliseconds", first, MOST_MILLISECONDS, detail),
        report("slowest plan after it, in milliseconds", slowest, MOST_MILLISECONDS, others),
    )
    return all(kept)


def _measure() -> dict[str, Any]:
    done = subprocess.run([sys.executable, _CHILD], capture_output=True, text=True, timeout=120, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
