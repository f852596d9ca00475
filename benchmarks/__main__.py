"""`python -m benchmarks [NAME…]`: runs each benchmark once and prints its ratios; exits with 1 where one is over its limit."""

from __future__ import annotations

import compileall
import importlib
import sys

NAMES = (
    "startup",
    "start",
    "commands",
    "knowledge",
    "plan",
    "explain",
    "doctor",
    "fleet",
    "changes",
    "keep",
    "headless",
    "plot",
    "live",
    "snapshot_plot",
    "inside",
    "recording",
    "prometheus",
    "terminal",
    "shell",
    "apply",
    "run_view",
    "install_gap",
    "gaps",
    "solve",
    "verify",
    "snapshot",
    "profile",
)


def main(names: list[str]) -> int:
    """Runs the named benchmarks, or all of them; each module's `main` returns whether every ratio was kept."""
    compileall.compile_dir("gpuassist", quiet=1)  # an installed program, like its peers, starts from compiled files
    kept = [importlib.import_module(f"benchmarks.{name}").main() for name in names or NAMES]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
