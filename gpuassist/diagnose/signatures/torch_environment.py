"""What an environment's description shows where torch was built for CUDA and finds no GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Setting, Sign, Signature, passages, sign
from gpuassist.diagnose.stated import torch_cuda, torch_version, without_gpu
from gpuassist.knowledge.compatibility import driver_serves_cuda
from gpuassist.model.fact import Known
from gpuassist.model.paste import Weight
from gpuassist.model.version import Version


def _unavailable(_: re.Match[str], setting: Setting) -> Iterator[Sign]:
    """No driver was found, or one that fits and does not work; of an old one the driver's own facts tell."""
    driver, cuda = setting.case.driver, torch_cuda(setting)
    if not cuda or "+cpu" in torch_version(setting):
        return
    if without_gpu(setting):
        yield sign("no-nvidia-gpu")
    elif isinstance(driver, Known):
        if driver_serves_cuda(driver.value, Version.parse(cuda)):
            yield sign("cuda-init-failed-driver-state", Weight.CONSEQUENCE, driver=str(driver.value))
    elif _older_works(setting, Version.parse(cuda)):
        yield sign("driver-too-old-for-cuda", Weight.SYMPTOM, cuda=cuda, torch=torch_version(setting))
    else:
        yield sign("no-driver", Weight.SYMPTOM)
        yield sign("driver-too-old-for-cuda", Weight.CONSEQUENCE)


def _older_works(setting: Setting, cuda: Version) -> bool:
    """Whether the text says that a torch for an older CUDA works on the same machine."""
    pattern = r"cu(?:da)?(\d{1,2}\.\d|\d{2,3})[^\n]{0,120}\bworks\b"
    told = [match[1] for match in passages(setting, ("works",), pattern)]
    return any(Version.parse(one if "." in one else f"{one[:-1]}.{one[-1]}").release < cuda.release for one in told)


def _built_without(match: re.Match[str], setting: Setting) -> Iterator[Sign]:
    """A build for no accelerator at all; one for AMD's says so in the next line."""
    if "+cu" in torch_version(setting):
        return
    if without_gpu(setting):
        yield sign("no-nvidia-gpu")
    else:
        yield sign("torch-cpu-only", torch=match["torch"])


SIGNATURES = (
    Signature(
        ("cuda used to build pytorch",),
        r"PyTorch version: (?P<torch>\S{1,60})\s+Is debug build: \w+\s+CUDA used to build PyTorch: (?:None|Could not collect)\b"
        r"(?!\s+ROCM used to build PyTorch: \d)[^\0]{0,1500}?Is CUDA available: (?:No|False)\b",
        _built_without,
        window=2000,
    ),
    Signature(
        ("is cuda available",),
        r"Is CUDA available: ?(?:No|False)\b",
        _unavailable,
    ),
)
