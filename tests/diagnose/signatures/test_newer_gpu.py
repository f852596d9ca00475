"""A part of a program that asks for a newer GPU."""

from __future__ import annotations

from gpuassist.diagnose.signatures.newer_gpu import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problem
from tests.rows import for_each
from tests.values import Recipe, machine

ASKS = (
    (
        "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has 7.5.",
        "8.0",
        "",
    ),
    ("RuntimeError: requires sm_80+ (Ampere or newer); got sm_75", "8.0", ""),
    ("marlin kernel only support Turing or newer GPUs.", "", "Turing"),
    ("FP8 only support Ada Lovelace or newer GPUs.", "", "Ada"),
    ("NVFP4 output requires SM100+ (Blackwell)", "10.0", ""),
    ("BFloat16 MatMulNBits is not supported on cuda device with compute capability < 8.0", "8.0", ""),
    ("A minimum compute capability of 8.9 is required.", "8.9", ""),
    ("GPU compute capability 3.0 is not supported(requires >=3.3)", "3.3", ""),
    ("ptxas /tmp/x.ptx, line 5; error: Feature '.bf16' requires .target sm_80 or higher", "8.0", ""),
    ("The current device has compute capability of (7, 5) which is insufficient for FP8 mixed precision training", "", ""),
)
SILENT = (
    "FlashAttention only supports Ampere GPUs or newer.",  # has an explanation of its own
    "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.",
    "KDA prefill needs SM100; falling back to Triton extend.",
    "requires a ROCm GPU of gfx942 or newer",
    "nvcc fatal : Unsupported gpu architecture 'compute_120'",
)


@for_each(("words", "needed", "generation"), ASKS)
def test_what_is_asked_for_is_named(words: str, needed: str, generation: str) -> None:
    assert problem(SIGNATURES, words) == "gpu-too-old-for-feature"
    found = parameters(SIGNATURES, words)
    assert (found.get("needed", ""), found.get("generation", "")) == (needed, generation)


@for_each("words", SILENT)
def test_what_has_another_cause_or_goes_on_is_left_alone(words: str) -> None:
    assert problem(SIGNATURES, words) == ""


def test_gpu_at_hand_decides() -> None:
    here = machine(Recipe())  # RTX 4090, 8.9
    assert problem(SIGNATURES, "requires sm_80+ (Ampere or newer)", here) == ""
    found = parameters(SIGNATURES, "NVFP4 output requires SM100+ (Blackwell)", here)
    assert (found["capability"], found["needed"]) == ("8.9", "10.0")
    assert "4090" in found["gpu"]
