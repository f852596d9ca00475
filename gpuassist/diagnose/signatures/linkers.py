"""What linkers say when they do not find CUDA's libraries, while building or, for Triton, while running."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, one_of, sign
from gpuassist.model.paste import Weight

_LIBRARY = one_of(
    r"cuda(?:rt\w*|devrt)?",
    r"cublas(?:Lt)?(?:_static)?",
    r"cudnn\w*",
    r"cu(?:fft|fftw|rand|sparse|sparseLt|solver|solverMg|pti|file|tensor)(?:_static)?",
    r"nvrtc\w*",
    r"nvToolsExt",
    r"nv(?:JitLink|jpeg|vm)(?:_static)?",
    r"npp\w{1,6}",
    r"nccl(?:_static)?",
    r"nvidia-ml",
    r"nvinfer\w*",
    r"culibos",
)
# The library that has a function, by how its name begins; the longest that fits counts.
_LIBRARY_OF = {
    "cuda": "libcudart",
    "__cuda": "libcudart",
    "__fatbin": "libcudart",
    "cu": "libcuda",
    "cublas": "libcublas",
    "cublasLt": "libcublasLt",
    "cudnn": "libcudnn",
    "cufft": "libcufft",
    "curand": "libcurand",
    "cusparse": "libcusparse",
    "cusolver": "libcusolver",
    "nvrtc": "libnvrtc",
    "nccl": "libnccl",
    "nvml": "libnvidia-ml",
    "npp": "libnpp",
    "nvtx": "libnvToolsExt",
}
_TRITON = (
    "triton",
    "torch.compile",
    "torch._inductor",
    "torch/_inductor",
    "torchinductor",
    "torch._dynamo",
    "backendcompilerfailed",
)
_RUNNING = (*_TRITON, "calledprocesserror", "error building extension")


def _not_found(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """`-lcuda` is the driver's library, and what Triton links with while a program runs."""
    name = match["library"]
    if name != "cuda":
        yield sign("link-cuda-lib-not-found", library=f"lib{name}")
        return
    running = setting.says(*_RUNNING)
    if setting.says(*_TRITON):
        yield sign("triton-libcuda-not-found")
        yield sign("link-lcuda-missing", Weight.ASIDE)
    elif running:
        yield sign("link-lcuda-missing")
    weight = Weight.STATE if running else Weight.CAUSE
    yield sign("link-cuda-lib-not-found", weight, library="libcuda", driver_library="yes")


def _undefined(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    symbol = match["symbol"]
    fitting = [prefix for prefix in _LIBRARY_OF if symbol.startswith(prefix)]
    library = _LIBRARY_OF[max(fitting, key=len)] if fitting else ""
    yield sign("link-cuda-lib-not-found", library=library, driver_library="yes" if library == "libcuda" else "")


def _needed(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    name = match["library"]
    yield sign("link-cuda-lib-not-found", library=f"lib{name}", driver_library="yes" if name == "cuda" else "")


SIGNATURES = (
    Signature(
        ("cannot find -l", "library not found for -l", "unable to find library -l", "library '", "cannot find lib"),
        one_of("cannot find", "library not found for", "unable to find library") + rf" -l(?P<library>{_LIBRARY})(?![\w-])",
        _not_found,
        window=160,
    ),
    Signature(
        ("cannot open input file", "lnk1181", "lnk1104"),
        rf"LNK1(?:181|104): cannot open (?:input )?file '(?P<library>{_LIBRARY})\.lib'",
        _needed,
        window=160,
    ),
    Signature(  # the linker names `-l` and a library alone where it does not find it, whatever language it speaks
        tuple(
            f"-l{name}" for name in ("cuda", "cudart", "cublas", "cudnn", "cufft", "curand", "cusparse", "cusolver", "nv", "nccl")
        ),
        rf"\b(?:ld|ld\.(?:bfd|gold|lld)|collect2|mold)(?:\.exe)? ?[:：] ?[^\n/]{{0,60}}?-l(?P<library>{_LIBRARY})(?![\w-])",
        _not_found,
        window=160,
    ),
    Signature(  # a place in the code, and the name in quotation marks
        ("(.text",),
        r"\(\.text[^)\n]{0,80}\) ?[:：] ?[^\n]{1,80}?[`'‘“\"«»„]\s?"
        r"(?P<symbol>(?-i:(?:__cuda|cuda|cublas|cudnn|cufft|curand|cusparse|cusolver|nvrtc|nccl|nvml|nvtx|cu)[A-Z])\w*)",
        _undefined,
        window=200,
    ),
    Signature(
        ("undefined reference to", "undefined symbols for", "unresolved external symbol", "undefined symbol:"),
        r"(?:undefined reference to|unresolved external symbol|error: undefined symbol:)\s*[`'‘\"“]?"
        r"(?P<symbol>(?-i:(?:__cuda|__fatbin|cuda|cublas|cudnn|cufft|curand|cusparse|cusolver|nvrtc|nccl|nvml|nvtx|npp[is]?|cu)[A-Z])\w*)",
        _undefined,
        window=200,
    ),
    Signature(
        ("needed by", "dso missing from command line"),
        rf"(?:warning: |ld: )lib(?P<library>{_LIBRARY})\.so[.\d]*, needed by \S{{1,300}}, not found",
        _needed,
        window=400,
    ),
    Signature(
        ("dso missing from command line",),
        rf"/lib(?P<library>{_LIBRARY})\.so[.\d]*: error adding symbols: DSO missing from command line",
        _needed,
        window=400,
    ),
)
