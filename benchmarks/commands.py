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
        names = ("08-healthy.json", "04-driver-too-old.json", "01-new-rtx-5090-nouveau.json")
        healthy, too_old, new = (str(_MACHINES / name) for name in names)
        commands = {
            "--version": (1.2, [*program, "--version"]),
            "undo --list": (2.2, [*program, "undo", "--list"]),
            "plan torch --machine, nothing to do": (3.5, [*program, "plan", "torch", "--machine", healthy]),
            "plan torch --machine, another driver": (3.5, [*program, "plan", "torch", "--machine", too_old]),
            "doctor --machine, with the plan's code": (3.5, [sys.executable, "-c", _WITH_PLAN, "doctor", "--machine", healthy]),
            "doctor --machine, one problem": (3.5, [*program, "doctor", "--machine", too_old]),
            "plan driver --machine, no driver": (3.5, [*program, "plan", "driver", "--machine", new]),
            "doctor --machine, no driver": (3.5, [*program, "doctor", "--machine", new]),
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
    # What doctor says of an install is the plan for it: it costs little more than that plan.
    for doctor, plan in (
        ("doctor --machine, one problem", "plan torch --machine, another driver"),
        ("doctor --machine, no driver", "plan driver --machine, no driver"),
    ):
        kept.append(report(f"{doctor}, beside {plan}", least[doctor] / least[plan], 1.15, f"{least[plan] * 1000:.0f} ms"))
    return all(kept)
