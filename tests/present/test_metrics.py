"""What Prometheus is told: dcgm-exporter's names, counters that never fall, and nothing where nothing is known."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from gpuassist.formats.dcgm import FB_FREE, FB_RESERVED, FB_USED, METRICS, POWER_USAGE, XID_ERRORS
from gpuassist.formats.prometheus import LabelledSeries
from gpuassist.model.fact import NOT_ASKED, Known, Unknown
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessSample, Sample, TorchMemory
from gpuassist.model.text import text
from gpuassist.monitor.prometheus_gpus import RemoteGpus, by_gpu
from gpuassist.present.metrics import SampleMetrics
from tests.fakes import FixedClock
from tests.monitor.samples import known, process, sample

MIB = 1 << 20
Told = dict[tuple[str, str], float]


class Clock(FixedClock):
    def since_boot(self) -> float:
        return self.ticks


def card(index: int = 0, used: int = 1000, *processes: ProcessSample, total: int = 24_000, uuid: str = "GPU-a") -> GpuSample:
    return GpuSample(
        index,
        Known(uuid, "test"),
        Known("NVIDIA H100", "test"),
        known(total * MIB),
        known(used * MIB),
        known((total - 500 - used) * MIB),
        processes=Known(processes, "test"),
    )


def with_torch(pid: int, ooms: int = 0, reserved: int = 100) -> ProcessSample:
    torch = TorchMemory(50, 90, reserved, reserved, 60, 10, ooms, 2 * ooms)
    return replace(process(pid, 200, "python /home/me/secret.py --token x"), user=Known("me", "test"), torch=Known(torch, "test"))


def metrics(clock: FixedClock | None = None, labels: Mapping[str, str] | None = None) -> SampleMetrics:
    return SampleMetrics(labels or {"Hostname": "n1"}, clock or Clock(), hz=1.0)


def told(collector: SampleMetrics) -> Told:
    """Each figure by its name and GPU, as a reader of the text has it."""
    return {
        (one.name, one.labels.get("UUID", "") + one.labels.get("xid", "")): one.value
        for family in text_string_to_metric_families(written(collector))
        for one in family.samples
    }


def written(collector: SampleMetrics) -> str:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    return generate_latest(registry).decode()


def test_figures_are_told_in_dcgm_exporters_units_and_unknown_ones_not_at_all() -> None:
    collector = metrics()
    collector.take(sample(100.0, replace(card(), power_watts=Unknown(text("no")), temperature_celsius=known(44))))
    found = told(collector)
    assert (found[FB_USED, "GPU-a"], found[FB_FREE, "GPU-a"], found[FB_RESERVED, "GPU-a"]) == (1000.0, 22_500.0, 500.0)
    assert found["DCGM_FI_DEV_GPU_TEMP", "GPU-a"] == 44.0
    assert found["gpuassist_memory_total_bytes", "GPU-a"] == 24_000 * MIB
    assert not {name for name, _ in found} & {POWER_USAGE, XID_ERRORS, "gpuassist_torch_allocated_bytes"}
    line = next(line for line in written(collector).splitlines() if line.startswith(FB_USED))
    labels = ("Hostname", "UUID", "device", "gpu", "modelName")
    assert all(f'{label}="' in line for label in labels)


def test_what_we_tell_is_what_we_read() -> None:
    collector = metrics(labels={"Hostname": "n1", "namespace": "ml", "pod": "train-0"})
    one = replace(
        card(3, uuid="GPU-x"), tensor_activity_percent=Known(25.0, ""), sm_clock_mhz=known(1980), power_watts=Known(99.5, "")
    )
    collector.take(sample(100.0, one))
    rows = [
        LabelledSeries(line.name, line.labels, ((0.0, line.value),))
        for family in text_string_to_metric_families(written(collector))
        for line in family.samples
        if line.name in METRICS
    ]
    gpus = RemoteGpus()
    gpus.meet(row for row in rows if row.name == FB_USED)
    (again,) = gpus.sample(by_gpu(rows), 0.0, 0.0).gpus
    for field in (
        "index",
        "uuid",
        "name",
        "memory_used_bytes",
        "memory_free_bytes",
        "memory_total_bytes",
        "power_watts",
        "sm_clock_mhz",
    ):
        before, after = getattr(one, field), getattr(again, field)
        assert (after.value if isinstance(after, Known) else after) == (before.value if isinstance(before, Known) else before), (
            field
        )
    assert again.tensor_activity_percent == Known(25.0, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE")
    assert (again.host, again.workload) == (Known("n1", "Hostname"), Known("ml/train-0", "Prometheus"))


def test_torch_is_added_up_by_gpu_and_nobodys_command_line_leaves() -> None:
    collector = metrics()
    collector.take(sample(100.0, card(0, 1000, with_torch(7), with_torch(8), process(9, 1, "vim"))))
    found = told(collector)
    assert (found["gpuassist_torch_reserved_bytes", "GPU-a"], found["gpuassist_torch_programs", "GPU-a"]) == (200.0, 2.0)
    assert (found["gpuassist_torch_allocated_peak_bytes", "GPU-a"], found["gpuassist_processes", "GPU-a"]) == (90.0, 3.0)
    assert not any(word in written(collector) for word in ("secret", "vim", '"me"', "pid"))


def test_a_counter_never_falls_and_counts_nothing_of_before() -> None:
    collector = metrics()
    name = ("gpuassist_torch_out_of_memory_total", "GPU-a")
    counts = []
    for processes in (
        (with_torch(7, 5),),
        (with_torch(7, 6),),
        (with_torch(7, 6), with_torch(8, 2)),
        (with_torch(8, 2),),
        (),
        (with_torch(9, 1),),
    ):
        collector.take(sample(100.0, card(0, 1000, *processes)))
        counts.append(told(collector)[name])
    assert counts == [0.0, 1.0, 3.0, 3.0, 3.0, 4.0]
    assert told(collector)["gpuassist_torch_retries_total", "GPU-a"] == 8.0


def test_errors_of_the_driver_are_the_last_and_counted() -> None:
    collector = metrics()
    for number in ("31", "79", "31"):
        event = Event(100.0, EventKind.XID, text("Xid"), 0, code=number)
        collector.take(replace(sample(100.0, card()), events=(event,)))
    found = told(collector)
    assert found[XID_ERRORS, "GPU-a"] == 31.0
    assert (found["gpuassist_xid_errors_total", "GPU-a31"], found["gpuassist_xid_errors_total", "GPU-a79"]) == (2.0, 1.0)


def test_a_sample_that_is_old_is_told_no_more() -> None:
    clock = Clock()
    collector = metrics(clock)
    assert told(collector)["gpuassist_up", ""] == 0.0
    collector.take(sample(clock.ticks, card()))
    assert told(collector)["gpuassist_up", ""] == 1.0
    clock.ticks += 60.0
    found = told(collector)
    assert (FB_USED, "GPU-a") not in found
    assert (found["gpuassist_up", ""], found["gpuassist_samples_total", ""]) == (0.0, 1.0)
    collector.take(Sample(0.0, clock.ticks, (), (text("no driver"),)))
    assert told(collector)["gpuassist_up", ""] == 0.0


def test_the_memory_of_a_gpu_in_instances_is_told_by_these_alone() -> None:
    part = replace(card(1002, 100, total=10_000, uuid="MIG-b"), parent=0, name=Known("NVIDIA H100 MIG 1g.10gb", "test"))
    collector = metrics()
    collector.take(sample(100.0, replace(card(), temperature_celsius=known(40)), part))
    found = told(collector)
    assert [uuid for name, uuid in found if name == FB_USED] == ["MIG-b"]
    assert found["DCGM_FI_DEV_GPU_TEMP", "GPU-a"] == 40.0
    line = next(line for line in written(collector).splitlines() if line.startswith(FB_USED))
    assert 'gpu="0"' in line
    assert 'GPU_I_PROFILE="1g.10gb"' in line
    assert 'modelName="NVIDIA H100"' in line


def test_a_strangers_name_is_no_line_of_its_own() -> None:
    name = 'H100"} 1\nevil_metric 1\n\x1b[2J\\'
    collector = metrics(labels={"Hostname": name})
    collector.take(sample(100.0, replace(card(), name=Known(name, "test"), uuid=NOT_ASKED)))
    families = {family.name for family in text_string_to_metric_families(written(collector))}
    assert "evil_metric" not in families
    assert "\x1b" not in written(collector)
