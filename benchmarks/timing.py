"""Whole processes measured in turn, so that a busy machine slows all of them alike: medians of ratios, never of absolute times."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """What one process cost, its children included."""

    wall_seconds: float
    cpu_seconds: float


def once(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Run:
    """Runs a command to its end, its output thrown away."""
    began = time.perf_counter()
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=environment
    )
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    return Run(time.perf_counter() - began, usage.ru_utime + usage.ru_stime)


def in_turn(
    first: Sequence[str], second: Sequence[str], *, rounds: int, environment: Mapping[str, str] | None = None
) -> list[tuple[Run, Run]]:
    """Both commands, alternating, after one round that warms the caches."""
    once(first, environment)
    once(second, environment)
    return [(once(first, environment), once(second, environment)) for _ in range(rounds)]


def report(name: str, ratio: float, limit: float, detail: str = "") -> bool:
    """Prints one ratio beside its limit; true where it is kept."""
    kept = ratio <= limit
    print(
        f"{'kept  ' if kept else 'MISSED'}  {ratio:6.2f} of at most {limit:<5}  {name}{'  · ' + detail if detail else ''}",
        flush=True,
    )
    return kept


def median_wall(pairs: Sequence[tuple[Run, Run]]) -> float:
    """The median of the rounds' wall-time ratios, first to second."""
    return statistics.median(first.wall_seconds / second.wall_seconds for first, second in pairs)


def not_run(name: str, reason: str) -> None:
    """Says loudly that a benchmark was left out."""
    print(f"NOT RUN {name}: {reason}", flush=True)
