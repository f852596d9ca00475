"""The segments of a device laid end to end on lines of pixels: how full each pixel is, and where segments begin. Without Qt."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from gpuassist.model.memory_snapshot import BlockState, MemorySnapshot
from gpuassist.session.memory_timeline import Places
from gpuassist.ui.plots.raster import Numbers

FULL = 8  # the number of a pixel that is all in use; 0 is one that is all free
AWAITING, BEGINS, NOTHING = 9, 10, 11
_WIDE_ENOUGH = 3  # pixels of a segment from which on its beginning is marked


class SegmentRow(Struct, frozen=True):
    """A segment and a block of it, as rows of their tables; no block where the segment has none there."""

    segment: int
    block: int | None


class SegmentMap:
    """Made once of a snapshot for a device: its segments, the largest first, each with its blocks by address."""

    def __init__(self, snapshot: MemorySnapshot, device: int) -> None:
        segments, blocks = snapshot.segments, snapshot.blocks
        own = np.flatnonzero(segments.device == device)
        self.segments: Places = own[np.argsort(-segments.size[own], kind="stable")]
        sizes = segments.size[self.segments]
        self.begins: Places = np.concatenate(([0], np.cumsum(sizes)))  # where each lies on the line of all
        counts = segments.first_block[self.segments + 1] - segments.first_block[self.segments]
        before = np.cumsum(counts) - counts
        self.blocks: Places = np.arange(int(counts.sum())) + np.repeat(segments.first_block[self.segments] - before, counts)
        owner = np.repeat(np.arange(len(self.segments)), counts)
        inside = blocks.address[self.blocks] - segments.address[self.segments][owner]
        room = sizes[owner]
        # A file may say anything: a block that does not lie in its segment is cut to it.
        self.starts: Places = self.begins[owner] + np.clip(inside, 0, room)
        self.ends: Places = np.minimum(self.starts + np.maximum(blocks.size[self.blocks], 0), self.begins[owner] + room)
        self._states = blocks.state[self.blocks]

    @property
    def total(self) -> int:
        return int(self.begins[-1])

    def at(self, offset: float) -> SegmentRow | None:
        """What lies at this many bytes from the beginning of the first."""
        if not 0 <= offset < self.total:
            return None
        segment = int(np.searchsorted(self.begins, offset, side="right")) - 1
        place = int(np.searchsorted(self.starts, offset, side="right")) - 1
        found = place >= 0 and offset < self.ends[place]
        return SegmentRow(int(self.segments[segment]), int(self.blocks[place]) if found else None)

    def next_start(self, offset: float, step: int) -> float:
        """Where the next block begins or, where `step` is -1, the one before."""
        if not len(self.starts):
            return 0.0
        place = int(np.searchsorted(self.starts, offset, side="right")) - 1 + step
        return float(self.starts[min(max(0, place), len(self.starts) - 1)])

    def paint(self, width: int, rows: int) -> Numbers:
        """Pixels in reading order, as rows of that width."""
        pixels = width * rows
        edges = np.linspace(0, self.total, pixels + 1)
        step = self.total / pixels if pixels and self.total else 1.0
        used = self._share(edges, BlockState.ACTIVE, step)
        picture: Numbers = np.ceil(np.clip(used, 0, 1) * FULL - 1e-9).astype(np.uint8)
        picture[self._share(edges, BlockState.AWAITING_FREE, step) > 0.5] = AWAITING
        wide = np.diff(self.begins) >= _WIDE_ENOUGH * step
        first = np.minimum((self.begins[:-1][wide] / step).astype(np.int64), pixels - 1)
        picture[first] = BEGINS
        return picture.reshape(rows, width)

    def _share(self, edges: np.ndarray[tuple[int], np.dtype[np.float64]], state: BlockState, step: float) -> Places:
        """How much of each pixel is in that state."""
        of_state = np.flatnonzero(self._states == state)
        if not len(of_state):
            return np.zeros(len(edges) - 1, np.int64)
        starts, ends = self.starts[of_state], self.ends[of_state]
        covered = np.concatenate(([0], np.cumsum(ends - starts)))
        corners = np.column_stack((starts, ends)).ravel()
        heights = np.column_stack((covered[:-1], covered[1:])).ravel()
        share: Places = np.diff(np.interp(edges, corners, heights)) / step
        return share
