"""Memory that is kept: graphs that results hold on to, and processes that died and did not let go."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import in_wsl
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, passages, sign
from gpuassist.formats.allocator import WORKSPACES, read_allocator
from gpuassist.formats.oom import principal
from gpuassist.formats.size import shown_size
from gpuassist.model.fact import Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

_GROWING = lazy_regex(
    r"memory[^\n]{0,60}(?:grow|increas|leak|climb|creep|accumul|goes up|keeps? (?:rising|going))"
    r"|(?:grow|increas|leak)\w*[^\n]{0,30}memory"
    r"|until (?:it runs )?out of|out of memory after|显存[^\n]{0,20}(?:增|涨|越来越|泄)|内存[^\n]{0,10}(?:泄|增)"
    r"|メモリ[^\n]{0,20}(?:増|リーク)|메모리[^\n]{0,20}(?:증가|누수|늘어)",
    re.IGNORECASE,
)
_OF_GPU = ("gpu", "cuda", "vram", "显存", "nvidia", "torch", "loss")
_SHORT_OF_MEMORY = ("out of memory", "outofmemory", "oom", "memory", "显存", "内存", "メモリ", "메모리")
_LET_GO = lazy_regex(r"\.(?:item|detach|data|cpu|numpy|tolist)\b|\bfloat\(|\bno_grad\b|\binference_mode\b")
_FUNCTION = lazy_regex(r"(?:, in |\bdef |> in )(\w{1,60})")
_EVALUATES = lazy_regex(r"_{0,2}(?:valid|val_|eval|test|infer|predict|extract|embed)", re.IGNORECASE)
_FAR = 1200  # characters
_SMALLEST_LEFT = 1 << 30
_LARGE, _LARGER = 0.1, 0.25  # of the card


def _summed(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """`train_loss += loss`: the sum keeps the graph of every step, but where it is what `backward` is called on."""
    found = match.groupdict()
    name = str(found.get("name") or found.get("total"))
    if _LET_GO.search(match[0]) or setting.says(f"{name.lower()}.backward", f"{name.lower()} = {name.lower()}.detach"):
        return
    if setting.says(*_SHORT_OF_MEMORY):
        grows = setting.finds(_GROWING) is not None
        yield sign("oom-graph-retained", Weight.CAUSE if grows or not setting.says("traceback") else Weight.STATE)


def _collected(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """`outputs.append(model(x))` keeps graphs unless gradients are off."""
    if not _LET_GO.search(match[0]) and setting.says(*_SHORT_OF_MEMORY) and not setting.says("no_grad", "inference_mode"):
        # Whether a line stands in a function that evaluates, by the frame or the head above it: there nothing needs a graph.
        place = match.start()
        names = _FUNCTION.findall(setting.paste.words[max(0, place - _FAR) : place])
        sure = (bool(names) and _EVALUATES.match(names[-1]) is not None) or setting.finds(_GROWING)
        yield sign("oom-graph-retained", Weight.CAUSE if sure else Weight.STATE)


# The size of cuBLAS's workspace as people write it, and what they say of memory that stays.
_WORKSPACE = r"(?<![\d.])(?:8[,.]?519[,.]?680|8320(?:\.0+)? ?Ki?B|8\.1(?:2|25|250|3)\d{0,6} ?Mi?B?|33[,.]?554[,.]?432)(?![\d.]*\d)"
_WORKSPACE_WORDS = ("519,680", "519680", "519.680", "8320 k", "8320.0", "8.12", "8.13", "33554432", "33,554,432")
_EXACT = ("8519680", "8,519,680", "8.519.680")
_STAYS = lazy_regex(
    r"\bleak|\boverhead|never (?:goes|freed|released)|still (?:\w+ ){0,4}(?:allocated|there|used|in use|occup|taken|left|shows?)"
    r"|\bremain|empty_cache|gc\.collect|\bdel \w|after (?:delet|free|clear|releas)|not (?:freed|released)"
    r"|(?:n't|not) go (?:away|down)"
    r"|memory_allocated|max_memory|释放|泄[漏露]|残留|占用|解放|リーク",
    re.IGNORECASE,
)


def _workspace(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A figure that is its size to the byte; a rounded one, or 32 MiB, only where the text speaks of memory that stays."""
    if principal(setting.paste.words) is not None:
        return
    near = setting.paste.words[max(0, match.start() - 300) : match.end() + 300]
    exact = match[0] in _EXACT and (len(setting.paste.words) < _ALONE or _OF_MEMORY.search(near) is not None)
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.end() + 40]
    if exact or (not _TRANSFER.search(line) and _STAYS.search(near) and _OF_MEMORY.search(near.replace(match[0], ""))):
        size = WORKSPACES[1] if match[0].startswith("33") else WORKSPACES[0]
        yield sign("cublas-workspace", size=shown_size(size))


