"""A snapshot on its way from the child that reads it: its columns as they are, the rest as one JSON document beside them."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from gpuassist.model.memory_snapshot import (
    BlockTable,
    DeviceTrace,
    HeldBlocks,
    MemorySnapshot,
    SegmentTable,
    SnapshotNote,
    StackFrame,
    TraceEvents,
)
from gpuassist.system.column_file import ColumnFile, ColumnFileError, Place, append_bytes, append_column


def pack(snapshot: MemorySnapshot, descriptor: int) -> tuple[int, int]:
    """Writes it all into the file; where the document stands in it, and how long it is."""

    def table(values: Struct) -> list[Place]:
        return [append_column(descriptor, getattr(values, field)) for field in values.__struct_fields__]

    document = {
        "source": snapshot.source,
        "size": snapshot.size,
        "traces": [
            [
                trace.device,
                table(trace.events),
                trace.recorded,
                trace.first,
                table(trace.earlier),
                table(trace.later),
                trace.reserved_later,
            ]
            for trace in snapshot.traces
        ],
        "segments": table(snapshot.segments),
        "blocks": table(snapshot.blocks),
        "frames": [[frame.file, frame.line, frame.function] for frame in snapshot.frames],
        "stack_starts": append_column(descriptor, snapshot.stack_starts),
        "stack_frames": append_column(descriptor, snapshot.stack_frames),
        "streams": snapshot.streams,
        "texts": snapshot.texts,
        "settings": snapshot.settings,
        "notes": [[note.name, note.stage, note.device, note.time_us] for note in snapshot.notes],
        "unread": snapshot.unread,
    }
    words = msgspec.json.encode(_without_halves(document))
    return append_bytes(descriptor, words), len(words)


def unpack(file: ColumnFile, start: int, length: int) -> MemorySnapshot:
    """The snapshot that `pack` wrote; raises `ColumnFileError` where it did not."""
    try:
        told = msgspec.json.decode(file.bytes_at(start, length))
        return _snapshot(told, file)
    except (msgspec.DecodeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise ColumnFileError(str(error)) from error


def _snapshot(told: dict[str, Any], file: ColumnFile) -> MemorySnapshot:
    def table(kind: Any, places: list[Place]) -> Any:
        return kind(*map(file.column, places))

    return MemorySnapshot(
        source=told["source"],
        size=told["size"],
        traces=tuple(
            DeviceTrace(
                device, table(TraceEvents, events), recorded, first, table(HeldBlocks, earlier), table(HeldBlocks, later), reserved
            )
            for device, events, recorded, first, earlier, later, reserved in told["traces"]
        ),
        segments=table(SegmentTable, told["segments"]),
        blocks=table(BlockTable, told["blocks"]),
        frames=tuple(StackFrame(*frame) for frame in told["frames"]),
        stack_starts=file.column(told["stack_starts"]),
        stack_frames=file.column(told["stack_frames"]),
        streams=tuple(told["streams"]),
        texts=tuple(told["texts"]),
        settings=tuple((name, value) for name, value in told["settings"]),
        notes=tuple(SnapshotNote(*note) for note in told["notes"]),
        unread=tuple(told["unread"]),
    )


def _without_halves(value: Any) -> Any:
    """Half a character, which pickle can hold, is no JSON."""
    if isinstance(value, str):
        return value if value.isprintable() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {name: _without_halves(each) for name, each in value.items()}
    return [_without_halves(each) for each in value] if isinstance(value, (list, tuple)) else value
