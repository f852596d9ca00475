"""What the child has said so far, in the only order that makes sense, and the verdicts that follow from it at any moment."""

from __future__ import annotations

from gpuassist.model.fact import Unknown
from gpuassist.model.text import Text, text
from gpuassist.model.verdict import Check, DeviceVerdict, Verdict
from gpuassist.verify.protocol import CheckBegun, CheckDone, Device, DeviceDone, Event, Finished, ProtocolError, Refused, Started


class Transcript:
    """Takes events one by one; raises `ProtocolError` for one that cannot come now."""

    def __init__(self) -> None:
        self.nonsense: Text | None = None
        self.refused: Refused | None = None
        self.finished = False
        self._started: Started | None = None
        self._running: CheckBegun | None = None
        self._checks: dict[str, list[Check]] = {}
        self._done: list[str] = []

    @property
    def began(self) -> bool:
        """Whether it said its first line."""
        return self._started is not None or self.refused is not None

    @property
    def environment(self) -> tuple[tuple[str, str], ...]:
        """Python, torch, CUDA and cuDNN in the child's own words; only Python where torch could not be imported."""
        if self.refused is not None:
            return (("python", self.refused.python),)
        return self._started.environment if self._started is not None else ()

    @property
    def accelerators(self) -> int:
        return self._started.accelerators if self._started is not None else 0

    @property
    def no_accelerator(self) -> str:
        """Why it sees none; empty where it sees one."""
        return self._started.no_accelerator if self._started is not None else ""

    def take(self, event: Event) -> None:
        if self.finished or self.refused is not None:
            raise ProtocolError(text("it went on after its last line"))
        if isinstance(event, (Started, Refused)):
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

    def _go_on(self, event: CheckBegun | CheckDone | DeviceDone) -> None:
        if event.device not in self._checks or event.device in self._done:
            raise ProtocolError(text("it spoke of a device that is none, or done: {device}", device=event.device))
        if isinstance(event, CheckBegun) and self._running is None:
            self._running = event
        elif isinstance(event, CheckDone) and self._running == CheckBegun(event.device, event.check.name, event.check.dtype):
            self._running = None
            self._checks[event.device].append(event.check)
        elif isinstance(event, DeviceDone) and self._running is None:
            planned = self._started.checks if self._started is not None else ()
            if [(check.name, check.dtype) for check in self._checks[event.device]] != [
                (check.name, check.dtype) for check in planned
            ]:
                raise ProtocolError(text("it left out checks that it had announced"))
            self._done.append(event.device)
        else:
            raise ProtocolError(text("its lines came in an order that makes no sense"))

    def _device(self, device: Device, verdict: Verdict, error: Text | None) -> DeviceVerdict:
        checks = tuple(self._checks[device.device])
        if device.device in self._done:
            return DeviceVerdict(device.device, device.name, _overall(checks), checks)
        if self._running is not None and self._running.device == device.device:
            never = Unknown(text("the check did not end"))
            checks = (*checks, Check(self._running.name, self._running.dtype, verdict, error, never, never, never, never))
        elif not checks:
            verdict, error = Verdict.SKIPPED, text("it was not reached")
        return DeviceVerdict(device.device, device.name, verdict, checks, error)


def _overall(checks: tuple[Check, ...]) -> Verdict:
    verdicts = {check.verdict for check in checks}
    return next((verdict for verdict in (Verdict.FAIL, Verdict.PASS) if verdict in verdicts), Verdict.SKIPPED)
