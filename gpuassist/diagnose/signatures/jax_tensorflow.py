"""What JAX and TensorFlow say when they compute on the processor, and what only looks like an error."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, general, means, one_of, sign
from gpuassist.diagnose.tool_releases import package_version, without_gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.text import text

# TensorFlow tries to load TensorRT and does without it, and the driver's own library is no part of CUDA's.
_OPTIONAL = ("libnvinfer", "nvinfer")
_OWN = (
    r"(?m:^)(?:[\w.-]{1,40} {1,8}\| {1,8})?(?P<error>TypeError: Descriptors|(?:ImportError: cannot import name"
    r"|ModuleNotFoundError: No module|AttributeError: module|NameError|SyntaxError|KeyError|FileNotFoundError|IndexError"
    r"|UnicodeDecodeError)(?![^\n]{0,400}(?:gpu|cuda|cudnn|tensorrt)))[^\n]{0,200}"
)
_OWN_ERROR = lazy_regex(_OWN, re.IGNORECASE)


def _jax(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if without_gpu(setting):
        yield sign("no-nvidia-gpu")
        yield sign("jax-cpu-only", Weight.STATE)
    else:
        yield sign("jax-cpu-only")


@general
def _fell_back(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Old releases say the same of a jaxlib without CUDA and of a driver that fails."""
    if without_gpu(setting):
        yield sign("no-nvidia-gpu")
    weight = Weight.ASIDE if setting.says("cuinit", "cuda_error", "cudnn version", "not found.") else Weight.STATE
    yield sign("jax-cpu-only", weight)


