"""What CUDA programs and libraries say when a kernel fails, and what they say afterwards because of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import card_name, driver_version, torch_cuda
from gpuassist.diagnose.named_in_words import for_jetson, torch_older_than_card
from gpuassist.diagnose.signature import Meaning, Sign, Signature, SignatureInput, means, sign
from gpuassist.diagnose.signatures.memory import library_of
from gpuassist.diagnose.tool_releases import OLDEST, capability, memory_was_free
from gpuassist.knowledge.compatibility import first_toolkit_for
from gpuassist.model.fact import Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

_RELEASE = lazy_regex(
    r"cuda(?: compilation tools,| toolkit| version| & cuda-tools|)?[:,]? (?:release )?(\d{1,2}\.\d)\b", re.IGNORECASE
)
_CAPABILITY = lazy_regex(
    r"(?:compute capability|cuda capability|capability:)\s{0,3}(?:sm_)?(\d{1,2}\.\d)|major=(\d{1,2}), minor=(\d)", re.IGNORECASE
)
_TORCH = lazy_regex(
    r"^\s{0,20}(?:\[\w{1,12}\]:? )?(?:RuntimeError|torch\.\w{4,30}|[\w.]*AcceleratorError): CUDA error|/torch/|torch\.cuda|pytorch",
    re.IGNORECASE | re.M,
)
_EXTENSION = lazy_regex(
    r"/(?:xformers|flash_attn|mmcv|mmdet3?d?|detectron2|pytorch3d|apex|deepspeed|torch_scatter|torch_sparse|spconv|bitsandbytes"
    r"|exllama\w*"
    r"|auto_?gptq|gsplat|tinycudann|diff_gaussian_rasterization|nvdiffrast|causal_conv1d|mamba_ssm|torch_extensions"
    r"|MinkowskiEngine|dcn\w*)[/\w.-]",
    re.IGNORECASE,
)


def _assertion(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    yield sign("device-side-assert", Weight.CAUSE, where=f"{match['file']}:{match['line']}")


_FAULTS = {"instruction": "instruction", "misaligned": "alignment", "launch fail": "launch", "launch_fail": "launch"}


def _address(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """After an assertion, and after an Xid that says the card is gone, everything else fails as well."""
    words = match[0].lower()
    fault = next((kind for said, kind in _FAULTS.items() if said in words), "")
    weight = Weight.STATE if setting.says("device-side assert", "] assertion `", "xid (") else Weight.CAUSE
    yield sign("illegal-memory-access", weight, **({"fault": fault} if fault else {}))


def _no_image(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """torch's own kernels miss the card, or those of an extension that was compiled elsewhere."""
    gpu = card_name(setting)
    extension = setting.finds(_EXTENSION)
    older = torch_older_than_card(setting)
    if older is not None:
        yield older
    elif extension is None and setting.finds(_TORCH):
        known = capability(setting)
        problem = "gpu-too-old-for-torch" if known is not None and known < OLDEST else "torch-lacks-sm"
        yield sign(problem, Weight.STATE, gpu=gpu, capability=str(known or ""), **for_jetson(setting))
    package = extension[0].strip("/._-") if extension else ""
    weight = Weight.ASIDE if older is not None else Weight.STATE if extension is None else Weight.CAUSE
    asked = capability(setting)
    first = first_toolkit_for(asked, setting.case.knowledge.toolkits()) if asked is not None else None
    yield sign("no-kernel-image", weight, gpu=gpu, package=package, capability=str(asked or ""), cuda=str(first or ""))


def _invalid_function(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    for one in _no_image(match, setting):
        yield sign(one.problem, Weight.STATE, **dict(one.parameters))


def _ptx(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The driver compiles PTX of its own CUDA and older; the program's is newer."""
    own = setting.case.machine.driver.cuda_version
    release = setting.finds(_RELEASE)
    yield sign(
        "ptx-newer-than-driver",
        Weight.CAUSE,
        cuda=torch_cuda(setting) or (release[1] if release else ""),
        driver=driver_version(setting),
        served=str(own.value) if isinstance(own, Known) else "",
        capability=_capability(setting),
    )


def _capability(setting: SignatureInput) -> str:
    known = setting.case.capabilities
    if len(known) == 1:
        return str(known[0])
    found = setting.finds(_CAPABILITY)
    return "" if found is None else found[1] or f"{found[2]}.{found[3]}"


def _library(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A library that cannot start has mostly no memory left; a kernel before it may have failed as well."""
    other = setting.says("device-side assert", "out of memory") or memory_was_free(setting)
    yield sign("cublas-init-failed-oom", Weight.STATE if other else Weight.CAUSE, library=library_of(match[0]))


def _library_call(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A call that fails inside a library: mostly an index out of range before it, sometimes no memory."""
    if setting.says("embedding", "index", "token", "vocab", "label", "cross_entropy", "assert"):
        yield sign("device-side-assert", Weight.STATE)
    yield sign("cublas-init-failed-oom", Weight.STATE, library=library_of(match[0]))


def _fourier(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The cuFFT of CUDA 11.7 and older fails on Ada (pytorch/pytorch#88038); torch for 11.8 has one that works."""
    cuda = torch_cuda(setting)
    if cuda.startswith(("10.", "11.0", "11.1", "11.3", "11.5", "11.6", "11.7")) or setting.says("cu117", "cu116", "cu113"):
        yield sign("torch-lacks-sm", Weight.STATE, gpu=card_name(setting), newer="yes")
    yield sign("cublas-init-failed-oom", Weight.STATE, library=library_of(match[0]))


BY_STATE: dict[str, Meaning] = {
    "bad-address": _address,
    "launch-failed": _address,
    "no-kernel-image": _no_image,
    "no-kernel-for-device": _invalid_function,
    "library-wrong-gpu": _invalid_function,
    "ptx-too-new": _ptx,
    "library-not-started": _library,
    "library-call-failed": _library_call,
    "cufft-failed": _fourier,
}

SIGNATURES = (
    Signature(
        (".cu:", ".cuh:", ".cu(", "assertion `"),
        r"(?P<file>[\w./-]{1,120}\.cuh?)(?::|\()(?P<line>\d{1,5})\)?:[^\n]{0,400}?Assertion [`'‘\"][^\n]{1,200}[`'’\"] failed",
        _assertion,
    ),
    Signature(
        ("illegal memory access", "misaligned address at"),
        r"CUDA[^\n]{0,80}(?<!an )illegal memory access(?! was)|misaligned address at 0x",
        _address,
    ),
    Signature(
        (
            "create cublas handle",
            "create cudnn handle",
            "create cusolver handle",
            "failed to create cublas",
        ),
        r"(?:[Ff]ailed to|[Cc]ould not) create (?:cublas|cudnn|cusolver) (?:handle|instance)[^\n]{0,80}",
        _library,
    ),
    Signature(("invalid device function",), r"invalid device function[^\n]{1,200}\.cuh?\b", _invalid_function),
    Signature(
        ("out of resource:",),
        r"out of resource: (?P<resource>shared memory|registers|tensor memory|threads), Required: (?P<needed>\d{1,9})"
        r", Hardware limit: (?P<limit>\d{1,9})",
        means("kernel-exceeds-gpu", package="triton"),
    ),
)
