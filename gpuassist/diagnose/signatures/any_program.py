"""What programs of every kind say in words of their own: they find no GPU, are built without CUDA, want a newer driver."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import given_to_container, in_container, in_wsl
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, general, means, one_of, sign
from gpuassist.diagnose.tool_releases import without_gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

_OTHER_MAKERS = lazy_regex(
    r"\b(?:amd|rocm|hip|radeon|xpu|intel|sycl|opencl|vulkan|metal|mps|apple|tpu|npu|musa|webgpu|adreno|directml)\b", re.IGNORECASE
)
_OWN = "pytorch|torch|jax|jaxlib|tensorflow|bitsandbytes|onnxruntime|triton|llama"  # whose builds say it in their own way
_OWN_BUILD = lazy_regex(rf"(?<![A-Za-z])(?:{_OWN})\b[^.\n]{{0,30}}$", re.IGNORECASE)
_KIND = "(?:available|usable|suitable|supported|compatible|visible|accessible)"
_GPU = (
    r"(?:(?:CUDA|NVIDIA)[- ])?(?:(?:capable|enabled|compatible) )?"
    r"(?:GPUs?|(?:NVIDIA|CUDA|GPU)(?:[- ](?:capable|compatible|enabled))? devices?)"
)
_THERE = "(?:found|detected|available|visible|present|accessible|discovered)"
_ABSENT = r"(?:not (?:available|accessible|detected|found|present|visible)|unavailable)"
_UNABLE = r"(?:cannot|can't|could not|couldn't|unable to|failed to|error)"


def _line_of(match: re.Match[str]) -> str:
    words, end = match.string, match.string.find("\n", match.end())
    return words[words.rfind("\n", 0, match.start()) + 1 : end if end >= 0 else len(words)][:400]


@general
def _none_found(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A program that finds no GPU: whatever keeps it from one stands elsewhere, if anywhere."""
    if _OTHER_MAKERS.search(_line_of(match)):
        return
    if without_gpu(setting):
        yield sign("no-nvidia-gpu", Weight.STATE)
    elif in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    elif in_container(setting) and not given_to_container(setting):
        yield sign("container-no-gpu-flag", Weight.STATE)
    yield sign("no-driver", Weight.STATE)
    if setting.says("torch", "lightning", "accelerate", "transformers"):
        yield sign("torch-cpu-only", Weight.STATE)
    if setting.says("jax"):
        yield sign("jax-cpu-only", Weight.STATE)


