"""What tensor operations on a device proved."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.text import Text


class Verdict(str, Enum):
    """What came of a check or of a whole device."""

    PASS = "pass"
    FAIL = "fail"
    SKIPPED = "skipped"
    HUNG = "hung"


class Check(Struct, frozen=True):
    """One operation: its greatest error against an fp64 reference, the bound, and how fast it ran (`rate` in `rate_unit`)."""

    name: str
    dtype: str
    verdict: Verdict
    error: Text | None = None
    max_abs_error: Fact[float] = NOT_ASKED
    tolerance: Fact[float] = NOT_ASKED
    seconds: Fact[float] = NOT_ASKED
    rate: Fact[float] = NOT_ASKED
    rate_unit: str = ""


class DeviceVerdict(Struct, frozen=True):
    """All checks of one device: `device` is torch's name for it (`cuda:0`, `cpu`)."""

    device: str
    name: str
    verdict: Verdict
    checks: tuple[Check, ...]
    error: Text | None = None


class Verification(Struct, frozen=True):
    """One run in one environment; `environment` is what the child said of itself (python, torch, cuda, cudnn), `visible` how many
    accelerators its torch sees, `no_accelerator` why it sees none, `output` what torch itself printed. `verdict` is the worst of
    the devices; without one, FAIL or HUNG where torch itself broke, SKIPPED where there was nothing to verify (`error` says why).
    """

    interpreter: str
    environment: tuple[tuple[str, str], ...]
    devices: tuple[DeviceVerdict, ...]
    error: Text | None = None
    output: str = ""
    visible: int = 0
    no_accelerator: str = ""
    verdict: Verdict = Verdict.SKIPPED

    @property
    def accelerator_verified(self) -> bool:
        """Whether at least one accelerator was checked, and every one that torch sees passed."""
        accelerators = {device.device: device.verdict for device in self.devices if device.device != "cpu"}
        passed = all(verdict is Verdict.PASS for verdict in accelerators.values())
        return bool(accelerators) and passed and len(accelerators) >= self.visible
