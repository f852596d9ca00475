"""What a user waits for: the first painted window with its side list and page, and the first answer on screen.

Wall time on a busy machine says little, so each child's processor time stands beside it, and the spread.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.startup import display
from benchmarks.timing import report

LIMIT = 1.15
ANSWER_SECONDS = 1.3
ROUNDS = 9
_CHILD = str(Path(__file__).with_name("first_paint.py"))


class Start(NamedTuple):
    """From the start of the process on."""

    seconds: float
    cpu_seconds: float


def main() -> bool:
    """Both, on a display of its own where Xvfb is installed, else offscreen."""
    with display() as environment, tempfile.TemporaryDirectory() as home:
        environment = {**environment, "HOME": home, "XDG_RUNTIME_DIR": ""}
        for what in ("floor", "gpuassist", "answer"):
            _once(environment, what)
        pairs = [(_once(environment, "gpuassist"), _once(environment, "floor")) for _ in range(ROUNDS)]
        answers = [_once(environment, "answer") for _ in range(ROUNDS)]
    cpu = statistics.median(ours.cpu_seconds / floor.cpu_seconds for ours, floor in pairs)
    detail = f"processor time {cpu:.2f} · ours {_told([ours for ours, _ in pairs])} · empty {_told([floor for _, floor in pairs])}"
    kept = report("first painted window / empty window", statistics.median(a.seconds / b.seconds for a, b in pairs), LIMIT, detail)
    answer = statistics.median(one.seconds for one in answers)
    return report("seconds to the first answer on screen", answer, ANSWER_SECONDS, _told(answers)) and kept


def _told(starts: list[Start]) -> str:
    seconds = sorted(one.seconds for one in starts)
    cpu = statistics.median(one.cpu_seconds for one in starts)
    return f"{statistics.median(seconds):.3f} s ({seconds[0]:.3f} to {seconds[-1]:.3f}, {cpu:.3f} s of processor)"


def _once(environment: dict[str, str], what: str) -> Start:
    began = time.monotonic()
    with subprocess.Popen([sys.executable, _CHILD, what], env=environment, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        ended, cpu = map(float, child.stdout.read().split()[-2:])
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, _CHILD)
    return Start(ended - began, cpu)
