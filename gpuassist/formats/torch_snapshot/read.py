"""A memory snapshot from its bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuassist.formats.torch_snapshot.byte_stream import ByteStream, SnapshotError
from gpuassist.formats.torch_snapshot.columns import wholes
from gpuassist.formats.torch_snapshot.event_range import EVERYTHING, EventRange
from gpuassist.formats.torch_snapshot.pickle_machine import PASSED_OVER, PickleMachine, RowList
from gpuassist.formats.torch_snapshot.snapshot_rows import SnapshotRows
from gpuassist.model.memory_snapshot import MemorySnapshot
from gpuassist.model.text import text

_KNOWN = frozenset({"segments", "device_traces", "traces", "allocator_settings", "external_annotations"})
_WORDS_AT_MOST = 4096
_COMPRESSED = text("it is compressed: unpack it first")
_JSON = text("it is JSON, and no pickle: a trace of a profiler is read by `gpuassist profile`")
_OTHERS = (  # none of these is the beginning of a pickle
    (b"PK\x03\x04", text("it is a ZIP archive, such as a checkpoint that `torch.save` wrote, and no memory snapshot")),
    (b"\x1f\x8b", _COMPRESSED),
    (b"\x28\xb5\x2f\xfd", _COMPRESSED),
    (b"\xfd7zXZ", _COMPRESSED),
    (b"{", _JSON),
    (b"[", _JSON),
)


def read_snapshot(more: Callable[[], bytes], source: str, wanted: EventRange = EVERYTHING) -> MemorySnapshot:
    """The snapshot in the bytes that `more` gives piece by piece until it gives none; `source` is what the file is called.

    Raises `SnapshotError` for anything that is none. Memory grows with events, by some 40 bytes each, and with different stacks.
    """
    pieces = [_first_piece(more)]
    stream, rows = ByteStream(lambda: pieces.pop() if pieces else more()), SnapshotRows(wanted)
    value = PickleMachine(stream, rows).value()
    if isinstance(value, list):  # what torch.cuda.memory_snapshot() gives: segments and no history
        rows.take_segments(value)
        value = {"segments": value} if rows.segments.rows else {}
    if not isinstance(value, dict) or not value.keys() & {"segments", "device_traces"}:
        raise SnapshotError(text("it is a pickle, but no memory snapshot of torch: it has neither segments nor events"))
    rows.finish()
    return MemorySnapshot(
        source=source,
        size=stream.position,
        traces=rows.traces(),
        segments=rows.segments.table(),
        blocks=rows.blocks.table(rows.alive()),
        frames=tuple(rows.stacks.frames),
        stack_starts=wholes(rows.stacks.starts),
        stack_frames=np.frombuffer(rows.stacks.places, np.int32) if rows.stacks.places else np.zeros(0, np.int32),
        streams=tuple(rows.shared.streams.known),  # type: ignore[arg-type]
        texts=tuple(rows.shared.texts.known),  # type: ignore[arg-type]
        settings=tuple(_settings(value.get("allocator_settings"))),
        notes=tuple(rows.notes),
        unread=tuple(sorted({str(key)[:80] for key in value if key not in _KNOWN | PASSED_OVER} | rows.passed_over)),
    )


def _first_piece(more: Callable[[], bytes]) -> bytes:
    """Raises `SnapshotError` where its first bytes say what the file is instead."""
    first = more()
    if not first:
        raise SnapshotError(text("it is empty"))
    for beginning, reason in _OTHERS:
        if first.startswith(beginning):
            raise SnapshotError(reason)
    return first


def _settings(told: Any) -> list[tuple[str, str]]:
    if not isinstance(told, dict):
        return []
    return [(str(name)[:_WORDS_AT_MOST], _setting(value)) for name, value in told.items() if not isinstance(value, RowList)]


def _setting(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {each}" for name, each in list(value.items())[:100] if isinstance(each, (str, int, float)))[
            :_WORDS_AT_MOST
        ]
    return str(value)[:_WORDS_AT_MOST] if isinstance(value, (str, int, float)) else ""
