"""What programs of every kind say of a part of CUDA that is not there, or not of the release that they want."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, one_of, sign
from gpuassist.model.paste import Weight

_UNABLE = r"(?:cannot|can't|could not|couldn't|unable to|failed to|error)"
_LIBRARY = (
    r"(?P<library>cuDNN|cuBLAS(?:Lt)?|cuFFT|cuSOLVER|cuSPARSE|cuRAND|NVRTC|nvJitLink|libNVVM|NVVM|CUPTI|NCCL|NVSHMEM"
    r"|libcudart(?:\.so)?[\w.*]{0,8}|CUDA libraries|libdevice)"
)
_NOT_LOADED = tuple(
    f"{unable}{verb}"
    for unable in ("unable to ", "could not ", "couldn't ", "cannot ", "can't ", "failed to ")
    for verb in ("load", "open", "dlopen", "find", "locate")
)
_NOT_THERE = (
    *("unavailable", "not available", "not found", "not installed", "not loaded", "cannot be found", "cannot be loaded"),
    *("could not be found", "could not be loaded"),
)


def _library(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """TensorFlow brings its libraries by an extra; everything else loads what is installed."""
    if re.search(r"fall(?:s|ing)? ?back|using \S{1,20} bundled", match.string[match.start() :].partition("\n")[0][:300]):
        return
    if setting.says("tensorflow"):
        yield sign("tensorflow-cuda-libs-missing", Weight.STATE, library=match["library"])
    yield sign("missing-cuda-runtime-lib", Weight.STATE, library=match["library"])


def _compiler(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """XLA compiles with the ptxas of a toolkit or of NVIDIA's wheels."""
    if setting.says("tensorflow"):
        yield sign("tensorflow-cuda-libs-missing", Weight.STATE, library="ptxas")
    yield sign("missing-cuda-runtime-lib", Weight.STATE, library="ptxas")


SIGNATURES = (
    Signature(
        (*_NOT_LOADED, "error loading"),
        one_of(
            rf"{_UNABLE}(?: to)? (?:load(?:ing)?|open|dlopen|find|locate)(?: the| any| library){{0,2}} {_LIBRARY}"
            r"(?=\s*(?:[.:,;!)'\"]|\blibrar|\bfrom path|\Z|\n))",
        ),
        _library,
        window=120,
    ),
    Signature(
        _NOT_THERE,
        rf"\b{_LIBRARY}(?: library| file)? (?:(?:is|was|are) (?:unavailable|not (?:available|found|installed|loaded))"
        r"|(?:cannot|could not) be (?:found|loaded)|not found)\b",
        _library,
        window=120,
    ),
    Signature(("missing libdevice file",), r"Missing (?P<library>libdevice) file", _library),
    Signature(
        ("ptx compilation provider", "ptxas not found", "failed to launch ptxas", "no nvlink binary"),
        r"No PTX compilation provider is available|\bptxas not found|Failed to launch ptxas|no nvlink binary was found",
        _compiler,
    ),
    Signature(
        ("cuda_home", "cuda toolkit"),
        one_of(
            r"CUDA was not found on the system, please set the CUDA_HOME",
            r"needs a CUDA toolkit[^\n]{0,20}, but none was found",
            r"Set `?CUDA_HOME`? to a (?:full |complete )?CUDA toolkit",
        ),
        means("cuda-home-unset"),
    ),
    Signature(("nvcc ",), r"\bnvcc \S{1,12} in \S{1,80} is too old", means("nvcc-arch-too-new", Weight.STATE)),
    Signature(
        ("nvcc", "nvdisasm", "cuobjdump", "fatbinary", "cuda include dir", "cuda_runtime.h from"),
        one_of(
            r"\b(?:nvdisasm|cuobjdump|fatbinary) (?:has not been|was not|not|could not be) found",
            r"\bnvcc is required to build",
            r"with nvcc, but none was found",
            r"CUDA include dir not available on this system|failed to find cuda include directory",
            r"Unable to find cuda_runtime\.h from",
        ),
        means("nvcc-not-on-path", Weight.STATE),
    ),
    Signature(
        (
            "ccl library is too old",
            "not backwards compatible",
            "too old version of nccl",
            "not found in the nccl library",
            "mismatched nccl git",
        ),
        one_of(
            r"\bNCCL version too old",
            r"NCCL library is (?:too old|not backwards compatible)\.",
            r"compiled with too old version of NCCL",
            r"symbol \S{1,60} is not found in the NCCL library",
            r"Mismatched NCCL git versions detected",
        ),
        means("nccl-version-mismatch", Weight.STATE),
    ),
    Signature(
        ("nvlink connected gpus", "peer-to-peer access", "peer access to gpu"),
        r"P2P is disabled between NVLINK connected GPUs|(?:no|lacks) peer-to-peer access|does not have peer access to GPU",
        means("nccl-p2p-acs-iommu", Weight.STATE),
    ),
    Signature(
        (
            "incompatible version of cudnn",
            "conflicting cudnn in ld_library_path",
            "cudnn version mismatch",
            "cudnn version is too old",
        ),
        one_of(
            r"LD_LIBRARY_PATH contains incompatible version of cudnn|conflicting cuDNN in LD_LIBRARY_PATH",
            r"cuDNN version (?:mismatch\. Running with version|is too old)",
        ),
        means("cudnn-version-mismatch", Weight.STATE),
    ),
    Signature(
        ("version mismatch between cuda runtime and nvrtc",),
        r"Major version mismatch between CUDA runtime and NVRTC",
        means("mixed-nvidia-pip-wheels", Weight.STATE),
    ),
    Signature(
        ("cannot dlopen all cuda libraries",),
        r"Cannot dlopen all CUDA libraries",
        means("tensorflow-cuda-libs-missing", Weight.STATE),
    ),
)
