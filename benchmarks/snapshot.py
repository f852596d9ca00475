"""A memory snapshot: gpuassist's reader beside Python's own unpickler, restricted to plain values, on one file of realistic shape.

    python -m benchmarks.snapshot [MB | FILE]

Each runs in a process of its own: seconds of processor time, and the most memory that it had. A file made here has 59 MB; of one
that is named, or of more megabytes, the same is printed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.made_snapshot import write_snapshot

LIMIT = 1.2
_MEGABYTES = 59.0
_AFTER = "\nimport resource; u = resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime, u.ru_maxrss * 1024)"
_OURS = (
    "import gc, sys; gc.disable()\nfrom gpuassist.formats.torch_snapshot.read import read_snapshot\n"
    "file = open(sys.argv[1], 'rb')\nread_snapshot(lambda: file.read(1 << 20), 'made')" + _AFTER
)
_PYTHONS = (
    "import pickle, sys\nclass Restricted(pickle.Unpickler):\n"
    "    def find_class(self, *names): raise pickle.UnpicklingError(names)\n"
    "value = Restricted(open(sys.argv[1], 'rb')).load()" + _AFTER
)


def main(wanted: str = str(_MEGABYTES)) -> bool:
    """Prints both, and the ratios beside their limit; whether both are kept."""
    with _file(wanted) as path:
        size = os.path.getsize(path)
        pairs = [(_run(_OURS, path), _run(_PYTHONS, path)) for _ in range(3)]
    (seconds, memory), (their_seconds, their_memory) = (
        tuple(map(min, zip(*runs, strict=True))) for runs in zip(*pairs, strict=True)
    )
    print(f"snapshot of {size / 1e6:.0f} MB: {seconds:.2f} s and {memory / 1e6:.0f} MB")
    print(f"restricted unpickler:  {their_seconds:.2f} s and {their_memory / 1e6:.0f} MB")
    print(f"ratio: time {seconds / their_seconds:.2f}, memory {memory / their_memory:.2f} (limit {LIMIT})")
    return bool(max(seconds / their_seconds, memory / their_memory) <= LIMIT)


@contextmanager
def _file(wanted: str) -> Iterator[str]:
    if os.path.isfile(wanted):
        yield wanted
        return
    with tempfile.TemporaryDirectory() as directory:
        path = f"{directory}/made.pickle"
        with open(path, "wb") as file:
            write_snapshot(file, int(float(wanted) * 1e6))
        yield path


def _run(program: str, path: str) -> tuple[float, float]:
    told = subprocess.run((sys.executable, "-c", program, path), capture_output=True, text=True, check=True).stdout.split()
    return float(told[0]), float(told[1])


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:2]) else 1)
