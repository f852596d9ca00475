"""Processor time of short commands from start to end, beside what every such program imports."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import once, report

ROUNDS = 15
_MACHINES = Path(__file__).resolve().parent.parent / "resources" / "machines"
_FLOOR = [sys.executable, "-c", "import dataclasses, argparse, json"]
_LINE = "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
_WITH_PLAN = "import sys; import gpuassist.session.plan; from gpuassist.__main__ import main; main()"


def main() -> bool:
    """Measures the floor and all of them in turn; the least of each counts, which is the one that was disturbed least."""
    program = [sys.executable, "-m", "gpuassist"]
    with tempfile.TemporaryDirectory() as home:
        line = Path(home, "line.txt")
        line.write_text(_LINE, "utf-8")
        healthy, too_old = (str(_MACHINES / name) for name in ("08-healthy.json", "04-driver-too-old.json"))
        commands = {
            "--version": (1.2, [*program, "--version"]),
            "undo --list": (2.2, [*program, "undo", "--list"]),
            "plan torch --machine, nothing to do": (3.5, [*program, "plan", "torch", "--machine", healthy]),
            "plan torch --machine, another driver": (3.5, [*program, "plan", "torch", "--machine", too_old]),
            "doctor --machine, with the plan's code": (3.5, [sys.executable, "-c", _WITH_PLAN, "doctor", "--machine", healthy]),
            "doctor --machine, one problem": (3.5, [*program, "doctor", "--machine", too_old]),
            "explain --machine none, one line": (3.5, [*program, "explain", "--machine", "none", str(line)]),
        }
        environment = {**os.environ, "HOME": home}
        least: dict[str, float] = {}
        for _ in range(ROUNDS):
            for name, command in {"floor": _FLOOR, **{name: command for name, (_, command) in commands.items()}}.items():
                seconds = once(command, environment).cpu_seconds
                least[name] = min(seconds, least.get(name, seconds))
    detail = f"floor {least['floor'] * 1000:.0f} ms"
    kept = [report(name, least[name] / least["floor"], limit, detail) for name, (limit, _) in commands.items()]
    return all(kept)
