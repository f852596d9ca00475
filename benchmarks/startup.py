"""From process start to the first painted window, as a ratio to an empty PySide6 window; and still when NVML takes 2 s to start."""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import not_run, report

LIMIT = 1.35  # of a busy machine; `start` holds the limit of a quiet one
ROUNDS = 7
_CHILD = str(Path(__file__).with_name("first_paint.py"))


def main() -> bool:
    """Measures on a display of its own where Xvfb is installed, else offscreen."""
    with display() as environment, tempfile.TemporaryDirectory() as home:
        environment = {**environment, "HOME": home}
        kept = report("first painted window / empty window", _ratio(environment), LIMIT, environment["QT_QPA_PLATFORM"])
        slow = _slow_nvml(Path(home))
        if slow is None:
            not_run("first painted window while nvmlInit takes 2 s", "no C compiler for the fake NVML")
            return kept
        name = "the same while nvmlInit takes 2 s"
        return report(name, _ratio({**environment, **slow}), LIMIT) and kept


def _ratio(environment: dict[str, str]) -> float:
    _once(environment, "floor")
    _once(environment, "gpuassist")
    pairs = [(_once(environment, "gpuassist"), _once(environment, "floor")) for _ in range(ROUNDS)]
    return statistics.median(ours / floor for ours, floor in pairs)


def _once(environment: dict[str, str], *what: str) -> float:
    began = time.monotonic()
    done = subprocess.run([sys.executable, _CHILD, *what], env=environment, capture_output=True, text=True, timeout=60, check=True)
    return float(done.stdout.split()[-2]) - began


@contextlib.contextmanager
def display() -> Iterator[dict[str, str]]:
    """The environment of a display that is there as long as it is needed."""
    if shutil.which("Xvfb") is None:
        yield {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        return
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"],
        pass_fds=[writer],
        stderr=subprocess.DEVNULL,
    )
    try:
        display = os.read(reader, 16).decode().strip()
        yield {**os.environ, "DISPLAY": f":{display}", "QT_QPA_PLATFORM": "xcb"}
    finally:
        server.terminate()
        server.wait()


def _slow_nvml(directory: Path) -> dict[str, str] | None:
    if shutil.which("gcc") is None:
        return None
    from benchmarks.nvml import variables

    return variables(directory, "fault = nvmlInit* 0 delay=2000\n[gpu]\n")
