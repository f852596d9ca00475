"""What TensorRT, ONNX Runtime, CuPy and llama.cpp say of engines, libraries and GPU code that do not fit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, one_of, sign
from gpuassist.model.paste import Weight
from gpuassist.model.version import ComputeCapability


def _no_device_code(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """llama.cpp counts `520` for 5.2."""
    digits = match["arch"] or ""
    capability = str(ComputeCapability(int(digits[:-2]), int(digits[-2]))) if len(digits) > 2 else ""
    yield sign("no-kernel-image", package="llama.cpp", capability=capability)


def _provider(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Where the library that is missing is named, that message says it."""
    weight = Weight.ASIDE if setting.says("cannot open shared object", ".dll") else Weight.STATE
    yield sign("missing-cuda-runtime-lib", weight)


def _not_loaded(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The same words come from Python, whose traceback stands there, and from a C++ program that ends with them."""
    cpp = setting.says("terminate called", "c10::error", "libtorch", "torch::jit::load", "signal: sig") and not setting.says(
        "traceback"
    )
    yield sign("torch-tensorrt-not-loaded", cpp="yes" if cpp else "")


def _linked(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    yield sign("tensorrt-version-mismatch", Weight.CAUSE, built=match["built"], found=match["found"])


def _without_cuda(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    yield sign("program-without-cuda", package=match["package"] or match["made"] or "")


_NUMBER = r"\d{1,4}(?:\.\d{1,4}){0,3}"

SIGNATURES = (
    Signature(
        ("torch.classes.tensorrt", "tensorrt::execute_engine", "class 'tensorrt", "namespace: 'tensorrt'", "tensorrt.engine"),
        one_of(
            r"Unknown type name '__torch__\.torch\.classes\.tensorrt\.\w{1,20}'",
            r"Unknown builtin op: tensorrt::\w{1,40}",
            r"Could not find (?:schema for|any similar ops to) tensorrt::\w{1,40}",
            r"Tried to instantiate class 'tensorrt\.\w{1,40}', but it does not exist",
            r"'_OpNamespace' 'tensorrt' object has no attribute 'execute_engine\w{0,20}'",
        ),
        _not_loaded,
    ),
    Signature(
        ("libtorchtrt", "libtrtorch"),
        r"(?P<library>lib(?:torchtrt|trtorch)\w{0,20}\.so): cannot open shared object file",
        means("torch-tensorrt-not-loaded"),
    ),
    Signature(
        ("torchtrtc", "trtorchc"),
        r"torchtrtc: (?:command )?not found|command not found: torchtrtc|Command 'torchtrtc' not found",
        means("torch-tensorrt-not-loaded", tool="yes"),
        window=80,
    ),
    Signature(
        ("torch-tensorrt core abi version", "abi_target_idx", "abi version than the torch-tensorrt"),
        r"targets a different Torch-TensorRT Core ABI Version|serialized_info\[ABI_TARGET_IDX\] == ABI_VERSION",
        means("torch-tensorrt-not-loaded", abi="yes"),
    ),
    Signature(
        ("was linked against tensorrt", "linked against tensorrt"),
        rf"linked against TensorRT (?P<built>{_NUMBER}) but loaded TensorRT (?P<found>{_NUMBER})",
        _linked,
    ),
    Signature(
        ("version tag does not match", "serialized engine version"),
        r"Version tag does not match\.?"
        rf"(?:\s*Note: Current Version: (?P<found>{_NUMBER}), Serialized Engine Version: (?P<built>{_NUMBER}))?",
        means("tensorrt-version-mismatch"),
    ),
    Signature(
        ("is not compatible with this version of tensorrt",),
        rf"engine plan file is not compatible with this version of TensorRT(?:, expecting (?:library )?version (?P<found>{_NUMBER})"
        rf" got (?P<built>{_NUMBER}))?",
        means("tensorrt-version-mismatch"),
    ),
    Signature(
        (
            "serializ",
            "engine plan",
            "plan file",
            "magictagread",
            "built with",
            "compiled with",
            "generated with",
            "platform specific tag",
        ),
        one_of(
            r"k(?:SAFE_)?SERIALIZATION_VERSION failed",
            r"(?:magicTagRead|stdArchiveReader)[^\n]{0,120}Magic tag does not match",
            r"engine plan file is generated on an incompatible device",
            r"(?:Platform|platform) specific tag mismatch detected",
            r"TensorRT plan files are only supported on the target runtime platform",
            r"Serialization assertion [^\n]{0,120} failed",
            r"Mismatch between allocated memory size and expected size of serialized engine",
            r"(?:engine|plan|model)(?: file)? was (?:built|created|generated|compiled|serialized) (?:with|by|using)"
            r" (?:a different|another|an older|a newer)(?: (?:version|release) of)? TensorRT",
        ),
        means("tensorrt-version-mismatch"),
    ),
    Signature(
        ("engine deserialization failed", "could not deserialize engine", "create_execution_context"),
        r"Engine deserialization failed|Could not deserialize engine|has no attribute 'create_execution_context'",
        means("tensorrt-version-mismatch", Weight.STATE),
    ),
    Signature(
        ("is not supported by this tensorrt release", "unsupported sm:"),
        r"Target GPU SM \d+ is not supported by this TensorRT release|Unsupported SM: ?0x",
        means("tensorrt-version-mismatch", Weight.STATE),
    ),
    Signature(
        ("failed to create cudaexecutionprovider", "failed to create tensorrtexecutionprovider", "require cudnn"),
        one_of(r"Failed to create (?:CUDA|Tensorrt)ExecutionProvider", r"Require cuDNN \d+\.\* and CUDA \d+\.\*"),
        _provider,
    ),
    Signature(
        ("has no device code compatible with cuda arch",),
        r"CUDA kernel \w{1,60} has no device code compatible with CUDA arch (?P<arch>\d{3,4})",
        _no_device_code,
    ),
    Signature(
        ("multiple cupy packages are installed",),
        r"multiple CuPy packages are installed in your environment",
        means("extension-build-mismatch", package="cupy", twice="yes"),
    ),
    Signature(
        ("compiled without gpu support", "compiled without cuda", "not compiled with gpu offload", "built without cuda"),
        one_of(
            r"(?P<package>llama\.cpp|llama_cpp|ggml|whisper\.cpp|koboldcpp) was compiled without (?:support for )?(?:GPU|CUDA)"
            r"(?: offload)?",
            r"(?P<made>CTranslate2|xgboost|lightgbm|faiss|opencv)[^\n]{0,60}(?:compiled|built) without (?:GPU|CUDA)",
            r"not compiled with GPU offload support",
        ),
        _without_cuda,
    ),
)
