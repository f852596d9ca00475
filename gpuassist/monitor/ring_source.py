"""Samples with torch's own figures in them: what a source says of each process, joined with what the process says of itself.

Where it says nothing, the fact says why, and what would change that.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessSample, Sample, TorchMemory
from gpuassist.model.text import Text, text, verbatim
from gpuassist.monitor.inside.gpuassist_memory import RUN
from gpuassist.monitor.rings import Ring, Rings, TorchDevice
from gpuassist.monitor.sources import EVERYTHING, Detail, NvmlSource, SampleSource
from gpuassist.system.files import Files
from gpuassist.system.process_names import NOT_VISIBLE
from gpuassist.system.world import World

OLD_SECONDS = 10.0
WHY_AGAIN_SECONDS = 60.0
_SAME_SECONDS = 1.0  # between the starts of one process, told from a clock that may be set a little meanwhile
_ENVIRONMENT_AT_MOST_BYTES = 1 << 17
_REASONS_AT_MOST = 4096
_MAPS_AT_MOST_BYTES = 1 << 21
_SOURCE = "torch.cuda.memory_stats"
SNAPSHOT = "snapshot"
"""The code of a mark that tells of torch's snapshot."""
_WITH_WORDS = frozenset("cmWX")  # options of Python that take the rest of their word, or the next one


def live_source(world: World, *, wanted: frozenset[Detail] = EVERYTHING) -> RingSource:
    """The GPUs of this machine, with what torch says in the programs that `gpuassist run` started."""
    return RingSource(NvmlSource(world, wanted=wanted), world)


class RingSource:
    """Wraps a source; used by one thread."""

    def __init__(self, source: SampleSource, world: World) -> None:
        self._source, self._clock = source, world.clock
        self._rings = Rings(world.files, world.surroundings)
        self._why = _Reasons(world.files)
        self._told: dict[int, _Told] = {}

    def read(self) -> Sample:
        sample = self._source.read()
        self._rings.look_around(self._clock.monotonic())
        for ring in self._rings.all():
            ring.refresh()
        gpus = tuple(self._joined(gpu) for gpu in sample.gpus)
        events = tuple(self._events(gpus))
        return replace(sample, gpus=gpus, events=(*sample.events, *events))

    def look_around(self) -> None:
        """Before the first sample: what ends from now on is news, however soon."""
        self._rings.look_around(self._clock.monotonic())

    def look_again(self) -> None:
        """From any thread: the next sample has what programs said that began, or ended, a moment before it."""
        self._rings.look_again()

    def close(self) -> None:
        self._source.close()
        self._rings.close()

    def interrupt(self) -> None:
        self._source.interrupt()

    @property
    def wanted(self) -> frozenset[Detail]:
        """What else is asked of each GPU: see `NvmlSource`."""
        return self._source.wanted if isinstance(self._source, NvmlSource) else EVERYTHING

    @wanted.setter
    def wanted(self, wanted: frozenset[Detail]) -> None:
        if isinstance(self._source, NvmlSource):
            self._source.wanted = wanted

    def _joined(self, gpu: GpuSample) -> GpuSample:
        if not isinstance(gpu.processes, Known) or not gpu.processes.value:
            return gpu
        processes = tuple(replace(one, torch=self._torch(gpu, one)) for one in gpu.processes.value)
        return replace(gpu, processes=Known(processes, gpu.processes.source))

    def _torch(self, gpu: GpuSample, process: ProcessSample) -> Fact[TorchMemory]:
        if isinstance(process.user, Unknown):
            return process.user
        ring = self._rings.of(process.pid)
        if ring is None or ring.state is None:
            return self._why.of(process, self._clock.monotonic())
        if ring.state.trouble:
            return Unknown(text("telling torch's figures failed in the program: {words}", words=ring.state.trouble))
        old = self._clock.since_boot() - ring.state.beat
        if old > OLD_SECONDS:
            return Unknown(
                text("the program has told nothing for {seconds} s: it is stopped, or busy in one long call", seconds=round(old))
            )
        device = next((one for one in ring.state.devices if _is_on(one, gpu)), None)
        return Known(device.memory, _SOURCE) if device is not None else _NOT_ON_THIS_GPU

    def _events(self, gpus: tuple[GpuSample, ...]) -> Iterator[Event]:
        """What torch's figures and notes say happened since the sample before; of a program that is new here, all that it tells."""
        rings = {ring.pid: ring for ring in self._rings.all()}
        for pid in self._told.keys() - rings.keys():
            del self._told[pid]
        for pid, ring in rings.items():
            if ring.state is None:
                continue
            told = self._told.get(pid, _Told())
            if ring.state.notes > told.notes:
                yield from _note_events(ring, told.notes, gpus)
            retries = {one.ordinal: one.memory.retries for one in ring.state.devices}
            for one in ring.state.devices:
                if pid in self._told and one.memory.retries > told.retries.get(one.ordinal, 0):
                    yield Event(ring.state.beat, EventKind.RETRY, _RETRY, _index(one, gpus), pid, str(one.memory.retries))
            self._told[pid] = _Told(ring.state.notes, retries)


