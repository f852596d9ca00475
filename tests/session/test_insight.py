"""What a watch makes of its samples, fed one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import Known
from gpuassist.model.gpu import PcieLink
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessSample, Sample, TorchMemory
from gpuassist.model.text import verbatim
from gpuassist.monitor.alerts import Measure, Threshold
from gpuassist.monitor.bottleneck import Bound
from gpuassist.monitor.growth import Shape
from gpuassist.session.gpu_links import bytes_per_second, links_by_uuid
from gpuassist.session.insight import Insight
from gpuassist.system.files import Files
from tests import machines
from tests.fakes import put
from tests.monitor.made_loads import GEN4, LOADS
from tests.monitor.samples import known

MIB, GIB = 1 << 20, 1 << 30
UUID = "GPU-1"


def leaking(seconds: int, *, inside: bool = True, rate: int = 8 * MIB) -> Iterator[Sample]:
    """A program that keeps more with every step."""
    for second in range(seconds):
        held = 6 * GIB + rate * second
        torch = TorchMemory(held, held, held + 300 * MIB, held + 300 * MIB, held, 0)
        process = ProcessSample(7, command=Known("python train.py", "made"), memory_used_bytes=known(held + 700 * MIB))
        if inside:
            process = replace(process, torch=Known(torch, "made"))
        used = held + 800 * MIB
        gpu = GpuSample(
            0,
            memory_total_bytes=known(24 * GIB),
            memory_used_bytes=known(used),
            memory_free_bytes=known(24 * GIB - used),
            processes=Known((process,), "made"),
            utilization_percent=known(99),
        )
        yield Sample(1e9 + second, 100.0 + second, (gpu,))


def fed(insight: Insight, samples: Iterator[Sample]) -> list[Event]:
    return [event for one in samples for event in insight.take(one).events]


@pytest.fixture
def insight(tmp_path: Path) -> Insight:
    return Insight(Files(str(tmp_path)))


def test_a_program_that_keeps_references_is_named_with_the_time_left(insight: Insight) -> None:
    assert fed(insight, leaking(260)) == []
    (found,) = insight.growths
    assert (found.gpu, found.pid, found.command, found.growth.shape) == (0, 7, "python train.py", Shape.REFERENCES_KEPT)
    left = 24 * GIB - 800 * MIB - 6 * GIB - 260 * 8 * MIB
    assert found.growth.seconds_until_full == pytest.approx(left / (8 * MIB), rel=0.05)


def test_from_outside_it_only_grows(insight: Insight) -> None:
    fed(insight, leaking(260, inside=False))
    assert [one.growth.shape for one in insight.growths] == [Shape.GROWTH]


def test_the_growth_before_a_failure_stands_in_its_moment_even_if_the_program_has_gone(insight: Insight) -> None:
    samples = list(leaking(260))
    fed(insight, iter(samples[:-1]))
    gone = replace(samples[-1], gpus=(replace(samples[-1].gpus[0], processes=Known((), "made")),))
    insight.take(gone)
    failed = Event(gone.monotonic, EventKind.OUT_OF_MEMORY, verbatim("CUDA out of memory."), 0, 7)
    insight.take(replace(gone, monotonic=gone.monotonic + 1, events=(failed,)))
    (moment,) = insight.moments
    assert moment.growth.shape is Shape.REFERENCES_KEPT
    assert moment.command == "python train.py"
    assert moment.picture is not None


def test_what_torch_gives_back_before_it_fails_does_not_hide_what_was(insight: Insight) -> None:
    *samples, last = leaking(260)
    fed(insight, iter(samples))
    emptied = ProcessSample(7, torch=Known(TorchMemory(6 * GIB, 9 * GIB, 6 * GIB, 9 * GIB, 6 * GIB, 0, 1, 1), "made"))
    insight.take(replace(last, gpus=(replace(last.gpus[0], processes=Known((emptied,), "made")),)))
    failed = Event(last.monotonic + 1, EventKind.OUT_OF_MEMORY, verbatim("CUDA out of memory."), 0, 7)
    insight.take(replace(last, monotonic=last.monotonic + 1, events=(failed,)))
    assert {moment.growth.shape for moment in insight.moments} == {Shape.REFERENCES_KEPT}


def test_alerts_stand_among_the_events(insight: Insight) -> None:
    insight.thresholds = (Threshold(Measure.MEMORY_BYTES, 7 * GIB),)
    events = fed(insight, leaking(100))
    assert [(one.kind, one.gpu, one.code) for one in events] == [(EventKind.ALERT, 0, "memory 7.00GiB")]


def test_verdicts_take_what_the_processor_and_the_link_tell(tmp_path: Path) -> None:
    insight = Insight(Files(str(tmp_path)))
    for sample, _, _ in LOADS["weights offloaded, fourth generation"].series(Random(1)):
        insight.take(replace(sample, gpus=tuple(replace(gpu, uuid=Known(UUID, "made")) for gpu in sample.gpus)))
    assert insight.bottlenecks[0].bound is not Bound.COPIES
    insight = Insight(Files(str(with_link(tmp_path))))
    for sample, _, _ in LOADS["weights offloaded, fourth generation"].series(Random(1)):
        insight.take(replace(sample, gpus=tuple(replace(gpu, uuid=Known(UUID, "made")) for gpu in sample.gpus)))
    assert insight.bottlenecks[0].bound is Bound.COPIES


def with_link(root: Path) -> Path:
    machines.pci_gpu(root, "0000:01:00.0", speed="2.5 GT/s PCIe")
    put(root, "/proc/driver/nvidia/gpus/0000:01:00.0/information", f"Model: \t\t RTX\nGPU UUID: \t {UUID}\n")
    return root


def test_a_link_carries_what_its_full_speed_and_its_lanes_allow_and_only_those_awake_are_asked(tmp_path: Path) -> None:
    files = Files(str(with_link(tmp_path)))
    assert links_by_uuid(files, {UUID})[UUID] == pytest.approx(GEN4, rel=1e-6)
    assert links_by_uuid(files, set()) == {}
    assert links_by_uuid(files, {"GPU-2"}) == {}


def test_the_first_generations_take_ten_bits_for_eight() -> None:
    assert bytes_per_second(PcieLink(16, 16, 5.0, 5.0)) == 8e9
    assert bytes_per_second(PcieLink(4, 16, 2.5, 2.5)) == 1e9


def test_a_sample_that_cannot_be_judged_is_still_a_sample(insight: Insight, caplog: pytest.LogCaptureFixture) -> None:
    (sample,) = leaking(1)
    broken = replace(sample, gpus=(None,))
    assert insight.take(broken) is broken
    assert insight.take(broken) is broken
    assert len(caplog.records) == 1
    caplog.clear()


def test_a_recording_is_taken_in_without_anything_of_now(tmp_path: Path) -> None:
    insight = Insight(Files(str(tmp_path)), (Threshold(Measure.MEMORY_BYTES, GIB),))
    failed = Event(102.0, EventKind.OUT_OF_MEMORY, verbatim("CUDA out of memory."), 0, 7)
    for one in leaking(5):
        insight.replay(replace(one, events=(failed,)) if one.monotonic == 102.0 else one)
    assert [one.monotonic for one in insight.moments] == [102.0]
    assert insight.growths == ()
