"""What the child has said so far, in the only order that makes sense, and the verdicts that follow from it at any moment."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.model.fact import Unknown
from gpuassist.model.text import Text, text
from gpuassist.model.verdict import BAD, Cause, Check, DeviceVerdict, Verdict, device_verdict
from gpuassist.verify.protocol import (
    CheckBegun,
    CheckDone,
    Device,
    DeviceDone,
    Event,
    Finished,
    Imported,
    LibrariesTold,
    ProtocolError,
    Refused,
    Started,
)
from gpuassist.verify.provenance import ProcessLibraries


class Transcript:
    """Takes events one by one; raises `ProtocolError` for one that cannot come now."""

    def __init__(self) -> None:
        self.nonsense: Text | None = None
        self.refused: Refused | None = None
        self.finished = False
        self.process: ProcessLibraries | None = None
        self._imported = False
        self._started: Started | None = None
        self._running: dict[str, CheckBegun] = {}  # devices are checked side by side
        self._checks: dict[str, list[Check]] = {}
        self._done: list[str] = []

    @property
    def began(self) -> bool:
        """Whether it said its first line."""
        return self._imported or self._started is not None or self.refused is not None

    @property
    def environment(self) -> tuple[tuple[str, str], ...]:
        """Python, torch, CUDA and cuDNN in the child's own words; only Python where torch could not be imported."""
        if self.refused is not None:
            told = (("python", self.refused.python), ("torch", self.refused.torch), ("cuda", self.refused.cuda))
            return tuple((name, words) for name, words in told if words)
        return self._started.environment if self._started is not None else ()

    @property
    def accelerators(self) -> int:
        return self._started.accelerators if self._started is not None else 0

    @property
    def no_accelerator(self) -> str:
        """Why it sees none; empty where it sees one."""
        return self._started.no_accelerator if self._started is not None else ""

    @property
    def shown_by_driver(self) -> tuple[tuple[str, str], ...]:
        """UUID and PCI address of what CUDA shows where torch could not start."""
        return tuple((one.uuid, one.pci) for one in self._started.shown_by_driver) if self._started is not None else ()

    def take(self, event: Event) -> None:
        if self.finished or self.refused is not None:
            raise ProtocolError(text("it went on after its last line"))
        if isinstance(event, Imported):
            if self.began:
                raise ProtocolError(text("it began twice"))
            self._imported = True
        elif isinstance(event, (Started, Refused)):
            if self._started is not None:
                raise ProtocolError(text("it began twice"))
            if isinstance(event, Refused):
                self.refused = event
            else:
                self._started = event
                self._checks = {device.device: [] for device in event.devices}
        elif self._started is None:
            raise ProtocolError(text("it did not begin with its first line"))
        elif isinstance(event, Finished):
            if len(self._done) < len(self._started.devices):
                raise ProtocolError(text("it ended before all devices were done"))
            self.finished = True
        else:
            self._go_on(event)

    def devices(self, verdict: Verdict, error: Text | None) -> tuple[DeviceVerdict, ...]:
        """The verdict of every device; one that is not done has `verdict`, as has the check that it was at, because of `error`."""
        announced = self._started.devices if self._started is not None else ()
        return tuple(self._device(device, verdict, error) for device in announced)

    def _go_on(self, event: CheckBegun | CheckDone | LibrariesTold | DeviceDone) -> None:
        if event.device not in self._checks or event.device in self._done:
            raise ProtocolError(text("it spoke of a device that is none, or done: {device}", device=event.device))
        if isinstance(event, LibrariesTold):
            self.process = self.process or event.process
            return
        running = self._running.get(event.device)
        if isinstance(event, CheckBegun) and running is None:
            self._running[event.device] = event
        elif isinstance(event, CheckDone) and self._may_end(event, running):
            self._running.pop(event.device, None)
            self._checks[event.device].append(event.check)
        elif isinstance(event, DeviceDone) and running is None:
            planned = next(one.checks for one in self._started.devices if one.device == event.device) if self._started else ()
            if [(check.name, check.dtype) for check in self._checks[event.device]] != [
                (check.name, check.dtype) for check in planned
            ]:
                raise ProtocolError(text("it left out checks that it had announced"))
            self._done.append(event.device)
        else:
            raise ProtocolError(text("its lines came in an order that makes no sense"))

    @staticmethod
    def _may_end(event: CheckDone, running: CheckBegun | None) -> bool:
        """One that did not begin can only be left out."""
        if running is None:
            return event.check.verdict is Verdict.SKIPPED
        return running == CheckBegun(event.device, event.check.name, event.check.dtype)

    def _device(self, device: Device, verdict: Verdict, error: Text | None) -> DeviceVerdict:
        checks = tuple(self._checks[device.device])
        about = DeviceVerdict(
            device.device,
            device.name,
            device_verdict(checks),
            checks,
            uuid=device.uuid,
            pci=device.pci,
            capability=device.capability,
            code=device.code,
            memory_total_bytes=device.memory_total_bytes,
            multiprocessors=device.multiprocessors,
            mig=device.mig,
            members=device.members,
        )
        if device.device in self._done:
            return about
        running = self._running.get(device.device)
        if running is not None:
            never = Unknown(text("the check did not end"))
            cause = Cause.CANCELLED if verdict is Verdict.SKIPPED else None
            checks = (*checks, Check(running.name, running.dtype, verdict, error, never, never, never, never, cause=cause))
        if running is None and not checks:
            return replace(about, verdict=Verdict.SKIPPED, error=text("it was not reached"))
        found = device_verdict(checks)
        return replace(about, verdict=found if found in BAD else verdict, checks=checks, error=error)
