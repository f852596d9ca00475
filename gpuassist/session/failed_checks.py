"""What stands behind a failure of gpuassist's own checks, whose programs are known to be right: another answer than `explain` has
for the same words in a program of the user's.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from gpuassist.context import Session
from gpuassist.diagnose.catalogue import Catalogue
from gpuassist.diagnose.catalogue_entry import entries_in
from gpuassist.diagnose.ranking import keeps_cuda_from_starting
from gpuassist.knowledge.families import families_of
from gpuassist.model.finding import Answer, Finding
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.text import enumerated
from gpuassist.model.verdict import BAD, Check, DeviceVerdict, Verdict, Verification
from gpuassist.model.words import ENGLISH


class CheckFailure(str, Enum):
    """What happened, as far as the check itself can tell: an entry of `resources/verification.toml`."""

    BROKE_OFF = "check-broke-off"
    WRONG = "wrong-result"
    NO_ANSWER = "check-no-answer"
    DRIVER_SILENT = "driver-no-answer"
    LIBRARY = "library-not-started"
    DIED = "process-died"
    DRIVER_DIED = "driver-died"
    IMPORT_DIED = "import-died"
    BUSY = "gpu-busy"
    NOT_STARTED = "cuda-not-started"
    SHOWN_FEWER = "cuda-shows-fewer"
    NO_CODE = "torch-without-code"
    CODE_NOT_RUN = "code-not-run"
    FOR_CPU = "torch-for-cpu"
    HIDDEN = "gpus-hidden"
    BROKEN_PATH = "pythonpath-breaks-torch"


# Problems of the catalogue that blame the program, or what it was given. Of a check both are ours.
_BLAMED_ON_PROGRAM = frozenset(
    {
        "illegal-memory-access",
        "device-side-assert",
        "kernel-exceeds-gpu",
        "oom-absurd-request",
        "oom-fragmentation",
        "oom-graph-retained",
        "oom-true",
        "xid-13-31-application-fault",
    }
)
_WITHOUT_CODE = frozenset({"torch-lacks-sm", "no-kernel-image", "gpu-too-old-for-torch"})
_OF_A_LIBRARY = frozenset({"cublas-init-failed-oom"})
_DIED = lazy_regex(r"the process (?:was ended by (?P<signal>signal \d{1,3}|[A-Z\d+]{1,20})|ended with status \d{1,5}$)")
_BUSY = lazy_regex(r"busy or unavailable|cudaErrorDevicesUnavailable")  # error 46
# torch/cuda/__init__.py asks for the properties of each GPU that NVML lists.
_COUNTED_TOO_MANY = lazy_regex(r"device >= 0 && device < num_gpus|Invalid device id|invalid device ordinal")


def own_failures(result: Verification) -> Iterator[tuple[str, Verdict]]:
    """The words of each check that failed on a GPU, with what came of it; and those of a driver that did not even start."""
    if not result.devices and result.error is not None:
        words = ENGLISH(result.error)
        if result.verdict is Verdict.HUNG or (result.verdict is Verdict.ERROR and _DIED.match(words)):
            yield words, result.verdict
    if result.no_accelerator and _COUNTED_TOO_MANY.search(result.no_accelerator) and result.shown_by_driver:
        yield result.no_accelerator, Verdict.ERROR
    for device in result.devices:
        on_gpu = device.device != "cpu" and set(device.members) != {"cpu"}
        for check in device.checks if on_gpu else ():
            if check.verdict in BAD and (words := words_of(check)):
                yield words, check.verdict


def failure_of(
    result: Verification, words: str, verdict: Verdict, known: Answer | None, *, proved: bool = False
) -> CheckFailure | None:
    """What the words of one of them come to; `known` is what `explain` says of them, `proved` whether facts of this machine say so
    too. None where that holds here as well, or nothing can be said.
    """
    if verdict is Verdict.FAIL:
        return CheckFailure.WRONG
    if verdict is Verdict.HUNG:
        return CheckFailure.NO_ANSWER if result.devices else CheckFailure.DRIVER_SILENT
    if _DIED.match(words) and not result.devices:
        return CheckFailure.DRIVER_DIED if dict(result.environment).get("torch") else CheckFailure.IMPORT_DIED
    if _DIED.match(words):
        return CheckFailure.DIED
    if words == result.no_accelerator:
        return CheckFailure.SHOWN_FEWER
    if result.error is not None and words == ENGLISH(result.error):
        return None  # the run broke down, not the check that it was at
    if known is not None and known.id in _OF_A_LIBRARY:
        return CheckFailure.LIBRARY
    if known is not None and known.id in _WITHOUT_CODE:
        return _of_code(result, words, proved=proved)
    if known is None or known.id in _BLAMED_ON_PROGRAM:
        return CheckFailure.BROKE_OFF
    ran = all(any(check.verdict is Verdict.PASS for check in one.checks) for one in failed_on(result, words))
    return CheckFailure.BROKE_OFF if ran and keeps_cuda_from_starting(known.id) else None


def _of_code(result: Verification, words: str, *, proved: bool) -> CheckFailure | None:
    """What a GPU that finds no kernel lacks: torch itself says which code it holds."""
    codes = {one.code for one in failed_on(result, words)}
    if "none" in codes:
        return None if proved else CheckFailure.NO_CODE
    return CheckFailure.CODE_NOT_RUN if codes and codes <= {"binary", "ptx"} else None


def start_failure(result: Verification, words: str, *, undecided: bool) -> CheckFailure | None:
    """What is said where CUDA did not start; `undecided` of words that leave open which Python, torch and variables were at work:
    here they are known. None where `explain` says it, or it is no such failure.
    """
    if words != result.no_accelerator or not dict(result.environment).get("cuda"):
        return None
    return CheckFailure.BUSY if _BUSY.search(words) else CheckFailure.NOT_STARTED if undecided else None


def failed_on(result: Verification, words: str) -> tuple[DeviceVerdict, ...]:
    """The devices on which a check failed with these words."""
    return tuple(one for one in result.alone if any(check.verdict in BAD and words_of(check) == words for check in one.checks))


def answer_to(
    session: Session, machine: Machine, failure: CheckFailure, result: Verification, *, words: str, **further: str
) -> Answer:
    """What is to be said of it, and done; `further` are parameters that this failure alone has."""
    died = _DIED.match(words)
    signal = (died["signal"] or "") if died is not None else ""
    lacking = [one for one in failed_on(result, words) if one.code == "none"] or failed_on(result, words)
    parameters = (
        ("words", words.strip().partition("\n")[0]),
        ("python", result.interpreter),
        ("signal", signal),
        ("devices", ",".join(uuid for uuid, _ in result.shown_by_driver if uuid)),
        ("gpu", ENGLISH(enumerated(one.name for one in lacking)) if lacking else ""),
        ("capability", ENGLISH(enumerated(one.capability for one in lacking)) if lacking else ""),
        ("torch", dict(result.environment).get("torch", "")),
        *further.items(),
    )
    entry = entries_in(session.world.resources.read("verification.toml"))[failure.value]
    catalogue = Catalogue(session.world.resources.read, session.knowledge.commands)
    finding = Finding(failure.value, parameters, ())
    return catalogue.written(finding, entry, families=families_of(machine), words=session.words)


def words_of(check: Check) -> str:
    """All that torch said of a failure."""
    return check.said or (ENGLISH(check.error) if check.error is not None else "")
