"""The board in a process of its own (`monitor.sampling_child`): started when it is first asked, killed where it hangs, replaced
where it died, and not for ever.

Several tries a second apart help where the driver is being replaced at that very moment; more of them would only fill the kernel's
log, so a library that crashes again and again is left alone. A driver that does not answer is waited for, because cards that wake
without persistence mode take seconds each; meanwhile every reading says for how long it has been waited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Union

from gpuassist.model.text import Text, text
from gpuassist.monitor.start import start
from gpuassist.system.clock import Clock
from gpuassist.system.frames import FrameError
from gpuassist.system.streams import Ended, Quiet
from gpuassist.system.worker import Worker

FIRST_ANSWER_SECONDS = 10.0  # opening the driver wakes every card
ANSWER_SECONDS = 3.0
STILL_NONE_SECONDS = 1.0  # between two readings while one is waited for
HUNG_SECONDS = 60.0
CRASHES_AT_MOST = 5
STUCK_AT_MOST = 3
LONGEST_PAUSE_SECONDS = 60.0
_SOUND_SECONDS = 60.0  # a child that lived so long has nothing to do with those before it
_CLOSING_SECONDS = 0.1

Addresses = Union[Sequence[tuple[int, str]], None]
Trouble = tuple[Text, ...]
Answer = Union[Mapping[str, Any], Trouble]


def _worker(variables: Mapping[str, str]) -> Worker:
    return Worker(start(variables))


class BoardAnswers(Protocol):
    """Whom a source asks: `monitor.board.Board` in this very process, or this one."""

    @property
    def waited(self) -> float:
        """For how many seconds nothing has answered; 0 where something does, or says why not."""

    def read(self, addresses: Addresses, wanted: Sequence[str] = ()) -> Answer:
        """See `Board.read`; or why there is no answer."""

    def close(self) -> None:
        """Lets go of the driver."""

    def interrupt(self) -> None:
        """From any thread: a `read` that waits returns at once."""


class RemoteBoard:
    """Used by one thread, but for `interrupt`."""

    def __init__(self, clock: Clock, variables: Mapping[str, str], begin: Callable[[Mapping[str, str]], Worker] = _worker) -> None:
        self._clock, self._variables, self._begin = clock, variables, begin
        self._worker: Worker | None = None
        self._stuck: list[Worker] = []
        self._trouble: Trouble = ()
        self._asked_at: float | None = None
        self._started_at = self._again_at = 0.0
        self._has_answered = False
        self._crashes = self._hangs = 0
        self._silent_since: float | None = None

    @property
    def waited(self) -> float:
        return 0.0 if self._silent_since is None else self._clock.monotonic() - self._silent_since

    def read(self, addresses: Addresses, wanted: Sequence[str] = ()) -> Answer:
        if self._worker is None and not self._start():
            return self._trouble
        assert self._worker is not None
        patience = STILL_NONE_SECONDS
        if self._asked_at is None:
            self._asked_at = self._clock.monotonic()
            patience = ANSWER_SECONDS if self._has_answered else FIRST_ANSWER_SECONDS
            if not self._worker.send({"addresses": addresses, "wanted": tuple(wanted)}):
                return self._bury("")
        try:
            answer = self._worker.receive(patience)
        except FrameError as error:
            return self._bury(str(error))
        if answer is Quiet.SILENT:
            return self._wait_on()
        if not isinstance(answer, dict) or "failed" in answer:
            return self._bury("" if answer is Quiet.CLOSED else str(answer.get("failed", "")) if isinstance(answer, dict) else "")
        self._asked_at, self._silent_since, self._has_answered = None, None, True
        waited = _silent_for(answer)
        if waited >= HUNG_SECONDS:
            return self._give_up(waited)
        self._hangs = 0 if waited == 0 else self._hangs
        return answer

    def close(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            self._end(worker, patience=_CLOSING_SECONDS if self._asked_at is None else 0.0)
        self._asked_at = None

    def interrupt(self) -> None:
        worker = self._worker
        if worker is not None:
            worker.kill()

    def _start(self) -> bool:
        now = self._clock.monotonic()
        self._stuck = [worker for worker in self._stuck if worker.is_there]
        if len(self._stuck) >= STUCK_AT_MOST:
            self._trouble = (_STUCK,)
            return False
        if self._crashes >= CRASHES_AT_MOST or now < self._again_at:
            return False
        try:
            self._worker = self._begin(self._variables)
        except (OSError, ValueError) as error:
            self._worker = None
            self._trouble = (text("the process that asks NVML could not be started: {error}", error=str(error)),)
            self._again_at = now + LONGEST_PAUSE_SECONDS
            return False
        self._started_at, self._asked_at, self._has_answered = now, None, False
        return True

    def _wait_on(self) -> Trouble:
        """It did not answer yet."""
        assert self._asked_at is not None
        self._silent_since = self._asked_at if self._silent_since is None else self._silent_since
        assert self._worker is not None
        waited = self._clock.monotonic() - self._asked_at
        return self._give_up(waited) if waited >= HUNG_SECONDS else (silence(waited),)

    def _give_up(self, waited: float) -> Trouble:
        """The process that waits is ended, and another one asked."""
        assert self._worker is not None
        self._end(self._worker, patience=0.0)
        self._hangs += 1
        pause = self._pause(self._hangs)
        self._trouble = (
            silence(waited),
            text("The process that waited for it was ended; it is asked again in {seconds:.0f} s", seconds=pause),
        )
        return self._trouble

    def _bury(self, words: str) -> Trouble:
        """It is gone, or says what nobody understands."""
        assert self._worker is not None
        self._silent_since = None
        if self._clock.monotonic() - self._started_at > _SOUND_SECONDS:
            self._crashes = 0
        self._crashes += 1
        ended = self._end(self._worker, patience=_CLOSING_SECONDS if not words else 0.0)
        pause = self._pause(self._crashes)
        if self._crashes >= CRASHES_AT_MOST:
            then = text("That was the {count}th time, so it is not asked again until this is started anew", count=self._crashes)
        else:
            then = text("It is asked again in {seconds:.0f} s", seconds=pause)
        self._trouble = (_crash(ended, words), then)
        return self._trouble

    def _end(self, worker: Worker, patience: float) -> Ended:
        self._worker, self._asked_at = None, None
        ended = worker.end(patience=patience)
        if ended is None:
            self._stuck.append(worker)
            return Ended(0, "", "", ended_by_us=True)
        return ended

    def _pause(self, times: int) -> float:
        pause = min(2.0 ** (times - 1), LONGEST_PAUSE_SECONDS)
        self._again_at = self._clock.monotonic() + pause
        return pause


def silence(seconds: float) -> Text:
    """That the driver does not answer; a face that says so by itself knows it by its message."""
    return text("NVIDIA's driver has not answered for {seconds:.0f} s, so it may hang", seconds=seconds)


_STUCK = text(
    "{count} processes wait inside NVIDIA's driver and cannot be ended, so no other is started; only a restart helps",
    count=STUCK_AT_MOST,
)


def _silent_for(answer: Mapping[str, Any]) -> float:
    """For how long no device has answered; 0 where one did."""
    told = [gpu.get("memory") for gpu in answer.get("gpus", ()) if "parent" not in gpu and "lost" not in gpu]
    waits = [one.get("silent", 0.0) if isinstance(one, dict) else 0.0 for one in told]
    return min(waits, default=0.0)


def _crash(ended: Ended, words: str) -> Text:
    signal = "" if ended.ended_by_us else ended.signal
    if signal in {"SIGKILL", "SIGTERM"}:
        return text("the process that asks NVML was ended from outside ({signal})", signal=signal)
    if signal:
        return text(
            "NVML, the driver's own library, crashed ({signal}) in the process that asks it: usual after an update of the driver "
            "without a restart, or where one of its files is damaged; `gpuassist doctor` looks into it",
            signal=signal,
        )
    return text("the process that asks NVML failed ({words})", words=words or str(ended.status))
