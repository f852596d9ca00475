"""The longest time for which the window's thread is busy at once, page by page: while the page is opened, while it works (1 MB is
pasted, a step of an install prints 100,000 lines, every NVML call takes 4 s, the machine is read again, …), and when the window
starts on it.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.timing import not_run, report
from gpuassist.model.words import ENGLISH
from gpuassist.session.navigation import TITLES, Place, WizardStep

MOST_MILLISECONDS = 20.0
ROUNDS = 3
TORCH = Path(".venv-torch/bin/python")
_SLOW_NVML = "fault = * 0 delay=4000\n[gpu]\n"


def main(names: tuple[str, ...] = ()) -> bool:
    """Every page, or those with these names; the median of the rounds counts, of processor time of that thread."""
    kept = True
    with tempfile.TemporaryDirectory() as home:
        slow = _slow(Path(home))
        for place in TITLES:
            if names and place.value not in names:
                continue
            if place is WizardStep.LIVE and slow is None:
                not_run("the live page's gaps", "needs gcc for the scripted NVML")
                continue
            if place is WizardStep.VERIFY and not TORCH.exists():
                not_run("the verify page's gaps", f"needs torch in {TORCH.parts[0]}, which `make test` installs")
                continue
            kept = _page(place, home, (slow or {}) if place is WizardStep.LIVE else {}) and kept
    return kept


def _page(place: Place, home: str, more: Mapping[str, str]) -> bool:
    environment = {**os.environ, "HOME": home, "QT_QPA_PLATFORM": "offscreen", "XDG_RUNTIME_DIR": "", **more}
    visits = [_visit(place, environment) for _ in range(ROUNDS)]
    starts = [_visit(place, environment, "start") for _ in range(ROUNDS)]
    figures = (("opened", visits, "opening"), ("at work", visits, "work"), ("started on", starts, "start"))
    kept = [_told(place, what, [one[key] for one in of], min(one[f"{key} clock"] for one in of)) for what, of, key in figures]
    return all(kept)


def _told(place: Place, what: str, gaps: list[float], clock: float) -> bool:
    name = f"{ENGLISH(TITLES[place])}, {what}: ms of the GUI thread at once"
    return report(name, statistics.median(gaps), MOST_MILLISECONDS, f"{min(gaps):.1f} to {max(gaps):.1f}; by the clock {clock:.0f}")


def _visit(place: Place, environment: Mapping[str, str], *way: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.gaps_child", place.value, *way]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=240, check=True)
    told: dict[str, float] = json.loads(done.stdout)
    return told


def _slow(home: Path) -> dict[str, str] | None:
    if shutil.which("gcc") is None:
        return None
    from benchmarks.nvml import variables

    return variables(home, _SLOW_NVML)


if __name__ == "__main__":
    sys.exit(0 if main(tuple(sys.argv[1:])) else 1)
