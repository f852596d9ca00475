"""What the items of a snapshot's lists become: rows of columns, with the memo left holding numbers where objects were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpuassist.formats.torch_snapshot.byte_stream import ByteStream, SnapshotError
from gpuassist.formats.torch_snapshot.columns import ACTIONS, STATES, BlockColumns, EventColumns, SegmentColumns, Shared, whole
from gpuassist.formats.torch_snapshot.event_range import EventRange, TraceGathering
from gpuassist.formats.torch_snapshot.pickle_machine import BLOCKS, NOTES, PASSED_OVER, TRACE, RowList, SegmentList
from gpuassist.formats.torch_snapshot.quick_rows import QuickRows
from gpuassist.formats.torch_snapshot.stack_table import FrameNumber, StackTable
from gpuassist.model.memory_snapshot import BlockState, DeviceTrace, SnapshotNote, TraceAction
from gpuassist.model.text import text

if TYPE_CHECKING:
    from gpuassist.model.memory_snapshot import Codes

DEVICES_AT_MOST = 1024
HOST_TRACE = "host_traces"
_EVENTS = frozenset({TRACE, HOST_TRACE})
_NOTES_AT_MOST = 200_000
_OTHER = int(TraceAction.OTHER)


class SnapshotRows:
    """Everything of a snapshot that comes in rows."""

    def __init__(self, wanted: EventRange) -> None:
        self.stacks, self.shared = StackTable(), Shared()
        self.segments, self.blocks = SegmentColumns(), BlockColumns()
        self.notes: list[SnapshotNote] = []
        self.passed_over: set[str] = set()  # lists with something in them that nothing is kept of
        self._wanted = wanted
        self._gatherings: list[TraceGathering] = []
        self._quick = QuickRows(self.stacks, self.shared)
        self._ends_at = 0  # where the last block of a segment ends, for those that do not say where they lie

    # The machine's sink

    def take(self, rows: RowList | SegmentList, items: list[Any], memo: list[Any], since: int) -> None:
        if isinstance(rows, SegmentList):
            self.take_segments(items)
        elif rows.kind == TRACE:
            gathering = self._gathering(rows.number)
            for event in items:
                self._take_event(gathering, event)
            gathering.settle()
        elif rows.kind == BLOCKS:
            for block in items:
                self._take_block(block)
        elif rows.kind in PASSED_OVER:
            self.passed_over.add(rows.kind)
        elif rows.kind == NOTES:
            self.notes.extend(_note(one) for one in items if isinstance(one, dict) and len(self.notes) < _NOTES_AT_MOST)
        self._let_go(memo, since)
        if not isinstance(rows, SegmentList) and rows.kind in _EVENTS and items:
            self._quick.learn(items[-1])

    def quickly(self, rows: RowList, stream: ByteStream, memo: list[Any]) -> None:
        if rows.kind == TRACE:
            gathering = self._gathering(rows.number)
            self._quick.read(stream, memo, gathering.columns)
            gathering.settle()
        elif rows.kind == HOST_TRACE:
            self._quick.read(stream, memo, EventColumns())

    def _let_go(self, memo: list[Any], since: int) -> None:
        """Objects that were put in the memo by rows that are gone: a stack or a frame becomes its number, strings stay."""
        for place in range(since, len(memo)):
            value = memo[place]
            if type(value) is str:
                self._quick.note_place(value, place)
            elif type(value) is list:
                is_stack = not value or _is_frame(value[0])
                memo[place] = self.stacks.of_list(value) if is_stack else self.shared.tuple(tuple(value))  # JSON has no tuples
            elif type(value) is dict:
                memo[place] = self.stacks.frame(value) if _is_frame(value) else None
            elif type(value) is tuple:
                memo[place] = self.shared.tuple(value)

    # Events

    def _gathering(self, number: int) -> TraceGathering:
        if number >= DEVICES_AT_MOST:
            raise SnapshotError(text("it has events of more than {count} devices: no machine has that many", count=DEVICES_AT_MOST))
        while len(self._gatherings) <= number:
            self._gatherings.append(TraceGathering(len(self._gatherings), self._wanted))
        return self._gatherings[number]

    def _take_event(self, gathering: TraceGathering, event: Any) -> None:
        if not isinstance(event, dict):
            return
        action = event.get("action")
        gathering.columns.add(
            ACTIONS.get(action, _OTHER) if isinstance(action, str) else _OTHER,
            whole(event.get("addr", event.get("device_free", -1))),
            max(whole(event.get("size")), 0),
            time=whole(event.get("time_us")),
            stack=self.stacks.of_list(event.get("frames")),
            stream=self.shared.stream(event.get("stream")),
            note=self.shared.text(event.get("user_metadata")),
        )

    # Segments

    def take_segments(self, items: list[Any]) -> None:
        for segment in items:
            if isinstance(segment, dict):
                self._take_segment(segment)

    def _take_segment(self, segment: dict[Any, Any]) -> None:
        blocks = segment.get("blocks")
        if isinstance(blocks, list):
            for block in blocks:
                self._take_block(block)
        self._place_blocks(whole(segment.get("address")))
        pool = segment.get("segment_pool_id")
        owner, number = pool if isinstance(pool, (tuple, list)) and len(pool) == 2 else (0, 0)
        size = max(whole(segment.get("total_size")), 0)
        self.segments.add(
            (
                min(max(whole(segment.get("device")), 0), DEVICES_AT_MOST),
                whole(segment.get("address")),
                size,
                whole(segment.get("allocated_size")),
                whole(segment.get("active_size")),
                whole(segment.get("requested_size")),
                self.shared.stream(segment.get("stream")),
                whole(owner),
                whole(number),
                int(segment.get("segment_type") == "large"),
                int(segment.get("is_expandable") is True),
                self.stacks.of_list(segment.get("frames")),
            ),
            len(self.blocks),
        )

    def _place_blocks(self, address: int) -> None:
        """torch 2.0 does not say where a block lies: behind the one before it."""
        for row in range(self.segments.first_block[-1], len(self.blocks)):
            if self.blocks.address[row] < 0:
                self.blocks.address[row] = address
            address = self.blocks.address[row] + self.blocks.size[row]

    def _take_block(self, block: Any) -> None:
        if not isinstance(block, dict):
            return
        size, frames, requested = max(whole(block.get("size")), 0), block.get("frames"), block.get("requested_size")
        history = block.get("history")  # torch 2.0: what lies there now comes first
        if isinstance(history, list) and history and isinstance(history[0], dict):
            frames = history[0].get("frames", frames) if frames is None else frames
            requested = history[0].get("real_size") if requested is None else requested
        state = block.get("state")
        self.blocks.add(
            whole(block.get("address", -1)),
            size,
            requested=size if requested is None else max(whole(requested), 0),
            state=STATES.get(state, int(BlockState.OTHER)) if isinstance(state, str) else int(BlockState.OTHER),
            stack=self.stacks.of_list(frames),
        )

    # What was gathered

    def finish(self) -> None:
        """After the last item: blocks of a segment that never ended belong to none."""
        self.blocks.drop_from(self.segments.first_block[-1])
        for gathering in self._gatherings:
            gathering.settle(at_end=True)

    def traces(self) -> tuple[DeviceTrace, ...]:
        return tuple(gathering.trace() for gathering in self._gatherings)

    def alive(self) -> Codes:
        """Which blocks were there already at the end of the range of events."""
        alive = np.ones(len(self.blocks), np.uint8)
        places = self.segments.first_block
        for (device, *_), first, end in zip(self.segments.rows, places, places[1:], strict=False):
            born = self._gatherings[device].born_later if device < len(self._gatherings) else ()
            for row in range(first, end) if born else ():
                alive[row] = self.blocks.address[row] not in born
        return alive


def _is_frame(value: Any) -> bool:
    return type(value) is FrameNumber or (type(value) is dict and "filename" in value)


def _note(told: dict[Any, Any]) -> SnapshotNote:
    name, stage = told.get("name"), told.get("stage")
    return SnapshotNote(
        name if isinstance(name, str) else "",
        stage if isinstance(stage, str) else "",
        whole(told.get("device")),
        whole(told.get("time_us")),
    )
