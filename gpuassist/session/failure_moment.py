"""The moment at which the memory did not suffice: what was said, who had how much of the card, and what helps.

Torch's own message tells most, where the program was started by `gpuassist run`; else its counters tell that it happened, and
for any other program there is only that it ended on a card that it had just filled, which proves nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.formats.desktop_programs import is_desktop
from gpuassist.model.fact import Known, value_or
from gpuassist.model.memory_picture import MemoryPicture
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessKind, ProcessSample, Sample
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.growth import NOTHING, Growth, Shape
from gpuassist.monitor.ring_source import SNAPSHOT
from gpuassist.system.process_names import script_name

if TYPE_CHECKING:
    from gpuassist.context import Session
    from gpuassist.formats.oom import OutOfMemory
    from gpuassist.model.machine import Machine
    from gpuassist.session.explain import Explanation

MOMENTS_AT_MOST = 64

_FULL = 0.98  # of the card
_GROWING_SECONDS = 60.0
_GROWING_BYTES = 64 << 20
_AGAIN_SECONDS = 5.0  # an error, the counter that counts it, and the end of the program are one moment
_RECENT_SECONDS = 10.0
_RECENT_AT_MOST = 128
_SMALL = 1 << 30
_ROUNDING = 1.01


_GREW = "Until then the GPU memory of the program kept increasing with every step."


class Witness(str, Enum):
    """By what it is known: torch's words, its counter, or only that a program which was growing ended on a full card."""

    MESSAGE = "message"
    COUNTER = "counter"
    ENDED = "ended"


class FailureMoment(Struct, frozen=True):
    """One out-of-memory; times as a sample's. `message` is torch's, or where there is none what is known in the same words.

    `desktop_bytes` is what the desktop had of the card, `growth` what the program's memory did until then, `snapshot` where torch's
    own snapshot of it lies, if there is one.
    """

    time: float
    monotonic: float
    gpu: int
    witness: Witness
    message: str
    pid: int | None = None
    command: str = ""
    picture: MemoryPicture | None = None
    desktop_bytes: int = 0
    growth: Growth = NOTHING
    snapshot: str = ""

    @property
    def to_explain(self) -> str:
        """What is known of it as a text that `explain` reads: the message, and what no message says, that it grew until then."""
        return f"{self.message}\n{_GREW}" if self.growth.shape is Shape.REFERENCES_KEPT else self.message

    @property
    def certain(self) -> bool:
        return self.witness is not Witness.ENDED


