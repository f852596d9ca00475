"""The build string of a conda package, `py3.12_cuda12.4_cudnn9.1.0_0`: what it was built for, in every spelling that torch had."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Version

# conda-forge's older spelling runs its parts together: `cuda112py39hb0b7ed5_201`, `cpu_py310hd11e9c7_1`; a hash is a letter h and
# seven hexadecimal digits.
_GLUED = lazy_regex(r"(cuda\d+|cu\d+|cpu|py\d+)(?=(?:py\d|h[0-9a-f]{7}(?:_|$)))")
_NUMBER = lazy_regex(r"\d{1,9}", re.ASCII)


class CondaBuild(Struct, frozen=True):
    """What a build string says; None, or "", where it says nothing of that. `rest` are the parts that are not understood.

    `cpu` is true where it is for the CPU alone, false where it names a CUDA; `blas` is `mkl` or `generic`.
    """

    python: Version | None = None
    cuda: Version | None = None
    cudnn: Version | None = None
    cpu: bool | None = None
    blas: str = ""
    hash: str = ""
    number: int | None = None
    rest: tuple[str, ...] = ()


@lru_cache(512)
def read_build(words: str) -> CondaBuild:
    """A build string taken apart; of what is none, everything is in `rest`."""
    *parts, last = [part for part in _GLUED.sub(r"\1_", words.strip().lower()).split("_") if part] or [""]
    build = CondaBuild(number=int(last)) if _NUMBER.fullmatch(last) else _with(CondaBuild(), last)
    for part in reversed(parts):
        build = _with(build, part)
    return build


def _with(build: CondaBuild, part: str) -> CondaBuild:
    """The build with one more part understood; the first of two that say the same counts, so the parts come last to first."""
    for pattern, told in _PARTS:
        found = pattern.fullmatch(part)
        if found and not (part == "cpu" and build.cuda is not None):
            return replace(build, **told(found))
    return replace(build, rest=(part, *build.rest)) if part else build


def _cuda(found: re.Match[str]) -> dict[str, Any]:
    """`118` is 11.8, `92` is 9.2: without its dot the last digit is the minor version."""
    digits = found[1]
    dotted = digits if "." in digits or len(digits) == 1 else f"{digits[:-1]}.{digits[-1]}"
    return {"cuda": Version.parse(dotted), "cpu": False}


_PARTS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], dict[str, Any]]], ...] = (
    (
        lazy_regex(r"(?:py|cp)(\d)\.?(\d{1,2})?t?", re.ASCII),
        lambda one: {"python": Version.parse(".".join(filter(None, one.groups())))},
    ),
    (lazy_regex(r"cudnn(\d{1,3}(?:\.\d{1,4}){0,3})", re.ASCII), lambda one: {"cudnn": Version.parse(one[1])}),
    (lazy_regex(r"(?:cuda|cu)(\d{1,3}(?:\.\d{1,4}){0,2})", re.ASCII), _cuda),
    (lazy_regex(r"mkl|generic|openblas"), lambda one: {"blas": one[0]}),
    (lazy_regex(r"h[0-9a-f]{7}", re.ASCII), lambda one: {"hash": one[0]}),
    (lazy_regex(r"cpu"), lambda _: {"cpu": True}),
)
