"""What tensor operations on a device proved."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gpuassist.model.fact import NOT_ASKED, Fact


class Verdict(str, Enum):
    """What came of a check or of a whole device."""

    PASS = "pass"
    FAIL = "fail"
    SKIPPED = "skipped"
    HUNG = "hung"


@dataclass(frozen=True, slots=True)
class Check:
    """One operation: its greatest error against an fp64 reference, the bound, and how fast it ran (`rate` in `rate_unit`)."""

    name: str
    dtype: str
    verdict: Verdict
    error: str = ""
    max_abs_error: Fact[float] = NOT_ASKED
    tolerance: Fact[float] = NOT_ASKED
    seconds: Fact[float] = NOT_ASKED
    rate: Fact[float] = NOT_ASKED
    rate_unit: str = ""


@dataclass(frozen=True, slots=True)
class DeviceVerdict:
    """All checks of one device: `device` is torch's name for it (`cuda:0`, `cpu`)."""

    device: str
    name: str
    verdict: Verdict
    checks: tuple[Check, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """One run in one environment; `environment` is what the child said of itself (python, torch, cuda, cudnn)."""

    interpreter: str
    environment: tuple[tuple[str, str], ...]
    devices: tuple[DeviceVerdict, ...]
    error: str = ""
    output: str = ""

    @property
    def accelerator_verified(self) -> bool:
        """Whether at least one accelerator was checked and all that were checked passed."""
        accelerators = [device for device in self.devices if device.device != "cpu"]
        return bool(accelerators) and all(device.verdict is Verdict.PASS for device in accelerators)
