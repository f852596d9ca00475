"""What stands beside the checks of a verification: rates against what the GPU should reach, what a clean environment would load,
the toolkits, and what earlier verifications of this machine came to.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.formats.devices import DeviceListFault
from gpuassist.knowledge.rates import FORMATS
from gpuassist.model.codec import Json
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, counted, text
from gpuassist.model.verdict import Check, DeviceVerdict, Verdict, Verification, worst_of
from gpuassist.model.words import ENGLISH
from gpuassist.session import verifications
from gpuassist.session.checks import check_label
from gpuassist.session.rates import GpuSeen, expectation_of
from gpuassist.session.verification_differences import Difference, differences
from gpuassist.session.verify import VerifyRequest, built_for_gpus, detected, variables_of, verify
from gpuassist.verify.expectation import MEMORY, PCIE, Expectation, MeasuredRate
from gpuassist.verify.library_faults import difference_words
from gpuassist.verify.library_run import compare_with_clean, libraries_after_import
from gpuassist.verify.load import DeviceLoad, NvmlDevice
from gpuassist.verify.load_watch import LoadWatch
from gpuassist.verify.protocol import Planned
from gpuassist.verify.runner import Cancelled, Level, OnEvent
from gpuassist.verify.toolkits import ToolkitCheck, ToolkitEvent, check_toolkits
from gpuassist.verify.visible_devices import PCI_ORDER, SeenDevice, disagreements, visible

_log = logging.getLogger(__name__)
_CHOOSING = ("LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "CUDA_HOME", "CUDA_PATH")
_IMPORT_SECONDS = 120.0
_OVER_THE_LINK = frozenset({"pinned-to-device", "pinned-from-device"})


class RateSeen(Struct, frozen=True):
    """A rate of a check on a device, and what it means there."""

    device: DeviceVerdict
    check: Check
    expectation: Expectation


class DeviceCount(Struct, frozen=True):
    """How many GPUs NVML lists, how many of them CUDA should show under CUDA_VISIBLE_DEVICES (`variable`, None: not set), and how
    many torch sees.
    """

    listed: Fact[int] = NOT_ASKED
    expected: Fact[int] = NOT_ASKED
    seen: int = 0
    variable: str | None = None

    @property
    def too_few(self) -> bool:
        """Whether a GPU that nothing hides was not there for torch."""
        return isinstance(self.expected, Known) and self.seen < self.expected.value


class VerifyReport(Struct, frozen=True):
    """A verification with all that stands beside it; `without_variables` says what is otherwise without the user's variables,
    `load_per_core` how many processes each core of the computer had to run before it began, `machine` this machine where all of it
    was looked at.
    """

    verification: Verification
    rates: tuple[RateSeen, ...] = ()
    toolkits: tuple[ToolkitCheck, ...] = ()
    without_variables: tuple[Text, ...] = ()
    count: DeviceCount = DeviceCount()
    load_per_core: Fact[float] = NOT_ASKED
    machine: Machine | None = None

    @property
    def verdict(self) -> Verdict:
        """The worse one of the devices and the toolkits. That a toolkit cannot compile with one of several host compilers counts
        where it is the one that new terminals find; that its kernel computes wrong or hangs counts always. A GPU that torch does
        not even see was not tried.
        """
        of_toolkits = (one.verdict for one in self.toolkits if one.first or one.verdict is not Verdict.ERROR)
        verdicts = {self.verification.verdict, *of_toolkits}
        worst = worst_of(verdicts)
        passed = self.verification.verdict is Verdict.PASS and worst is None
        return Verdict.SKIPPED if passed and self.count.too_few else worst or self.verification.verdict


def verify_whole(
    session: Session,
    request: VerifyRequest,
    *,
    on_event: OnEvent,
    cancelled: Cancelled,
    on_toolkit: Callable[[ToolkitEvent], None] = lambda _: None,
) -> VerifyReport:
    """The checks, and in a full run the toolkits and a clean environment; raises what `verify` raises."""
    load_per_core = _load_per_core(session)
    watch, began = LoadWatch(session.world), session.world.clock.monotonic()
    watch.start()
    try:
        result = verify(session, request, on_event=on_event, cancelled=cancelled)
        loads = value_or(watch.load(began, session.world.clock.monotonic()), ())
        listed = watch.devices
    finally:
        watch.stop()
    variables = variables_of(session, request)
    count = DeviceCount()
    words: tuple[Text, ...] = ()
    if request.inside is not None:  # whose processes those of a container are, nobody can say from outside
        loads = tuple(replace(load, others=_NOT_OURS_TO_SAY) for load in loads)
    elif not request.launcher:
        count, words = device_count(result, listed, variables, request.devices)
    result = replace(result, notes=(*words, *memory_errors(result, loads), *warnings_of(result.output)))
    report = VerifyReport(result, tuple(_rates(session, result, loads, request.level)), count=count, load_per_core=load_per_core)
    if request.level is not Level.FULL or result.cancelled or request.inside is not None or request.launcher:
        return report  # toolkits and variables of this machine are not those of an image, or of ranks
    machine = request.machine or detected(session)
    toolkits = check_toolkits(
        session.world, session.knowledge, machine, level=request.level, on_event=on_toolkit, cancelled=cancelled
    )
    without = tuple(_without_variables(session, request, variables, cancelled))
    return replace(report, toolkits=toolkits, without_variables=without, machine=machine)


def _load_per_core(session: Session) -> Fact[float]:
    """Over the last minute (proc_loadavg(5))."""
    try:
        told = session.world.files.read_text(_LOAD, 100).split()
        return Known(round(float(told[0]) / (os.cpu_count() or 1), 2), _LOAD)
    except (OSError, ValueError, IndexError) as error:
        return Unknown(text("{path} could not be read: {error}", path=_LOAD, error=str(error)))


_LOAD = "/proc/loadavg"
_NOT_OURS_TO_SAY = Unknown(text("the processes of a container are not told from those of others"))


def device_count(
    result: Verification, listed: Fact[tuple[NvmlDevice, ...]], variables: Mapping[str, str], asked: tuple[str, ...]
) -> tuple[DeviceCount, tuple[Text, ...]]:
    """What torch should see beside what it sees, and what is to be said of it. GPUs that were asked for by number or UUID were
    shown to it whatever the user's variable says.
    """
    value = variables.get("CUDA_VISIBLE_DEVICES")
    if isinstance(listed, Unknown):
        return DeviceCount(listed, listed, result.visible, value), ()
    every = set(asked) <= {"all", "cuda"}
    should = visible(listed.value, value, variables.get("CUDA_DEVICE_ORDER", PCI_ORDER))
    count = DeviceCount(Known(len(listed.value), listed.source), should.count, result.visible, value)
    if not built_for_gpus(result) or asked == ("cpu",):
        return replace(count, expected=NOT_ASKED), ()
    shown = tuple(SeenDevice(*one) for one in result.shown_by_driver)
    if every and shown:  # torch counts by NVML and then asks CUDA, which shows others
        return replace(count, seen=len(shown)), disagreements(should, value, len(shown), shown)
    if not every or not result.visible:  # why torch sees none is told already
        found = disagreements(replace(should, count=NOT_ASKED, devices=NOT_ASKED), value, 0)
        told = tuple(text("{fault}; a GPU that --device names is verified all the same", fault=one) for one in found)
        said = result.unverified is not None and should.fault is DeviceListFault.EMPTY
        return replace(count, expected=NOT_ASKED), () if said else found if every else told
    seen = tuple(SeenDevice(one.uuid, one.pci) for one in result.alone if one.device != "cpu")
    return count, disagreements(should, value, result.visible, seen)


def memory_errors(result: Verification, loads: tuple[DeviceLoad, ...]) -> Iterator[Text]:
    """What ECC could not correct on a GPU that was verified, whatever its checks came to."""
    verified = {device.uuid for device in result.alone} - {""}
    for load in loads:
        if load.device.uuid in verified and isinstance(load.uncorrected, Known) and load.uncorrected.value:
            yield counted(
                "GPU {index}: its memory had {count} error that ECC could not correct since the driver was loaded, whatever the "
                "checks came to; `nvidia-smi -q -d ECC,ROW_REMAPPER` tells more",
                "GPU {index}: its memory had {count} errors that ECC could not correct since the driver was loaded, whatever the "
                "checks came to; `nvidia-smi -q -d ECC,ROW_REMAPPER` tells more",
                load.uncorrected.value,
                index=load.device.index,
            )


# What torch prints as Python does: place, kind, words over several lines, then the line of code.
_WARNED = lazy_regex(
    r"^\S{0,500}torch/cuda/__init__\.py:\d{1,6}: \w{0,40}Warning:(?P<words>[\s\S]{1,2000}?)"
    r"(?=^  \S|^\S{1,500}\.py:\d{1,6}: \w{1,40}: |\Z)",
    re.MULTILINE,
)


def warnings_of(output: str) -> tuple[Text, ...]:
    """What torch.cuda warned of, each once: that a GPU is too new or too old for this build, most often."""
    told = dict.fromkeys(" ".join(found["words"].split()) for found in _WARNED.finditer(output))
    return tuple(text("torch warns: {words}", words=words) for words in told if words)


def _rates(session: Session, result: Verification, loads: tuple[DeviceLoad, ...], level: Level) -> Iterator[RateSeen]:
    """In a quick run the products of a fast format end so soon that their start would count as slowness."""
    for device in result.alone:
        if device.device == "cpu":
            continue
        load = next((one for one in loads if one.device.uuid and one.device.uuid == device.uuid), None)
        capability = tuple(int(part) for part in device.capability.split(".") if part.isdecimal())
        seen = GpuSeen(device.name, "", capability, device.memory_total_bytes, device.multiprocessors, device.mig)
        for check in device.checks:
            kind = _kind(check)
            if level is Level.QUICK and kind not in {"fp32", PCIE}:
                continue
            if kind and check.verdict is Verdict.PASS and isinstance(check.rate, Known):
                measured = MeasuredRate(kind, check.rate.value)
                yield RateSeen(device, check, expectation_of(session.knowledge, measured, seen, load))


def _kind(check: Check) -> str:
    """What the table of rates calls it; empty of what it has no rates for."""
    if check.name == "matmul" and check.dtype in FORMATS:
        return check.dtype
    if check.name in _OVER_THE_LINK:
        return PCIE
    return MEMORY if check.name == "copy-on-device" else ""


def _without_variables(
    session: Session, request: VerifyRequest, variables: Mapping[str, str], cancelled: Cancelled
) -> Iterator[Text]:
    """Torch is imported twice more, so it is only asked where a variable that could choose a library is set."""
    if not any(variables.get(name) for name in _CHOOSING):
        return
    world, seconds = session.world, _IMPORT_SECONDS
    mine = libraries_after_import(world, request.interpreter, variables, seconds=seconds, cancelled=cancelled)
    if isinstance(mine, Unknown):
        yield mine.reason
        return
    found = compare_with_clean(world, request.interpreter, variables, mine.value, seconds=seconds, cancelled=cancelled)
    if isinstance(found, Unknown):
        yield found.reason
        return
    if found.value.torch is not None:
        yield found.value.torch
    yield from difference_words(found.value.differences)


def remember(session: Session, document: Mapping[str, Json], machine: Machine, level: Level) -> tuple[Difference, ...]:
    """Keeps this verification for later ones, and says what is otherwise than in the earlier ones of this machine."""
    driver = RuleInput(machine, session.knowledge).driver  # a GPU that slept tells NVML none, and its module has one all the same
    now = verifications.new(session.world, document, str(driver.value) if isinstance(driver, Known) else "", level.value)
    gpus = value_or(machine.gpus, None)
    there = frozenset(uuid for gpu in gpus or () for uuid in (value_or(gpu.uuid, ""), *value_or(gpu.mig_uuids, ())))
    told = differences(verifications.kept(session.world), now, _label, there if gpus is not None else None)
    verifications.keep(session.world, now)
    return told


def keep_machine(session: Session, reports: Sequence[VerifyReport], machine: Machine | None = None) -> None:
    """Keeps what this machine looks like where its own GPUs passed. A quick run looks at the GPUs alone: where `machine` is not
    given either, all of it is looked at now, which takes a second or two, unless that was done within a day.
    """
    from gpuassist.session import kept_machines

    here = [report for report in reports if not report.verification.image]
    passed = all(report.verdict is Verdict.PASS for report in reports)
    if (
        not passed
        or not any(report.verification.accelerator_verified for report in here)
        or not kept_machines.keeping(session.world)
    ):
        return
    machine = machine or next((report.machine for report in here if report.machine is not None), None)
    if machine is None and kept_machines.is_due(session.world):
        machine = detected(session)
    refused = kept_machines.keep_verified(session.world, machine) if machine is not None else None
    if refused is not None:
        _log.info("the machine was not kept: %s", ENGLISH(refused))


def _label(name: str, dtype: str) -> Text:
    return text("{check} ({format})", check=check_label(Planned(name, dtype)), format=dtype)
