"""Time and memory of reading a trace of torch.profiler, as the command line and the window do, in a child.

`python -m benchmarks.profile BYTES` reads one of that size; alone, and among the others, one of 256 MiB.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.made_trace import write
from benchmarks.timing import report
from gpuassist.app import compose
from gpuassist.session.profiling.profile_file import read_profile

_SECONDS_A_GIGABYTE = 20.0
_MEBIBYTES = 512  # whatever the size of the file; of a gigabyte 207 were seen
_SIZE = 256 << 20


def main(size: int = _SIZE) -> bool:
    """Prints both beside their limits."""
    session = compose("en")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "trace.json")
        events = write(path, size)
        began = time.perf_counter()
        (told,) = read_profile(session.world, str(path), on_progress=lambda done, of: None, cancelled=lambda: False)
        seconds = time.perf_counter() - began
    assert told.events == events
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    detail = f"{seconds:.1f} s for {size / 1e9:.2f} GB, {events:,} events; peak of the child {peak} MiB"
    quick = report("a trace, seconds a gigabyte, to 20", seconds / (size / 1e9) / _SECONDS_A_GIGABYTE, 1.0, detail)
    return report(f"the child's memory, to {_MEBIBYTES} MiB", peak / _MEBIBYTES, 1.0) and quick


if __name__ == "__main__":
    sys.exit(0 if main(*map(int, sys.argv[1:2])) else 1)
