"""How full each pixel of the segments' picture is, and what lies where, also where a file says what cannot be."""

from __future__ import annotations

import numpy as np

from gpuassist.model.memory_snapshot import BlockState
from gpuassist.ui.plots.segment_raster import BEGINS, FULL, SegmentMap, SegmentRow
from tests.ui.made_snapshots import MIB, opened_snapshot


def test_pixels_are_as_full_as_their_memory() -> None:
    shown = SegmentMap(opened_snapshot().snapshot, 0)
    assert shown.total == 128 * MIB
    (line,) = shown.paint(128, 1)  # a MiB a pixel: 64 used, 32 free, 24 used, 8 free
    assert line[0] == BEGINS
    assert line[1:].tolist() == [FULL] * 63 + [0] * 32 + [FULL] * 24 + [0] * 8
    (coarse,) = shown.paint(4, 1)
    assert coarse.tolist() == [BEGINS, FULL, 0, FULL * 3 // 4]


def test_what_lies_where_is_found() -> None:
    snapshot = opened_snapshot().snapshot
    shown = SegmentMap(snapshot, 0)
    states = [
        snapshot.blocks.state[row.block]
        for at in (0, 70, 100, 127)
        if (row := shown.at(at * MIB)) is not None and row.block is not None
    ]
    assert states == [BlockState.ACTIVE, BlockState.INACTIVE, BlockState.ACTIVE, BlockState.INACTIVE]
    assert shown.at(-1) is None
    assert shown.at(128 * MIB) is None
    assert [shown.next_start(at * MIB, 1) // MIB for at in (0, 70, 127)] == [64, 96, 120]
    assert [shown.next_start(at * MIB, -1) // MIB for at in (0, 70, 127)] == [0, 0, 112]


def test_blocks_beyond_their_segment_are_cut_to_it() -> None:
    snapshot = opened_snapshot().snapshot
    snapshot.blocks.size.flags.writeable = True
    snapshot.blocks.size[:] = np.array([1 << 62, -5, 0, 7 * MIB, 1 << 40, 3])
    shown = SegmentMap(snapshot, 0)
    assert (shown.ends <= 128 * MIB).all()
    assert (shown.ends >= shown.starts).all()
    assert shown.paint(100, 7).shape == (7, 100)


def test_a_device_without_segments_is_empty() -> None:
    shown = SegmentMap(opened_snapshot().snapshot, 5)
    assert shown.total == 0
    assert shown.at(0) is None
    assert shown.next_start(0, 1) == 0
    assert shown.paint(10, 2).tolist() == [[0] * 10] * 2
    assert SegmentRow(0, None).block is None
