"""What torch says of itself: built without CUDA, without code for this GPU, or for newer ones only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.named_in_words import for_jetson
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, general, means, one_of, passages, sign
from gpuassist.diagnose.tool_releases import OLDEST, python_version, torch_version, without_gpu
from gpuassist.diagnose.torch_choice import offered, torch_to_install
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.version import ComputeCapability, Target, VersionError


def _incompatible(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The warning names the GPU, its capability, and what the build has."""
    capability = _capability(match["capability"])
    if capability is not None:
        listed = tuple(_listed(setting.paste.words[match.end() : match.end() + 600]))
        yield _lacking(setting, setting.case.knowledge.name_within(match["gpu"]), capability, newest=max(listed, default=None))


def _too_old(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    capability = _capability(match["capability"])
    if capability is not None:
        yield _lacking(setting, setting.case.knowledge.name_within(match["gpu"]), capability, newest=None, newer=False)


def _outside(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """torch 2.8 to 2.10 tell the lowest and the highest, those from 2.11 on tell a list."""
    capability = _capability(match["capability"])
    rest = setting.paste.words[match.end() : match.end() + 900]
    known = [ComputeCapability.parse(one[1]) for one in re.finditer(r"(?:\(|- |>=)(\d{1,2}\.\d)\b", rest)]
    if capability is None:
        return
    if "no longer supports this gpu because it is too old" in rest[:120].lower():
        yield _lacking(setting, setting.case.knowledge.name_within(match["gpu"]), capability, newest=None, newer=False)
    elif known:
        yield _lacking(setting, setting.case.knowledge.name_within(match["gpu"]), capability, newest=max(known))


def _outside_or_fine(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Code for an earlier minor of the same major runs on a GPU; torch 2.8 to 2.10 warn of such a one all the same."""
    capability, highest = _capability(match["capability"]), _HIGHEST.match(setting.paste.words, match.end())
    newest = _capability(highest[1]) if highest is not None else None
    same = capability is not None and newest is not None and newest.major == capability.major and newest <= capability
    if same and not setting.says("no kernel image"):
        gpu = setting.case.knowledge.name_within(match["gpu"])
        yield sign("healthy", Weight.ASIDE, gpu=gpu, capability=str(capability), runs=str(newest))
    else:
        yield from _outside(match, setting)


_HIGHEST = lazy_regex(r"\s+Minimum and Maximum cuda capability[^()]{0,80}\(\d{1,2}\.\d\)[ -]{1,5}\((\d{1,2}\.\d)\)", re.IGNORECASE)


def _lacking(
    setting: SignatureInput, gpu: str, capability: ComputeCapability, *, newest: ComputeCapability | None, newer: bool = True
) -> Sign:
    """Below what is still made it is the card; else the build, which is older than the card or has dropped it."""
    if capability < OLDEST:
        return sign("gpu-too-old-for-torch", gpu=gpu, capability=str(capability))
    newer = newer and (newest is None or capability > newest)
    case, python = setting.case, version_in(python_version(setting))
    choice = torch_to_install(case, next((one.environment for one in case.torches), None), (capability,), python=python)
    return sign(
        "torch-lacks-sm",
        Weight.CAUSE,
        gpu=gpu,
        capability=str(capability),
        torch=torch_version(setting),
        newer="yes" if newer else "",
        dropped="" if newer else "yes",
        **offered(case, choice, (capability,), python),
    )


def _cpu_only(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    return _without_cuda(setting, torch_version(setting))


def _without_cuda(setting: SignatureInput, torch: str) -> Iterator[Sign]:
    """Where there is no NVIDIA GPU, the build is the right one and the program the wrong one."""
    if without_gpu(setting):
        yield sign("no-nvidia-gpu")
    weight = Weight.STATE if without_gpu(setting) else Weight.CAUSE
    yield sign("torch-cpu-only", weight, torch=torch, **for_jetson(setting))


def _cpu_build(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A version with `+cpu` is no fault by itself: something has to miss the GPU."""
    if any(True for _ in passages(setting, ("cuda", "gpu", "false"), _MISSED)):
        yield from _without_cuda(setting, match["torch"])


@general
def _no_cuda(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A program wants a GPU and torch sees none: any of three reasons."""
    if without_gpu(setting):
        yield sign("no-nvidia-gpu")
    if "+cpu" in torch_version(setting):
        yield sign("torch-cpu-only", torch=torch_version(setting))
        return
    yield sign("torch-cpu-only", Weight.STATE)
    yield sign("no-driver", Weight.STATE)
    yield sign("no-nvidia-gpu", Weight.STATE)


def _old_for_triton(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Triton serves 7.0 and newer; torch itself may well serve less."""
    yield sign(
        "gpu-too-old-for-torch",
        Weight.STATE,
        gpu=setting.case.knowledge.name_within(match["gpu"] or ""),
        capability=match["capability"],
    )


def _capability(words: str) -> ComputeCapability | None:
    """From `12.0`, `sm_120`."""
    try:
        return Target.parse(words.lower()).capability if "_" in words else ComputeCapability.parse(words)
    except VersionError:
        return None


def _listed(words: str) -> Iterator[ComputeCapability]:
    """The capabilities in `The current PyTorch install supports CUDA capabilities sm_50 sm_60`."""
    start = words.lower().find("supports cuda capabilities")
    end = words.find("If you want", start)
    for one in re.finditer(
        r"\b(?:sm|compute)_\d{2,3}[af]?\b", words[start : end if end > 0 else start + 300] if start >= 0 else ""
    ):
        yield Target.parse(one[0]).capability


_MISSED = one_of(
    r"is_available\(?\)?[^\n]{0,40}?\s{0,3}(?:>>> ?)?False",
    r"cuda[ _.]?(?:is )?available\W{1,6}(?:False|No)\b",
    r"\bTorch not compiled with CUDA",
    r"\bCUDA (?:is )?not available",
    r"no CUDA[ -](?:capable )?(?:GPU|device)",
    r"CUDA used to build PyTorch:\s*(?:None|Could not collect)",
    r"(?:GPU|CUDA)[^\n]{0,30} not (?:used|detected|found|recognized|visible)",
    r"\+cpu\s{1,3}False\b",
    r"\bFalse\b[^\n]{0,40}\+cpu",
    r"没有(?:使用|用上|检测到)\s?GPU",
)

SIGNATURES = (
    Signature(
        ("is not compatible with the current pytorch installation",),
        r"(?P<gpu>\S[^\n]{0,78}\S)\s{1,40}with\s+CUDA\s+capability\s+(?P<capability>sm_\d{2,3})\s+is\s+not\s+compatible\s+with\s+the"
        r"\s+current\s+PyTorch\s+installation",
        _incompatible,
    ),
    Signature(
        ("no longer supports this gpu because it is too old",),
        r"Found GPU\s?\d+\s+(?P<gpu>[^\n]{2,80}?)\s+which is of cuda capability (?P<capability>\d{1,2}\.\d)\."
        r"\s+(?:[^\n]{1,80}[ |-])?PyTorch no longer supports",
        _too_old,
    ),
    Signature(
        ("minimum and maximum cuda capability", "(cc)"),
        r"Found GPU\s?\d+\s+(?P<gpu>[^\n]{2,80}?)\s+which is of (?:cuda capability|compute capability \(CC\))\s+"
        r"(?P<capability>\d{1,2}\.\d)\.",
        _outside_or_fine,
    ),
    Signature(
        ("does not include kernels for this gpu", "pytorch cuda builds for release"),
        r"Your installed torch==(?P<torch>\S{1,40}) does not include kernels for this GPU"
        r"|No published PyTorch CUDA builds for release \S{1,40} support this GPU",
        means("torch-lacks-sm"),
    ),
    Signature(
        ("supported by the triton gpu compiler", "triton only supports devices"),
        r"(?:Found (?P<gpu>[^\n]{2,80}?) which is too old to be supported by the triton GPU compiler[^\0]{0,120}?)?"
        r"Triton only supports devices of CUDA Capability\s*>=\s*[\d.]+,\s+but your device is of CUDA capability "
        r"(?P<capability>\d{1,2}\.\d)",
        _old_for_triton,
    ),
    Signature(
        ("not compiled with cuda", "not linked with cuda", "not built with", "without cuda", "'_cuda_", "aten_cuda library"),
        one_of(
            r"Torch not compiled with CUDA enabled",
            r"PyTorch (?:was|is) (?:not compiled|compiled without|built without|not built)(?: with)? CUDA",
            r"Torch was not compiled with CUDA",
            r"(?:PyTorch|torch|ATen) (?:was )?(?:not linked|not built) with (?:support for )?CUDA",
            r"module 'torch\._C' has no attribute '_cuda_\w+'",
            r"cannot import name '_cuda_\w+' from 'torch\._C'",
            r"Cannot initialize CUDA without ATen_cuda library",
        ),
        _cpu_only,
    ),
    Signature(
        ("+cpu", "_cpu_"),
        r"(?:\b(?:py)?torch\W{1,25}|PyTorch version: ?|__version__\W{1,20}|(?m:^)[ \t]*['\"(]?)"
        r"(?P<torch>\d\.\d{1,2}\.\d{1,2}(?:\.\w{1,20})?\+cpu)\b",
        _cpu_build,
        window=120,
    ),
    Signature(
        (
            "but torch.cuda.is_available() is false",
            "cannot access accelerator device",
            "requires cuda",
            "no cuda gpus",
            "torch is not able to use gpu",
        ),
        one_of(
            r"Torch is not able to use GPU",
            r"Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False",
            r"Cannot access accelerator device when none is available",
            r"Expected one of cpu[^\n]{0,200} device type at start of device string: cuda",
        ),
        _no_cuda,
    ),
)
