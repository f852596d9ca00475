"""A one-shot JSON sample of 8 GPUs beside `nvitop -1`, both on the same scripted NVML."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import in_turn, median_wall, not_run, report

LIMIT = 0.6
ROUNDS = 7
PEER = Path(__file__).resolve().parent.parent / ".cache" / "peers" / "bin" / "nvitop"


def main() -> bool:
    """Measures wall time; says so where the peer or a compiler is missing."""
    if not PEER.exists() or shutil.which("gcc") is None:
        not_run("one sample of 8 GPUs / nvitop -1", "needs gcc, and nvitop (make bench installs it)")
        return True
    from benchmarks.nvml import EIGHT_GPUS, variables

    with tempfile.TemporaryDirectory() as directory:
        environment = {**os.environ, **variables(Path(directory), EIGHT_GPUS)}
        ours = [sys.executable, "-m", "gpuassist", "monitor", "--headless", "--count", "1"]
        pairs = in_turn(ours, [str(PEER), "-1"], rounds=ROUNDS, environment=environment)
    return report("one sample of 8 GPUs / nvitop -1", median_wall(pairs), LIMIT)
