"""Memory snapshots out of their bytes: the same as pickle reads, and nothing of them is run."""

from __future__ import annotations

import json
import os
import pickle
import pickletools
import random
from typing import Any

import pytest

from gpuassist.formats.torch_snapshot import pickle_machine
from gpuassist.formats.torch_snapshot.byte_stream import SnapshotError
from gpuassist.formats.torch_snapshot.columns import ACTIONS
from gpuassist.formats.torch_snapshot.event_range import EventRange
from gpuassist.model.memory_snapshot import BlockState, MemorySnapshot
from tests.rows import for_each
from tests.snapshots import BASE, CALL, MIB, TRAIN, MadeSnapshot, read_bytes, training


def _is_same(read: MemorySnapshot, told: dict[str, Any]) -> None:
    for trace, events in zip(read.traces, told["device_traces"], strict=True):
        assert len(trace.events) == len(events)
        assert trace.events.action.tolist() == [ACTIONS[event["action"]] for event in events]
        assert trace.events.address.tolist() == [event.get("addr", event.get("device_free")) for event in events]
        assert trace.events.size.tolist() == [event["size"] for event in events]
        assert trace.events.time_us.tolist() == [event["time_us"] for event in events]
        assert [read.texts[note] for note in trace.events.note.tolist()] == [event["user_metadata"] for event in events]
        for stack, event in zip(trace.events.stack.tolist(), events, strict=True):
            assert _frames(read, stack) == _told(event["frames"])
    blocks = [block for segment in told["segments"] for block in segment["blocks"]]
    assert read.blocks.size.tolist() == [block["size"] for block in blocks]
    assert [_frames(read, stack) for stack in read.blocks.stack.tolist()] == [_told(block["frames"]) for block in blocks]


def _frames(read: MemorySnapshot, stack: int) -> list[tuple[str, int, str]]:
    return [(frame.file, frame.line, frame.function) for frame in read.frames_of(stack)]


def _told(frames: list[dict[str, Any]]) -> list[tuple[str, int, str]]:
    return [(frame["filename"], frame["line"], frame["name"]) for frame in frames]


@for_each("protocol", range(6))
def test_every_protocol_reads_as_pickle_reads_it(protocol: int) -> None:
    told = training().told
    _is_same(read_bytes(pickle.dumps(told, protocol)), told)


@for_each("piece", (1, 7, 4096))
def test_pieces_may_end_anywhere(piece: int) -> None:
    told = training(3).told
    _is_same(read_bytes(pickle.dumps(told), piece=piece), told)


def test_thousands_of_events_are_those_that_were_written() -> None:
    made, randomness = training(2), random.Random(3)
    living: list[int] = []
    for number in range(250):
        size = randomness.choice((100, 70_000, 3 << 30, randomness.randint(1, 1 << 34)))
        lines = [
            (f"/home/me/part{number % 7}.py", number % 90, "go"),
            *((f"/lib/{depth}.py", 300 * depth, "f") for depth in range(number % 50)),
        ]
        living.append(made.alloc(size, *lines))
        if len(living) > 20:
            made.free(living.pop(randomness.randrange(20)))
    made.oom(1 << 33, 5, TRAIN)
    told = made.told
    _is_same(read_bytes(pickle.dumps(told)), told)
    _is_same(read_bytes(pickletools.optimize(pickle.dumps(told))), told)


def test_what_stands_beside_the_events() -> None:
    read = training().read()
    assert dict(read.settings)["expandable_segments"] == "False"
    assert [(note.name, note.stage) for note in read.notes] == [("## step", "START")]
    assert read.devices == (0,)
    assert read.unread == ()


def test_segments_alone_and_blocks_of_torch_2_0() -> None:
    frames = MadeSnapshot().frames(CALL, TRAIN)
    history = [{"addr": BASE, "real_size": 700, "frames": frames}]
    blocks = [{"size": 1024, "state": "active_allocated", "history": history}, {"size": 512, "state": "inactive"}]
    read = read_bytes(pickle.dumps([{"device": 1, "address": BASE, "total_size": 1536, "stream": 0, "blocks": blocks}]))
    assert read.blocks.address.tolist() == [BASE, BASE + 1024]
    assert read.blocks.requested.tolist() == [700, 512]
    assert read.blocks.state.tolist() == [BlockState.ACTIVE, BlockState.INACTIVE]
    assert _frames(read, int(read.blocks.stack[0])) == [CALL, TRAIN]


