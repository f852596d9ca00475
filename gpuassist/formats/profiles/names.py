"""Which kind of work a name is: of a function of Python, of an operator, of a call of CUDA, of what runs on the GPU."""

from __future__ import annotations

import re
import sys

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.profile import TimeKind

LONGEST_NAME = 240

# What happens once when a program starts, or is none of its work: CUDA's first call, imports, a pause that the program asks for.
_START = lazy_regex(
    r"cudaProfilerSt(?:art|op)|_cuda_init|cudart|built-in (?:method time\.|function )sleep\b|<frozen importlib|importlib"
    r"|marshal\.loads|_imp\."
    r"|posix\.stat|<frozen |builtins\.exec|builtins\.__build_class__|'read' of '_io\.(?:BufferedReader|FileIO)'|tokenize\.py"
    r"|sre_(?:compile|parse)|typing\.py|inspect\.py|(?:site-packages/|^)(?:torch/_inductor|torch/_dynamo|sympy)/|_get_cuda_arch"
    r"|cuda_?[gG]etDeviceCount|cuInit\b|cuDevicePrimaryCtx|cu(?:da)?Library|cuModule|cudnnCreate\b|cublas(?:Lt)?Create|cudaFuncGetAttributes"
    r"|cudaDeviceGetStreamPriorityRange|cudaGetDeviceProperties|Activity Buffer Request|Lazy Function Loading|Module Loading"
    r"|torch/(?:autograd/profiler|profiler/)|enable_profiler|_disable_profiler|io\.open_code|builtins\.(?:compile|__import__)\b"
    r"|re/_(?:compiler|parser)|^_(?:compiler|parser)\.py:|dataclasses\.py:\d+\(_(?:create_fn|process_class)"
    r"|(?:(?:site|dist)-packages/|/lib(?:64)?/python3)[^:]*:\d+\(<module>\)|(?:^|/)__init__\.py:\d+\(<module>\)"
)
# Below these all is a cost of starting: an import, the making of compiled code.
_SETS_UP = lazy_regex(r"importlib\._bootstrap|importlib/__init__\.py|builtins\.__import__|torch/_dynamo/convert_frame\.py")
# Below these all is loading of data.
_LOADS_DATA = lazy_regex(
    r"torch/utils/data/|(?:^|/)dataloader\.py:\d+\((?:__next__|_next_data)|(?:^|/)fetch\.py:\d+\(fetch|:\d+\((?:\w+\.)*__getitem__\)$"
)
_PAUSE = lazy_regex(r"built-in (?:method time\.|function )sleep\b")
_DATA = lazy_regex(
    r"dataset|dataloader|__getitem__|collate|_next_data|fetch|PIL|imread|decode|queue|'acquire' of '_thread|select\.poll|_io\."
    r"|numpy|pandas",
    re.IGNORECASE,
)
_WAITS = lazy_regex(
    r"'(?:item|cpu|tolist|numpy|to|nonzero|cuda)' of '?torch|(?<!stream_)synchronize|_local_scalar_dense|'is_nonzero'"
    r"|(?:method|function) (?:item|cpu|tolist|nonzero|synchronize|_cuda_synchronize) of Tensor",
    re.IGNORECASE,
)
_OPERATORS = lazy_regex(
    r"torch\._C|built-in method torch|run_backward|of '?torch\._C|TensorBase|of type object|torch\.nn\.functional"
    r"|lib(?:torch|c10|mkl|cublas|cudnn|gomp|iomp)[\w.-]*\.so"
)
# Lines of a program, by what they say.
_LINE_PAUSES = lazy_regex(r"\btime\.sleep\(|^sleep\(")
_LINE_IMPORTS = lazy_regex(r"^(?:import|from) \w")
_LINE_LOADS = lazy_regex(
    r"^(?:async )?for .{1,200} in .{0,200}(?:loader|dataset|batches)|\bnext\(|DataLoader|\bImage\.open\(|imread\(|\bcollate",
    re.IGNORECASE,
)
_LINE_WAITS = lazy_regex(r"\.(?:item|tolist|cpu|numpy|cuda)\(\)|synchronize\(|\.to\((?:\w+\.)?(?:device|[\"']cuda)")
_LINE_OPERATORS = lazy_regex(r"\b(?:torch|F|nn|functional)\.\w|\.backward\(|\boptimi[sz]er\.step\(")
# A copy without "Async" returns when it is done.
_WAITING_CALL = lazy_regex(r"^(?:cu|hip)\w*(?:Synchronize|EventQuery)|^(?:cuda|cu|hip)Memcpy(?!\w*Async)|Sync\b")
_CALL = lazy_regex(r"^(?:cuda|cu|hip)[A-Z]\w*")
_COMMUNICATION = lazy_regex(r"\bnccl|rccl|AllReduce|AllGather|ReduceScatter|cross_device_reduce|all_reduce", re.IGNORECASE)
_COPY = lazy_regex(r"mem(?:cpy|set)|copyHostTo|copyDeviceTo", re.IGNORECASE)
_PACKAGES = lazy_regex(r"(?:site|dist)-packages/")
_PYTHONS = lazy_regex(r"/lib(?:64)?/python3")
_VERSION = lazy_regex(r"_v\d{4,5}(?:_ptsz)?$")
_ADDRESS = lazy_regex(r" at 0x[0-9a-f]+(?=>|$)")
# As traces name them, from where sys.path leads to.
_LIBRARIES = frozenset((
    "torch", "torchvision", "torchaudio", "numpy", "pandas", "PIL", "cv2", "scipy", "sklearn", "transformers",
    "accelerate", "datasets", "diffusers", "lightning", "pytorch_lightning", "lightning_fabric", "torchmetrics", "tqdm",
    "timm", "deepspeed", "peft", "xformers", "vllm", "sglang", "triton", "einops", "apex", "flash_attn", "albumentations",
    "webdataset",
))  # fmt: skip


