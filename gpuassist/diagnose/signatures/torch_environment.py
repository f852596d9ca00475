"""What an environment's description shows where torch was built for CUDA and finds no GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, passages, sign
from gpuassist.diagnose.tool_releases import torch_cuda, torch_version, without_gpu
from gpuassist.diagnose.wording import one_of
from gpuassist.knowledge.compatibility import driver_floor, driver_serves_cuda
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.paste import Weight
from gpuassist.model.version import Version


def _unavailable(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """No driver was found, one that is too old, or one that fits and does not work; or torch is one without CUDA."""
    if "+cpu" in torch_version(setting):
        return
    if without_gpu(setting):
        yield sign("no-nvidia-gpu")
    elif torch_cuda(setting):
        cuda = Version.parse(torch_cuda(setting))
        driver, torch = setting.case.driver, torch_version(setting)
        if isinstance(driver, Known) and driver_serves_cuda(driver.value, cuda):
            yield sign("cuda-init-failed-driver-state", Weight.CONSEQUENCE, driver=str(driver.value))
        elif isinstance(driver, Known):
            floor = str(driver_floor(cuda))
            yield sign("driver-too-old-for-cuda", driver=str(driver.value), cuda=str(cuda), torch=torch, floor=floor)
        elif _older_works(setting, cuda):
            yield sign("driver-too-old-for-cuda", Weight.SYMPTOM, cuda=str(cuda), torch=torch)
        else:
            yield sign("no-driver", Weight.SYMPTOM)
            yield sign("driver-too-old-for-cuda", Weight.CONSEQUENCE)
    else:
        yield sign("torch-cpu-only", Weight.SYMPTOM)
        if isinstance(setting.case.driver, Unknown):
            yield sign("no-driver", Weight.SYMPTOM)


def _older_works(setting: SignatureInput, cuda: Version) -> bool:
    """Whether the text says that a torch for an older CUDA works on the same machine."""
    pattern = r"cu(?:da)?(\d{1,2}\.\d|\d{2,3})[^\n]{0,120}\bworks\b"
    told = [match[1] for match in passages(setting, ("works",), pattern)]
    return any(Version.parse(one if "." in one else f"{one[:-1]}.{one[-1]}").release < cuda.release for one in told)


def _built_without(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
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
        ("is_available", "cuda available", "cuda is available"),
        one_of(
            r"CUDA (?:is )?available\W{1,6}(?:No|False)\b",
            r"is_available(?:\(\))?[^\w\n]{0,12}(?:(?:is|was|returns?|gives|返回|发现是|为)[^\w\n]{0,6})?"
            r"\s{0,3}(?:Out\[\d{1,4}\]: |>>> |return )?False\b",
            r"is_available\(\)\)[\"']?\n[^\n]{0,60}\+cu\d{2,3} False\b",
        ),
        _unavailable,
    ),
)
