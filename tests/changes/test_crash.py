"""kill -9 in the middle of changes and undos, in real child processes: nothing is half written, and the next run settles it."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

RUNS, STRIDE = 8, 18  # a sample, another one each time; tools/soak_apply.py takes every step


def test_no_crash_leaves_anything_half_done(tmp_path: Path) -> None:
    seed = random.randrange(1_000_000)
    command = [sys.executable, "-m", "tests.changes.crashing", str(RUNS), str(STRIDE), str(seed), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    report = json.loads(done.stdout or "{}")
    assert report.get("wrong") == [], (seed, done.stderr)
    assert report["counts"]["killed"] > RUNS
