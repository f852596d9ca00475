"""`gpuassist doctor --fleet` over a thousand recordings: the time of a processor, because two cores do other things as well."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.timing import once, report

MACHINES = 1_000
LIMIT_SECONDS = 45.0
_PEOPLE = 12
_ROOT = Path(__file__).resolve().parent.parent
_BRANCHES = ("470.256.02", "525.60.13", "535.104.05", "550.54.14", "570.124.06", "580.95.05")


def main() -> bool:
    """Machines of all kinds that there are as recordings, no two the same."""
    with tempfile.TemporaryDirectory() as directory:
        size = _write(Path(directory))
        command = [sys.executable, "-m", "gpuassist", "doctor", "--fleet", directory, "--json"]
        run = once(command)
    detail = f"{MACHINES} recordings of {size / MACHINES / 1024:.0f} KiB, by the clock {run.wall_seconds:.1f} s"
    return report("seconds for a fleet, processor time", run.cpu_seconds, LIMIT_SECONDS, detail)


def _write(directory: Path) -> int:
    recordings = [*sorted((_ROOT / "resources/machines").glob("*.json"))]
    recordings += sorted((_ROOT / "tests/cases/machines").glob("*/facts.json"))
    documents = [json.loads(path.read_text("utf-8")) for path in recordings]
    documents = [_crowded(one) for one in documents if isinstance(one, dict) and "schema" in one]
    size = 0
    for number in range(MACHINES):
        words = json.dumps(documents[number % len(documents)])
        # Paths and versions of its own, so that nothing which is remembered of another machine helps with all of it.
        words = words.replace("/home/", f"/home/node{number}/").replace("580.95.05", _BRANCHES[number % len(_BRANCHES)])
        (directory / f"node{number:04}.json").write_text(words, "utf-8")
        size += len(words)
    return size


def _crowded(document: dict[str, Any]) -> dict[str, Any]:
    """With as many environments as a server has on which a dozen people work."""
    found = document.get("environments", {}).get("value") or []
    every = [json.loads(json.dumps(one).replace("/home/", f"/home/team{number}/")) for number in range(_PEOPLE) for one in found]
    return {**document, "environments": {**document.get("environments", {}), "value": every}} if every else document


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