def of_start(function: str) -> bool:
    """Whether it is a cost of starting, or a pause: no part of the work that is repeated."""
    return _START.search(function) is not None


def sets_up(function: str) -> bool:
    """Whether whatever it calls is a cost of starting as well."""
    return _SETS_UP.search(function) is not None


def loads_data(function: str) -> bool:
    """Whether whatever it calls is loading of data: the loader of torch, a data set of the user's."""
    if _LOADS_DATA.search(function) is None:
        return False
    return "torch/utils/data/" in function or not (_PACKAGES.search(function) or _is_pythons(function))


def pauses(function: str) -> bool:
    """Whether it is a pause that somebody asked for."""
    return _PAUSE.search(function) is not None


def _is_pythons(function: str) -> bool:
    """By the whole path; one that begins where sys.path leads to, by its first name."""
    file = function.rpartition(":")[0]
    return _PYTHONS.search(file) is not None or file.partition("/")[0].removesuffix(".py") in sys.stdlib_module_names


def function_kind(function: str) -> TimeKind:
    """Of a function of Python, as cProfile names it."""
    if of_start(function):
        return TimeKind.START
    if _WAITS.search(function):
        return TimeKind.WAITS
    if _DATA.search(function):
        return TimeKind.DATA
    return TimeKind.OPERATORS if _OPERATORS.search(function) else TimeKind.PYTHON


def call_kind(name: str) -> TimeKind:
    """Of a call of CUDA's runtime or driver."""
    if of_start(name):
        return TimeKind.START
    return TimeKind.WAITS if _WAITING_CALL.search(name) else TimeKind.LAUNCHES


def line_kind(code: str, function: str = "") -> TimeKind:
    """Of a line of a program; all of a `function` that loads data is loading of data."""
    if _LINE_IMPORTS.search(code):
        return TimeKind.START
    if _LINE_LOADS.search(code) or (function and loads_data(f"line.py:0({function})")):
        return TimeKind.DATA
    if _LINE_PAUSES.search(code):
        return TimeKind.START
    if _LINE_WAITS.search(code):
        return TimeKind.WAITS
    return TimeKind.OPERATORS if _LINE_OPERATORS.search(code) else TimeKind.PYTHON


# A call that holds the processor for so long is no start of a kernel: a copy waits for what the GPU has still to do, all else sets
# something up that comes once, a context or the code of a kernel.
LONG_CALL_SECONDS = 5e-3


def long_call_kind(name: str) -> TimeKind:
    """Of one that starts work and holds the processor for longer than `LONG_CALL_SECONDS`."""
    return TimeKind.WAITS if "Memcpy" in name else TimeKind.START


def device_kind(name: str) -> TimeKind:
    """Of what runs on the GPU."""
    if _COMMUNICATION.search(name):
        return TimeKind.COMMUNICATION
    return TimeKind.COPIES if _COPY.match(name) or name.startswith(("Memcpy", "Memset", "[CUDA mem")) else TimeKind.KERNELS


def operator_kind(name: str) -> TimeKind:
    """Of a row of torch's table, or of a part of a trace that runs on the processor."""
    if name.startswith("enumerate(DataLoader)"):
        return TimeKind.DATA
    if name.startswith(("Memcpy", "Memset")):
        return TimeKind.COPIES
    if _CALL.match(name):
        return call_kind(name)
    if name.startswith(("<built-in", "<frozen")) or ".py(" in name or ".py:" in name:
        return function_kind(name)
    return TimeKind.START if of_start(name) else TimeKind.OPERATORS


def is_annotation(name: str) -> bool:
    """Whether a row holds others rather than work of its own: a step of the profiler, the optimizer as a whole."""
    return name.startswith(("ProfilerStep", "Optimizer.", "## Call CompiledFxGraph", "Torch-Compiled Region"))


def is_own_line(name: str) -> bool:
    """Whether a function of a trace is the user's: of a file, and of no library that is known."""
    if ".py(" not in name or _PACKAGES.search(name) or _PYTHONS.search(name) or name.startswith("<"):
        return False
    first = name.partition("(")[0].lstrip("/").partition("/")[0].removesuffix(".py")
    return first not in _LIBRARIES and first not in sys.stdlib_module_names


def is_own_function(name: str) -> bool:
    """The same of a function as cProfile names it, whose path may have been cut off."""
    file = name.rpartition(":")[0]
    if not file.endswith(".py") or _PACKAGES.search(name) or _is_pythons(name):
        return False
    return file.rpartition("/")[2] != "__init__.py"


def shortened(name: str) -> str:
    """Without the version that CUDA's calls carry and the address of an object, in letters that can be written, and no longer than
    somebody reads.
    """
    plain = _VERSION.sub("", _ADDRESS.sub("", name)).encode("utf-8", "replace").decode("utf-8")
    return plain if len(plain) <= LONGEST_NAME else plain[: LONGEST_NAME - 1] + "…"
