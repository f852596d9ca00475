"""Which events of a file are kept: a range chosen before it is read, so that a part of a huge history costs little memory."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.formats.torch_snapshot.columns import EventColumns, HeldColumns
from gpuassist.model.memory_snapshot import DeviceTrace, TraceAction

_SPARE = 1 << 16  # events that are held beyond the range until they are looked through together


class EventRange(Struct, frozen=True):
    """The events from number `first` up to, and without, `end`, of each device; `end` None for up to the last. A negative `first`
    is that many from the last, and has no `end`.
    """

    first: int = 0
    end: int | None = None


EVERYTHING = EventRange()

_ALLOC, _FREED, _LET_GO = int(TraceAction.ALLOC), int(TraceAction.FREE_COMPLETED), int(TraceAction.FREE_REQUESTED)
_MORE = (int(TraceAction.SEGMENT_ALLOC), int(TraceAction.SEGMENT_MAP))
_LESS = (int(TraceAction.SEGMENT_FREE), int(TraceAction.SEGMENT_UNMAP))


class TraceGathering:
    """The events of one device in their order. What lies outside the range leaves behind what was allocated at its ends."""

    def __init__(self, device: int, wanted: EventRange) -> None:
        self.device, self._wanted = device, wanted
        self.columns = EventColumns()
        self.born_later: set[int] = set()
        self._dropped = 0  # before the range
        self._after = 0
        self._live: dict[int, tuple[int, int]] = {}
        self._let_go: set[int] = set()  # of those that live: in a recording without completed frees they are gone
        self._completes = False
        self._later = HeldColumns()
        self._reserved_later = 0

    def settle(self, *, at_end: bool = False) -> None:
        """Lets go of what is not wanted, now and then."""
        if self._wanted == EVERYTHING or (len(self.columns) < _SPARE and not at_end):
            return
        first, end = self._wanted.first, self._wanted.end
        if first < 0:
            if at_end or len(self.columns) > _SPARE - first:
                self._drop_before(len(self.columns) + first)
            return
        if end is not None:
            self._drop_after(max(end - self._dropped, 0))
        self._drop_before(first - self._dropped)

    def _drop_before(self, count: int) -> None:
        count = min(count, len(self.columns))
        if count <= 0:
            return
        live, let_go = self._live, self._let_go
        rows = zip(
            self.columns.action[:count],
            self.columns.address[:count],
            self.columns.size[:count],
            self.columns.stack[:count],
            strict=True,
        )
        for action, address, size, stack in rows:
            if action == _ALLOC:
                live[address] = (size, stack)
                let_go.discard(address)
            elif action == _LET_GO:
                let_go.add(address)
            elif action == _FREED:
                live.pop(address, None)
                let_go.discard(address)
                self._completes = True
        self._dropped += count
        self.columns.drop(0, count)

    def _drop_after(self, count: int) -> None:
        if self._after and count > len(self.columns):
            count = len(self.columns)
        extra = len(self.columns) - count
        if extra <= 0:
            return
        rows = zip(
            self.columns.action[count:],
            self.columns.address[count:],
            self.columns.size[count:],
            self.columns.stack[count:],
            strict=True,
        )
        for action, address, size, stack in rows:
            if action == _ALLOC:
                self.born_later.add(address)
            elif action == _FREED:
                if address in self.born_later:
                    self.born_later.discard(address)
                else:
                    self._later.add(address, size, stack)
            elif action in _MORE:
                self._reserved_later += size
            elif action in _LESS:
                self._reserved_later -= size
        self._after += extra
        self.columns.drop(count, count + extra)

    def trace(self) -> DeviceTrace:
        """What was gathered, after the last event."""
        earlier = HeldColumns()
        gone: set[int] = set() if self._completes or _FREED in self.columns.action else self._let_go
        for address, (size, stack) in self._live.items():
            if address not in gone:
                earlier.add(address, size, stack)
        recorded = self._dropped + len(self.columns) + self._after
        return DeviceTrace(
            self.device, self.columns.table(), recorded, self._dropped, earlier.table(), self._later.table(), self._reserved_later
        )
