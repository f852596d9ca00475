"""A fresh process that loads the whole knowledge base, many times beside the bare parsing of its files, and prints what it took."""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from gpuassist.knowledge import files as _types  # made before anything is measured: types are no records  # noqa: F401
from gpuassist.knowledge.tables import Knowledge
from gpuassist.system.resources import Resources

ROUNDS = 21
_PAGE = 4096


def main() -> None:
    """Memory first, while no load has left anything behind; then both times in turn."""
    resources = Resources()
    folders = ("knowledge", "knowledge/messages")
    contents = {
        f"{folder}/{name}": resources.read(f"{folder}/{name}") for folder in folders for name in resources.names(folder, ".json")
    }
    resident = _resident()
    kept = _load(resources)
    resident = _resident() - resident
    records = sum(len(table.all()) for table in kept._files._tables())
    del kept
    seconds = [(_seconds(lambda: _load(resources)), _seconds(lambda: _parse(contents))) for _ in range(ROUNDS)]
    measured = {
        "seconds": seconds,
        "records": records,
        "bytes": sum(map(len, contents.values())),
        "resident_bytes": resident,
        "traced_bytes": _traced(resources),
    }
    print(json.dumps(measured))


def _load(resources: Resources) -> Knowledge:
    knowledge = Knowledge(resources.read)
    if knowledge.damaged():  # builds every record
        raise SystemExit(f"damaged: {knowledge.damaged()}")
    return knowledge


def _parse(contents: dict[str, bytes]) -> list[object]:
    return [json.loads(content) for content in contents.values()]


def _seconds(work: Callable[[], object]) -> float:
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def _traced(resources: Resources) -> int:
    tracemalloc.start()
    kept = _load(resources)
    size, _ = tracemalloc.get_traced_memory()
    del kept
    tracemalloc.stop()
    return size


if __name__ == "__main__":
    main()