class FailureMoments:
    """Takes samples one after the other, and keeps the newest moments."""

    def __init__(self) -> None:
        self.all: deque[FailureMoment] = deque(maxlen=MOMENTS_AT_MOST)
        self._recent: deque[Sample] = deque(maxlen=_RECENT_AT_MOST)
        self._ooms: dict[tuple[int, int], int] = {}
        self._least: dict[tuple[int, int], deque[tuple[float, int]]] = {}

    def look(self, sample: Sample, until_now: Callable[[int, int], tuple[Growth, int]]) -> tuple[Event, ...]:
        """Events for those that this sample shows and that nobody has told of; a new moment stands in `all` for each.

        `until_now` tells of a GPU and a process what its memory did before, and how much of it is cuBLAS's workspace.
        """
        known = tuple(event for event in sample.events if event.kind is EventKind.OUT_OF_MEMORY)
        for event in known:
            self._keep(event, sample, until_now)
        self._take_snapshots(sample)
        new = (event for event in (*self._counted(sample), *self._ended(sample)) if not self._is_known(event))
        made = tuple(event for event in new if self._keep(event, sample, until_now))
        self._remember(sample)
        return made

    def replay(self, sample: Sample, until_now: Callable[[int, int], tuple[Growth, int]]) -> None:
        """Takes in a sample that was recorded, with its events; `until_now` is as for `look`."""
        for event in sample.events:
            if event.kind is EventKind.OUT_OF_MEMORY:
                self._keep(event, sample, until_now)
        self._take_snapshots(sample)
        self._pass(sample)

    def _take_snapshots(self, sample: Sample) -> None:
        """A snapshot is told of behind the error's own words, as soon as it is written."""
        for event in sample.events:
            path = dict(event.text.parameters).get("path") if event.code == SNAPSHOT else None
            place = next((place for place in range(len(self.all) - 1, -1, -1) if self.all[place].pid == event.pid), None)
            if path is not None and place is not None:
                self.all[place] = replace(self.all[place], snapshot=str(path))

    def _keep(self, event: Event, sample: Sample, until_now: Callable[[int, int], tuple[Growth, int]]) -> bool:
        basis = self._just_before(event, sample)
        moment = _moment(event, sample, basis)
        if moment is None:
            return False
        growth, workspace = until_now(moment.gpu, moment.pid or 0)
        self.all.append(_with_picture(replace(moment, growth=growth), basis, workspace))
        return True

    def _just_before(self, event: Event, sample: Sample) -> Sample:
        """The newest sample that has the program: it may have gone before its words were read."""
        having = [one for one in (*self._recent, sample) if _has(one, event.gpu, event.pid)]
        # The one with the event itself is of a later moment, in which everything may be freed again.
        earlier = [one for one in having if one is not sample]
        if earlier or having:
            return (earlier or having)[-1]
        return self._recent[-1] if self._recent else sample

    def _pass(self, sample: Sample) -> None:
        if sample.gpus:
            self._recent.append(sample)
        while self._recent and self._recent[0].monotonic < sample.monotonic - _RECENT_SECONDS:
            self._recent.popleft()

    def _is_known(self, event: Event) -> bool:
        return any(
            one.pid == event.pid and one.gpu == event.gpu and event.monotonic - one.monotonic <= _AGAIN_SECONDS for one in self.all
        )

    def _counted(self, sample: Sample) -> Iterator[Event]:
        for gpu, process in _computing(sample):
            if isinstance(process.torch, Known):
                before = self._ooms.get((gpu.index, process.pid))
                if before is not None and process.torch.value.ooms > before:
                    yield Event(sample.monotonic, EventKind.OUT_OF_MEMORY, _COUNTED, gpu.index, process.pid, Witness.COUNTER.value)

    def _ended(self, sample: Sample) -> Iterator[Event]:
        """Programs that filled the card within the last minute and are gone; those that take all of it when they start are none."""
        before = self._recent[-1] if self._recent else sample
        gone = {(event.gpu, event.pid) for event in sample.events if event.kind is EventKind.EXITED}
        if not gone:
            return
        for gpu, process in _computing(before):
            key = (gpu.index, process.pid)
            used, total = gpu.memory_used_bytes, gpu.memory_total_bytes
            if key not in gone or isinstance(process.torch, Known) or not isinstance(used, Known) or not isinstance(total, Known):
                continue
            history = self._least.get(key, ())
            grown = value_or(process.memory_used_bytes, 0) - min((count for _, count in history), default=0)
            if used.value >= _FULL * total.value and len(history) > 1 and grown >= _GROWING_BYTES:
                yield Event(sample.monotonic, EventKind.OUT_OF_MEMORY, _ENDED, gpu.index, process.pid, Witness.ENDED.value)

    def _remember(self, sample: Sample) -> None:
        self._pass(sample)
        present = set()
        for gpu, process in _computing(sample):
            key = (gpu.index, process.pid)
            present.add(key)
            if isinstance(process.torch, Known):
                self._ooms[key] = process.torch.value.ooms
            if isinstance(process.memory_used_bytes, Known):
                history = self._least.setdefault(key, deque(maxlen=4096))
                history.append((sample.monotonic, process.memory_used_bytes.value))
                while history[0][0] < sample.monotonic - _GROWING_SECONDS:
                    history.popleft()
        if sample.gpus:
            for kept in (self._ooms, self._least):
                for key in kept.keys() - present:
                    del kept[key]


_COUNTED = text("out of memory, as counted by torch; its message is not known")
_ENDED = text("the program ended when the card was full, perhaps out of memory")


def explained(session: Session, moment: FailureMoment, machine: Machine | None) -> Explanation:
    """What helps, by the same answer that pasting the message would give."""
    from gpuassist.session.explain import explain  # half of what knows messages: a watch in which nothing fails needs none of it

    return explain(session, moment.to_explain, machine)


def _moment(event: Event, sample: Sample, basis: Sample) -> FailureMoment | None:
    gpu = event.gpu
    if gpu is None:
        gpu = next((one.index for one in basis.gpus if any(p.pid == event.pid for p in value_or(one.processes, ()))), None)
    if gpu is None:
        return None
    process = _process(basis, gpu, event.pid) or _process(sample, gpu, event.pid)
    own = event.code in _WITNESSES
    words = "" if own else ENGLISH(event.text)
    return FailureMoment(
        time=sample.time - (sample.monotonic - event.monotonic),
        monotonic=event.monotonic,
        gpu=gpu,
        witness=Witness(event.code) if own else Witness.MESSAGE,
        message=words,
        pid=event.pid,
        command=value_or(process.command, "") if process is not None else "",
    )


