"""Texts of GPUs and accelerators that are not NVIDIA's: their builds of torch, and their own drivers in a log."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import AMD, OTHERS, of_amd, of_another_maker
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, one_of, sign
from gpuassist.model.paste import Weight
from gpuassist.model.text import text

_OF_NVIDIA = ("nvidia", "nvrm", "nouveau", "geforce", "cuda")


def _amd(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if of_amd(setting):
        yield sign("not-a-gpu-problem", cause_id="amd", cause=text("the text is of a GPU of AMD"))


def _others(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if of_another_maker(setting):
        yield sign("not-a-gpu-problem", cause_id="other-maker", cause=text("the text is of an accelerator of another maker"))


def _other_maker(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if not setting.says("nvrm", "nvidia-smi", "cuda error"):
        maker = "Intel" if any(word in match[0].lower() for word in ("i915", "xe ")) else "AMD"
        cause = text("the message is of another maker's GPU ({words})", words=match[0])
        yield sign("not-a-gpu-problem", Weight.STATE, cause_id="other-driver", maker=maker, cause=cause)


def _other_gpu(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Drivers of Intel's and AMD's GPUs, whose lines stand in every log of a laptop: where nothing in it is NVIDIA's."""
    if setting.says(*_OF_NVIDIA):
        return
    said = match[0].lower()
    maker = "AMD" if setting.says("amdgpu", "radeon", "radv") else "Intel" if setting.says("i915", "intel", "rcs0") else ""
    if maker:
        cause = text("the text is of a GPU of {maker}, and the message of its own driver", maker=maker)
        yield sign("not-a-gpu-problem", Weight.STATE, cause_id="other-driver", maker=maker, cause=cause)
    elif "gpu hang" in said:
        cause = text("the message is of Intel's driver for its own GPUs")
        yield sign("not-a-gpu-problem", Weight.STATE, cause_id="other-driver", maker="Intel", cause=cause)


SIGNATURES = (
    Signature(AMD[0], AMD[1], _amd),
    Signature(OTHERS[0], OTHERS[1], _others),
    Signature(
        ("gpu hang", "vkcreateinstance", "vulkan instance", "radv", "amdgpu", "i915", "vk_error", "libgl error"),
        one_of(
            r"GPU HANG: ecode \S{3,30}",
            r"(?:createInstance: )?Failed to create Vulkan instance",
            r"VK_ERROR_\w{4,40}",
            r"amdgpu(?: \S{5,20})?: (?:\[?\w{2,10}\]? )?[^\n]{0,60}(?:timeout|failed|reset|fault)",
            r"libGL error: failed to load driver: (?:i9\d\d|iris|radeonsi|amdgpu|crocus)",
        ),
        _other_gpu,
    ),
    Signature(
        ("amdgpu", "i915", "hip error", "hiperror", "rocblas error", "miopen error", "xe 0000:", "rocm"),
        one_of(
            r"\[drm:amdgpu_\w{1,40} \[amdgpu\]\] \*ERROR\*",
            r"amdgpu: ring \S{1,20} timeout",
            r"i915 \S{1,20} \[drm\] (?:GPU HANG|\*ERROR\*)",
            r"\bxe \S{1,20} \[drm\] \*ERROR\*",
            r"HIP error: [^\n]{1,60}",
            r"hipError\w{4,40}",
            r"(?:rocBLAS|MIOpen) error",
        ),
        _other_maker,
    ),
)
