"""Asks NVML what the GPUs do while checks run, in a process of its own and on a thread of its own: nobody ever waits for it.

An NVML that hangs, crashes or is missing leaves what it would have told unknown, with the reason, and is not asked again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping
from threading import Event, Lock, Thread
from typing import Any

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import Text, text
from gpuassist.system.frames import FrameError
from gpuassist.system.nvml import Refusal
from gpuassist.system.own_child import clean
from gpuassist.system.piped_child import command, start_piped
from gpuassist.system.streams import Quiet
from gpuassist.system.worker import Worker
from gpuassist.system.world import World
from gpuassist.verify.load import SOURCE, DeviceLoad, Look, NvmlDevice, device, load_of

HIDDEN_ARGUMENT = "--watch-load"  # with which a frozen gpuassist starts itself: __main__
PERIOD_SECONDS = 0.5
DEVICES_SECONDS = 2.0
_HUNG_SECONDS = 30.0  # opening the driver wakes every card, which takes seconds each where persistence mode is off
_WAIT_SECONDS = 0.5  # between two questions whether to stop
_LOOKS_AT_MOST = 8000  # an hour and more
_JOIN_SECONDS = 0.3

Begin = Callable[[Mapping[str, str]], Worker]


def begin(variables: Mapping[str, str]) -> Worker:
    """The process that asks; raises `OSError` where it cannot be started."""
    return Worker(start_piped(command("gpuassist.verify.load_child", HIDDEN_ARGUMENT), clean(variables)))


def nvml_devices(world: World, seconds: float = DEVICES_SECONDS, start: Begin = begin) -> Fact[tuple[NvmlDevice, ...]]:
    """The GPUs of this machine as NVML lists them, or why it could not be asked within that time."""
    try:
        worker = start(world.surroundings.variables)
    except (OSError, ValueError) as error:
        return Unknown(_not_started(error))
    try:
        sent = worker.send({"ask": "devices"})
        answer = worker.receive(seconds) if sent else Quiet.CLOSED
    except FrameError:
        answer = Quiet.CLOSED
    finally:
        worker.kill()
        worker.end()
    return _devices(answer, seconds)


class LoadWatch:
    """Looks twice a second from `start` until `stop`; `load` tells of any time between. Its clock is the world's `monotonic`."""

    def __init__(self, world: World, *, period: float = PERIOD_SECONDS, begin: Begin = begin) -> None:
        self._world, self._period, self._begin = world, period, begin
        self._looks: deque[Look] = deque(maxlen=_LOOKS_AT_MOST)
        self._devices: Fact[tuple[NvmlDevice, ...]] = Unknown(text("NVML has not answered yet"))
        self._lock, self._over = Lock(), Event()
        self._worker: Worker | None = None
        self._thread = Thread(target=self._run, name="load-watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends it, whatever NVML does."""
        self._over.set()
        with self._lock:
            worker = self._worker
        if worker is not None:
            worker.kill()
        if self._thread.ident is not None:
            self._thread.join(_JOIN_SECONDS)

    @property
    def devices(self) -> Fact[tuple[NvmlDevice, ...]]:
        """The GPUs, or why they are not known (yet)."""
        with self._lock:
            return self._devices

    def load(self, since: float, until: float, ours: Collection[int] = ()) -> Fact[tuple[DeviceLoad, ...]]:
        """What each GPU did between two moments; `ours` are the processes that are no others' (the checks' own)."""
        with self._lock:
            devices, looks = self._devices, [look for look in self._looks if since <= look.at <= until]
        if isinstance(devices, Unknown):
            return devices
        return Known(tuple(load_of(one, looks, ours) for one in devices.value), devices.source)

    def _run(self) -> None:
        # The child dies with the thread that started it (`parent_end`), so it is started here.
        try:
            worker = self._begin(self._world.surroundings.variables)
        except (OSError, ValueError) as error:
            self._tell(Unknown(_not_started(error)))
            return
        with self._lock:
            self._worker = worker
        try:
            self._watch(worker)
        finally:
            worker.kill()
            worker.end()

    def _watch(self, worker: Worker) -> None:
        found = _devices(self._ask(worker, "devices"), _HUNG_SECONDS)
        self._tell(found)
        while isinstance(found, Known) and not self._over.wait(self._period):
            answer = self._ask(worker, "load")
            if not isinstance(answer, dict) or not isinstance(answer.get("gpus"), list):
                return  # what was seen until now is kept
            gpus = {one["index"]: one for one in answer["gpus"] if isinstance(one, dict) and isinstance(one.get("index"), int)}
            with self._lock:
                self._looks.append(Look(self._world.clock.monotonic(), gpus))

    def _ask(self, worker: Worker, what: str) -> Any:
        """The answer, or a `Quiet`: closed where the child has gone, silent where NVML hangs or nobody wants it any more."""
        if not worker.send({"ask": what}):
            return Quiet.CLOSED
        asked = self._world.clock.monotonic()
        while not self._over.is_set() and self._world.clock.monotonic() - asked < _HUNG_SECONDS:
            try:
                answer = worker.receive(_WAIT_SECONDS)
            except FrameError:
                return Quiet.CLOSED
            if answer is not Quiet.SILENT:
                return answer
        return Quiet.SILENT

    def _tell(self, devices: Fact[tuple[NvmlDevice, ...]]) -> None:
        with self._lock:
            self._devices = devices


def _devices(answer: Any, seconds: float) -> Fact[tuple[NvmlDevice, ...]]:
    if answer is Quiet.SILENT:
        return Unknown(text("NVML did not answer within {seconds:.0f} s, so the driver may hang", seconds=seconds))
    if not isinstance(answer, dict):
        return Unknown(text("the process that asks NVML ended: the driver's library may be damaged"))
    if not isinstance(answer.get("gpus"), list):
        return Unknown(_refused(answer.get("refused")))
    return Known(tuple(device(one) for one in answer["gpus"] if isinstance(one, dict)), SOURCE)


def _refused(told: Any) -> Text:
    refused = Refusal(told.get("code", 0), told.get("name", ""), told.get("words", "")) if isinstance(told, dict) else None
    if refused is None or not refused.name:
        return text("NVML could not be asked")
    return text("NVML could not be asked: {name} ({words})", name=refused.name, words=refused.words)


def _not_started(error: Exception) -> Text:
    return text("the process that asks NVML could not be started: {error}", error=str(error))
