"""Where each figure of an "out of memory" message stands, in the words of every program, all white space taken out."""

from __future__ import annotations

import re

from gpuassist.formats.size import SIZE

_S = f"({SIZE})"
_N = r"(\d{1,20})"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


HEAD = _compiled(
    r"MPSbackendoutofmemory(?:\([^()]{0,200}\))?\.?(?:triedtoallocate)?"
    r"|(?:(?:CUDA|HIP|XPU|NPU|MUSA|MLU|GCU)outofmemory)?[.,:]?(?<!you)triedtoallocate"
    r"|allocationondevice\d*would|oomwhenallocatingtensor|failedtoallocate[\d.]+[kmg]?i?b?\(\d+bytes\)|outofmemoryallocating"
    r"|outofmemorywhiletryingtoallocate|failedtoallocaterequestfor|allocating[\d.]+mi?bondevice\d|outofmemoryerrorongpu"
    r"|freememoryondevice"
)
"""Where a message begins."""

OTHER_PLATFORM = _compiled(r"(HIP|XPU|NPU|MUSA|MLU|GCU|MPS)(?:backend)?outofmemory")

# torch 1.0 to 1.3, 1.4 to 2.0, 2.1 and later; then cudaMallocAsync; then other programs.
FIGURES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "requested",
        _compiled(
            rf"(?<!you)triedtoallocate{_S}|requested:{_S}|requestedsize:{_S}|tryingtoallocate{_S}|outofmemoryallocating{_S}"
            rf"|failedtoallocaterequestfor{_S}|allocating{_S}ondevice\d|cannotallocate{_S}memory|requestedbuffer(?:of)?size{_S}"
            rf"|amountofgpumemory\({_S}\)|desiredgpumemoryutilization\([\d.]+,{_S}\)|{_S}kvcacheisneeded"
        ),
    ),
    (
        "total",
        _compiled(rf"{_S}totalcapaci?ty|totalcapaci?tyof{_S}|devicelimit:{_S}"),
    ),
    (
        "free",
        _compiled(
            rf"{_S}free[;,)]|ofwhich{_S}isfree|free\(accordingto\w{{2,8}}\):{_S}|availablememoryisonly{_S}"
            rf"|availablekvcachememory\({_S}\)"
        ),
    ),
    (
        "allocated",
        _compiled(rf"{_S}alreadyallocated|allocatedmemory{_S}isallocated|currentlyallocated:{_S}|{_S}memoryhasbeenallocated"),
    ),
    ("private", _compiled(rf"with{_S}allocatedinprivatepools")),
    ("unallocated", _compiled(rf"{_S}isreservedbypytorchbutunallocated|{_S}cached\)")),
    ("reserved", _compiled(rf"{_S}reservedintotal")),
    ("own", _compiled(rf"thisprocesshas{_S}memoryinuse")),
    ("allowed", _compiled(rf"{_S}allowed;|pytorchlimit\([^()]{{0,80}}\):{_S}|limitsetto:{_S}")),
)

# Plain numbers of bytes, and the device.
INTEGERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("device", _compiled(r"GPU(\d{1,3})(?:;|hasatotal|,[\d.]+gbmemory)|ondevice(?:ordinal)?(\d{1,3})|device:GPU:(\d{1,3})")),
    ("requested", _compiled(rf"failedtoallocate[\d.]+[kmg]?i?b?\({_N}bytes\)|requestedbytesof{_N}|bufferofsize{_N}(?!\d*\.)")),
    ("free", _compiled(rf"availablememoryof{_N}issmaller")),
    ("allocated", _compiled(rf"limit:\d+inuse:{_N}")),
)

SHARE = _compiled(r"freememoryondevice(?:cuda:\d{1,3})?\((\d{1,9}\.\d{1,4})/(\d{1,9}\.\d{1,4})GiB\)")
"""What is free and what the card has, of vLLM, with one unit for both."""

PROCESS = _compiled(rf"process{_N}has{_S}memoryinuse")

TENSOR = _compiled(r"oomwhenallocatingtensorwithshape\[([\d,]{1,120})\]andtype(\w{3,9}?)(?:on/|on|$)")