def _with_picture(moment: FailureMoment, sample: Sample, workspace: int) -> FailureMoment:
    """With what the card held, by the message as far as that goes, and by the sample just before it for the rest."""
    from gpuassist.diagnose.memory import contradiction
    from gpuassist.diagnose.memory_parts import picture_of
    from gpuassist.formats.oom import OutOfMemory, Platform, message_of, principal

    gpu = _gpu(sample, moment.gpu)
    if gpu is None:
        return moment
    told = principal(moment.message) if moment.message else None
    if told is not None and (told.platform is not Platform.CUDA or contradiction(told) is not None):
        told = None
    figures = _figures(told or OutOfMemory(device=moment.gpu), gpu, moment.pid)
    commands = {one.pid: value_or(one.command, "") for one in value_or(gpu.processes, ())}
    picture = picture_of(figures, named=lambda pid: script_name(commands.get(pid, "")), workspace=workspace)
    if picture is not None:
        # Torch counts only those GPUs that its program sees, so that its number may be another one here.
        notes = picture.notes if workspace or (figures.allocated or _SMALL) >= _SMALL else (*picture.notes, _WORKSPACE)
        picture = replace(picture, device=moment.gpu, notes=notes)
    desktop = sum(
        value_or(one.memory_used_bytes, 0) for one in value_or(gpu.processes, ()) if is_desktop(value_or(one.command, ""))
    )
    return replace(moment, picture=picture, desktop_bytes=desktop, message=moment.message or message_of(figures))


_WORKSPACE = text(
    "Where a matrix product ran, 8.1 MiB of what the tensors have, for each stream, are cuBLAS's workspace (32 MiB on Hopper and"
    " newer): kept on purpose, and no leak."
)


def _figures(told: OutOfMemory, gpu: GpuSample, pid: int | None) -> OutOfMemory:
    """What the message says, and what was seen of the card and of those on it where it says nothing."""
    from gpuassist.formats.oom import ProcessUse

    process = next((one for one in value_or(gpu.processes, ()) if one.pid == pid), None)
    total = told.total or value_or(gpu.memory_total_bytes, 0) or None
    free = told.free if told.free is not None else value_or(gpu.memory_free_bytes, None)
    listed = tuple(one for one in told.processes if one.pid != pid)
    own = told.own or next((one.used_bytes for one in told.processes if one.pid == pid), None)
    if process is not None:
        own = own or value_or(process.memory_used_bytes, None)
        if told.allocated is None and isinstance(process.torch, Known):
            torch = process.torch.value
            told = replace(told, allocated=torch.allocated_bytes, unallocated=max(0, torch.reserved_bytes - torch.allocated_bytes))
    if own is not None and told.reserved is not None and own < told.reserved:
        own = None  # it has grown since it was seen
    others = [
        ProcessUse(one.pid, one.memory_used_bytes.value)
        for one in value_or(gpu.processes, ())
        if one.pid != pid and isinstance(one.memory_used_bytes, Known) and one.memory_used_bytes.value
    ]
    new = tuple(one for one in others if one.pid not in {known.pid for known in listed})
    if total is not None:
        room = total - (free or 0) - (own or told.reserved or 0) - sum(one.used_bytes for one in listed)
        if sum(one.used_bytes for one in new) > room * _ROUNDING:
            new = ()  # they have given some back since they were seen
    return replace(told, total=total, free=free, own=own, processes=(*listed, *new))


def _has(sample: Sample, gpu: int | None, pid: int | None) -> bool:
    return any(one.pid == pid for card in sample.gpus if gpu in {None, card.index} for one in value_or(card.processes, ()))


def _gpu(sample: Sample, index: int) -> GpuSample | None:
    return next((one for one in sample.gpus if one.index == index), None)


def _process(sample: Sample, index: int, pid: int | None) -> ProcessSample | None:
    gpu = _gpu(sample, index)
    return next((one for one in value_or(gpu.processes, ()) if one.pid == pid), None) if gpu is not None else None


def _computing(sample: Sample) -> Iterator[tuple[GpuSample, ProcessSample]]:
    for gpu in sample.gpus:
        for process in value_or(gpu.processes, ()):
            if value_or(process.kind, ProcessKind.COMPUTE) is not ProcessKind.GRAPHICS:
                yield gpu, process


_WITNESSES = frozenset(one.value for one in Witness)
