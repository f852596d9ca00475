"""What is said of a check that failed: its program is known to be right, so that no answer blames it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.catalogue_entry import entries_in, slots_of
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.driver import Driver, NvmlStatus
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Host, Machine
from gpuassist.model.text import verbatim
from gpuassist.model.verdict import Check, DeviceVerdict, Verdict, Verification
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.explain import explain
from gpuassist.session.failed_checks import CheckFailure
from gpuassist.session.verify import explained
from gpuassist.system.resources import Resources
from tests.fakes import world_under
from tests.rows import for_each

ENTRIES = entries_in(Resources().read("verification.toml"))
COMMANDS = Knowledge(Resources().read).commands
CARD = Gpu(Known("0000:01:00.0", "test"), name=Known("NVIDIA GeForce RTX 4090", "test"), uuid=Known("GPU-1", "test"))
SLOTS = {"words", "gpu", "capability", "torch", "file", "entry"}
ILLEGAL = "RuntimeError: CUDA error: an illegal memory access was encountered"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(world_under(tmp_path), Knowledge(Resources().read), ENGLISH)


def run_with(*checks: Check, device: str = "cuda:0", error: str = "", **about: Any) -> Verification:
    devices = (DeviceVerdict(device, "RTX 4090", Verdict.ERROR, checks, uuid="GPU-1"),) if checks else ()
    verdict = next((check.verdict for check in checks), Verdict.ERROR)
    result = Verification("/e/bin/python", (("torch", "2.6.0"), ("cuda", "12.4")), devices, verdict=verdict)
    return replace(result, error=verbatim(error) if error else None, visible=len(devices), **about)


def check(verdict: Verdict, words: str) -> Check:
    return Check("matmul", "fp32", verdict, verbatim(words))


def ids(session: Session, result: Verification) -> list[str]:
    return [one.answer.id for one in explained(session, result, Machine("", gpus=Known((CARD,), "test"))).explained]


@for_each(
    "words, failure",
    [
        (ILLEGAL, CheckFailure.BROKE_OFF),
        ("RuntimeError: CUDA error: unspecified launch failure", CheckFailure.BROKE_OFF),
        ("AcceleratorError: CUDA error: misaligned address", CheckFailure.BROKE_OFF),
        ("RuntimeError: CUDA error: an illegal instruction was encountered", CheckFailure.BROKE_OFF),
        ("RuntimeError: CUDA error: device-side assert triggered", CheckFailure.BROKE_OFF),
        ("RuntimeError: something that nobody has ever read", CheckFailure.BROKE_OFF),
        ("RuntimeError: cuFFT error: CUFFT_INTERNAL_ERROR", CheckFailure.LIBRARY),
        ("the process was ended by SIGSEGV", CheckFailure.DIED),
        ("the process ended with status 3", CheckFailure.DIED),
    ],
)
def test_what_a_check_could_not_do_is_not_blamed_on_its_program(words: str, failure: CheckFailure, session: Session) -> None:
    assert ids(session, run_with(check(Verdict.ERROR, words))) == [failure.value]


NO_KERNEL = "RuntimeError: CUDA error: no kernel image is available for execution on the device"


@for_each(
    "code, answer",
    [
        ("binary", CheckFailure.CODE_NOT_RUN.value),
        ("ptx", CheckFailure.CODE_NOT_RUN.value),
        ("none", CheckFailure.NO_CODE.value),
        ("", "no-kernel-image"),
    ],
)
def test_a_kernel_that_is_missing_is_judged_by_what_torch_holds(code: str, answer: str, session: Session) -> None:
    result = run_with(check(Verdict.ERROR, NO_KERNEL))
    (found,) = explained(
        session,
        replace(result, devices=(replace(result.devices[0], code=code, capability="8.9"),)),
        Machine("", gpus=Known((CARD,), "test")),
    ).explained
    assert found.answer.id == answer
    lines = [line for remedy in found.answer.remedies for commands in remedy.commands for line in commands.lines]
    assert not code or not any(line.startswith("python -m pip") for line in lines)


@for_each(
    "words",
    [
        "RuntimeError: CUDA error: unknown error",
        "RuntimeError: CUDA error: initialization error",
        "RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable",
    ],
)
def test_what_keeps_cuda_from_starting_is_no_cause_where_kernels_ran(words: str, session: Session) -> None:
    before = Check("sort", "fp32", Verdict.PASS)
    assert ids(session, run_with(before, check(Verdict.ERROR, words))) == [CheckFailure.BROKE_OFF.value]
    assert ids(session, run_with(check(Verdict.ERROR, words))) != [CheckFailure.BROKE_OFF.value]


def test_a_crash_before_the_first_check_is_none_of_a_check(session: Session) -> None:
    words = "the process was ended by SIGSEGV"
    assert ids(session, run_with(error=words)) == [CheckFailure.DRIVER_DIED.value]
    assert ids(session, replace(run_with(error=words), environment=())) == [CheckFailure.IMPORT_DIED.value]


@for_each(
    "words, answer",
    [
        ("RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable", CheckFailure.BUSY.value),
        ("RuntimeError: No CUDA GPUs are available", CheckFailure.NOT_STARTED.value),
        ("RuntimeError: Error 101: invalid device ordinal", CheckFailure.NOT_STARTED.value),
        ("RuntimeError: Error 34: CUDA driver is a stub library", "ld-library-path-stubs"),
    ],
)
@pytest.mark.parametrize("container", ["", "docker"])
def test_what_verify_knows_is_not_asked_of_the_user(words: str, answer: str, container: str, session: Session) -> None:
    driver = Driver(version=Known(Version.parse("550.54"), "NVML"), nvml_status=Known(NvmlStatus(0, "NVML_SUCCESS"), "NVML"))
    machine = Machine("", gpus=Known((CARD,), "test"), driver=driver, host=Host(container=Known(container, "test")))
    assert [one.answer.id for one in explained(session, run_with(no_accelerator=words), machine).explained] == [answer]


def test_what_is_true_of_any_program_is_said_as_it_is(session: Session) -> None:
    words = "RuntimeError: CUDA error: uncorrectable ECC error encountered"
    assert ids(session, run_with(check(Verdict.ERROR, words))) == ["ecc-errors"]


def test_wrong_results_and_hangs_have_an_answer(session: Session) -> None:
    assert ids(session, run_with(check(Verdict.FAIL, "1 of 4 elements differ"))) == [CheckFailure.WRONG.value]
    assert ids(session, run_with(check(Verdict.HUNG, "no answer for 10 s"))) == [CheckFailure.NO_ANSWER.value]
    assert ids(session, run_with(error="no answer for 30 s", verdict=Verdict.HUNG)) == [CheckFailure.DRIVER_SILENT.value]


def test_a_cuda_that_shows_fewer_than_nvml_is_named(session: Session) -> None:
    words = "DeferredCudaCallError: CUDA call failed lazily at initialization with error: device >= 0 && device < num_gpus"
    result = run_with(no_accelerator=words, shown_by_driver=(("GPU-1", "0000:01:00.0"),), verdict=Verdict.ERROR)
    (one,) = explained(session, result, Machine("", gpus=Known((CARD,), "test"))).explained
    assert one.answer.id == CheckFailure.SHOWN_FEWER.value
    assert one.answer.remedies[0].commands[0].lines == ("export CUDA_VISIBLE_DEVICES=GPU-1",)


def test_what_the_cpu_does_is_explained_as_any_text_is(session: Session) -> None:
    assert ids(session, run_with(check(Verdict.FAIL, "1 of 4 elements differ"), device="cpu")) == []


def test_the_same_words_of_a_program_keep_their_answer(session: Session) -> None:
    assert explain(session, ILLEGAL).answers[0].id == "illegal-memory-access"


def test_a_missing_architecture_is_judged_by_the_card_that_lacks_it(session: Session) -> None:
    old = Gpu(Known("0000:02:00.0", "test"), name=Known("NVIDIA GeForce GTX 1080 Ti", "test"), uuid=Known("GPU-2", "test"))
    words = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
    alone, beside = (
        explained(session, run_with(check(Verdict.ERROR, words)), Machine("", gpus=Known(gpus, "test"))).explained[0].answer
        for gpus in ((CARD,), (CARD, old))
    )
    assert beside == alone


def test_each_failure_is_described_and_nothing_else() -> None:
    assert set(ENTRIES) == {failure.value for failure in CheckFailure}


@for_each("name", ENTRIES)
def test_what_is_said_can_be_said(name: str) -> None:
    entry = ENTRIES[name]
    assert not slots_of(entry.titles[-1].message)
    assert {slot for message in entry.messages() for slot in slots_of(message)} <= SLOTS
    for use in (use for remedy in entry.remedies for use in remedy.commands):
        records = [COMMANDS.record(use.key, family) for family in Family]
        assert any(record is not None and set(record.parameters) <= dict(use.parameters).keys() for record in records)
    assert all(remedy.check for remedy in entry.remedies)
