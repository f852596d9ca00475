"""Names that one program at a time holds."""

from __future__ import annotations

import os
import subprocess
import sys

from gpuassist.system.claims import Claims

TAKES = "import sys\nfrom gpuassist.system.claims import Claims\nprint(Claims().take(sys.argv[1]))"


def another_takes(name: str) -> bool:
    done = subprocess.run([sys.executable, "-c", TAKES, name], capture_output=True, text=True, check=True, timeout=100)
    return done.stdout.strip() == "True"


def test_one_at_a_time_holds_a_name_and_none_after_its_end() -> None:
    name = f"test {os.getpid()} ü"
    mine, other = Claims(), Claims()
    assert another_takes(name)  # and ends
    assert mine.take(name)
    assert mine.take(name)
    assert not other.take(name)
    assert not another_takes(name)
    mine.give_back(name, "never held")
    assert other.take(name)
    other.give_back(name)
