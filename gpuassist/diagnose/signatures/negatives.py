"""What looks like a fault of the GPU and is none: the computer's own memory, NumPy, pip, the disk, the network, the program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, sign
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.text import text

_OURS = ("cuda", "nvidia", "gpu", "cudnn", "nccl", "tensorrt", "cublas", "driver", "xformers", "triton", "nvcc", "torch.version")
# What texts say of a GPU that fails, in whatever words; that a card or a version is named means nothing yet.
_FAILING = (
    *("cuda error", "cuda_error", "cudaerror", "cudnn", "cublas", "nvrm", "nvml", "libcu", "libnv", "driver version", "no cuda"),
    *("cuda enabled", "available: false", "is_available", "nvcc", "sm_", "undefined symbol", "shared object", "out of memory"),
    *("kernel image", "tensorrt", "[trt]", "nccl", "triton", "xformers", "bitsandbytes", "flash_attn", "initializ", "compiled"),
    *("cpp_extension", "cuda_home", "torchvision::", "no gpu", "without gpu", "without cuda", "nvidia-smi", "ptx", "capability"),
)
# Packages that belong to the GPU's software: that one of them is missing has an explanation of its own.
_GPU_PACKAGES = lazy_regex(
    r"^(?:torch(?:vision|audio)?|xformers|triton|flash_attn\w*|bitsandbytes|tensorrt\w*|torch_tensorrt|cupy\w*|jax\w*|tensorflow\w*"
    r"|apex|deepspeed|cuda\w*|nvidia\w*|pycuda|pynvml|numba|mamba_ssm|causal_conv1d|vllm|onnxruntime\w*|_\w+)(?:\.|$)"
)


def _module(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A plain package that is missing; what builds fail with is not installed, and belongs to the build."""
    package = match["module"].split(".")[0]
    if _GPU_PACKAGES.match(match["module"]) or setting.says("building wheel", "get_requires_for_build", "setup.py"):
        return
    yield sign("not-a-gpu-problem", Weight.STATE, cause_id="module", package=package)


