"""What a worker makes of what comes of a check, without torch: figures that no line can say, too little memory, what is kept."""

from __future__ import annotations

import gc
import math
import weakref
from types import SimpleNamespace
from typing import Any

import pytest

from gpuassist.verify.child import worker
from gpuassist.verify.child.bench import Bench, Check, Measured, Wrong
from tests.rows import for_each

MIB, GIB = 1 << 20, 1 << 30
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {}. GPU 0 has a total capacity of …"


def bench(cuda: Any = None) -> Bench:
    return Bench(SimpleNamespace(cuda=cuda), SimpleNamespace(index=0) if cuda else "cpu", 0, 0)


def outcome(measured: Measured) -> dict[str, Any]:
    return worker.outcome_of(bench(), Check("made", "fp32", lambda _bench, _kind: measured))


@for_each(
    ("measured", "verdict", "figures"),
    [
        (Measured(1.0, 2.0), "pass", {"max_abs_error", "tolerance"}),
        (Measured(3.0, 2.0), "fail", {"max_abs_error", "tolerance"}),
        (Measured(math.nan, 2.0), "fail", {"tolerance"}),
        (Measured(math.inf, math.nan), "fail", set()),
        (Measured(1.0, math.inf), "fail", set()),
        (Measured(1.0, math.nan), "fail", set()),
    ],
)
def test_what_is_no_number_is_a_wrong_result_that_a_line_can_say(measured: Measured, verdict: str, figures: set[str]) -> None:
    told = outcome(measured)
    assert (told["verdict"], bool(told["error"])) == (verdict, verdict == "fail")
    assert {"max_abs_error", "tolerance"} & set(told) == figures


class Tensor:
    """What a check holds while it fails."""


@pytest.mark.parametrize("kind", [Wrong, RuntimeError])
def test_a_check_that_failed_keeps_nothing_of_what_it_held(kind: type[Exception]) -> None:
    held: list[weakref.ref[Tensor]] = []

    def inner() -> None:
        tensor = Tensor()
        held.append(weakref.ref(tensor))
        raise kind("first")

    def run(_bench: Bench, _kind: str) -> Measured:
        try:
            inner()
        except kind as error:
            raise kind("second") from error
        raise AssertionError

    gc.disable()
    try:
        told = worker.outcome_of(bench(), Check("made", "fp32", run))
        assert (told["verdict"], held[0]()) == ("fail" if kind is Wrong else "error", None)
    finally:
        gc.enable()


@for_each(
    ("free", "total", "context", "words", "verdict", "others"),
    [
        # Others hold it, whether or not a second context fits beside them.
        (100 * MIB, 24 * GIB, 0, OOM.format("512.00 MiB"), "skipped", 24 * GIB - 612 * MIB),
        (400 * MIB, 4 * GIB, 300 * MIB, OOM.format("512.00 MiB"), "skipped", 4 * GIB - 700 * MIB),
        (100 * MIB, 24 * GIB, 0, "RuntimeError: CUBLAS_STATUS_ALLOC_FAILED", "skipped", 24 * GIB - 612 * MIB),
        (100 * MIB, 24 * GIB, 0, "RuntimeError: cuFFT error: CUFFT_INTERNAL_ERROR", "skipped", 24 * GIB - 612 * MIB),
        # A small card on which CUDA itself takes most.
        (41 * MIB, 351 * MIB, 0, OOM.format("64.00 MiB"), "skipped", 0),
        (500 * MIB, 800 * MIB, 300 * MIB, OOM.format("2.00 MiB"), "skipped", 0),
        # Memory cannot be why.
        (20 * GIB, 24 * GIB, 300 * MIB, OOM.format("3000.00 GiB"), "error", None),
        (20 * GIB, 24 * GIB, 300 * MIB, "RuntimeError: CUBLAS_STATUS_ALLOC_FAILED", "error", None),
        (20 * GIB, 24 * GIB, 300 * MIB, "RuntimeError: cuFFT error: CUFFT_INTERNAL_ERROR", "error", None),
        (300 * MIB, 751 * MIB, 300 * MIB, "RuntimeError: cuFFT error: CUFFT_INTERNAL_ERROR", "error", None),
        # No context at all: nobody knows who holds it, but that the card itself is too small.
        (0, 24 * GIB, 0, "RuntimeError: CUDA error: out of memory", "skipped", None),
        (0, 151 * MIB, 0, "RuntimeError: CUDA error: out of memory", "skipped", 0),
    ],
)
def test_who_left_too_little_memory(free: int, total: int, context: int, words: str, verdict: str, others: int | None) -> None:
    def mem_get_info(_device: Any) -> tuple[int, int]:
        if not free:
            raise RuntimeError(words)
        return free, total

    cuda = SimpleNamespace(
        mem_get_info=mem_get_info,
        memory_reserved=lambda _device: 0,
        get_device_properties=lambda _device: SimpleNamespace(total_memory=total),
        synchronize=lambda _device: None,
    )

    def run(_bench: Bench, _kind: str) -> Measured:
        raise RuntimeError(words)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "context_bytes", lambda _index, _free: context)
        told = worker.outcome_of(bench(cuda), Check("made", "fp32", run))
    assert (told["verdict"], told.get("others_bytes")) == (verdict, others)