def _outdated(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """An older library than JAX's own: another program pinned it in the environment, or the loader's path has it."""
    by_path = setting.says("ld_library_path=/", "ld_library_path: /", "ld_library_path /")
    yield sign("ld-library-path-shadows-bundled-libs", Weight.CAUSE if by_path else Weight.STATE)
    yield sign("mixed-nvidia-pip-wheels", Weight.STATE if by_path else Weight.CAUSE)


def _dynamic(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    library = match["library"]
    if library.startswith(_OPTIONAL):
        yield sign("healthy", Weight.ASIDE)
    elif library.startswith(("libcuda.so", "nvcuda")):
        yield sign("no-driver", Weight.STATE)
    else:
        # Where the program fails with an error of Python's own, the text is about that; TensorFlow would compute all the same.
        weight = Weight.ASIDE if setting.finds(_OWN_ERROR) else Weight.CAUSE
        yield sign("tensorflow-cuda-libs-missing", weight, library=library, tensorflow=_release(setting))


def _python_of_its_own(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """What TensorFlow says while it is imported stands above every error of the program."""
    if setting.says("could not load dynamic library", "could not find cuda drivers", "tf-trt warning"):
        cause = text("the Python program fails ({error})", error=match["error"].partition(":")[0])
        yield sign("not-a-gpu-problem", Weight.STATE, cause=cause)


@general
def _no_drivers(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """`Could not find cuda drivers` comes from the loader of CUDA's runtime library: it may be that or the driver."""
    if setting.case.running or setting.says("driver version:", "nvidia-smi"):
        yield sign("tensorflow-cuda-libs-missing", tensorflow=_release(setting))
    else:
        yield sign("tensorflow-cuda-libs-missing", Weight.STATE, tensorflow=_release(setting))
        yield sign("no-driver", Weight.STATE)


def _release(setting: SignatureInput) -> str:
    return package_version(setting, "tensorflow") or package_version(setting, "tensorflow-gpu")


SIGNATURES = (
    Signature(
        (
            *("cuda-enabled jaxlib is not installed", "could not find registered platform", "jaxlib is not installed"),
            *("unknown backend", "jaxlib was ", "jaxlib is "),
        ),
        one_of(
            r"a CUDA-enabled jaxlib is not installed",
            r"GPU may be present on this machine, but a CUDA-enabled jaxlib",
            r"Could not find registered platform with name: \"?cuda\"?",
            r"Unknown backend:? '?(?:gpu|cuda)'?(?: requested)?[^\n]{0,80}(?:known backends|no platforms)[^\n]{0,80}",
            r"jaxlib (?:was|is) (?:not )?(?:built|compiled) (?:without|with no|for cpu)[^\n]{0,30}",
        ),
        _jax,
    ),
    Signature(
        ("unknown backend", "backend 'gpu'", "backend 'cuda'"),
        r"Unknown backend:? '?(?:gpu|cuda)'?|Backend '(?:gpu|cuda)' is not in the list of known backends",
        _jax,
    ),
    Signature(("no gpu/tpu found, falling back to cpu",), r"No GPU/TPU found, falling back to CPU", _fell_back),
    Signature(("tfrt_cpu_0", "cpudevice(id=0)"), r"\[(?:TFRT_CPU_0|CpuDevice\(id=0\))", _fell_back),
    Signature(
        ("jax",),
        one_of(
            r"\bjax (?:still )?(?:does not|doesn't|do not|cannot|can't|won't|is not)\s[^.\n]{0,40}\b(?:gpu|cuda)\b",
            r"\b(?:gpu|cuda)[^\n]{0,60}[,;] (?:but )?jax (?:does not|doesn't|cannot|can't|won't|only)\b",
            r"\bjax (?:only )?(?:uses|runs on|sees|finds|falls back to)[^\n]{0,20}\bcpu\b",
        ),
        means("jax-cpu-only", Weight.STATE),
        window=160,
    ),
    Signature(("could not load dynamic library",), r"Could not load dynamic library '(?P<library>[\w.-]{1,60})'", _dynamic),
    Signature(
        (
            *("descriptors can", "error: cannot import", "error: no module", "error: module", "nameerror", "syntaxerror"),
            *("keyerror", "indexerror", "filenotfounderror", "unicodedecodeerror"),
        ),
        _OWN,
        _python_of_its_own,
    ),
    Signature(
        ("cannot dlopen some gpu libraries", "dlopen some gpu libraries"),
        r"Cannot dlopen some GPU libraries",
        means("tensorflow-cuda-libs-missing", tensorflow=_release),
    ),
    Signature(
        ("could not find cuda drivers on your machine",),
        r"Could not find cuda drivers on your machine, GPU will not be used",
        _no_drivers,
    ),
    Signature(
        ("dnn library is not found", "libdevice not found at", "can't find libdevice", "couldn't get ptxas"),
        one_of(
            r"DNN library is not found",
            r"libdevice not found at \./libdevice",
            r"Can't find libdevice directory",
            r"(?:Couldn't|Could not) (?:get|find) ptxas",
        ),
        means("tensorflow-cuda-libs-missing", Weight.STATE),
    ),
    # Of cuDNN it is the version; for the other libraries JAX wants packages of one release of CUDA.
    Signature(
        ("outdated cu",),
        r"Outdated (?!cuDNN)cu\w{2,12} installation found\.[^\0]{0,200}?Installed version: \d{3,6}",
        _outdated,
    ),
    Signature(
        ("num gpus available", "list_physical_devices", "is_gpu_available", "is_built_with_cuda"),
        one_of(
            r"Num GPUs Available: {1,2}0\b",
            r"list_physical_devices\(['\"]?(?:GPU)?['\"]?\)\)?\s{1,3}(?:\S{0,12}\s)?\[\]",
            r"is_gpu_available\(\)\)?\s{1,3}(?:Out\S{0,8}\s)?False",
            r"is_built_with_cuda\(\)\)?\s{1,3}(?:Out\S{0,8}\s)?False",
        ),
        general(means("tensorflow-cuda-libs-missing", Weight.STATE)),
    ),
    Signature(
        (
            "unable to register cudnn factory",
            "unable to register cublas factory",
            "unable to register cufft factory",
            "could not find tensorrt",
            "your kernel may not have been built with numa support",
            "negative value (-1), but there must be at least one numa node",
            "not creating xla devices",
            "this tensorflow binary is optimized",
            "torch was not compiled with flash attention",
        ),
        one_of(
            r"Unable to register cu(?:DNN|BLAS|FFT) factory",
            r"TF-TRT Warning: Could not find TensorRT",
            r"Your kernel may not have been built with NUMA support",
            r"had negative value \(-1\), but there must be at least one NUMA node",
            r"Not creating XLA devices, tf_xla_enable_xla_devices not set",
            r"This TensorFlow binary is optimized",
            r"Torch was not compiled with flash attention",
        ),
        means("healthy", Weight.ASIDE),
    ),
)