def test_one_that_went_through_json_and_shares_its_pairs() -> None:
    told = json.loads(json.dumps(training(2).told))
    (segment,) = told["segments"]
    segment["segment_pool_id"] = [0, 3]
    told["segments"].append({**segment, "address": 1, "blocks": json.loads(json.dumps(segment["blocks"]))})
    read = read_bytes(pickle.dumps(told))
    _is_same(read, told)
    assert read.segments.pool.tolist() == [3, 3]


def test_pinned_memory_of_the_host_is_passed_over_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    made, told = training(60), training(2).told
    told |= {"host_traces": made.events, "host_segments": made.told["segments"]}
    monkeypatch.setattr(pickle_machine, "VALUES_AT_MOST", 5_000)
    read = read_bytes(pickle.dumps(told))
    _is_same(read, told)
    assert read.unread == ("host_segments", "host_traces")
    assert read_bytes(pickle.dumps(training(2).told | {"host_traces": [], "host_segments": []})).unread == ()


def test_a_range_of_events_knows_what_was_there_before() -> None:
    made = training(6)
    whole = made.read().traces[0]
    for wanted in (EventRange(20, 40), EventRange(-30)):
        trace = made.read(wanted).traces[0]
        first = 20 if wanted.end else len(whole.events) - 30
        assert (trace.first, trace.recorded) == (first, len(whole.events))
        assert trace.events.address.tolist() == whole.events.address[first : first + len(trace.events)].tolist()
        assert trace.earlier.size.sum() >= 96 * MIB


class _Runs:
    def __init__(self, path: str) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self._path,)


@for_each("protocol", range(6))
def test_nothing_is_run(protocol: int, tmp_path: Any) -> None:
    mark = tmp_path / str(protocol)
    with pytest.raises(SnapshotError, match="code to be run"):
        read_bytes(pickle.dumps({"segments": [], "device_traces": [[_Runs(str(mark))]]}, protocol))
    assert not mark.exists()


@for_each(
    "content",
    (
        b"", b"\x80", b".", b"N.", b"\x80\x04].", b"\x80\x04}.", b"hello\n", b"(" * 1000, b"\x80\x04\x8d" + b"\xff" * 8,
        b"\x8b\xff\xff\xff\x7f", b"\x80\x04Nr\xff\xff\xff\xff.", b"h\x05.", b"I" + b"9" * 100_000 + b"\n.",
        b"\x80\x04}(\x8c\x08segments]}e", b"F" + b"1" * 1000, b"cos\nsystem\n(S'x'\ntR.", b"\x82\x01.",
        b"Pid\n.", b"\x80\x04]\x94h\x00a.",
    ),
)  # fmt: skip
def test_what_is_no_snapshot_is_refused(content: bytes) -> None:
    with pytest.raises(SnapshotError):
        read_bytes(content)


def test_a_file_of_another_kind_is_named() -> None:
    for content, word in ((b"", "empty"), (b"PK\3\4", "torch.save"), (b"\x1f\x8b\x08", "compressed"), (b'{"a": 1}', "JSON")):
        with pytest.raises(SnapshotError, match=word):
            read_bytes(content)


def test_every_beginning_of_one_is_refused() -> None:
    content = pickle.dumps(training(1).told)
    for end in range(0, len(content) - 1, 13):
        with pytest.raises(SnapshotError):
            read_bytes(content[:end])


def test_values_beside_rows_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickle_machine, "VALUES_AT_MOST", 5_000)
    assert len(read_bytes(pickle.dumps(training(60).told)).traces[0].events) > 900
    with pytest.raises(SnapshotError, match="neither events nor blocks"):
        read_bytes(b"]" * 6_000)
