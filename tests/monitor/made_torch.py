"""A package named torch with as much of the real one's allocator as its watcher asks, and programs that use it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from gpuassist.monitor.inside import gpuassist_memory as inside
from gpuassist.monitor.rings import Ring, read_run
from gpuassist.monitor.run_place import PROGRAM_FILES, RunPlace
from gpuassist.system.files import Files

SOURCES = Path(inside.__file__).parent
_CORE = """
resets = 0
stats = {"num_ooms": 0, "num_alloc_retries": 0}
for name in ("allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes"):
    stats[name] = {"all": {"current": 0, "peak": 0}}
def _cuda_memoryStats(device): return stats
def _cuda_hasPrimaryContext(device): return device == 1
def _cuda_resetPeakMemoryStats(device):
    global resets
    resets += 1
"""
_CUDA = """
from torch import _C
_initialized, _queued = False, []
def is_initialized(): return _initialized
def device_count(): return 2
def _lazy_call(call): call() if _initialized else _queued.append(call)
memory = __import__("types").SimpleNamespace(recorded=None)
memory._record_memory_history = lambda **how: setattr(memory, "recorded", how)
memory._snapshot = lambda: {"segments": [], "recorded": memory.recorded}
def init():
    global _initialized
    if not _initialized:
        [call() for call in _queued]
        _initialized = True
def allocate(size):
    init()
    if size > 1 << 30:
        _C.stats["num_ooms"] += 1
        _C.stats["num_alloc_retries"] += 1
        import torch
        raise torch.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {size} bytes.")
    for name in ("allocated_bytes", "reserved_bytes", "active_bytes"):
        one = _C.stats[name]["all"]
        one["current"] += size
        one["peak"] = max(one["peak"], one["current"])
def free(size):
    for name in ("allocated_bytes", "active_bytes"):
        _C.stats[name]["all"]["current"] -= size
import torch.late
"""
_TORCH = """
from torch import _C
import torch.cuda
__version__ = "2.99.0"
class OutOfMemoryError(RuntimeError): pass
"""


class Program:
    """A directory in which programs find that torch, and a run's place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        package = folder / "site" / "torch"
        (package / "cuda").mkdir(parents=True)
        for name, text in (("__init__", _TORCH), ("_C", _CORE), ("cuda/__init__", _CUDA), ("late", "")):
            (package / f"{name}.py").write_text(text, "utf-8")
        self.place = folder / "run"
        (self.place / "python").mkdir(parents=True, mode=0o700)
        self.place.chmod(0o700)
        for name in PROGRAM_FILES:
            (self.place / "python" / name).write_bytes((SOURCES / name).read_bytes())

    def variables(self, **more: str) -> dict[str, str]:
        """Those of a run, its torch behind what the run puts first."""
        around = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": str(self.folder / "site")}
        return {**RunPlace(str(self.place)).variables(around), **more}

    def run(self, code: str, *options: str, python: str = sys.executable, variables: Mapping[str, str] | None = None) -> str:
        """What it prints; it has to end well and say nothing on standard error."""
        done = subprocess.run(
            [python, *options, "-c", code],
            env=dict(variables or self.variables()),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout.strip()

    def rings(self) -> tuple[Ring, ...]:
        return read_run(Files(), str(self.place))
