"""Verifying beside the bare `import torch` of the same environment, the runner's own cost, and eight devices beside one.

The last one needs the stand-in CUDA driver, which is no part of this project: `GPUASSIST_FAKE_CUDA` names the folder with its
libraries, `GPUASSIST_CUDA_TORCH` an interpreter with a torch for CUDA. Its kernels do nothing, so nothing here is a GPU's speed.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import textwrap
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.timing import not_run, once, report
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify.protocol import CheckDone, Event, Imported
from gpuassist.verify.runner import Limits, RunRequest, run

MOST_TO_FIRST_RESULT, MOST_OVERHEAD, MOST_WAITING, MOST_FOR_EIGHT = 1.1, 0.05, 0.02, 3.0
_PYTHON = Path(".venv-torch/bin/python")
_ROUNDS = 7
_WAITING_SECONDS = 4.0
_SCENARIO = """\
[system]
driver_version = 550.54.14
cuda_version = 12.4
[defaults]
name = NVIDIA GeForce RTX 4090
uuid = GPU-4090aaaa-0000-4000-8000-0000000000%x
cc_major = 8
cc_minor = 9
cores = 16384
memory_total = 1200 MiB
memory_used = 0
[gpu 0-{last}]
"""


class _Seen:
    """When a run said what, in seconds after it was started."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self.imported = self.first = self.last = self.in_checks = 0.0

    def take(self, event: Event) -> None:
        now = time.perf_counter() - self._began
        if isinstance(event, Imported):
            self.imported = now
        elif isinstance(event, CheckDone):
            self.first = self.first or now
            self.in_checks += getattr(event.check.seconds, "value", 0.0)
            self.last = now


def main() -> bool:
    """All four; the last is left out, loudly, where its parts are not there."""
    if not _PYTHON.exists():
        not_run("verify", "needs torch in .venv-torch, which `make test` installs")
        return True
    return all([_first_result(), _waiting(), _eight()])


def _verify(python: str, variables: Mapping[str, str]) -> _Seen:
    seen = _Seen()
    run(World(Surroundings.current()), RunRequest(python, variables), on_event=seen.take, cancelled=lambda: False)
    return seen


def _first_result() -> bool:
    python, variables = str(_PYTHON.absolute()), dict(os.environ)
    _verify(python, variables)
    ratios, shares, bare = [], [], 0.0
    for _ in range(_ROUNDS):
        bare = once([python, "-c", "import os, torch; os._exit(0)"]).wall_seconds
        seen = _verify(python, variables)
        ratios.append(seen.first / bare)
        shares.append((seen.last - seen.imported - seen.in_checks) / seen.last)
    detail = f"the import {bare:.2f} s"
    kept = report("to the first result of a verification / import torch", statistics.median(ratios), MOST_TO_FIRST_RESULT, detail)
    return (
        report("share of a verification that is neither torch's import nor a check", statistics.median(shares), MOST_OVERHEAD)
        and kept
    )


def _waiting() -> bool:
    """The runner's own processor time while a child says nothing."""
    with tempfile.TemporaryDirectory() as directory:
        python = Path(directory) / "python"
        python.write_text(f"#!/bin/sh\nexec sleep {_WAITING_SECONDS:.0f}\n", "utf-8")
        python.chmod(0o755)
        began, cpu = time.perf_counter(), time.process_time()
        request = RunRequest(str(python), dict(os.environ), limits=Limits())
        run(World(Surroundings.current()), request, on_event=lambda _: None, cancelled=lambda: False)
        share = (time.process_time() - cpu) / (time.perf_counter() - began)
    return report("share of a core that the runner takes while it waits", share, MOST_WAITING)


def _eight() -> bool:
    stand_in, torch = os.environ.get("GPUASSIST_FAKE_CUDA"), os.environ.get("GPUASSIST_CUDA_TORCH")
    if not (stand_in and torch):
        not_run("eight devices beside one", "needs GPUASSIST_FAKE_CUDA and GPUASSIST_CUDA_TORCH")
        return True
    with tempfile.TemporaryDirectory() as directory:

        def seconds(devices: int) -> float:
            script = Path(directory) / f"{devices}.ini"
            script.write_text(textwrap.dedent(_SCENARIO.format(last=devices - 1)), "utf-8")
            variables = {**os.environ, "LD_LIBRARY_PATH": stand_in, "FAKE_NVML_SCENARIO": str(script)}
            return _verify(torch, variables).last

        seconds(1)
        pairs = [(seconds(8), seconds(1)) for _ in range(3)]
    ratio = statistics.median(eight / one for eight, one in pairs)
    return report("quick on 8 stand-in devices / on 1", ratio, MOST_FOR_EIGHT, f"one {pairs[-1][1]:.1f} s")


if __name__ == "__main__":
    main()