class _Told(Struct, frozen=True):
    """What events were made of already."""

    notes: int = 0
    retries: dict[int, int] = {}


def _note_events(ring: Ring, since: int, gpus: tuple[GpuSample, ...]) -> Iterator[Event]:
    devices = {one.ordinal: one for one in ring.state.devices} if ring.state is not None else {}
    for note in ring.notes(since):
        kind = EventKind.OUT_OF_MEMORY if note.is_out_of_memory else EventKind.MARK
        device = devices.get(note.ordinal)
        gpu = _index(device, gpus) if device is not None else None
        if note.is_snapshot:
            yield Event(note.monotonic, kind, snapshot_words(note.words), gpu, ring.pid, SNAPSHOT)
            continue
        yield Event(note.monotonic, kind, verbatim(note.words), gpu, ring.pid, _SOURCE)


def snapshot_words(told: str) -> Text:
    """Where a snapshot lies, or why there is none, by what its note tells."""
    if told.startswith("/"):
        return text("torch's memory at the out-of-memory error is kept in {path}", path=told)
    return text("torch's memory at the out-of-memory error could not be kept: {words}", words=told)


def _index(device: TorchDevice, gpus: tuple[GpuSample, ...]) -> int | None:
    return next((gpu.index for gpu in gpus if _is_on(device, gpu)), None)


def _is_on(device: TorchDevice, gpu: GpuSample) -> bool:
    digits = value_or(gpu.uuid, "").lower().removeprefix("gpu-").removeprefix("mig-").replace("-", "")
    return bool(digits) and digits == device.uuid


class _Reason(Struct, frozen=True):
    """Why a process tells nothing, found at `looked`."""

    why: Unknown
    started: Fact[float]
    looked: float


class _Reasons:
    """Why processes tell nothing, looked up once in a while: what they were started as, and whether torch is in them at all."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._known: dict[int, _Reason] = {}

    def of(self, process: ProcessSample, now: float) -> Unknown:
        known = self._known.get(process.pid)
        if known is not None and now - known.looked < WHY_AGAIN_SECONDS and _is_same(known.started, process.started):
            return known.why
        if len(self._known) > _REASONS_AT_MOST:
            self._known.clear()
        reason = _Reason(Unknown(self._reason(process.pid)), process.started, now)
        self._known[process.pid] = reason
        return reason.why

    def _reason(self, pid: int) -> Text:
        try:
            environment = self._files.read_bytes(f"/proc/{pid}/environ", _ENVIRONMENT_AT_MOST_BYTES)
        except PermissionError:
            return text("torch's figures are for the user whose program it is, and not to be seen from here")
        except OSError:
            return NOT_VISIBLE.reason
        if not any(word.startswith(RUN.encode() + b"=") for word in environment.split(b"\0")):
            if b"libc10" not in self._files.head(f"/proc/{pid}/maps", _MAPS_AT_MOST_BYTES):
                return text("torch is not loaded in it")
            return text("it was not started by `gpuassist run -- COMMAND`, which adds what torch itself says")
        flag = _isolating(self._files.head(f"/proc/{pid}/cmdline", 1 << 16).split(b"\0"))
        if flag:
            return text(
                "Python was started with -{flag}, which keeps the part of `gpuassist run` out that would tell them", flag=flag
            )
        return text("torch has not started CUDA in it")


def _is_same(started: Fact[float], now: Fact[float]) -> bool:
    return isinstance(started, Known) and isinstance(now, Known) and abs(now.value - started.value) < _SAME_SECONDS


def _isolating(words: list[bytes]) -> str:
    """The option among Python's own that keeps a sitecustomize from being found: E, I or S; empty where none does."""
    if b"python" not in words[0].rpartition(b"/")[2]:
        return ""
    takes_next = False
    for word in words[1:]:
        option = word.decode("utf-8", "replace")
        if takes_next:
            takes_next = False
            continue
        if not option.startswith("-") or option.startswith("--") or option == "-":
            return ""
        for place, letter in enumerate(option[1:], 2):
            if letter in "EIS":
                return letter
            if letter in _WITH_WORDS:
                if letter in "cm":
                    return ""
                takes_next = place == len(option)
                break
    return ""


_NOT_ON_THIS_GPU = Unknown(text("torch has not started this GPU in it"))
_RETRY = text("torch gave back all that it kept, and tried again")
