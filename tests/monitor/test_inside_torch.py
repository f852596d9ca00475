"""The same with a real torch for CUDA, on a stand-in driver that is no part of this project (`tests/verify/test_faults.py` names
the variables): its own counters are what is told, and its answers to the program are as without us.
"""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from gpuassist.model.sample import TorchMemory
from gpuassist.monitor.run_place import SNAPSHOTS
from tests.monitor.made_torch import Program

STAND_IN, CUDA_TORCH = os.environ.get("GPUASSIST_FAKE_CUDA", ""), os.environ.get("GPUASSIST_CUDA_TORCH", "")
UUID = "GPU-3090aaaa-0000-4000-8000-000000000001"
SCENARIO = f"""[system]
driver_version = 550.54.14
cuda_version = 12.4
[defaults]
memory_total = 900 MiB
[gpu 0]
name = A
[gpu 1]
name = B
uuid = {UUID}
"""
TRAINS = """
import torch
torch.cuda.set_device(1)
kept = [torch.empty(40 << 20, dtype=torch.uint8, device="cuda") for _ in range(4)]
torch.cuda.reset_peak_memory_stats()
more = [torch.empty(30 << 20, dtype=torch.uint8, device="cuda") for _ in range(3)]
del more, kept[1]
try: torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
except RuntimeError as error: words = str(error)
stats = torch.cuda.memory_stats()
names = [f"{name}_bytes.all.{which}" for name in ("allocated", "reserved") for which in ("current", "peak")]
names += ["active_bytes.all.current", "inactive_split_bytes.all.current", "num_ooms", "num_alloc_retries"]
print([stats.get(name, 0) for name in names])
print(torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), torch.cuda.memory_reserved(0))
print(words)
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    if not (STAND_IN and CUDA_TORCH):
        pytest.skip("NOT RUN: needs the stand-in driver (GPUASSIST_FAKE_CUDA) and a torch for CUDA (GPUASSIST_CUDA_TORCH)")
    made = Program(tmp_path)
    (tmp_path / "gpus.ini").write_text(SCENARIO, "utf-8")
    return made


def _variables(program: Program) -> dict[str, str]:
    made = {"LD_LIBRARY_PATH": STAND_IN, "FAKE_NVML_SCENARIO": str(program.folder / "gpus.ini"), "FAKE_CUDA_USED": "0"}
    return {**program.variables(), **made, "PYTHONPATH": f"{program.place}/python", "OMP_NUM_THREADS": "1"}


@pytest.mark.slow
def test_what_is_told_is_torchs_own_and_its_answers_are_as_without_us(program: Program) -> None:
    variables = _variables(program)
    said = program.run(TRAINS, python=CUDA_TORCH, variables=variables)
    without = program.run(TRAINS, "-E", python=CUDA_TORCH, variables=variables)
    figures, peaks, words = said.splitlines()[0], said.splitlines()[1], said.splitlines()[2:]
    assert without.splitlines()[:2] == [figures, peaks]
    (ring,) = program.rings()
    assert ring.state is not None
    (device,) = ring.state.devices  # the other GPU was never started, and not by us
    assert (device.ordinal, device.uuid) == (1, UUID.removeprefix("GPU-").replace("-", ""))
    (note,) = ring.notes(0)
    assert (note.ordinal, note.words.splitlines()) == (1, words)
    assert device.memory == TorchMemory(*map(int, figures.strip("[]").split(", ")))


@pytest.mark.slow
def test_a_snapshot_holds_what_torch_held_and_who_took_it(program: Program, tmp_path: Path) -> None:
    plain = _variables(program)
    said = program.run(TRAINS, python=CUDA_TORCH, variables={**plain, SNAPSHOTS: str(tmp_path)})
    assert said == program.run(TRAINS, "-E", python=CUDA_TORCH, variables=plain)
    (kept,) = tmp_path.glob("oom-*.pickle")
    found = pickle.loads(kept.read_bytes())
    is_old = isinstance(found, list)  # before torch 2.0, which notes stacks on the GPU alone that is chosen when CUDA starts
    segments = found if is_old else found["segments"]
    (ring,) = program.rings()
    assert ring.state is not None
    (failed,) = (one.memory for one in ring.records() if one.memory.ooms)
    assert sum(one["total_size"] for one in segments) == failed.reserved_bytes
    assert is_old or any("<string>" in str(block) for one in segments for block in one["blocks"])
