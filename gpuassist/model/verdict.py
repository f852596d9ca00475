"""What tensor operations on a device proved."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.finding import Answer
from gpuassist.model.libraries import LibraryFault, LibraryLoaded
from gpuassist.model.text import Text


class Verdict(str, Enum):
    """What came of a check or of a whole device: `FAIL` is a wrong result, `ERROR` something that ended in an error."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    SKIPPED = "skipped"
    HUNG = "hung"


FIRST_KERNEL = "first-kernel"
# The least that a device must have come through to pass, as far as it has the formats: a kernel, the products that nearly all
# programs consist of, and that data arrive as they were sent.
LEAST = frozenset({FIRST_KERNEL, "matmul", "copy-to-device", "copy-from-device"})
BAD = frozenset({Verdict.FAIL, Verdict.ERROR, Verdict.HUNG})


class Cause(str, Enum):
    """Why a check was skipped: the device lacks the format, a package is not installed, others hold the memory or the GPU, the
    time was over, the user cancelled, or what came before it left nothing to ask.
    """

    FORMAT = "format"
    ABSENT = "absent"
    MEMORY = "memory"
    BUSY = "busy"
    TIME = "time"
    CANCELLED = "cancelled"
    LOST = "lost"


# By others, who may be gone in a minute: nothing was proved either way.
HELD = frozenset({Cause.MEMORY, Cause.BUSY})


class Check(Struct, frozen=True):
    """One operation: its greatest error against the reference, the bound, and how fast it ran (`rate` in `rate_unit`).

    `error` is what went wrong, in a line; `said` the whole of what torch said of it. `cause` is why it was skipped, `others_bytes`
    the memory that others held then (0 where it was little), `compared` how many elements were looked at over all repetitions,
    `notes` what else is worth saying, by names of the field.
    """

    name: str
    dtype: str
    verdict: Verdict
    error: Text | None = None
    max_abs_error: Fact[float] = NOT_ASKED
    tolerance: Fact[float] = NOT_ASKED
    seconds: Fact[float] = NOT_ASKED
    rate: Fact[float] = NOT_ASKED
    rate_unit: str = ""
    cause: Cause | None = None
    said: str = ""
    others_bytes: Fact[int] = NOT_ASKED
    compared: Fact[int] = NOT_ASKED
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def held_by_others(self) -> bool:
        """Whether others have what it needed, as far as anybody knows: a small card has too little without them."""
        return self.cause in HELD and not (isinstance(self.others_bytes, Known) and not self.others_bytes.value)


class DeviceVerdict(Struct, frozen=True):
    """All checks of one device: `device` is torch's name for it (`cuda:0`, `cpu`), `index` NVML's number, `code` whether torch
    holds code that it runs as it is (`binary`), that its driver compiles first (`ptx`) or `none`. `members` are the devices of
    what several devices, or several processes, did together; empty of a device alone.
    """

    device: str
    name: str
    verdict: Verdict
    checks: tuple[Check, ...]
    error: Text | None = None
    uuid: str = ""
    pci: str = ""
    index: Fact[int] = NOT_ASKED
    capability: str = ""
    code: str = ""
    memory_total_bytes: int = 0
    multiprocessors: int = 0
    mig: bool = False
    members: tuple[str, ...] = ()


class Explained(Struct, frozen=True):
    """What stands behind words of torch's or the driver's: the cause, and what to do."""

    words: str
    answer: Answer


class VerifiedInstances(Struct, frozen=True):
    """How many of the instances (MIG) of the GPU with NVML's number `index` are verified: CUDA shows one to a process."""

    index: int
    verified: int
    count: int


class Verification(Struct, frozen=True):
    """One run in one environment; `environment` is what the child said of itself (python, torch, cuda, cudnn), `visible` how many
    accelerators its torch sees, `no_accelerator` why it sees none, `output` what torch itself printed. `verdict` is the worst of
    the devices; without one, ERROR or HUNG where torch itself broke, SKIPPED where there was nothing to verify (`error` says why).
    `cancelled` where the user ended it: what was found until then stands. `explained` holds an answer for the failures that
    gpuassist knows. `unverified` says why no GPU was tested though the machine has one, `notes` what else is to be known of the
    run: GPUs that torch does not see, or sees in another order, and what torch warned of. `shown_by_driver` are the GPUs that
    CUDA shows, by UUID and PCI address, where torch could not start. `image` is the image or container that
    it ran in (`docker:IMAGE`), empty where it ran on this machine. `not_asked` are NVML's numbers of the GPUs that it was not asked
    to verify, `instances` those of divided GPUs of which not all is verified.
    """

    interpreter: str
    environment: tuple[tuple[str, str], ...]
    devices: tuple[DeviceVerdict, ...]
    error: Text | None = None
    output: str = ""
    visible: int = 0
    no_accelerator: str = ""
    verdict: Verdict = Verdict.SKIPPED
    cancelled: bool = False
    explained: tuple[Explained, ...] = ()
    unverified: Text | None = None
    libraries: tuple[LibraryLoaded, ...] = ()
    library_faults: tuple[LibraryFault, ...] = ()
    image: str = ""
    notes: tuple[Text, ...] = ()
    shown_by_driver: tuple[tuple[str, str], ...] = ()
    not_asked: tuple[int, ...] = ()
    instances: tuple[VerifiedInstances, ...] = ()

    def answer_to(self, words: str) -> Answer | None:
        """What is known of these words; None where nothing is."""
        return next((one.answer for one in self.explained if one.words == words), None)

    @property
    def alone(self) -> tuple[DeviceVerdict, ...]:
        """The devices, without what several did together."""
        return tuple(device for device in self.devices if not device.members)

    @property
    def together(self) -> tuple[DeviceVerdict, ...]:
        """What several devices, or several processes, did together."""
        return tuple(device for device in self.devices if device.members)

    @property
    def accelerator_verified(self) -> bool:
        """Whether at least one accelerator was checked, and every one that torch sees passed."""
        accelerators = {device.device: device.verdict for device in self.alone if device.device != "cpu"}
        passed = all(verdict is Verdict.PASS for verdict in accelerators.values())
        return bool(accelerators) and passed and len(accelerators) >= self.visible


def worst_of(verdicts: Collection[Verdict]) -> Verdict | None:
    """The worst of those that say that something went wrong; None where nothing did."""
    return next((one for one in (Verdict.HUNG, Verdict.FAIL, Verdict.ERROR) if one in verdicts), None)


def device_verdict(checks: tuple[Check, ...]) -> Verdict:
    """What its checks say of a device: a check that others left no room for leaves it undecided, and so does one of the least that
    a pass needs where the time was over before it; a missing format does not.
    """
    verdicts = {check.verdict for check in checks}
    worst = worst_of(verdicts)
    if worst is not None:
        return worst
    late = any(check.cause is Cause.TIME and check.name in LEAST for check in checks)
    undecided = late or any(check.cause in HELD or check.cause is Cause.CANCELLED for check in checks)
    # That a device runs a kernel at all proves nothing of what it computes.
    computed = any(check.verdict is Verdict.PASS and check.name != FIRST_KERNEL for check in checks)
    return Verdict.PASS if computed and not undecided else Verdict.SKIPPED
