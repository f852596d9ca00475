"""What `gpuassist run` costs the program that it watches: processor time of its own thread, and how much later a program starts.

The first needs a torch for CUDA on the stand-in driver, which is no part of this project (`benchmarks/verify.py` names the
variables). It is the thread's own time: whole runs beside each other scatter by more than the limit.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import in_turn, not_run, report
from gpuassist.model.fact import Unknown
from gpuassist.monitor.run_place import RunPlace, make_run_place
from gpuassist.system.surroundings import Surroundings

MOST_A_SECOND, MOST_LATER = 0.002, 0.030
ROUNDS = 21
_SECONDS = 10
_GPUS = 8
_CHILD = Path(__file__).with_name("inside_child.py")
_SCENARIO = """\
[system]
driver_version = 550.54.14
cuda_version = 12.4
[defaults]
uuid = GPU-4090aaaa-0000-4000-8000-0000000000%x
memory_total = 1200 MiB
[gpu 0-{last}]
"""


def main() -> bool:
    """Both limits of the contract, as shares of them."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        made = make_run_place(Surroundings("/", "", os.geteuid(), {"XDG_RUNTIME_DIR": folder}))
        if isinstance(made, Unknown):
            not_run("watching a program", "no private directory could be made")
            return True
        kept = [_start(made.value), _thread(made.value, Path(folder))]
        made.value.remove()
    return all(kept)


def _start(place: RunPlace) -> bool:
    plain = {**os.environ, "PYTHONPATH": ""}
    watched = place.variables(plain)
    code = [sys.executable, "-c", "pass"]
    command = ["/usr/bin/env", *(f"{name}={watched[name]}" for name in ("PYTHONPATH", "GPUASSIST_RUN")), *code]
    pairs = in_turn(command, ["/usr/bin/env", "GPUASSIST_NONE=", *code], rounds=ROUNDS, environment=plain)
    later = statistics.median(first.wall_seconds - second.wall_seconds for first, second in pairs)
    return report("a watched Python's start, later / 30 ms", later / MOST_LATER, 1.0, f"{later * 1000:.1f} ms")


def _thread(place: RunPlace, folder: Path) -> bool:
    stand_in, python = os.environ.get("GPUASSIST_FAKE_CUDA", ""), os.environ.get("GPUASSIST_CUDA_TORCH", "")
    if not (stand_in and python):
        not_run("the thread in a watched program", "needs GPUASSIST_FAKE_CUDA and GPUASSIST_CUDA_TORCH")
        return True
    scenario = folder / "gpus.ini"
    scenario.write_text(_SCENARIO.format(last=_GPUS - 1), "utf-8")
    driver = {"LD_LIBRARY_PATH": stand_in, "FAKE_NVML_SCENARIO": str(scenario), "FAKE_CUDA_USED": "0", "PYTHONPATH": ""}
    variables = place.variables({**os.environ, **driver})
    done = subprocess.run([python, str(_CHILD), str(_SECONDS)], env=variables, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    share = told["thread_seconds"] / told["seconds"]
    detail = f"{share * 1000:.2f} ms a second, {told['looks'] / told['seconds']:.1f} looks a second at {told['gpus']} GPUs"
    kept = report("the thread in a watched program / 2 ms a second", share / MOST_A_SECOND, 1.0, detail)
    later = told["start_seconds"]
    return report("beginning to tell, where CUDA starts / 30 ms", later / MOST_LATER, 1.0, f"{later * 1000:.1f} ms") and kept
