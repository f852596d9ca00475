"""What programs print when the GPU's memory does not suffice; the figures of the message decide what it means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gpuassist.diagnose.case import KnownGpu
from gpuassist.diagnose.hints import card_name
from gpuassist.diagnose.memory import TOLD, MemoryCause, Ruling, contradiction, parameters, rule
from gpuassist.diagnose.memory_parts import own_bytes
from gpuassist.diagnose.signature import Meaning, Sign, Signature, SignatureInput, means, one_of, sign
from gpuassist.diagnose.signatures.allocator import allocator
from gpuassist.formats.oom import OutOfMemory, Platform, principal
from gpuassist.formats.size import shown_size
from gpuassist.model.fact import Known, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.text import Parameter

# A sentence that speaks of the error without being one, and code that handles it.
_NO_ERROR = lazy_regex(
    r"\b(?:if|avoid\w*|prevent\w*|in case of|against|fix(?:es)?|handl\w+|reduce the risk of|except|isinstance|raise|catch|in str"
    r"|避免|防止|如果)\b[^\n.:]{0,60}$|(?:避免|防止|如果)[^\n。:]{0,30}$|^\s*(?:#|//)\s*(?:if|note|try)\b[^\n]{0,60}$",
    re.IGNORECASE,
)
_WINDOWS = lazy_regex(
    r"\b[A-Za-z]:\\|\bwindows (?:1[01]|server)|\bwin(?:32|_amd64)\b|\bWDDM\b|not supported on this platform", re.IGNORECASE
)
_WINDOWS_WORDS = (":\\", "windows", "win32", "win_amd64", "wddm", "not supported on this platform")  # one is in each of these
_MOSTLY = 0.6  # of the card
_JAX = ("jax", "xla_client", "xla_python", "flax", "buffer assignment", "bufferassignment")
_TENSORFLOW = ("tensorflow", "keras", "_bfc", "tf.")


def _torch(_match: re.Match[str], setting: SignatureInput) -> Iterable[Sign]:
    return _ruled(setting, "torch")


def _half_torch(match: re.Match[str], setting: SignatureInput) -> Iterable[Sign]:
    """The second half of a message whose beginning is missing."""
    return () if setting.says("tried to allocate") else _torch(match, setting)


def _plain(match: re.Match[str], setting: SignatureInput) -> Iterable[Sign]:
    """No figures with it: they may stand elsewhere in the text."""
    return () if _is_talk(match, setting) else _ruled(setting, _program(setting))


def _xla(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if re.search(r"device:CPU|by allocator (?:mkl)?cpu", match[0], re.IGNORECASE):
        yield sign("dataloader-shm-or-ram")
    elif not _is_talk(match, setting):
        yield from _ruled(setting, _program(setting))


def _started_full(_match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """vLLM asks what is free before it takes anything: what is missing has somebody else."""
    message = principal(setting.paste.words) or OutOfMemory()
    yield _sign(MemoryCause.OTHERS, message, setting, program="vllm")


def _program(setting: SignatureInput) -> str:
    if setting.says(*_JAX) and not setting.says("torch."):
        return "jax"
    if setting.says(*_TENSORFLOW) and not setting.says("torch."):
        return "tensorflow"
    return "torch" if setting.says("torch") else "other"


def _ruled(setting: SignatureInput, program: str) -> Iterator[Sign]:
    message = principal(setting.paste.words)
    if message is not None and message.platform is not Platform.CUDA:
        yield sign("not-a-gpu-problem", Weight.CAUSE, cause_id="other-gpu")
        return
    if message is None or message.total is None:
        taken = _taken(setting, message)
        if taken:
            yield _with_facts(taken, message, setting, program=program)
            return
    ruling = rule(message) if message is not None else Ruling((MemoryCause.NEED,), proved=False)
    first, *others = ruling.causes
    figured = message is not None and message.total is not None and contradiction(message) is None
    # Without a figure of its own memory nothing tells whether the program itself or others have what is not free.
    told = ruling.proved or (figured and first is MemoryCause.FRAGMENTS)
    yield _sign(first, message, setting, weight=Weight.CAUSE if told else Weight.STATE, program=program)
    if figured:
        for cause in (one for one in others if one is not MemoryCause.NEED or not ruling.proved):
            yield _sign(cause, message, setting, weight=Weight.STATE, program=program)


def _sign(
    cause: MemoryCause,
    message: OutOfMemory | None,
    setting: SignatureInput,
    *,
    weight: Weight = Weight.CAUSE,
    program: str = "torch",
) -> Sign:
    found: dict[str, Parameter] = {"program": program, "gpu": card_name(setting)}
    if cause is MemoryCause.FRAGMENTS:
        found.update(_allocator(setting, old=message is not None and message.old))
    if message is not None:
        found.update(parameters(message, cause), index=_roomier(message, setting), display=_display(message, setting))
    return sign(cause.value, weight, **{name: value for name, value in found.items() if value and name in TOLD[cause]})


def _display(message: OutOfMemory, setting: SignatureInput) -> str:
    """Whether the GPU that was asked is known to show a desktop as well."""
    device = message.device or 0
    asked = (card.gpu for card in setting.case.cards if card.number == str(device))
    return "yes" if any(gpu.display_active.is_true for gpu in asked) else ""


def _taken(setting: SignatureInput, message: OutOfMemory | None) -> KnownGpu | None:
    """The card that was asked, where a table shows most of it as taken: the program that failed is gone from such a table."""
    device = (message.device if message is not None else None) or 0
    for card in setting.case.cards:
        used, total = card.gpu.memory_used_bytes, card.gpu.memory_total_bytes
        if card.number == str(device) and isinstance(used, Known) and isinstance(total, Known):
            return card if used.value >= _MOSTLY * total.value else None
    return None


def _with_facts(card: KnownGpu, message: OutOfMemory | None, setting: SignatureInput, *, program: str) -> Sign:
    used, total = value_or(card.gpu.memory_used_bytes, 0), value_or(card.gpu.memory_total_bytes, 0)
    processes = value_or(card.gpu.processes, ())
    asked = message or OutOfMemory()
    found = {
        "others": shown_size(used),
        "total": shown_size(total),
        "requested": shown_size(asked.requested) if asked.requested else "",
        "pid": str(processes[0].pid) if len(processes) == 1 else "",
        "index": _roomier(asked, setting),
        "program": program,
    }
    return sign(MemoryCause.OTHERS.value, Weight.STATE, **{name: value for name, value in found.items() if value})


def _roomier(message: OutOfMemory, setting: SignatureInput) -> str:
    """The number of another GPU on which the request would fit; empty where none is known."""
    for card in setting.case.cards:
        index, total, used = card.gpu.index, card.gpu.memory_total_bytes, card.gpu.memory_used_bytes
        if isinstance(index, Known) and isinstance(total, Known) and isinstance(used, Known):
            room = total.value - used.value
            if index.value != (message.device or 0) and room > 2 * (message.requested or 0) + (own_bytes(message) or 0):
                return str(index.value)
    return ""


def _allocator(setting: SignatureInput, *, old: bool) -> Iterator[tuple[str, Parameter]]:
    """What is set already, and what to set instead: blocks can grow since torch 2.1, and not under WSL."""
    now = allocator(setting)
    yield "variable", now.variable
    yield "options", now.with_split() if old or setting.case.wsl else now.with_expandable()
    yield "old", "yes" if old else ""
    yield "expandable", "yes" if now.has("expandable_segments") else ""
    yield "split", "yes" if now.has("max_split_size_mb") else ""
    # The pattern alone takes 0.2 s for 1 MB, and no other thread runs meanwhile.
    on_windows = any(word in setting.lowered for word in _WINDOWS_WORDS) and setting.finds(_WINDOWS) is not None
    yield "windows", "yes" if not setting.case.wsl and on_windows else ""


def _is_talk(match: re.Match[str], setting: SignatureInput) -> bool:
    """Whether it is advice, a question of a manual, or code that handles the error."""
    words = setting.paste.words
    if setting.says("troubleshoot", "faq", "q: ", "frequently asked") and not setting.says("error:", "traceback", "exception"):
        return True
    start = words.rfind("\n", 0, match.start()) + 1
    return bool(_NO_ERROR.search(words[max(start, match.start() - 200) : match.start()]))


def _cublas(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    program = _program(setting)
    yield sign("cublas-init-failed-oom", Weight.CAUSE, program=program, library=library_of(match[0]))


def library_of(words: str) -> str:
    """Which of NVIDIA's libraries a message is of; empty for cuBLAS, and where it does not say."""
    lowered = words.lower()
    return next((name for name in ("cudnn", "cusolver", "cufft") if name in lowered), "")


