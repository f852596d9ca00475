"""Faults of programs, builds and package managers, which a text about a GPU often turns out to be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Meaning, Sign, Signature, SignatureInput, means, one_of, sign
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.text import Text, text

_OURS = ("cuda", "nvidia", "gpu", "cudnn", "nccl", "tensorrt", "cublas", "driver", "xformers", "triton", "nvcc", "torch.version")
# Libraries and headers that belong to CUDA, to torch or to what builds on them have explanations of their own.
_GPU_FILE = lazy_regex(
    r"(?:^|/)(?:lib)?(?:cu(?!rl)|nv|nccl|caffe2|torch|c10|tensorrt|triton|mps_|xformers|flash|tensorflow|thrust|cub/|cooperative_gr"
    r"|helper_|cutlass|ATen|ggml|EGL_nvidia|GLX_nvidia|onnxruntime|jax|python\d)",
    re.IGNORECASE,
)


def _because(cause: Text) -> Meaning:
    return means("not-a-gpu-problem", Weight.STATE, cause=cause)


def _file(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """A header or a library of something else that is not installed."""
    name = match["file"]
    if name == "Python.h":
        cause = text("{file} is not installed", file=name)
        yield sign("not-a-gpu-problem", Weight.STATE, cause_id="build-tools", cause=cause)
    elif not _GPU_FILE.search(name):
        yield sign("not-a-gpu-problem", Weight.STATE, cause=text("{file} is not installed", file=name))


def _error(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """An error of a library's own, in a text that does not touch the GPU with one word."""
    if not setting.says(*_OURS):
        yield sign("not-a-gpu-problem", Weight.STATE, cause=text("the Python program fails ({error})", error=match["error"]))


def _data(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """Reading a file fails the same way on every machine."""
    cause = text("a file cannot be read as what it should be ({error})", error=match["error"])
    yield sign("not-a-gpu-problem", Weight.STATE, cause=cause)


SIGNATURES = (
    Signature(
        ("not implemented for 'half'", "not implemented for 'bfloat16'"),
        r"\"\w{2,60}\" not implemented for '(?:B?Float16|Half)'",
        _because(text("the program computes in half precision on the processor, which cannot do it")),
    ),
    Signature(("fatal error: ",), r"fatal error: (?P<file>[\w./+-]{1,80}\.(?:h|hpp|hh|hxx)): No such file or directory", _file),
    Signature(
        ("cannot open shared object file",),
        r"(?P<file>[\w.+-]{3,60}\.so(?:\.[\d.]{1,12})?): cannot open shared object file: No such file or directory",
        _file,
    ),
    Signature(("cannot find -l",), r"ld: cannot find -l(?P<file>[\w+.-]{1,40})", _file),
    Signature(
        (
            "can't find rust compiler",
            "ninja is required to load",
            "cmake 3.",
            "cmake 4.",
            "unable to find vcvarsall",
            "microsoft visual c++",
        ),
        one_of(
            r"can't find Rust compiler",
            r"Ninja is required to load C\+\+ extensions",
            r"CMake \d\.\d{1,2}(?:\.\d{1,2})? or higher is required\.\s+You are running version \S{3,10}",
            r"Unable to find vcvarsall\.bat",
            r"Microsoft Visual C\+\+ \S{1,6} or greater is required",
        ),
        _because(text("a tool that the build needs is missing or too old")),
    ),
    Signature(
        ("eai_again", "network is unreachable"),
        r"EAI_AGAIN|Network is unreachable",
        means("not-a-gpu-problem", Weight.STATE, cause_id="network"),
    ),
    Signature(
        ("invalid dimensions for input", "must be the same as input size", "input contains nan", "to match target batch_size"),
        one_of(
            r"Got invalid dimensions for input",
            r"Target size \([^\n]{1,60}\) must be the same as input size",
            r"Input contains NaN",
            r"Expected input batch_size \(\d+\) to match target batch_size",
        ),
        means(
            "not-a-gpu-problem",
            Weight.STATE,
            cause_id="shape",
            cause=text("the program is given data of a wrong shape or value"),
        ),
    ),
    Signature(
        (
            *("headertoolarge", "pytorchstreamreader failed", "invalid load key", "decodeerror", "unpicklingerror", "parsererror"),
            *("metadataincompletebuffer", "invalidheaderdeserialization"),
        ),
        r"(?P<error>HeaderTooLarge|PytorchStreamReader failed|invalid load key|(?:JSON|Unicode)DecodeError|UnpicklingError"
        r"|ParserError|MetadataIncompleteBuffer|InvalidHeaderDeserialization)\b",
        _data,
    ),
    Signature(
        ("error: ", "exception: "),
        r"(?m:^)(?P<error>(?!torch\.|jax|tensorflow|cupy|numba|triton|vllm|subprocess)(?:\w{1,30}\.){1,6}"
        r"\w{2,60}(?:Error|Exception)): \S",
        _error,
    ),
)
