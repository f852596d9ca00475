"""What programs say of settings that slow them or have a new name, and of CUDA that is used in a process that was forked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, sign
from gpuassist.model.paste import Weight
from gpuassist.model.text import text

_SLOW = ("slow", "speed", "throughput", "it/s", "takes longer", "takes twice", "慢", "遅", "느")
_FAILS = ("error:", "error ", "exception", "traceback", "assert", "out of memory", "killed", "no kernel image", "失败", "报错")


def _forked(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    cause = text("the program starts CUDA before it starts its worker processes, which have to be started with spawn")
    loader = "yes" if setting.says("dataloader", "data/_utils/worker") else ""
    yield sign("not-a-gpu-problem", Weight.CAUSE, cause=cause, cause_id="fork", loader=loader)


def _blocking(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Where something fails, somebody set it to find the place; where something is slow, it is the reason."""
    if setting.says(*_SLOW) and not setting.says(*_FAILS):
        yield sign("launch-blocking-left-on", Weight.CAUSE, value=match["value"])


def _renamed(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A warning that stands in many logs is no answer to what fails there."""
    if not setting.says(*_FAILS):
        yield sign("allocator-variable-renamed", Weight.CAUSE)


def _rounding(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if not setting.says(*_FAILS):
        found = match.groupdict()
        yield sign("tf32-off", Weight.CAUSE, gpu=found.get("gpu") or "", override="yes" if found.get("override") else "")


def _other_number(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The order is no cause where the program fails with an error of its own."""
    by_slot = setting.says("cuda_device_order=pci_bus_id", "cuda_device_order'] = 'pci", 'cuda_device_order"] = "pci')
    if not by_slot and setting.says("gpu", "cuda", "显卡"):
        yield sign("device-order-differs", Weight.CAUSE)


SIGNATURES: tuple[Signature, ...] = (
    Signature(
        ("in forked subprocess", "in a forked subprocess", "in forked process"),
        r"Cannot re-?initialize CUDA in (?:a )?forked (?:sub)?process",
        _forked,
    ),
    Signature(("cuda_launch_blocking",), r"CUDA_LAUNCH_BLOCKING['\"]?\]?\s?[=:,]\s?['\"]?(?P<value>1|true)\b", _blocking, 200),
    Signature(
        ("pytorch_cuda_alloc_conf is deprecated",),
        r"PYTORCH_CUDA_ALLOC_CONF is deprecated, use PYTORCH_ALLOC_CONF instead",
        _renamed,
        200,
    ),
    Signature(
        ("tensor cores for float32 matrix multiplication", "that has tensor cores. to properly utilize them"),
        r"TensorFloat32 tensor cores for float32 matrix multiplication available but not enabled"
        r"|using a CUDA device \('(?P<gpu>[^'\n]{3,60})'\) that has Tensor Cores\. To properly utilize them",
        _rounding,
        300,
    ),
    Signature(("nvidia_tf32_override",), r"NVIDIA_TF32_OVERRIDE['\"]?\]?\s?[=:]\s?['\"]?(?P<override>0)\b", _rounding, 100),
    Signature(
        ("nvidia-smi",),
        r"(?:order|number(?:s|ing)?|ind(?:ex|ices|exes|exing)|ids?|编号|顺序|序号)[^\n]{0,60}"
        r"(?:differ\w*|(?:do(?:es)? ?n[o']t|not) (?:match|correspond|agree)|mismatch|revers\w+|swapp\w+|不一致|不同|相反|对不上)"
        r"[^\n]{0,60}nvidia-smi"
        r"|nvidia-smi[^\n]{0,80}(?:order|number(?:s|ing)?|ind(?:ex|ices|exes|exing)|ids?|编号|顺序|序号)[^\n]{0,60}"
        r"(?:differ\w*|(?:do(?:es)? ?n[o']t|not) (?:match|correspond|agree)|mismatch|revers\w+|swapp\w+|不一致|不同|相反|对不上)",
        _other_number,
        300,
    ),
)
