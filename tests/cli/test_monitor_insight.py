"""What `monitor --headless` says of its samples beside them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.cli import monitor
from gpuassist.cli.context import Context, TerminalStreams, UsageError
from gpuassist.cli.monitor_insight import InsightLines
from gpuassist.model.fact import Known
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessSample, Sample
from gpuassist.model.text import verbatim
from gpuassist.model.words import ENGLISH
from tests.cli.made_session import live_session, run_live
from tests.nvml_fixture import FakeNvml

MIB, GIB = 1 << 20, 1 << 30
Load = Callable[..., FakeNvml]


def test_an_alert_is_a_line_before_its_sample(load_nvml: Load) -> None:
    load_nvml("[gpu]\nname = A\nused = 900\nmemory = 1000\n")
    found = run_live(monitor, "--headless", "--count", "1", "--alert", "memory 80%")
    event, sample = [json.loads(line) for line in found.out.splitlines()]
    assert (event["event"]["kind"], event["event"]["gpu"], event["event"]["code"]) == ("alert", 0, "memory 80%")
    assert "gpus" in sample


def told(lines: InsightLines, samples: Iterator[Sample]) -> list[Any]:
    return [document["event"] for one in samples for document in lines.lines(lines.take(one))]  # type: ignore[call-overload, index]


def growing(seconds: int) -> Iterator[Sample]:
    for second in range(seconds):
        used = 6 * GIB + second * 30 * MIB
        process = ProcessSample(7, command=Known("python train.py", "made"), memory_used_bytes=Known(used, "made"))
        gpu = GpuSample(
            0,
            memory_total_bytes=Known(24 * GIB, "made"),
            memory_used_bytes=Known(used, "made"),
            memory_free_bytes=Known(24 * GIB - used, "made"),
            utilization_percent=Known(99, "made"),
            power_watts=Known(340.0, "made"),
            power_limit_watts=Known(350.0, "made"),
            processes=Known((process,), "made"),
        )
        yield Sample(1e9 + second, 50.0 + second, (gpu,))


def test_growth_and_verdict_are_told_once_and_an_out_of_memory_with_its_picture() -> None:
    lines = InsightLines(
        Context(live_session(), TerminalStreams(io.StringIO(), io.StringIO(), colour=False, interactive=False)), ENGLISH, ()
    )
    *samples, last = growing(240)
    found = told(lines, iter(samples))
    assert [(one["kind"], one["code"]) for one in found] == [("bottleneck", "gpu"), ("growth", "growth")]
    words = "CUDA out of memory. Tried to allocate 2.00 GiB."
    failed = Event(last.monotonic, EventKind.OUT_OF_MEMORY, verbatim(words), 0, 7, "torch.cuda.memory_stats")
    (event,) = told(lines, iter((replace(last, events=(failed,)),)))
    assert (event["kind"], event["witness"], event["message"], event["before"]) == ("out-of-memory", "message", words, "growth")
    assert event["memory"]["total_bytes"] == 24 * GIB == sum(part["bytes"] for part in event["memory"]["parts"])
    again = InsightLines(
        Context(live_session(), TerminalStreams(io.StringIO(), io.StringIO(), colour=False, interactive=False)), ENGLISH, ()
    )
    recorded = [*samples, replace(last, events=(failed,))]
    assert [line["event"] for one in recorded for line in again.replayed(one)] == [event]  # type: ignore[call-overload, index]


@pytest.mark.parametrize(
    "arguments", [("--headless", "--alert", "soon"), ("--window", "--alert", "memory 80%"), ("--headless", "--alert", "memory 80")]
)
def test_thresholds_that_cannot_be_are_wrong_usage(arguments: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        run_live(monitor, *arguments)


def test_an_alert_for_a_gpu_that_is_not_there_says_so(load_nvml: Load) -> None:
    load_nvml("[gpu]\nused = 900\nmemory = 1000\n")
    found = run_live(monitor, "--headless", "--count", "2", "--hz", "100", "--alert", "gpu7: memory 80%")
    assert found.err.count("no GPU 7") == 1
