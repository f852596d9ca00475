"""Chrome traces of torch.profiler: every moment goes to one kind of work, in whatever pieces and layout the file comes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gpuassist.formats.profiles.intervals import Stretches, shared_out
from gpuassist.formats.profiles.trace import TraceReader
from gpuassist.formats.profiles.trace_pieces import NoTraceError
from gpuassist.model.profile import ProfileGap, ProfileReading, TimeKind
from tests.formats.made_traces import event, steps, trace
from tests.rows import for_each

# Of each 100 µs, as `made_traces.step` has them.
SHARES = {"kernels": 50, "copies": 10, "data": 10, "launches": 5, "operators": 10, "rest": 15}


def read(data: bytes, piece: int = 1 << 20) -> ProfileReading:
    reader = TraceReader()
    for place in range(0, len(data), piece):
        reader.feed(data[place : place + piece])
    return reader.reading()


def shares(told: ProfileReading) -> dict[str, int]:
    return {one.kind.value: round(100 * one.seconds / (told.seconds or 1)) for one in told.shares}


def test_every_moment_goes_to_one_kind() -> None:
    told = read(trace(steps(50)))
    assert told.seconds == pytest.approx(0.005)
    assert shares(told) == SHARES
    assert sum(one.seconds for one in told.shares) == pytest.approx(0.005)
    assert all(sum(row) == pytest.approx(1, abs=1e-3) for row in told.timeline)


@for_each(
    ("layout", "piece"),
    [
        ({"indent": 2}, 7),
        ({"separators": (",", ":")}, 1000),
        ({"sort_keys": True}, 1 << 20),
        ({"indent": 1, "sort_keys": True, "ensure_ascii": False}, 333),
    ],
)
def test_layout_and_pieces_change_nothing(layout: dict[str, Any], piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.formats.profiles.trace_pieces.PIECE_BYTES", 2000)
    document = json.loads(trace([*steps(8), event("cpu_op", 'odd "},{" – name', 1_000_100, 1)]))
    told = read(json.dumps(document, **layout).encode(), piece)
    assert (shares(told), told.gaps) == (shares(read(trace(steps(8)))), read(trace(steps(8))).gaps)


@for_each(
    ("cut", "gaps"),
    [(0.6, {ProfileGap.CUT_SHORT}), (0.0, {ProfileGap.UNREADABLE_EVENTS})],
)
def test_what_is_missing_is_named(cut: float, gaps: set[ProfileGap]) -> None:
    data = trace(steps(20))
    data = data[: int(len(data) * cut)] if cut else data.replace(b'"name": "aten::addmm"', b'"name": nothing', 1)
    told = read(data)
    assert set(told.gaps) & {ProfileGap.CUT_SHORT, ProfileGap.UNREADABLE_EVENTS} == gaps
    assert shares(told)["kernels"] in range(45, 56)


def test_own_time_and_the_users_line() -> None:
    lines = [
        event("python_function", "train.py(12): train", 0, 100),
        event("python_function", "torch/nn/modules/linear.py(1): forward", 10, 50),
        event("cpu_op", "aten::linear", 20, 30),
        event("cpu_op", "aten::addmm", 25, 20),
    ]
    told = {one.name: one for one in read(trace(lines)).entries}
    assert {name: round(one.seconds * 1e6) for name, one in told.items()} == {
        "train.py(12): train": 50,
        "torch/nn/modules/linear.py(1): forward": 20,
        "aten::linear": 10,
        "aten::addmm": 20,
    }
    assert told["aten::addmm"].place == "train.py(12): train"


@for_each(
    ("one", "kind"),
    [
        (event("kernel", "ncclDevKernel_AllReduce_Sum_bf16", 0, 5), TimeKind.COMMUNICATION),
        (event("cuda_runtime", "cudaStreamSynchronize", 0, 5), TimeKind.WAITS),
        (event("cuda_runtime", "cudaStreamWaitEvent", 0, 5), TimeKind.LAUNCHES),
        (event("cuda_driver", "cuModuleLoadData", 0, 5), TimeKind.START),
        (event("cuda_runtime", "cudaMalloc", 0, 62_000), TimeKind.START),
        (event("cuda_runtime", "cudaMalloc", 0, 620), TimeKind.LAUNCHES),
        (event("cuda_runtime", "cudaMemcpyAsync", 0, 62_000), TimeKind.WAITS),
        (event("cuda_runtime", "cudaMemcpyAsync", 0, 62), TimeKind.LAUNCHES),
        (event("cuda_driver", "cuMemcpyDtoH_v2", 0, 62), TimeKind.WAITS),
        (event("overhead", "Activity Buffer Request", 0, 5), TimeKind.START),
        (event("python_function", "<built-in method sleep of module>", 0, 5), TimeKind.PYTHON),
        (event("python_function", "<built-in function sleep>", 0, 5), TimeKind.START),
        (event("Operator", "aten::mm", 0, 5), TimeKind.OPERATORS),
        (event("Kernel", "kernel of torch 1.9", 0, 5), TimeKind.KERNELS),
        (event("", "aten::add", 0, 5, pid="CPU functions"), TimeKind.OPERATORS),
    ],
)
def test_kinds(one: dict[str, Any], kind: TimeKind) -> None:
    told = read(trace([one]))
    ((share,), (entry,)) = told.shares, told.entries
    assert entry.kind is share.kind
    assert share.kind is kind


def test_names_of_events_that_are_none_take_no_part() -> None:
    unsound = [event("cpu_op", f"aten::op{number}", 0, -1) for number in range(9)]
    assert [one.name for one in read(trace([event("kernel", "add", 0, 5), *unsound])).entries] == ["add"]


@for_each(
    "data",
    [
        b"",
        b"{}",
        b'{"traceEvents": []}',
        b'{"traceEvents": {"ph": "X"}}',
        b"[" * 100_000,
        b'{"traceEvents": [' + b'{"a":' * 50_000,
        b'{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1e999, "dur": -5}]}',
        trace([event("foreign", "a", 0, 1)]),
    ],
)
def test_what_is_none_is_refused_or_empty(data: bytes) -> None:
    try:
        assert read(data).seconds is None
    except NoTraceError:
        pass


def test_millions_of_pauses_are_kept_as_far_as_they_are_told_apart() -> None:
    stretches = Stretches(most=1000)
    begins = np.arange(0.0, 100_000.0, 10.0)
    for part in np.array_split(begins, 20):
        stretches.add(part, part + 4.0)
    united, ends = stretches.united()
    assert len(united) <= 1000
    assert stretches.coarse == pytest.approx(6.0)
    assert float((ends - united).sum()) >= 4.0 * len(begins)


def test_the_first_kind_has_what_several_lay_over() -> None:
    both = [(np.array([0.0]), np.array([6.0])), (np.array([4.0]), np.array([8.0]))]
    assert shared_out(both, 0.0, 10.0, 2).tolist() == [[5.0, 0.0, 0.0], [1.0, 2.0, 2.0]]
