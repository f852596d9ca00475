"""What keeping a machine costs doctor: in a fresh process, its code and a user's start-up files included, for the first time and
when nothing changed; of the largest recorded machines, and of one with sixty environments.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.timing import once, report

LIMIT = 0.2  # of the floor, which takes 25 ms where nothing else runs: 5 ms
ROUNDS = 15
_LARGEST = 3  # of the recorded machines
_FLOOR = [sys.executable, "-c", "import dataclasses, argparse, json"]
_TOP = Path(__file__).resolve().parent.parent
_ENVIRONMENTS = 60
_BASHRC = "# a remark of the distribution's own\n" * 80 + "alias ll='ls -l'\nexport PATH=/usr/local/cuda/bin:$PATH\n" * 10


def main() -> bool:
    """The least of each machine counts, which is the one that was disturbed least; of these the slowest."""
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder, f"{_ENVIRONMENTS} environments.json")
        large.write_text(json.dumps(_with_environments(_recorded()[0])), "utf-8")
        machines = (*_recorded(), large)
        rounds = [(once(_FLOOR).cpu_seconds * 1000, [list(_once(path)) for path in machines]) for _ in range(ROUNDS)]
    floor = min(milliseconds for milliseconds, _ in rounds)
    kept = []
    for what, place in (("for the first time", 1), ("once more", 2)):
        costs = [min(times[number][0] + times[number][place] for _, times in rounds) for number in range(len(machines))]
        slowest = max(range(len(machines)), key=lambda number: costs[number])
        detail = f"{_named(machines[slowest])}: {costs[slowest]:.1f} ms beside a floor of {floor:.0f} ms"
        kept.append(report(f"keeping the slowest of {len(machines)} machines {what}", costs[slowest] / floor, LIMIT, detail))
    return all(kept)


def _named(path: Path) -> str:
    return path.parent.name if path.name == "facts.json" else path.stem


def _recorded() -> list[Path]:
    every = (*_TOP.glob("tests/cases/machines/*/facts.json"), *_TOP.glob("resources/machines/*.json"))
    with_gpus = (path for path in every if (json.loads(path.read_text("utf-8")).get("gpus") or {}).get("value"))
    return sorted(with_gpus, key=lambda path: path.stat().st_size, reverse=True)[:_LARGEST]


def _once(path: Path) -> Iterator[float]:
    with tempfile.TemporaryDirectory() as home:
        for name in (".bashrc", ".profile"):
            Path(home, name).write_text(_BASHRC, "utf-8")
        command = [sys.executable, "-m", "benchmarks.keep_child", str(path), home]
        told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=_TOP).stdout
        yield from map(float, told.split())


def _with_environments(path: Path) -> dict[str, Any]:
    """The largest recorded machine, with many environments, each with the packages of a usual one for training."""
    machine: dict[str, Any] = json.loads(path.read_text("utf-8"))

    def known(value: object) -> dict[str, object]:
        return {"value": value, "source": "made up"}

    packages = [{"name": f"nvidia-library-{number}-cu12", "version": f"12.{number}.105", "build": ""} for number in range(30)]
    torch = [
        {"path": "/home/you/p/lib/python3.12/site-packages/torch", "version": known("2.7.1+cu126"), "accelerator": known("cuda")}
    ]
    machine["environments"] = known(
        [
            {"prefix": f"/home/you/project-{number}/.venv", "name": f"project-{number}", "manager": known("venv"),
             "interpreter": known(f"/home/you/project-{number}/.venv/bin/python"), "python_version": known("3.12.3"),
             "torch": known(torch), "packages": known(packages)}
            for number in range(_ENVIRONMENTS)
        ]
    )  # fmt: skip
    return machine
