"""The story of a snapshot: of each device its allocations, curves, peak, segments and failures; then what to change first."""

from __future__ import annotations

import numpy as np

from gpuassist.diagnose.snapshot.findings import findings_of
from gpuassist.diagnose.snapshot.lifetimes import active_bytes, allocations_of, reserved_bytes
from gpuassist.diagnose.snapshot.lines import StackLines
from gpuassist.diagnose.snapshot.segments import fragmentation_of
from gpuassist.diagnose.snapshot.shares import shares_at
from gpuassist.model.memory_snapshot import BlockState, DeviceTrace, HeldBlocks, MemorySnapshot, TraceAction, TraceEvents
from gpuassist.model.memory_story import Allocations, DeviceStory, MemoryPeak, OutOfMemoryEvent, SnapshotStory

_FAILURES_AT_MOST = 100


def story_of(snapshot: MemorySnapshot, card_bytes: int | None = None) -> SnapshotStory:
    """Everything there is to say; `card_bytes` is the memory of the largest card that is known of."""
    lines = StackLines(snapshot)
    devices = tuple(device_story(snapshot, device, lines) for device in snapshot.devices)
    return SnapshotStory(devices, findings_of(snapshot, devices, lines, card_bytes))


def device_story(snapshot: MemorySnapshot, device: int, lines: StackLines) -> DeviceStory:
    """The story of one device."""
    trace = next((trace for trace in snapshot.traces if trace.device == device), None) or _untraced(device)
    count = len(trace.events)
    allocations = allocations_of(snapshot, trace)
    active, reserved = active_bytes(allocations, count), reserved_bytes(snapshot, trace)
    moment = int(active.argmax())
    shares = shares_at(allocations, lines, moment)
    fragmentation = fragmentation_of(snapshot, device)
    return DeviceStory(
        device=device,
        events=count,
        recorded=trace.recorded,
        allocations=allocations,
        active=active,
        reserved=reserved,
        peak=MemoryPeak(moment, int(active[moment]), shares),
        unseen_bytes=sum(share.bytes for share in shares if share.line is None),
        earlier_bytes=int(active[0]),
        allocated_bytes=int(active[-1]),
        reserved_bytes=int(reserved[-1]),
        fragmentation=fragmentation,
        out_of_memory=_failures(trace, active, reserved),
        has_history=not trace.is_whole or bool((trace.events.action == TraceAction.ALLOC).any()),
        ghost_bytes=_ghosts(snapshot, trace, allocations),
    )


def _ghosts(snapshot: MemorySnapshot, trace: DeviceTrace, allocations: Allocations) -> int:
    """What the events say is there at the end and no block holds; 0 where the end was not read, or no segments were kept."""
    if trace.first + len(trace.events) < trace.recorded or not (snapshot.segments.device == trace.device).any():
        return 0
    left = np.flatnonzero((allocations.start > 0) & (allocations.end > len(trace.events)))
    blocks = snapshot.blocks
    held = blocks.address[blocks.state != BlockState.INACTIVE]
    return int(allocations.size[left[~np.isin(allocations.address[left], held)]].sum())


def _failures(trace: DeviceTrace, active: np.ndarray, reserved: np.ndarray) -> tuple[OutOfMemoryEvent, ...]:
    events = trace.events
    rows = np.flatnonzero(events.action == TraceAction.OOM)[-_FAILURES_AT_MOST:].tolist()
    return tuple(
        OutOfMemoryEvent(
            moment=row + 1,
            asked_bytes=int(events.size[row]),
            free_bytes=int(events.address[row]) if events.address[row] >= 0 else None,
            allocated_bytes=int(active[row]),
            reserved_bytes=int(reserved[row]),
            stack=int(events.stack[row]),
        )
        for row in rows
    )


def _untraced(device: int) -> DeviceTrace:
    wholes, smalls = np.zeros(0, np.int64), np.zeros(0, np.int32)
    nothing = TraceEvents(np.zeros(0, np.uint8), wholes, wholes, wholes, smalls, smalls, smalls)
    held = HeldBlocks(wholes, wholes, smalls)
    return DeviceTrace(device, nothing, 0, 0, held, held)
