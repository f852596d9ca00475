"""What is looked at in the live table, and how keys change it: no drawing, no terminal."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from enum import Enum

from msgspec import Struct

from gpuassist.detect.gpu_holders import GpuHolder
from gpuassist.model.sample import Event, GpuSample, Sample
from gpuassist.model.text import Text, text
from gpuassist.monitor.history import History
from gpuassist.monitor.labels import label_among
from gpuassist.monitor.pyramid import Window
from gpuassist.present.process_means import SPAN_ORDERS, Column, SpanColumn, SpanFigures, sorted_by
from gpuassist.present.process_table import Grouping, LiveRow, ProcessColumn, table_rows
from gpuassist.present.samples import WINDOWS_SECONDS
from gpuassist.session.insight import Insight
from gpuassist.session.watch import TOLD_KINDS

_FIRST_SECONDS = (30, 60, 300)  # a history that has just begun fills the curve, and does not stand at its edge
_FILTER_AT_MOST = 60
_TOLD_SECONDS, _TOLD_AT_MOST = 60.0, 3
KEY_WORDS: tuple[tuple[str, Text], ...] = (
    ("q", text("quit")),
    ("↑ ↓ PgUp PgDn Home End", text("move through the processes")),
    ("Enter", text("all of one process: its whole command, torch's figures")),
    ("s S", text("sort by the next or the previous column")),
    ("g", text("one line for each process, user, script or container: sums, and means over the time that is shown")),
    ("/", text("show what has these words: a name, a user, compute, graphics")),
    ("0 – 9, ← →", text("one GPU alone; the same key again, or Esc, for all")),
    ("+ −", text("more or less time in the curves")),
    ("w", text("what the figures mean: failures, what grows, what each GPU waits for, and what helps")),
    ("k Del", text("end the chosen process, where it is yours; you are asked first")),
    ("space", text("pause or resume; sampling continues meanwhile")),
    ("? h", text("these keys")),
    ("Ctrl-L", text("draw the screen anew")),
    ("Ctrl-Z", text("stop; fg continues")),
)
_LIVE_ONLY = frozenset({"k Del", "space", "Ctrl-L", "Ctrl-Z"})
REPLAY_KEY_WORDS: tuple[tuple[str, Text], ...] = (
    ("space", text("play or pause")),
    ("f", text("play faster: 1, 10, 60 times, and back to once")),
    (", .", text("one sample back or forward")),
    ("< >", text("a tenth of the shown time back or forward")),
    ("b e", text("to the beginning, or to the end and on with it")),
    ("p n", text("to the failure, error, alert or mark before, or to the next one")),
    *(one for one in KEY_WORDS if one[0] not in _LIVE_ONLY),
)
"""What keys do in a recording."""


class LowerPart(Enum):
    """What the lower part of the screen shows."""

    TABLE = "table"
    DETAILS = "details"
    INSIGHT = "insight"
    KEYS = "keys"


class LiveView:
    """Holds the newest sample that told something, or the one at which it was paused."""

    def __init__(self) -> None:
        self.sample: Sample | None = None
        self.trouble: tuple[Text, ...] = ()
        self.until: float | None = None  # of the curves, while paused
        self.gpu: int | None = None
        self.order: Column = ProcessColumn.MEMORY
        self.span: SpanFigures | None = None  # of the time that is shown
        self.grouping = Grouping.NONE
        self.filter = ""
        self.typing = False
        self.shown = LowerPart.TABLE
        self.chosen: tuple[str | int, ...] | None = None
        self.offset = 0
        self.scrolled = 0  # of the details or the keys
        self.seconds: float | None = None
        self.whole_seconds: float | None = None  # of a recording
        self.ends = False  # whether the chosen row's process is to be ended
        self.read: float | None = None  # the moment of the newest failure that was looked at
        self.widths: dict[str, int] = {}  # the widest that each column was, so that none goes to and fro
        self.page = 1
        self.listed = 0  # rows
        self.goes_on = False  # whether there is more than fits of what is read
        self._events: deque[tuple[float, Event]] = deque(maxlen=_TOLD_AT_MOST)
        self._newest: Sample | None = None
        self._rows: tuple[Sample | None, object, tuple[LiveRow, ...]] = (None, None, ())

    @property
    def paused(self) -> bool:
        return self.until is not None

    @property
    def newest(self) -> Sample | None:
        """The newest sample that told something, whatever is shown."""
        return self._newest

    def take(self, sample: Sample) -> None:
        """Another sample; one that tells nothing leaves the figures as they were, and says why."""
        self.trouble = sample.trouble
        self._events.extend((sample.time, event) for event in sample.events if event.kind in TOLD_KINDS)
        if not sample.gpus:
            return
        self._newest = sample
        if not self.paused:
            self.sample = sample

    def stand(self, sample: Sample | None, until: float, events: Iterable[tuple[float, Event]]) -> None:
        """Shows a moment of a recording, with what had happened."""
        self.sample, self._newest, self.until = sample, sample, until
        self.trouble = sample.trouble if sample is not None else ()
        self._events.clear()
        self._events.extend(events)

    def events(self, epoch: float) -> tuple[tuple[float, Event], ...]:
        """What happened in the last minute: when, and what."""
        return tuple((time, event) for time, event in self._events if 0 <= epoch - time < _TOLD_SECONDS)

    def gpus(self) -> tuple[GpuSample, ...]:
        """Those that are shown: all, or the chosen one with its MIG instances."""
        return tuple(gpu for gpu in self._all() if self.gpu is None or self.gpu in {gpu.index, gpu.parent})

    def label_of(self, index: int) -> str:
        """How a GPU is named: by its own machine's number."""
        return label_among(self._all(), index)

    def _all(self) -> tuple[GpuSample, ...]:
        """In the driver's order, and instances of MIG below their GPU."""
        gpus = self.sample.gpus if self.sample is not None else ()
        return tuple(sorted(gpus, key=lambda gpu: (gpu.index, -1) if gpu.parent is None else (gpu.parent, gpu.index)))

    def rows(self) -> tuple[LiveRow, ...]:
        key = (self.gpu, self.filter, self.grouping, self.order)
        # The sample itself is kept: another one may come to lie where one lay that has gone.
        if self._rows[0] is not self.sample or self._rows[1] != key:
            order = ProcessColumn.MEMORY if isinstance(self.order, SpanColumn) else self.order
            rows = table_rows(self.gpus(), wanted=self.filter, grouping=self.grouping, order=order)
            if isinstance(self.order, SpanColumn) and self.span is not None:
                rows = sorted_by(rows, self.order, self.span)
            self._rows = (self.sample, key, rows)
        return self._rows[2]

    def place(self) -> int:
        """Where the chosen row stands now; the first where it is none of them any more."""
        return next((place for place, row in enumerate(self.rows()) if row.key == self.chosen), 0)

    def chosen_row(self) -> LiveRow | None:
        rows = self.rows()
        return rows[self.place()] if rows else None

    def picked(self) -> LiveRow | None:
        """The row that was chosen, as long as it is there: no other one in its place."""
        return next((row for row in self.rows() if row.key == self.chosen), None)

    def window(self, columns: int, since: float, now: float) -> Window:
        """What the curves show: as much as was chosen, else what there is, up to five minutes."""
        until = now if self.until is None else self.until
        enough = next((float(one) for one in _FIRST_SECONDS if one >= until - since), float(_FIRST_SECONDS[-1]))
        seconds = self.seconds or self.whole_seconds or enough
        return Window(seconds, columns, until)

    def press(self, key: str, now: float) -> bool:
        """Does what a key means; false where it ends the table. `now` is on the history's axis."""
        if self.typing:
            self._type(key)
        elif key in {"q", "Q"}:
            return False
        elif key == "escape" and self.shown is LowerPart.TABLE:
            self.filter, self.gpu = "", None
        elif key in {"escape", "enter"} and self.shown is not LowerPart.TABLE:
            self.shown = LowerPart.TABLE
        elif key == "enter":
            self.shown, self.scrolled = LowerPart.DETAILS if self.rows() else LowerPart.TABLE, 0
        elif key in {"?", "h"}:
            self.shown, self.scrolled = LowerPart.TABLE if self.shown is LowerPart.KEYS else LowerPart.KEYS, 0
        elif key == "w":
            self.shown, self.scrolled = LowerPart.TABLE if self.shown is LowerPart.INSIGHT else LowerPart.INSIGHT, 0
        elif key == " ":
            self._pause(now)
        else:
            self._choose(key)
        return True

    def _type(self, key: str) -> None:
        if key == "enter":
            self.typing = False
        elif key == "escape":
            self.typing, self.filter = False, ""
        elif key in {"backspace", "delete"}:
            self.filter = self.filter[:-1]
        elif len(key) == 1 and key.isprintable():
            self.filter = (self.filter + key)[:_FILTER_AT_MOST]
        self.offset = 0

    def _choose(self, key: str) -> None:
        if key in {"s", "S"}:
            step = 1 if key == "s" else -1
            self.order = SPAN_ORDERS[(SPAN_ORDERS.index(self.order) + step) % len(SPAN_ORDERS)]
            self.offset, self.chosen = 0, None
        elif key == "g":
            kinds = list(Grouping)
            self.grouping = kinds[(kinds.index(self.grouping) + 1) % len(kinds)]
            self.offset, self.chosen = 0, None
        elif key in {"k", "delete"}:
            self.ends = self.shown in {LowerPart.TABLE, LowerPart.DETAILS}
        elif key == "/":
            self.typing, self.shown = True, LowerPart.TABLE
        elif key in {"+", "=", "-"}:
            self._zoom(-1 if key == "-" else 1)
        elif key.isdecimal() and key.isascii():
            self._only(int(key))
        elif key in {"left", "right"}:
            self._next_gpu(1 if key == "right" else -1)
        else:
            self._move(key)

    def _only(self, index: int) -> None:
        there = self.sample is not None and any(gpu.index == index for gpu in self.sample.gpus)
        if there:
            self.gpu = None if self.gpu == index else index

    def _next_gpu(self, step: int) -> None:
        indices: list[int | None] = [None, *(gpu.index for gpu in self._all())]
        place = indices.index(self.gpu) if self.gpu in indices else 0
        self.gpu = indices[(place + step) % len(indices)]

    def _zoom(self, step: int) -> None:
        now = self.seconds or self.whole_seconds or float(_FIRST_SECONDS[-1])
        longer, shorter = [one for one in WINDOWS_SECONDS if one > now], [one for one in WINDOWS_SECONDS if one < now]
        if longer and step > 0:
            self.seconds = float(longer[0])
        elif shorter and step < 0:
            self.seconds = float(shorter[-1])

    def _pause(self, now: float) -> None:
        if self.paused:
            self.until, self.sample = None, self._newest
        elif self.sample is not None:
            self.until = now

    def _move(self, key: str) -> None:
        rows = self.rows()
        moves = {"up": -1, "down": 1, "page-up": -self.page, "page-down": self.page, "home": -len(rows), "end": len(rows)}
        step = moves.get(key)
        if step is None:
            return
        if self.shown is not LowerPart.TABLE:
            self.scrolled = max(0, self.scrolled + step)
            return
        if not rows:
            return
        begins = 0 if self.chosen is None and step > 0 and key == "down" else self.place() + step
        self.chosen = rows[max(0, min(len(rows) - 1, begins))].key


class TableScene(Struct, frozen=True):
    """What is drawn: the view, its history and peaks, what is wrong (the figures are old, the driver fails), and the time in
    seconds since the epoch and on the history's axis; `since_epoch` is none where what there is of a history is not worth naming.

    `answer` is what `explain` says of the newest failure, line by line; `question` is the process that the user is asked about, and
    `notes` are what is told of something that was done. `replay` says which recording it is, where it is one, `recording` which
    file is recorded to, and `server` who watches the GPUs where that is not this machine. A screen that is printed has no keys.
    """

    view: LiveView
    history: History
    peaks: Mapping[int, int]
    since: float
    since_epoch: float | None
    epoch: float
    now: float
    stale: Text | None = None
    insight: Insight | None = None
    answer: tuple[str, ...] = ()
    question: GpuHolder | None = None
    notes: tuple[Text, ...] = ()
    replay: Text | None = None
    recording: str = ""
    server: str = ""
    has_keys: bool = True

    @property
    def replayed(self) -> bool:
        return self.replay is not None