_TRANSFER = lazy_regex(r"\.whl|\.tar|\.deb|download|[KMG]i?B/s", re.IGNORECASE)
_ALONE = 60  # characters of a text that is nothing but the figure
_OF_MEMORY = lazy_regex(r"memory|alloc|cuda|gpu|vram|overhead|torch|显存|内存|メモリ", re.IGNORECASE)


def _is_workspace(setting: SignatureInput) -> bool:
    """Whether the memory that stays is cuBLAS's workspace by its size."""
    found = passages(setting, _WORKSPACE_WORDS, _WORKSPACE, window=40)
    return any(one for match in found for one in _workspace(match, setting))


def _shown_workspace(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """torch's own figures, of which nothing is in use but that."""
    figures = read_allocator(setting.paste.words) if principal(setting.paste.words) is None else None
    if figures is not None and figures.workspace and figures.workspace == figures.allocated:
        yield sign("cublas-workspace", size=shown_size(figures.workspace))


def _growing(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    words = setting.paste.words[max(0, match.start() - 300) : match.end() + 300].lower()
    if _is_workspace(setting):
        return
    if any(one in words for one in _OF_GPU):
        yield sign("oom-graph-retained", Weight.CAUSE)


def _without_no_grad(_match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if setting.says(*_SHORT_OF_MEMORY):
        yield sign("oom-graph-retained", Weight.CAUSE)


def _may_keep(_match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """It fails in an evaluation, or the program keeps graphs on purpose."""
    if setting.says("out of memory", "outofmemory", "显存") and not setting.says("no_grad", "inference_mode"):
        yield sign("oom-graph-retained", Weight.STATE)


def _held(_match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if setting.says("gpu", "显存", "nvidia", "cuda", "vram") and not _is_workspace(setting):
        yield sign("gpu-memory-held-by-dead-process", Weight.CAUSE, **_left_over(setting))


def _looked_for(_match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Somebody looks for who has the devices open, and not to unload a module."""
    if setting.says("memory", "显存", "メモリ", "메모리") and not setting.says("rmmod", "modprobe", "installer", "is in use"):
        yield sign("gpu-memory-held-by-dead-process", Weight.STATE, **_left_over(setting))


def _nobody(_match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A table without processes beside memory in use; under WSL and Windows it never shows any."""
    left = _left_over(setting)
    if left and not in_wsl(setting) and not setting.says("wddm"):
        yield sign("gpu-memory-held-by-dead-process", Weight.CAUSE, **left)


def _not_listed(_match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A table that lists processes, but none that has a large part of what is in use."""
    left = _left_over(setting, least=_LARGER)
    if left and not in_wsl(setting) and not setting.case.container and not setting.says("wddm"):
        yield sign("gpu-memory-held-by-dead-process", Weight.STATE, **left)


def _of_nobody(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """NVML knows the number of a process that the system has no more, or that another container hides."""
    used = int(match["used"]) << 20
    if used >= _SMALLEST_LEFT and not in_wsl(setting):
        yield sign("gpu-memory-held-by-dead-process", Weight.STATE, used=shown_size(used), index=match["index"])


def _left_over(setting: SignatureInput, *, least: float = _LARGE) -> dict[str, str]:
    """The memory of a GPU that is in use and that no process has, by the facts; empty where there is none."""
    for card in setting.case.cards:
        used = card.gpu.memory_used_bytes
        if isinstance(used, Known) and _is_nobodys(card.gpu, used.value, least):
            found = {"used": shown_size(used.value)}
            index = value_or(card.gpu.index, -1)
            return {**found, "index": str(index)} if index >= 0 else found
    return {}


def _is_nobodys(gpu: Gpu, used: int, least: float) -> bool:
    total = value_or(gpu.memory_total_bytes, used)
    processes = gpu.processes
    if not isinstance(processes, Known) or any(not isinstance(one.memory_used_bytes, Known) for one in processes.value):
        return False
    known = sum(value_or(one.memory_used_bytes, 0) for one in processes.value)
    return used - known >= max(_SMALLEST_LEFT, least * total)


def _any_of(*patterns: str) -> str:
    return "|".join(patterns)


_LOSSES = _any_of(
    r"(?:train|total|running|epoch|sum|avg|mean|val|valid|test|cum|acc|all|batch|eval|tr|log)\w{0,4}_?\w{0,12}loss\w{0,8}",
    r"\w{0,20}loss_?(?:sum|total|epoch|all|avg|mean|meter)\w{0,8}",
    r"losses",
)
_RESULT = r"\w{0,20}(?:loss|output|pred|logit|prob|feat|emb|hidden)\w{0,12}"
_STILL = r"(?:still|remains?|stays?) (?:occupied|in use|used|held|full|taken|allocated)"
_NOT_FREED = (
    r"(?:not (?:being |been |get |always )?|n't (?:being |been |get |always )?|never (?:gets? )?)"
    r"(?:released?|freed?|cleared|clear|deallocated?|reclaimed|returned|unloaded)\b"
)
_ENDED = r"(?:kill|ctrl|exit|crash|terminat|interrupt|stopp|died|end of|end(?:ed|s)\b|clos)\w{0,8}"

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        _WORKSPACE_WORDS,
        _WORKSPACE,
        _workspace,
        window=40,
    ),
    Signature(("allocated memory", "memory_allocated"), r"(?:Allocated memory|memory_allocated)", _shown_workspace, window=40),
    Signature(
        ("loss",), rf"\b(?P<name>{_LOSSES})\s?(?:\+=|=\s?(?P=name)\s?\+)\s?[^\n#]{{0,60}}loss\w{{0,20}}[^\n#]{{0,40}}", _summed, 160
    ),
    Signature(
        (".backward(",),
        r"\b(?P<name>\w{1,40})\s?\+=\s?(?P<one>\w{1,40})\b(?![.\[(])[^#]{0,400}?\b(?P=one)\.backward\("
        r"|\b(?P<two>\w{1,40})\.backward\([^#]{0,400}?(?P<total>\w{1,40})\s?\+=\s?(?P=two)\b(?![.\[(])",
        _summed,
        500,
    ),
    Signature((".append(",), rf"\b\w{{1,40}}\.append\((?:{_RESULT}|model\([^\n]{{0,40}}?\))\)[^\n]{{0,20}}", _collected, 160),
    Signature(
        ("memory", "vram", "显存", "メモリ", "메모리"),
        _any_of(
            r"(?:memory|vram)(?: (?:usage|use|consumption|footprint|occup\w+))?[^\n]{0,40}"
            r"(?:grow|increas|ris|climb|creep|accumulat|builds? up|goes up|going up|leak)\w{0,6}[^\n]{0,60}"
            r"(?:each|every|per|with|over|after|during|until|as|and) (?:\w+ ){0,3}"
            r"(?:step|iter|epoch|batch|loop|time|train|forward|out\b|oom\b|full\b|crash)",
            r"(?:increasing|growing|leaking) (?:gpu|cuda|vram)[ -]?memory",
            r"(?:each|every) (?:step|iteration|epoch|batch)[^\n]{0,40}memory[^\n]{0,40}(?:grow|increas|more)",
            r"显存(?:占用|使用)?[^\n]{0,12}(?:不断|持续|一直|逐渐|逐步|越来越)[^\n]{0,10}(?:增|涨|大|上升)",
            r"显存(?:占用|使用)?[^\n]{0,12}每个?(?:step|epoch|batch|轮|步)[^\n]{0,10}(?:增|涨|大|上升)",
            r"メモリ[^\n]{0,20}(?:増え続|増加し続|徐々に増)",
            r"메모리[^\n]{0,20}(?:계속|점점)[^\n]{0,10}(?:증가|늘)",
        ),
        _growing,
        200,
    ),
    Signature(
        ("no_grad", "inference_mode"),
        r"(?:without|forgot\w*|missing|no|not using|lacks?|没有|没用|忘了|忘记)[^\n]{0,20}(?:no_grad|inference_mode)",
        _without_no_grad,
        120,
    ),
    Signature(("retain_graph",), r"retain_graph\s?=\s?True", _may_keep, 60),
    Signature(
        ("valid", "eval", "验证", "评估", "testing", "in test"),
        _any_of(
            r", line \d{1,6}, in (?:valid\w{0,8}|eval\w{0,12}|test|test_epoch|val_epoch)\b",
            r"(?:during|in|at|when|while) (?:the )?(?:validation|evaluation|evaluating|validating|testing)\b[^\n]{0,40}",
            r"(?:验证|评估|测试)(?:集|时|阶段|过程)",
        ),
        _may_keep,
        120,
    ),
    Signature(
        ("memory", "显存", "vram", "zombie", "defunct", "메모리", "좀비", "プロセス"),
        _any_of(
            rf"(?:memory|vram)[^\n]{{0,60}}(?:{_NOT_FREED}|{_STILL})[^\n]{{0,80}}{_ENDED}",
            rf"(?:{_ENDED}|process)[^\n]{{0,80}}(?:memory|vram)[^\n]{{0,60}}(?:{_NOT_FREED}|{_STILL})",
            r"(?:memory|vram)[^\n]{0,60}(?:but|though|while|with)[^\n]{0,30}no (?:running )?process",
            r"显存[^\n]{0,12}(?:不释放|没有?释放|未释放|无法释放|仍被?占|还被?占|依然被?占)",
            r"(?:看不到|没有|找不到|不显示)[^\n]{0,6}进程[^\n]{0,30}显存",
            r"显存[^\n]{0,30}(?:看不到|没有|找不到|不显示)[^\n]{0,6}进程",
            r"プロセス[^\n]{0,12}(?:ない|無い|なし|表示され)[^\n]{0,30}(?:メモリ|使われ|使用)",
            r"memory[^\n]{0,80}no process(?:es)? (?:is |are )?(?:listed|shown|visible|found|running)",
            r"(?:zombie|defunct|좀비)[^\n]{0,60}(?:gpu|memory|vram|메모리)",
            r"(?:gpu|memory|vram)[^\n]{0,60}(?:zombie|defunct)",
        ),
        _held,
        240,
    ),
    Signature(("/dev/nvidia",), r"(?:fuser|lsof)[^\n]{0,20} /dev/nvidia[^\n]{0,20}", _looked_for, 60),
    Signature(
        ("[not found]", "unknown error"),
        r"\|[ \t]{1,6}(?P<index>\d{1,2})[ \t]{1,6}(?:(?:N/A|\d{1,3})[ \t]{1,6}){0,2}\d{1,8}[ \t]{1,6}(?:C\+G|M\+C|C|G)?[ \t]{1,8}"
        r"\[?(?:Not Found|Unknown Error)\]?[ \t]{1,60}(?P<used>\d{1,7})MiB",
        _of_nobody,
        150,
    ),
    Signature(("processes:",), r"(?:Compute processes|Processes):[^\n]{0,80}", _not_listed, 100),
    Signature(
        ("no running processes found", "no running compute processes"), r"No running (?:compute )?processes found", _nobody, 60
    ),
)
