"""What a plot of allocations shows: columns of bands for its pixels, and whose block lies where. Without Qt.

The bands are the owners that hold most, each in a colour that stays its own; all others are one, the lowest.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from gpuassist.session.memory_timeline import MemoryTimeline, Places, SparseCurve
from gpuassist.ui.plots.allocation_view import AllocationView
from gpuassist.ui.plots.colour_table import COLOURS
from gpuassist.ui.plots.raster import RasterColumns


class PointedAt(Struct, frozen=True):
    """A point with its total, and whose band lies at that height: `held` is all of that owner's, `row` the block, `blocks` how many
    it had. No owner where the height is above the total.
    """

    point: int
    total: int
    owner: int | None = None
    held: int = 0
    row: int = -1
    blocks: int = 0


class AllocationScene:
    """A timeline, which of its owners have a band, and what of it was last asked for."""

    def __init__(self, timeline: MemoryTimeline, reserved: SparseCurve | None = None) -> None:
        self.timeline, self.reserved = timeline, reserved
        self.owners: tuple[int, ...] = ()  # from the bottom of the stack
        self._colours: dict[int, int] = {}
        self._columns: RasterColumns | None = None
        self._seen: tuple[Places, Places] = (np.empty(0, np.int64), np.empty(0, np.int64))
        self._at: Places = np.empty(0, np.int64)
        self._shares: tuple[int, Places] | None = None

    @property
    def top(self) -> int:
        """The greatest figure that is ever drawn."""
        most = int(self.timeline.total.values.max())
        return max(most, int(self.reserved.values.max())) if self.reserved is not None else most

    def largest(self, at: int, count: int = COLOURS) -> tuple[int, ...]:
        """The owners that held most at a point, the largest first."""
        shares = self.shares(at)
        few = np.argpartition(shares, -min(count, len(shares)))[-count:] if len(shares) else np.empty(0, np.int64)
        return tuple(int(owner) for owner in few[np.argsort(-shares[few], kind="stable")] if shares[owner] > 0)

    def choose(self, owners: tuple[int, ...]) -> bool:
        """These have a band from now on, the first at the bottom; who has one already keeps its colour. True where that is new."""
        if owners == self.owners:
            return False
        kept = {owner: self._colours[owner] for owner in owners if owner in self._colours}
        free = iter(sorted(set(range(COLOURS)) - set(kept.values())))
        self._colours = kept | {owner: next(free) for owner in owners if owner not in kept}
        self.owners = owners
        return True

    def colour_of(self, owner: int) -> int | None:
        return self._colours.get(owner)

    @property
    def series(self) -> tuple[int, ...]:
        """The colours of the bands."""
        return tuple(self._colours[owner] for owner in self.owners)

    def columns(self, view: AllocationView, width: int) -> RasterColumns:
        """A column a pixel: each shows how the greatest total in it was made up."""
        self._seen = view.columns(width)
        found = self.timeline.total.extremes(*self._seen)
        self._at = found.at
        bands = self.timeline.held(np.array(self.owners, np.int64), found.at) if self.owners else ()
        self._columns = RasterColumns(
            view.left,
            view.span / width,
            found.lows.astype(np.float64),
            found.highs.astype(np.float64),
            tuple(band.astype(np.float64) for band in bands),
        )
        return self._columns

    def reserved_columns(self) -> RasterColumns | None:
        """What torch had reserved, of the same columns."""
        if self.reserved is None or self._columns is None:
            return None
        lows, highs = self.reserved.bounds(*self._seen)
        return RasterColumns(self._columns.since, self._columns.step, lows.astype(np.float64), highs.astype(np.float64))

    def shares(self, at: int) -> Places:
        """What every owner held at a point."""
        if self._shares is None or self._shares[0] != at:
            self._shares = at, self.timeline.shares(at)
        return self._shares[1]

    def point_at(self, column: int) -> int:
        """The point that a column shows: where its total was greatest."""
        return int(self._at[min(max(0, column), len(self._at) - 1)]) if len(self._at) else 0

    def point_at_height(self, column: int, height: float) -> PointedAt:
        """Who owns what lies at this height, in bytes, of a column."""
        return self.owner_at(self.point_at(column), height)

    def owner_at(self, point: int, height: float) -> PointedAt:
        """Who owns what lies at this height, in bytes, of a point."""
        total = int(self.timeline.total.values[point])
        owners, bottoms = self._stack(point)
        if not 0 <= height < total or not len(owners):
            return PointedAt(point, total)
        place = int(np.searchsorted(bottoms, height, side="right")) - 1
        return self._block(point, int(owners[place]), height - bottoms[place])

    def next_band(self, point: int, owner: int | None, step: int) -> PointedAt:
        """The band above an owner's or, where `step` is -1, below it; the lowest or the highest where there is no owner."""
        owners, _ = self._stack(point)
        if not len(owners):
            return PointedAt(point, int(self.timeline.total.values[point]))
        found = np.flatnonzero(owners == (-1 if owner is None else owner))
        at = int(found[0]) + step if len(found) else (0 if step > 0 else len(owners) - 1)
        chosen = int(owners[min(max(0, at), len(owners) - 1)])
        return self._block(point, chosen, float(self.shares(point)[chosen]))

    def middle_of(self, pointed: PointedAt) -> float:
        """The height of the middle of an owner's band."""
        owners, bottoms = self._stack(pointed.point)
        found = np.flatnonzero(owners == (-1 if pointed.owner is None else pointed.owner))
        return float(bottoms[found[0]]) + pointed.held / 2 if len(found) else 0.0

    def _stack(self, point: int) -> tuple[Places, Places]:
        """The owners from the bottom, and where their bands begin: the many small first, the largest of them lowest."""
        shares = self.shares(point)
        coloured = np.array(self.owners, np.int64)
        rest = shares.copy()
        rest[coloured] = 0
        small = np.flatnonzero(rest)
        small = small[np.argsort(-rest[small], kind="stable")]
        order = np.concatenate((small, coloured[shares[coloured] > 0]))
        return order, np.cumsum(shares[order]) - shares[order]

    def _block(self, point: int, owner: int, height: float) -> PointedAt:
        """The block of an owner at a height within its band: the oldest lies lowest."""
        rows = self.timeline.alive(owner, point)
        tops = np.cumsum(self.timeline.lives.sizes[rows])
        row = rows[min(int(np.searchsorted(tops, height, side="right")), len(rows) - 1)] if len(rows) else -1
        held = int(tops[-1]) if len(tops) else 0
        return PointedAt(point, int(self.timeline.total.values[point]), owner, held, int(row), len(rows))
