"""Lines of the child: what is taken, and what is refused."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.fact import Known, Unknown
from gpuassist.model.text import verbatim
from gpuassist.model.verdict import Verdict
from gpuassist.model.words import ENGLISH
from gpuassist.verify.protocol import (
    CheckBegun,
    CheckDone,
    Device,
    DeviceDone,
    Finished,
    Planned,
    ProtocolError,
    Refused,
    Started,
    parse,
)
from tests.rows import for_each
from tests.verify.lines import BEGIN, DONE, END, FAIL, IMPORTED, PASS, REFUSAL, SKIP, START, line, without


def why(refused: bytes) -> str:
    with pytest.raises(ProtocolError) as caught:
        parse(refused)
    return ENGLISH(caught.value.reason)


def test_the_start_tells_the_environment() -> None:
    event = parse(line(START))
    assert isinstance(event, Started)
    assert dict(event.environment) == {"python": "3.11.7", "torch": "2.5.1+cu124", "cuda": "12.4", "cudnn": "9.1.0"}
    assert event.devices == (Device("cuda:0", "NVIDIA GeForce RTX 4090", (Planned("matmul", "fp32"),)),)
    assert (event.accelerators, event.no_accelerator) == (1, "")


def test_a_refusal_tells_why() -> None:
    assert parse(line(REFUSAL)) == Refused("import", "3.11.7", "ModuleNotFoundError: No module named 'torch'")


def test_the_other_lines_tell_where_it_is() -> None:
    assert parse(line(BEGIN)) == CheckBegun("cuda:0", "matmul", "fp32")
    assert parse(line(DONE)) == DeviceDone("cuda:0")
    assert parse(line(END)) == Finished()


def test_a_passed_check_has_its_figures() -> None:
    event = parse(line(PASS))
    assert isinstance(event, CheckDone)
    assert event.check.verdict is Verdict.PASS
    assert event.check.error is None
    figures = (event.check.max_abs_error, event.check.tolerance, event.check.seconds, event.check.rate)
    assert [figure.value for figure in figures if isinstance(figure, Known)] == [1e-6, 1e-5, 0.5, 58.2]
    assert event.check.rate_unit == "TFLOP/s"


def test_a_failed_check_has_its_error() -> None:
    event = parse(line(FAIL))
    assert isinstance(event, CheckDone)
    assert event.check.verdict is Verdict.FAIL
    assert event.check.error is not None
    assert ENGLISH(event.check.error) == "RuntimeError: no kernel image is available"


def test_a_skipped_check_has_no_figures_but_reasons() -> None:
    event = parse(line(SKIP))
    assert isinstance(event, CheckDone)
    assert event.check.verdict is Verdict.SKIPPED
    assert isinstance(event.check.max_abs_error, Unknown)
    assert ENGLISH(event.check.max_abs_error.reason) == "the check was skipped"


def test_a_check_without_a_rate_says_so() -> None:
    event = parse(without(PASS, "rate"))
    assert isinstance(event, CheckDone)
    assert isinstance(event.check.rate, Unknown)
    assert event.check.rate_unit == ""


def test_an_integer_is_a_number_too() -> None:
    event = parse(line(PASS, max_abs_error=0, tolerance=0))
    assert isinstance(event, CheckDone)
    assert event.check.max_abs_error == Known(0.0, "verify")


@for_each(
    "junk",
    [
        b"",
        b"hello",
        b"{",
        b"[]",
        b"3",
        b"null",
        b"\xff\xfe",
        b"{}",
        b'{"type": 3}',
        b'{"type": "startle"}',
        b"[" * 200_000,
        b'{"type":' * 200_000,
    ],
)
def test_junk_is_refused(junk: bytes) -> None:
    assert why(junk).startswith("it wrote a line")


def test_junk_is_shown_but_not_all_of_it() -> None:
    shown = why(b"warning: " + b"x" * 10_000)
    assert "warning: xxx" in shown
    assert len(shown) < 200


@for_each(
    ("document", "name"),
    [(document, name) for document in (START, BEGIN, DONE, REFUSAL, IMPORTED) for name in document if name != "type"],
)
def test_a_missing_part_is_refused(document: dict[str, Any], name: str) -> None:
    assert name in why(without(document, name))


@pytest.mark.parametrize("name", ["device", "name", "dtype", "verdict", "error"])
def test_a_check_needs_its_parts(name: str) -> None:
    assert name in why(without(PASS, name))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seconds", "fast"),
        ("seconds", True),
        ("rate", None),
        ("rate_unit", 3),
        ("max_abs_error", [1]),
        ("error", None),
        ("name", 7),
    ],
)
def test_a_part_of_another_kind_is_refused(name: str, value: object) -> None:
    assert name in why(line(PASS, **{name: value}))


@pytest.mark.parametrize("words", [b"NaN", b"Infinity", b"-Infinity", b"9" * 400, b"9" * 5000, b"1e999"])
def test_a_number_that_is_none_is_refused(words: bytes) -> None:
    assert "max_abs_error" in why(line(PASS).replace(b"1e-06", words))


def test_a_hang_a_supervisor_saw_is_taken() -> None:
    event = parse(line(FAIL, verdict="hung", error="no answer for 10 s"))
    assert isinstance(event, CheckDone)
    assert event.check.verdict is Verdict.HUNG


def test_many_lines_of_torch_become_one_with_the_rest_behind_it() -> None:
    event = parse(line(FAIL, verdict="error", error="RuntimeError: CUDA error: unknown\nCompile with TORCH_USE_CUDA_DSA"))
    assert isinstance(event, CheckDone)
    assert event.check.error == verbatim("RuntimeError: CUDA error: unknown")
    assert event.check.said.endswith("TORCH_USE_CUDA_DSA")


@for_each(
    ("cause", "bytes_", "words", "held"),
    [
        ("memory", {"others": 20 << 30, "free": 1 << 30, "total": 24 << 30}, "others hold 20.0 GiB", True),
        ("memory", {"others": 0, "free": 3 << 20, "needed": 4 << 20}, "4 MiB are needed, 3 MiB are free", False),
        ("memory", {"others": 0, "free": 5 << 20, "needed": 4 << 20}, "refused 4 MiB of memory, though 5 MiB are free", False),
        ("memory", {"others": 0, "free": 5 << 20}, "5 MiB are free", False),
        ("memory", {"total": 24 << 30}, "GPU's 24.0 GiB", True),
        ("memory", {"others": 0, "total": 1 << 20}, "GPU's 1 MiB", False),
        ("memory", {}, "not even to start", True),
        ("busy", {}, "another program holds this GPU", True),
        ("time", {}, "not run: time", False),
    ],
)
def test_why_a_check_was_skipped_is_said_plainly(cause: str, bytes_: dict[str, int], words: str, held: bool) -> None:
    figures = {f"{name}_bytes": number for name, number in bytes_.items()}
    event = parse(line(SKIP, cause=cause, error="torch.OutOfMemoryError: CUDA out of memory.", **figures))
    assert isinstance(event, CheckDone)
    assert event.check.error is not None
    assert words in ENGLISH(event.check.error)
    assert event.check.held_by_others is held


@pytest.mark.parametrize("verdict", ["PASS", "ok", ""])
def test_other_verdicts_are_refused(verdict: str) -> None:
    assert "verdict" in why(line(PASS, verdict=verdict))


def test_a_pass_beyond_its_tolerance_is_refused() -> None:
    assert "matmul passed" in why(line(PASS, max_abs_error=1.0))


def test_a_pass_without_an_error_figure_is_refused() -> None:
    assert "matmul passed" in why(without(PASS, "max_abs_error"))


def test_a_failure_without_a_reason_is_refused() -> None:
    assert "not why" in why(line(FAIL, error=""))


def test_devices_that_are_no_objects_are_refused() -> None:
    assert "devices" in why(line(START, devices=["cuda:0"]))


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_line_crashes_the_parser(junk: bytes) -> None:
    with suppress(ProtocolError):  # hypothesis draws on the words of the code, and may well write a line that is one
        parse(junk)


def test_what_a_driver_cannot_do_is_said_without_the_name_of_an_exception() -> None:
    words = "RuntimeError: CUDA error: operation not supported"
    event = parse(line(SKIP, error=f"{words}\nCUDA kernel errors might be asynchronously reported"))
    assert isinstance(event, CheckDone)
    assert event.check.error is not None
    assert "801" in ENGLISH(event.check.error)
    assert "RuntimeError" not in ENGLISH(event.check.error)
    assert event.check.said.startswith(words)
