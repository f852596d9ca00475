"""`python -m benchmarks [NAME…]`: runs each benchmark once and prints its ratios; exits with 1 where one is over its limit."""

from __future__ import annotations

import importlib
import sys

NAMES = ("startup", "doctor", "headless", "plot", "live")


def main(names: list[str]) -> int:
    """Runs the named benchmarks, or all of them; each module's `main` returns whether every ratio was kept."""
    kept = [importlib.import_module(f"benchmarks.{name}").main() for name in names or NAMES]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