def _disk(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if not setting.says("/dev/shm", "nccl", "shared memory"):
        yield sign("not-a-gpu-problem", Weight.STATE, cause_id="disk")


_ITS_OWN = frozenset({"SyntaxError", "IndentationError", "ZeroDivisionError", "UnicodeDecodeError", "RecursionError"})


def _python(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A fault of a Python program: the error itself does not name the GPU, and nothing in the text tells that the GPU fails."""
    named = any(word in match[0].lower() for word in (*_OURS, "nonetype"))
    own = match["error"] in _ITS_OWN and not any(word in match[0].lower() for word in _OURS)
    if own or not setting.says(*_OURS) or not (named or setting.says(*_FAILING)):
        yield sign("not-a-gpu-problem", Weight.STATE, cause=text("the Python program fails ({error})", error=match["error"]))


def _out_of_memory(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """The kernel names the process that it ended: that says whose it was, and that a DataLoader had a part in it, it does not."""
    yield sign("dataloader-shm-or-ram", Weight.STATE, process=match["process"] or "")


def _exited(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A worker that ended for a reason of its own shows that reason above."""
    if not setting.says("cuda error", "out of memory. tried", "device-side assert"):
        yield sign("dataloader-shm-or-ram", Weight.STATE, loader="yes")


def _killed(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if setting.says("torch", "python", "train", "model", "cuda", "mpirun", "srun", "rank"):
        yield sign("dataloader-shm-or-ram", Weight.STATE)


SIGNATURES = (
    Signature(
        ("killed by signal", "out of shared memory", "insufficient shared memory"),
        r"(?:DataLoader worker \(pid\(?s?\)? ?[\d, ]{1,60}\) (?:is|was) killed by signal: [^\n]{3,60}"
        r"|dataloader's workers are out of shared memory|insufficient shared memory \(shm\))",
        means("dataloader-shm-or-ram", loader="yes"),
    ),
    Signature(("exited unexpectedly",), r"DataLoader worker \(pid\(?s?\)? ?[\d, ]{1,60}\) exited unexpectedly", _exited),
    Signature(
        ("shared memory object", "</torch_", "items of ancdata", "unable to mmap", "unable to open shared memory"),
        r"(?:unable to (?:open|write to file|resize|allocate|write to|mmap) [^\n]{0,40}(?:shared memory|</torch_"
        r"|</[\w.]+>)[^\n]{0,60}"
        r"|received 0 items of ancdata)",
        means("dataloader-shm-or-ram", loader="yes"),
    ),
    Signature(
        ("cpuallocator", "not enough memory: you tried", "cpualloc", "alloc_cpu"),
        r"(?:CPU ?Allocator[^\n]{0,80}(?:not enough memory|can't allocate memory|allocate memory)[^\n]{0,80}"
        r"|not enough memory: you tried to allocate [^\n]{1,40}|alloc_cpu\.cpp[^\n]{0,120}allocat[^\n]{0,80})",
        means("dataloader-shm-or-ram"),
    ),
    Signature(
        ("unable to allocate", "memoryerror"),
        r"(?:MemoryError: Unable to allocate [\d.]{1,8} [KMGTPE]iB for an array|numpy\S{0,60}MemoryError: Unable to allocate"
        r"|(?m:^)MemoryError\s*(?m:$))",
        means("dataloader-shm-or-ram", Weight.STATE),
    ),
    Signature(
        ("oom-kill", "out of memory: kill", "oom_reaper"),
        r"(?:Out of memory: Kill(?:ed)? process \d+ \((?P<process>[^)\n]{1,30})\)|oom-kill:constraint=\S{5,60}|invoked oom-killer"
        r"|oom_reaper: reaped)",
        _out_of_memory,
    ),
    Signature(
        ("exit code 137", "exitcode", "exited with code 137", "exit code: 137", "signal 9", "sigkill", "\nkilled"),
        r"(?:exit(?:ed with)? code:? ?137\b|exitcode {0,3}: {0,3}-9\b"
        r"|(?:died with|signal) <?(?:Signals\.)?(?:SIGKILL|9 \((?:SIGKILL|Killed)\))"
        r"|(?m:^)Killed\s*(?m:$))",
        _killed,
    ),
    Signature(
        (
            "numpy 1.x cannot be run",
            "_array_api not found",
            "numpy.dtype size changed",
            "numpy is not available",
            "multiarray failed",
        ),
        r"(?:compiled using NumPy 1\.x cannot be run|_ARRAY_API not found|numpy\.(?:dtype"
        r"|ndarray) size changed, may indicate binary"
        r"|Numpy is not available|numpy\.core\.multiarray failed to import)",
        means("not-a-gpu-problem", cause_id="numpy"),
    ),
    Signature(
        ("module 'numpy' has no attribute",),
        r"module 'numpy' has no attribute '(?P<alias>bool|int|float|object|complex|str|long|unicode|typeDict)'",
        means("not-a-gpu-problem", cause_id="numpy-alias"),
    ),
    Signature(
        ("module 'numpy' has no attribute", "was removed in the numpy 2.0"),
        r"(?:module 'numpy' has no attribute '(?:bool8|sctypes|product|Inf|NaN|\w{2,20}_)'"
        r"|`np\.\w{1,20}_?` was removed in the NumPy 2\.0 release)",
        means("not-a-gpu-problem", cause_id="numpy-removed"),
    ),
    Signature(
        ("no attribute 'splitlines'", "no module named pip", "no module named 'pip'", "no module named 'pip._"),
        r"(?:'NoneType' object has no attribute 'splitlines'|No module named '?pip\b[\w._]{0,40}'?)",
        means("not-a-gpu-problem", cause_id="pip"),
    ),
    Signature(("no module named",), r"(?:ModuleNotFoundError|ImportError): No module named '?(?P<module>[\w.]{1,80})'?", _module),
    Signature(
        ("no space left on device", "[errno 28]"),
        r"(?:OSError|IOError|[:\])'\"])[^\n]{0,80}No space left on device|OSError: \[Errno 28\]",
        _disk,
    ),
    Signature(
        (
            "max retries exceeded",
            "connection refused",
            "name resolution",
            "we couldn't connect to",
            "read timed out",
            "could not resolve host",
            "certificate_verify_failed",
            "connection reset by peer",
            "http error 4",
            "http error 5",
        ),
        r"(?:CERTIFICATE_VERIFY_FAILED|Connection reset by peer|HTTP Error [45]\d\d|Max retries exceeded with url"
        r"|Temporary failure in name resolution|We couldn't connect to 'https?://[^'\n]{3,80}'"
        r"|Read timed out|Could not resolve host|ConnectionRefusedError)",
        means("not-a-gpu-problem", Weight.STATE, cause_id="network"),
    ),
    Signature(
        (
            "to be on the same device",
            "on the same device as the indexed tensor",
            "input type (",
            "expected scalar type",
            "expected object of scalar type",
            "have the same dtype",
            "device type tensor to numpy",
            "torch.cuda.floattensor) and weight",
        ),
        r"(?:Expected all tensors to be on the same device|on the same device as the indexed tensor"
        r"|expected (?:object of )?scalar type \w{3,12} but (?:found|got)"
        r"|mat1 and mat2 must have the same dtype|expected m1 and m2 to have the same dtype"
        r"|Input type \([\w.]{3,40}\) and weight type \([\w.]{3,40}\) should be the same"
        r"|can't convert (?:cuda:\d+|CUDA) (?:device type )?tensor to numpy)",
        means("not-a-gpu-problem", cause_id="devices", cause=text("the program mixes data of different devices or types")),
    ),
    Signature(
        (
            *(
                "shapes cannot be multiplied",
                "in loading state_dict",
                "sizes of tensors must match",
                "must match the size of tensor",
            ),
            *(
                "floating point type for target",
                "stack expects each tensor",
                "given groups=",
                "-dimensional input",
                "for dimension",
            ),
            *("empty parameter list", "weights only load failed", "is invalid for input of size", "value per channel"),
            *("view size is not compatible", "expanded size of the tensor", "dimension out of range"),
        ),
        r"(?:mat1 and mat2 shapes cannot be multiplied|Error\(s\) in loading state_dict for|Sizes of tensors must match except"
        r"|The size of tensor a \(\d+\) must match the size of tensor b|Expected floating point type for target"
        r"|stack expects each tensor to be equal size|Given groups=\d+, (?:expected )?weight|Expected \S{1,8}-dimensional input"
        r"|index -?\d+ is out of bounds for dimension \d|optimizer got an empty parameter list|Weights only load failed"
        r"|shape '\[[^\]\n]{1,60}\]' is invalid for input of size|Expected more than 1 value per channel"
        r"|view size is not compatible with input tensor|The expanded size of the tensor \(\d+\) must match"
        r"|Dimension out of range \(expected)",
        means("not-a-gpu-problem", cause_id="shape", cause=text("the program's tensors or the saved model do not fit together")),
    ),
    Signature(
        ("modified by an inplace operation", "does not require grad", "backward through the graph a second time"),
        r"(?:has been modified by an inplace operation|element 0 of tensors does not require grad"
        r"|Trying to backward through the graph a second time)",
        means("not-a-gpu-problem", cause=text("the program uses gradients wrongly")),
    ),
    Signature(("cannot import name",), r"(?P<error>ImportError): cannot import name '?[\w.]{1,80}'?[^\n]{0,160}", _python),
    Signature(
        ("error: ",),
        r"(?m:^)(?P<error>SyntaxError|IndentationError|NameError|KeyError|IndexError|ZeroDivisionError|FileNotFoundError"
        r"|UnicodeDecodeError"
        r"|TypeError|ValueError|AttributeError|RecursionError|NotADirectoryError|IsADirectoryError"
        r"|PermissionError|RuntimeError|AssertionError): \S[^\n]{0,120}",
        _python,
    ),
)
