"""What torch says of a memory setting that it does not accept."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, sign

_NEWER = ("expandable_segments",)  # options that came with torch 2.1


def _refused(match: re.Match[str], _setting: SignatureInput) -> Iterator[Sign]:
    option = next((name for name in match.groups() if name), "")
    yield sign("allocator-setting-invalid", option=option, old="yes" if option in _NEWER and "CachingAllocator" in match[0] else "")


SIGNATURES: tuple[Signature, ...] = (
    Signature(
        ("unrecognized cachingallocator option", "unrecognized key", "cachingallocator option"),
        r"Unrecognized CachingAllocator option: ?(\w{1,60})|Unrecognized key '(\w{1,60})' in \w{0,12} ?allocator config"
        r"|CachingAllocator option (\w{1,60}) too (?:small|big)[^\n]{0,60}",
        _refused,
        200,
    ),
    Signature(
        ("garbage_collect_threshold", "configtokenizer", "argument for expandable_segments", "cudacachingallocator config"),
        r"(garbage_collect\w{0,4}_threshold)[ ,]{1,3}(?:too (?:small|big)|is invalid|set it)[^\n]{0,60}"
        r"|Expected a single True/False argument for (expandable_segments)"
        r"|(?:Expected '[^'\n]{1,20}'(?: or '[^'\n]{1,20}')? at index \d{1,4} in|Index out of bounds in) ConfigTokenizer[^\n]{0,80}"
        r"|Error parsing CUDACachingAllocator config[^\n]{0,80}",
        _refused,
        200,
    ),
)
