"""What nvcc, ptxas and clang say of architectures: too new for the toolkit, dropped by it, or none named."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.architectures import added_since, judge_architecture, known_since
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, sign
from gpuassist.diagnose.tool_releases import nvcc_release
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.paste import Weight
from gpuassist.model.version import Target

_QUOTE = "['\"`´‘’]?"
_NAME = r"(?P<architecture>(?:compute|sm|lto)[_ ]\d{2,3}[af]?)"


def _architecture(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """One message with opposite cures: the toolkit's release decides, or else the architecture alone."""
    return judge_architecture(setting, Target.parse(match["architecture"].lower().replace(" ", "_")))


def _unknown_target(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """ptxas still reads the PTX of targets that it no longer compiles: one that it does not know at all is newer than it."""
    target = Target.parse(match["architecture"].lower().replace(" ", "_"))
    yield sign("nvcc-arch-too-new", Weight.CAUSE, **known_since(setting, target), nvcc=nvcc_release(setting))


def _newer_option(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """`native`, `all` and `all-major` came with CUDA 11.5 and 11.6."""
    nvcc = nvcc_release(setting)
    yield sign("nvcc-arch-too-new", nvcc=nvcc, firsts=added_since(setting, version_in(nvcc) if nvcc else None))


def _older_ptxas(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    triton = "yes" if setting.says("triton", "torch._inductor", "torch/_inductor", "torchinductor") else ""
    yield sign("ptxas-older-than-ptx", ptx=match["ptx"], ptxas=_release_of_ptx(match["own"]), triton=triton)


# PTX ISA, release history: the CUDA release that first brought each version.
_RELEASES_OF_PTX = {
    "6.0": "9.0",
    "6.1": "9.1",
    "6.2": "9.2",
    "6.3": "10.0",
    "6.4": "10.1",
    "6.5": "10.2",
    "8.5": "12.5",
    "8.6": "12.7",
    "8.7": "12.8",
    "8.8": "12.9",
}


def _release_of_ptx(ptx: str) -> str:
    """The CUDA release of a PTX version: 7.x is 11.x, 8.0 to 8.4 is 12.x, 9.x is 13.x, the others by the table."""
    major, _, minor = ptx.partition(".")
    return _RELEASES_OF_PTX.get(ptx) or {"7": f"11.{minor}", "8": f"12.{minor}", "9": f"13.{minor}"}.get(major, "")


SIGNATURES = (
    Signature(("unsupported gpu architecture",), rf"Unsupported gpu architecture:?\s+{_QUOTE}{_NAME}\b", _architecture),
    Signature(
        ("is not defined for option", "is not in 'keyword' format", "未定义"),
        rf"Value\s+{_QUOTE}{_NAME}{_QUOTE}\s+is\s+not\s+defined\s+for\s+option\s+{_QUOTE}gpu-(?:architecture|name|code)",
        _architecture,
    ),
    Signature(
        ("unsupported cuda gpu architecture", "unsupported gpu architecture"),
        r"unsupported CUDA gpu architecture:?\s+(?P<architecture>sm_\d{2,3}[af]?)\b",
        _architecture,
    ),
    Signature(
        ("is supported by cuda versions between",),
        r"GPU arch (?P<architecture>sm_\d{2,3}[af]?) is supported by CUDA versions between [\d.]+ and [\d.]+ \(inclusive\), but "
        r"installation at",
        _architecture,
    ),
    Signature(("unsupported .target",), rf"fatal\s*:\s*Unsupported \.target {_QUOTE}{_NAME}", _unknown_target),
    Signature(
        ("is not defined for option", "unsupported gpu architecture"),
        rf"(?:Value {_QUOTE}(?:native|all|all-major){_QUOTE} is not defined for option {_QUOTE}gpu-architecture"
        rf"|Unsupported gpu architecture {_QUOTE}compute_(?:native|all|all-major){_QUOTE}(?!\w))",
        _newer_option,
    ),
    Signature(
        ("unsupported .version",),
        rf"Unsupported \.version (?P<ptx>\d{{1,2}}\.\d); current version is {_QUOTE}(?P<own>\d{{1,2}}\.\d)",
        _older_ptxas,
    ),
    Signature(
        ("unsupported gpu architecture",),  # what a tool that looked for GPUs printed in place of a number
        rf"Unsupported gpu architecture\s+{_QUOTE}(?:compute|sm)_(?-i:[A-Z])[a-zA-Z]{{1,20}} [^\n]{{3,60}}",
        means("nvcc-native-without-gpu"),
    ),
    Signature(
        ("unsupported gpu architecture", "is not defined for option"),
        rf"(?:Unsupported gpu architecture\s+{_QUOTE}(?:compute|sm)_(?![\dnaA-Z])"
        rf"|Value {_QUOTE}(?:(?:compute|sm)_)?{_QUOTE} is not defined for option {_QUOTE}gpu-architecture)",
        means("nvcc-arch-empty"),
    ),
    Signature(
        ("cmake_cuda_architectures", "cuda_architectures"),
        r"CMAKE_CUDA_ARCHITECTURES must be (?:non-empty|valid) if set|CUDA_ARCHITECTURES is empty for target"
        r"|CUDA_ARCHITECTURES is set to \"\", which|CUDA_ARCHITECTURES to be non-empty",
        means("nvcc-arch-empty"),
    ),
    Signature(
        ("failed to detect a default cuda architecture",),
        r"Failed to detect a default CUDA architecture",
        means("nvcc-arch-empty", Weight.STATE),
    ),
    Signature(
        ("extra_pytorch_cuda_arch", "arch_list[-1] += '+ptx'"),
        r"arch_list\[-1\] \+= '\+PTX'\s[^\0]{0,200}?IndexError: list index out of range",
        means("nvcc-arch-empty"),
    ),
    Signature(("unknown cuda arch",), r"Unknown CUDA arch \((?:\)|native)[^\n]{0,60}", means("nvcc-arch-empty")),
    Signature(
        ("cannot find valid gpu for",), rf"Cannot find valid GPU for {_QUOTE}-arch=native{_QUOTE}", means("nvcc-native-without-gpu")
    ),
    Signature(
        ("cmake_cuda_architectures", "cuda_architectures"),
        r"CUDA_ARCHITECTURES\W{1,10}native\W[^\0]{0,120}?(?:no GPU|is not one of|could not be detected|not find a (?:valid )?GPU)",
        means("nvcc-native-without-gpu"),
    ),
    Signature(
        ("deprecated, and may be removed", "offline compilation for architectures prior"),
        r"(?:architectures are|GPU targets are) deprecated, and may be removed in a future release"
        r"|Support for offline compilation for architectures prior to",
        means("healthy", Weight.ASIDE),
    ),
)
