"""`gpuassist doctor` beside `python -m torch.utils.collect_env`, the report that users are asked for today.

The user's own interactive shell is not ours to make faster: its time is measured in the same run and taken off.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import in_turn, not_run, once, report

LIMIT = 0.15
ROUNDS = 3
_TORCH = Path(__file__).resolve().parent.parent / ".venv-torch" / "bin" / "python"


def main() -> bool:
    """Measures wall time; says so where there is no torch to compare with."""
    if not _TORCH.exists() or once([str(_TORCH), "-c", "import torch"]).cpu_seconds < 0.2:
        not_run("doctor / collect_env", "no torch in .venv-torch (make test creates it)")
        return True
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        doctor = [sys.executable, "-m", "gpuassist", "doctor"]
        peer = [str(_TORCH), "-m", "torch.utils.collect_env"]
        pairs = in_turn(doctor, peer, rounds=ROUNDS, environment=environment)
        shell = statistics.median(once(["bash", "-lic", "true"], environment).wall_seconds for _ in range(ROUNDS))
    ratio = statistics.median(max(0.0, ours.wall_seconds - shell) / theirs.wall_seconds for ours, theirs in pairs)
    return report("doctor beyond the shell's start / collect_env", ratio, LIMIT, f"shell {shell * 1000:.0f} ms")
