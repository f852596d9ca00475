"""What a run took, added up."""

from __future__ import annotations

from pathlib import Path

from gpuassist.model.fact import Known
from gpuassist.model.sample import GpuSample, ProcessSample, Sample
from gpuassist.monitor.inside.gpuassist_memory import MARK, RUN
from gpuassist.session.run_tally import FOLD_SECONDS, GpuShare, RunTally, TorchTally
from gpuassist.system.files import Files
from tests.fakes import put
from tests.monitor.made_rings import FIGURES, UUID, living, note, ring, state

PLACE = "/run/x"
MINE, OTHER = 10, 11


def gpu(index: int, *, mine: int = 0, other: int = 0, percent: int = 90, watts: float = 300.0) -> GpuSample:
    used = [(pid, size) for pid, size in ((MINE, mine), (OTHER, other)) if size]
    processes = tuple(ProcessSample(pid, memory_used_bytes=Known(size, "test")) for pid, size in used)
    return GpuSample(
        index,
        Known(f"GPU-4090aaaa-0000-4000-8000-00000000000{index}", "test"),
        memory_total_bytes=Known(1000, "test"),
        utilization_percent=Known(percent, "test"),
        power_watts=Known(watts, "test"),
        processes=Known(processes, "test"),
    )


def tally(root: Path, *samples: tuple[GpuSample, ...], idle: float = 0.0, step: float = 1.0) -> tuple[RunTally, list[int]]:
    living(root, MINE, 5, environment=f"A=1\0{RUN}={PLACE}")
    living(root, OTHER, 6, environment=f"{RUN}=/run/y")
    made = RunTally(Files(str(root)), PLACE, idle)
    idle_at = []
    for number, gpus in enumerate(samples):
        made.add(Sample(0.0, number * step, gpus))
        if made.became_idle():
            idle_at.append(number)
    return made, idle_at


def test_the_peak_is_of_the_runs_own_processes(tmp_path: Path) -> None:
    made, _ = tally(tmp_path, (gpu(0, mine=200, other=700), gpu(1, other=900)), (gpu(0, mine=300), gpu(1)), (gpu(0, mine=100),))
    assert made.gpus({}) == (GpuShare(0, 300, 1000),)
    # torch saw more between two samples; on a GPU that NVML does not list it is all that is known
    assert made.gpus({UUID.hex(): 400, "f" * 32: 50}) == (GpuShare(0, 400, 1000), GpuShare(None, 50))
    assert made.gpus({UUID.hex(): 250}) == (GpuShare(0, 300, 1000),)


def test_energy_is_of_the_gpus_that_it_uses_and_not_over_gaps(tmp_path: Path) -> None:
    three = ((gpu(0, mine=1), gpu(1, other=1)),) * 3
    assert tally(tmp_path, *three)[0].joules == 600.0
    assert tally(tmp_path, *three, step=60.0)[0].joules == 0.0
    assert tally(tmp_path, (gpu(1, other=1),))[0].joules is None


def test_idle_is_told_once_each_time(tmp_path: Path) -> None:
    busy, still, none = (gpu(0, mine=1),), (gpu(0, mine=1, percent=0),), (gpu(0),)
    assert tally(tmp_path, *[none] * 9, idle=3.0)[1] == []  # not before it is on a GPU
    assert tally(tmp_path, *[still] * 9, idle=3.0)[1] == [3]
    assert tally(tmp_path, busy, *[still] * 9, busy, *[still] * 9, idle=3.0)[1] == [3, 13]
    assert tally(tmp_path, busy, *[none] * 9, idle=3.0)[1] == [3]
    assert tally(tmp_path, busy, *[still] * 9)[1] == []


def test_what_programs_said_stands_after_their_files_are_gone(tmp_path: Path) -> None:
    living(tmp_path, MINE, 5)
    failed = state(notes=1, figures=(*FIGURES[:6], 2, 3))
    gone = ring(tmp_path, 77, 1, note(0, "out", at=50.0), folder=PLACE, said=failed)
    stays = ring(
        tmp_path, MINE, 5, note(0, "epoch", kind=MARK), folder=PLACE, said=state(notes=1, figures=(*FIGURES[:3], 900, 0, 0, 0, 1))
    )
    made = TorchTally(Files(str(tmp_path)), PLACE)
    put(tmp_path, f"{PLACE}/1-1.ring", "garbage")
    made.fold(FOLD_SECONDS)
    assert (gone.exists(), stays.exists()) == (False, True)
    for _ in range(2):
        totals = made.end()
        assert (totals.ooms, totals.retries, totals.last_out_of_memory) == (2, 4, 50.0)
        assert totals.peaks == {UUID.hex(): 900}
