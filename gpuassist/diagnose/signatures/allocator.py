"""What torch's allocator is told by the environment, what to make of it, and what torch says of a setting that it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, sign
from gpuassist.model.fact import Known
from gpuassist.model.lazy_regex import lazy_regex

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


NAMES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")  # torch 2.9 and later read the first one first
_SET = lazy_regex(
    r"(PYTORCH_(?:CUDA_)?ALLOC_CONF)[\"']?\]?[ \t]{0,4}(?:=|,|:)[ \t]{0,4}[\"']?([a-z_]{3,40}:[\w:.,\[\]]{1,200})", re.IGNORECASE
)
_HINT = lazy_regex(r"try\s+setting\s*$")


class Allocator(Struct, frozen=True):
    """A variable and its options as they stand; both empty where nothing is set or nobody says."""

    variable: str = ""
    options: str = ""

    def has(self, option: str) -> bool:
        """Whether the option is there, and not turned off."""
        return any(
            name.strip().lower() == option and value.strip().lower() != "false"
            for name, _, value in (one.partition(":") for one in self.options.split(","))
        )

    def with_expandable(self) -> str:
        """The options with growing segments: those that exclude it are left out, the others stay."""
        return self._with("expandable_segments:True")

    def with_split(self) -> str:
        """The options with large blocks kept whole, for a torch or a system that cannot let them grow."""
        return self._with("max_split_size_mb:128")

    def _with(self, option: str) -> str:
        gone = {"expandable_segments", "max_split_size_mb", "backend", ""}
        kept = [one.strip() for one in self.options.split(",") if one.partition(":")[0].strip().lower() not in gone]
        return ",".join([*kept, option])


def allocator(setting: SignatureInput) -> Allocator:
    """What the text says is set, else what a new terminal has; the hint that torch prints with every message sets nothing."""
    words = setting.paste.words
    for found in _SET.finditer(words) if setting.says("alloc_conf") else ():
        if not _HINT.search(words[max(0, found.start() - 40) : found.start()]):
            return Allocator(found[1].upper(), found[2].rstrip(".,:"))
    terminal = setting.case.terminal
    if isinstance(terminal, Known):
        for name in NAMES:
            if terminal.value.variable(name):
                return Allocator(name, terminal.value.variable(name))
    return Allocator()
