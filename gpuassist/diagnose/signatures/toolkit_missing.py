"""What builds say when they find no nvcc, no toolkit or no cuDNN headers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, one_of, sign
from gpuassist.model.paste import Weight

_NO_COMMAND = one_of(
    "(?:command )?not found",
    "no such file or directory",
    "is not recognized as an internal or external command",
)
_CUDA_HEADER = one_of(
    r"cuda\w*",
    r"cublas\w*",
    r"cu(?:sparse|solver|rand|fft)\w*",
    "nv(?:rtc|ml|ToolsExt|JitLink)",
    r"thrust/\w+",
    r"cub/\w+",
    "nv/target",
    r"crt/host_\w+",
    "device_launch_parameters",
)
_HEADER_MISSING = one_of("fatal error:", "error:", "cannot open source file", "cannot open include file:") + r"\s+['\"‘]?"


def _shell(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A shell that finds no nvcc: the cause of a build's failure, and little where torch computes without it."""
    works = setting.says("is_available() true", "cuda available: true", "is_available(): true")
    built = setting.says("make: ", "make[", "cmake", "ninja", "setup.py", "makefile")
    yield sign("nvcc-not-on-path", Weight.CAUSE if built else Weight.STATE, torch_runs="yes" if works else "")


def _header(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A header of the toolkit: with torch's extension builder its CUDA_HOME leads to no whole toolkit."""
    if setting.says("cpp_extension", "setup.py", "torch/include"):
        yield sign("cuda-home-unset", Weight.STATE)
    yield sign("nvcc-not-on-path", Weight.STATE)


def _no_toolkit(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """`CUDA compiler found` is what a build says when all is well."""
    words = match[0].lower()
    if not words.startswith("cuda ") or not words.endswith(" found") or words.endswith(" not found"):
        yield sign("nvcc-not-on-path")


SIGNATURES = (
    Signature(
        ("nvcc",),
        one_of(
            rf"(?:^|[\s'\"`:>/])nvcc(?:\.exe)?['\"`]?(?:\s*:\s*(?:\d+:\s*)?| ){_NO_COMMAND}",
            r"command not found: nvcc\b",
            "Command 'nvcc' not found",
        ),
        _shell,
        window=160,
    ),
    Signature(
        ("nvcc",),
        one_of(
            r"No such file or directory:? ?\(?['\"‘][^'\":\n]{0,200}\bnvcc['\"]",
            r"make(?:\[\d+\])?: [^\n]{0,120}\bnvcc: (?:No such file|Command not found)",
            "/nvcc: (?:No such file or directory|not found)",
            r"(?:Failed to|Could not|Cannot|Unable to) find [`']?nvcc\b",
            r"(?<!requested, but )nvcc (?:was )?not found(?:\.| in)",
            "(?<!requested, but )nvcc (?:executable )?(?:could not be|cannot be|was not) found",
            r"missing:[^\n)]{0,120}(?:CUDAToolkit_NVCC_EXECUTABLE|CUDA_NVCC_EXECUTABLE)",
            "NVCC-NOTFOUND",
            r"Unknown compiler\(s\):[^\n]{0,80}nvcc",
        ),
        means("nvcc-not-on-path"),
        window=260,
    ),
    Signature(
        ("cmake_cuda_compiler", "cuda_toolkit_root_dir", "cuda"),
        one_of(
            "No CMAKE_CUDA_COMPILER could be found",
            r"CMAKE_CUDA_COMPILER[\s:=-]{1,4}NOTFOUND",
            "CMAKE_CUDA_COMPILER not set, after EnableLanguage",
            r"The CMAKE_CUDA_COMPILER:\s+\S{1,200}\s+is not (?:a full path and was not found|an existing compiler)",
            r"Could NOT find CUDA(?:Toolkit)? \(missing:?",
            "Specify CUDA_TOOLKIT_ROOT_DIR",
            "CUDA_TOOLKIT_ROOT_DIR not found",
            r"Could not find a package configuration file provided by \"CUDA(?:Toolkit)?\"",
            "(?:Could not|Cannot|Unable to) find (?:an? |the )?CUDA (?:toolkit|compiler)",
            "(?:No )?CUDA (?:toolkit|compiler) (?:was )?(?:not )?found(?=[.!,\n]| in)",
            "Cuda Configuration Error: (?:Cannot find|Could not find)(?! cudnn)",
            r"Could not find any cuda\.h matching",
        ),
        _no_toolkit,
        window=300,
    ),
    Signature(
        ("cannot find cuda installation", "cannot find a cuda installation", "cannot find libdevice for"),
        r"error: cannot find (?:a )?CUDA installation|cannot find libdevice for sm_\d+",
        means("nvcc-not-on-path"),
    ),
    Signature(
        ("fatal error:", "cannot open source file", "cannot open include file"),
        rf"{_HEADER_MISSING}{_CUDA_HEADER}(?:\.h|\.hpp|\.cuh)?['\"’]?(?=[:\s(]|$)",
        _header,
        window=160,
    ),
    Signature(
        ("cudnn",),
        one_of(
            rf"{_HEADER_MISSING}cudnn\w*\.h",
            r"cudnn\w*\.h:? (?:No such file|not found|file not found)",
            r"Could NOT find CUDNN\b",
            r"missing:[^\n)]{0,80}CUDNN_INCLUDE",
            r"(?:Could not find any|Cannot find) cudnn\w*\.h",
            r"cuDNN (?:headers?|include files?)[^\n]{0,30}not found",
            "CUDNN_INCLUDE_(?:DIR|PATH)-NOTFOUND",
        ),
        means("cudnn-headers-missing"),
        window=200,
    ),
)