def _without_cuda(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    before = match.string[max(0, match.start() - 60) : match.start()].rpartition("\n")[2]
    if not _OTHER_MAKERS.search(_line_of(match)) and not _OWN_BUILD.search(before):
        yield sign("program-without-cuda", package=match.groupdict().get("package") or "")


def _no_usable(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """llama.cpp says so of a build without CUDA and of a computer whose driver does not answer."""
    yield sign("program-without-cuda", Weight.STATE, package="llama.cpp")
    yield from _none_found(match, setting)


@general
def _no_driver_library(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    elif setting.case.running:
        yield sign("container-no-gpu-flag" if in_container(setting) else "libcuda-missing", Weight.STATE)
    elif in_container(setting) and not given_to_container(setting):
        yield sign("container-no-gpu-flag", Weight.STATE)
    yield sign("no-driver", Weight.STATE)


def _old_driver(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """torch's own sentence names the CUDA that the driver serves, and is read where it does."""
    if not _OTHER_MAKERS.search(_line_of(match)) and not setting.says("too old (found version 1"):
        yield sign("driver-too-old-for-cuda", Weight.STATE)


def _driver_state(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    else:
        yield sign("no-driver" if "installed" in match[0].lower() else "driver-not-loaded", Weight.STATE)


def _memory(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    if not _OTHER_MAKERS.search(_line_of(match)):
        yield sign("oom-true", Weight.STATE)


_NONE = (
    Signature(
        (
            *("no gpu", "no cuda", "no nvidia", "no available ", "no usable ", "no suitable ", "no supported ", "no compatible "),
            *("no visible ", "no accessible ", "gpus requested"),
        ),
        one_of(
            rf"\bno (?:{_KIND} )?{_GPU} ?(?:(?:was|were|is|are) )?{_THERE}\b",
            rf"\b(?:there (?:is|are) )?no {_KIND} {_GPU}\b",
            rf"\bthere (?:is|are) no {_GPU}\b",
            r"\bor no CUDA enabled devices are present",
            r"\bGPUs? requested but none are available",
        ),
        _none_found,
        window=200,
    ),
    Signature(
        ("cuda is ", "cuda was ", "gpu is ", "gpus are ", "gpu was ", "cuda not ", "cuda unavailable"),
        one_of(
            rf"(?:\b(?:but|yet|however|because|since)|,|\w(?:Error|Exception):|FATAL:?|ERROR:?) {{0,2}}(?:the )?(?:CUDA|GPU)s? "
            rf"(?:is|are|was|were) {_ABSENT}\b(?! (?:in|on the system, please set)\b)",
            rf"(?m:^)[ \t]{{0,8}}(?:CUDA|GPU) (?:is|was) {_ABSENT}\b(?! (?:in|on the system, please set)\b)",
        ),
        _none_found,
        window=120,
    ),
    Signature(
        (
            *("detect any", "find any", "detect a ", "find a ", "detect gpu", "find gpu", "detect nvidia", "find nvidia"),
            *("find cuda", "detect cuda"),
        ),
        rf"{_UNABLE} (?:find|detect|see|locate) (?:any |an? |the )?(?:{_KIND} )?{_GPU}"
        r"(?=\s*(?:[.,;:!?)'\"]|\bon\b|\bin\b|\bfor use|\Z|\n))",
        _none_found,
        window=120,
    ),
    Signature(("we were unable to detect it",), r"If you have GPU or other accelerator, we were unable to detect it", _none_found),
    Signature(("no usable gpu found",), r"no usable GPU found, --[\w-]{3,30} option will be ignored", _no_usable),
)

_BUILDS = (
    Signature(
        (
            *("compiled with", "built with", "linked with", "compiled for cuda", "built for cuda"),
            *("not enabled in this build",),
        ),
        one_of(
            rf"\b(?P<package>(?!(?:{_OWN})\b)[A-Za-z][\w.+-]{{1,30}}) (?:(?:package|library|binary|module|version) )?"
            r"(?:was|is|has been|were) (?:not (?:compiled|built|linked) (?:with|for)|(?:compiled|built) without)"
            r"(?: support for)? (?:the )?(?:CUDA|GPU|cuDNN)"
            r"(?=\s*(?:[.,:;!)'\"]|(?:support|enabled|acceleration|backend|of at least)\b|\Z|\n))",
            r"(?:not|n't) (?:compiled|built) with (?:CUDA|GPU)(?: offload)?(?: support| enabled)",
            r"CUDA (?:Tree Learner|support|backend) (?:was|is) not enabled in this build",
            r"The library is compiled without CUDA support",
        ),
        _without_cuda,
        window=160,
    ),
    Signature(
        ("cpu-only version of bitsandbytes", "gpu quantization are unavailable"),
        r"not available in CPU-only version of bitsandbytes|8-bit optimizers[^\n]{0,40} GPU quantization are unavailable",
        means("bitsandbytes-cuda-setup"),
    ),
    Signature(
        ("are you sure you have a cuda build", "looks like you have a broken build", "nccl support", "nccl built in"),
        one_of(
            r"NVTX functions not installed\. Are you sure you have a CUDA build",
            r"libcudart functions unavailable\. It looks like you have a broken build",
            r"PyTorch is not compiled with NCCL support|NCCL support is not compiled",
            r"Distributed package doesn't have NCCL built in",
        ),
        means("torch-cpu-only", Weight.STATE),
    ),
    Signature(("jax was not built with gpu",), r"JAX was not built with GPU support", means("jax-cpu-only")),
    Signature(
        ("cuda kernel binaries compatible", "not in compiled architectures"),
        one_of(
            r"(?P<package>TensorFlow) was not built with CUDA kernel binaries compatible with compute capability"
            r" ?(?P<capability>\d{1,2}\.\d)?",
            r"skipping CUDA device[^\n]{0,10}compute capability not in compiled architectures",
        ),
        means("no-kernel-image", Weight.STATE),
    ),
    Signature(
        ("support for the current gpu arch",),
        r"compiled without support for the current GPU architecture",
        means("no-kernel-image"),
    ),
    Signature(
        ("no compiled ",),
        r"No compiled \w{3,60}(?: kernel)? for (?:a compute capability less than )?CUDA device capability",
        means("no-kernel-image"),
    ),
    Signature(
        ("cuda execution provider is either", "cudaexecutionprovider is not available"),
        r"CUDA execution provider is either not enabled or not available|CUDAExecutionProvider is not available",
        means("onnxruntime-cpu-build", Weight.STATE),
    ),
)

_DRIVER = (
    Signature(
        ("cuda driver", "libcuda", "nvml shared library", "nvml doesn't exist"),
        one_of(
            rf"{_UNABLE}(?: to)? (?:load|open|find|dlopen|determine location of)(?: shared library)?"
            r"[^\n]{0,12}(?:CUDA driver(?: library)?|libcuda(?:\.so(?:\.1)?)?)\b(?! (?:API|function|entry|symbol|version))",
            r"CUDA driver(?: library)? (?:cannot|could not|can't) be (?:found|loaded)",
            r"Possible CUDA driver libraries are found but error occurred during load",
            r"unable to find libcuda\.so DSO loaded into this program",
            r"because libcuda could not be loaded",
            r"NVML Shared Library couldn't be found or loaded",
            r"NVML doesn't exist on this system",
        ),
        _no_driver_library,
        window=160,
    ),
    Signature(
        (
            *(
                "is too old",
                "is too low",
                "driver too old",
                "not support this api",
                "an older driver",
                "driver compatibility for cuda",
            ),
            *("insufficient driver version", "is outdated", "be outdated", "out of date", "seems outdated"),
        ),
        one_of(
            r"driver(?: version)? (?:on your system )?is too (?:old|low)\b(?! for extracting)",
            r"NVIDIA driver too old",
            r"\bDriver does not support this API",
            r"detected an older driver",
            r"could not verify NVIDIA driver compatibility for CUDA",
            r"Possibly insufficient driver version:",
            r"(?:NVIDIA|CUDA|GPU) driver (?:is|seems|appears to be) (?:outdated|out of date)",
        ),
        _old_driver,
        window=120,
    ),
    Signature(
        ("not loaded", "not running", "not installed", "module loaded", "load kernel module nvidia"),
        one_of(
            r"(?<![\w-])NVIDIA (?:kernel |GPU )?(?:driver|module)s? (?:is |are |was |were )?not (?:currently )?"
            r"(?:loaded|running|installed)",
            r"\bNo nvidia module loaded",
            r"could not load kernel module nvidia(?![\w-])",
        ),
        _driver_state,
        window=120,
    ),
    Signature(("load kernel module nvidia_uvm",), r"could not load kernel module nvidia_uvm", means("uvm-device-missing")),
    Signature(
        ("lost from the bus", "doesn't match driver version"),
        r"\bGPU lost from the bus",
        means("xid-79-gpu-fell-off-bus"),
    ),
    Signature(("doesn't match driver version",), r"Library version doesn't match driver version", means("driver-library-mismatch")),
    Signature(
        ("fabric manager is not", "fabric probe", "nvlink fabric is not ready", "nvlink sharp (nvls) multicast"),
        one_of(
            r"Fabric Manager is not (?:loaded|running)",
            r"NVLink Fabric (?:Status or Fabric )?Probe (?:failed|is not yet complete)",
            r"NVLink fabric is not ready",
            r"Failed to bind NVLink SHARP \(NVLS\) Multicast memory",
        ),
        means("fabric-manager-not-running", Weight.STATE),
    ),
    Signature(
        ("cuda driver", "driver api", "cuda backend failed to initialize"),
        r"Failed to (?:initialize CUDA Driver|access driver API)|CUDA backend failed to initialize",
        general(means("cuda-init-failed-driver-state", Weight.STATE)),
    ),
)

_MEMORY = (
    Signature(
        (
            *("enough gpu", "enough free", "enough available", "enough device", "enough cuda", "enough video", "enough vram"),
            *("insufficient gpu", "insufficient free", "insufficient device", "insufficient vram", "insufficient video"),
            *(
                "ran out of",
                "allocate gpu",
                "allocate device",
                "allocate cuda",
                "of memory on device",
                "gpu's remaining memory",
            ),
            *("full model on gpu", "no gpu memory", "cuda out of memory"),
        ),
        one_of(
            r"(?:not enough|insufficient) (?:(?:free |available )?(?:GPU|device|CUDA|video) (?:memory|RAM)|VRAM)",
            r"\bfor GPU ran out of memory|ran out of (?:GPU|device|video|CUDA) memory",
            r"(?:cannot|failed to|unable to|could not|can't) allocate (?:GPU(?!-)|device|CUDA|\d{1,12} Bytes of memory on device)"
            r"[^\n]{0,20}(?:memory|buffer)",
            r"does not fit any GPU's remaining memory|unable to load full model on GPU",
            r"\bno GPU memory (?:is left|for the KV cache)",
            r"CUDA ran out of memory outside PyTorch's allocator|CUDA out of memory\. Tried to allocate\s{0,4}\Z",
        ),
        _memory,
        window=160,
    ),
)

SIGNATURES = (*_NONE, *_BUILDS, *_DRIVER, *_MEMORY)