def _unasked(_match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """torch asks NVML who holds the memory where an allocation failed, and nowhere else (c10/cuda/CUDACachingAllocator.cpp)."""
    if not setting.says("tried to allocate"):
        yield sign("oom-true", Weight.CAUSE, program="torch", unasked="yes")


def _limit(_match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    message = principal(setting.paste.words)
    yield _sign(MemoryCause.LIMIT, message, setting)


_PLAIN_WORDINGS = (
    "cuda out of memory",
    "cuda error: out of memory",
    "cuda error out of memory",
    "cuda_oom",
    "cuda oom",
    "out of memory at /",
    "cuda driver error: out of memory",
    "out of gpu memory",
    "gpu out of memory",
    "gpu is out of memory",
    "cumemalloc",
    "cudamalloc failed",
    "cudamalloc retry failed",
    "cuda.outofmemoryerror",
    "torch.outofmemoryerror",
    "cuda.memory.outofmemoryerror",
    "cuda runtime (out of memory)",
    "out_of_memory: cuda",
    "out of memory error on gpu",
    "cuda-out-of-memory",
    "显存不足",
    "爆显存",
    "显存溢出",
    "显存不够",
    "显存爆",
)

BY_STATE: dict[str, Meaning] = {"no-memory": _plain, "cublas-not-started": _cublas}


SIGNATURES: tuple[Signature, ...] = (
    Signature(
        ("tried to allocate",),
        one_of(
            r"(?:\w+[ \t]out[ \t]of[ \t]memory\.\s{0,3})?(?<!you )Tried\s{1,3}to\s{1,3}allocate\s"
            r"(?:[\s\S]{0,700}?(?:but unallocated|in total by PyTorch|\d [KMG]iB cached)\b|[^\n]{0,260})"
        ),
        _torch,
        400,
    ),
    Signature(
        ("total capac", "already allocated;", "reserved in total by pytorch", "is allocated by pytorch", "reserved by pytorch but"),
        one_of(
            r"[^\n]{0,120}total capaci?ty[^\n]{0,200}",
            r"[^\n]{0,120}already allocated;[^\n]{0,200}",
            r"[^\n]{0,120}reserved in total by PyTorch[^\n]{0,200}",
            r"[^\n]{0,120}is allocated by PyTorch[^\n]{0,200}",
            r"[^\n]{0,120}reserved by PyTorch but[^\n]{0,200}",
        ),
        _half_torch,
    ),
    Signature(
        ("would exceed allowed memory", "allocation on device"),
        r"Allocation on device\s?(?:\d{1,2}\b)?(?:\s(?:would exceed allowed memory)?[^\n]{0,80})?",
        _torch,
    ),
    Signature(
        _PLAIN_WORDINGS,
        one_of(
            r"THCudaCheck FAIL[^\n]{0,160}",
            r"cuda runtime error \(2\)[^\n]{0,120}",
            r"CUDA[ _-](?:driver )?(?:ERROR[: _-]{1,3})?out[ _-]of[ _-]memory\b(?!\.\s{1,3}Tried)[^\n]{0,120}",
            r"out of memory at /[^\n]{0,100}",
            r"\bError 2: out of memory\b[^\n]{0,80}",
            r"CUDA[_ ]OOM\b[^\n]{0,80}",
            r"(?:ran )?out of GPU memory[^\n]{0,80}",
            r"GPU (?:is )?out of memory[^\n]{0,80}",
            r"cuMemAlloc\w*[^\n]{0,60}(?:out.of.memory|\(?2\)?)",
            r"cudaMalloc (?:retry )?failed: out of memory",
            r"(?:(?:torch\.)?cuda|torch|(?:cupy\.)?cuda\.memory)\.OutOfMemoryError"
            r"(?!:\s{1,3}\w{3,12} out of memory\.\s)[^\n]{0,120}",
            r"Cuda Runtime \(out of memory\)[^\n]{0,80}",
            r"out_of_memory: CUDA[^\n]{0,80}",
            r"out of memory error on GPU[^\n]{0,160}",
            r"显存(?:不足|溢出|不够|爆)",
            r"爆显存",
        ),
        _plain,
        200,
    ),
    Signature(
        (
            "oom when allocating tensor",
            "resource_exhausted",
            "resourceexhausted",
            "resource exhausted",
            "ran out of memory trying to allocate",
            "failed to allocate request for",
            "out of memory while trying to allocate",
            "out of memory allocating",
        ),
        one_of(
            r"(?:RESOURCE[_ ]?EXHAUSTED\w{0,8}[^\n]{0,60}?)?OOM when allocating tensor[^\n]{0,200}",
            r"ran out of memory trying to allocate[^\n]{0,200}",
            r"failed to allocate request for[^\n]{0,120}",
            r"out of memory (?:while trying to allocate|allocating) [\d.,]{1,30}[^\n]{0,120}",
            r"RESOURCE[_ ]?EXHAUSTED\w{0,8}[^\n]{0,20}out of memory[^\n]{0,120}",
        ),
        _xla,
        300,
    ),
    Signature(
        ("failed to allocate", "unable to allocate cuda", "on device", "gpu memory (", "for requested buffer"),
        one_of(
            r"failed to allocate [\d.]{1,12}[KMG]?i?B?[ (][^\n]{0,60}device[^\n]{0,80}",
            r"unable to allocate CUDA\d? (?:backend )?buffer[^\n]{0,60}",
            r"allocating [\d.]{1,12} MiB on device \d{1,2}: cudaMalloc failed[^\n]{0,60}",
            r"amount of GPU memory \(\d{1,20} bytes\) could not be allocated",
            r"Failed to allocate memory for requested buffer of size \d{1,20}",
        ),
        _plain,
        200,
    ),
    Signature(
        ("nvml_success ==", "driverapi"),
        r"NVML_SUCCESS == [^\n]{1,160}INTERNAL ASSERT FAILED[^\n]{0,40}CUDACachingAllocator\.cpp",
        _unasked,
        240,
    ),
    Signature(("'out of memory'",), r"Cuda failure (?:\d )?'out of memory'", means("oom-true", Weight.CAUSE, program="torch"), 60),
    Signature(
        ("storage size calculation overflowed", "integer multiplication overflow"),
        r"Storage size calculation overflowed[^\n]{0,120}|numel: integer multiplication overflow[^\n]{0,80}",
        means("oom-absurd-request"),
    ),
    Signature(
        ("free memory on device",),
        r"Free memory on device[^\n]{0,40}\([\d.]{1,12}/[\d.]{1,12} GiB\)[^\n]{0,30}less than desired GPU memory util[^\n]{0,50}",
        _started_full,
    ),
    Signature(
        ("no available memory for the cache blocks", "available kv cache memory", "stored in kv cache", "kv cache is needed"),
        one_of(
            r"No available memory for the cache blocks[^\n]{0,100}",
            r"larger than the available KV cache memory[^\n]{0,60}",
            r"larger than the maximum number of tokens that can be stored in KV cache[^\n]{0,60}",
        ),
        means("oom-true", Weight.CAUSE, program="vllm"),
    ),
    Signature(
        ("resource allocation failed at", "library not initialized at"),
        r"cublas runtime error : (?:resource allocation failed|library not initialized) at[^\n]{0,100}",
        _cublas,
    ),
    Signature(
        ("valid cudnn algorithm", "unable to find an engine"),
        r"Unable to find a valid cuDNN algorithm[^\n]{0,60}|unable to find an engine to execute this computation",
        _plain,
        120,
    ),
    Signature(
        ("per_process_memory_fraction limit", "preemptively rejected"),
        one_of(r"Allocation was preemptively rejected[^\n]{0,160}", r"would exceed per_process_memory_fraction limit[^\n]{0,100}"),
        _limit,
    ),
    Signature(
        ("virtual address space",),
        r"Failed to reserve [^\n]{0,60}virtual address space for an expandable[^\n]{0,160}",
        means("oom-address-space"),
    ),
)
