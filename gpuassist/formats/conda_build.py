"""The build string of a conda package, `py3.12_cuda12.4_cudnn9.1.0_0`: what it was built for, in every spelling that torch had."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Version

# conda-forge's older spelling runs its parts together: `cuda112py39hb0b7ed5_201`, `cpu_py310hd11e9c7_1`; a hash is a letter h and
# seven hexadecimal digits.
_GLUED = lazy_regex(r"(cuda\d+|cu\d+|cpu|py\d+)(?=(?:py\d|h[0-9a-f]{7}(?:_|$)))")
_PYTHON = lazy_regex(r"(?:py|cp)(\d)\.?(\d{1,2})?t?", re.ASCII)
_CUDA = lazy_regex(r"(?:cuda|cu)(\d{1,3}(?:\.\d{1,4}){0,2})", re.ASCII)
_CUDNN = lazy_regex(r"cudnn(\d{1,3}(?:\.\d{1,4}){0,3})", re.ASCII)
_HASH = lazy_regex(r"h[0-9a-f]{7}", re.ASCII)
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
    for read in _READERS:
        known = read(build, part)
        if known is not None:
            return known
    return replace(build, rest=(part, *build.rest)) if part else build


def _python(build: CondaBuild, part: str) -> CondaBuild | None:
    found = _PYTHON.fullmatch(part)
    if found is None:
        return None
    return replace(build, python=Version.parse(".".join(filter(None, found.groups()))))


def _cuda(build: CondaBuild, part: str) -> CondaBuild | None:
    found = _CUDA.fullmatch(part)
    return None if found is None else replace(build, cuda=Version.parse(_dotted(found[1])), cpu=False)


def _cudnn(build: CondaBuild, part: str) -> CondaBuild | None:
    found = _CUDNN.fullmatch(part)
    return None if found is None else replace(build, cudnn=Version.parse(found[1]))


def _word(build: CondaBuild, part: str) -> CondaBuild | None:
    if part in {"mkl", "generic", "openblas"}:
        return replace(build, blas=part)
    if _HASH.fullmatch(part):
        return replace(build, hash=part)
    if part == "cpu" and build.cuda is None:
        return replace(build, cpu=True)
    return None


def _dotted(digits: str) -> str:
    """`118` is 11.8, `92` is 9.2: without its dot the last digit is the minor version."""
    return digits if "." in digits or len(digits) == 1 else f"{digits[:-1]}.{digits[-1]}"


_READERS: tuple[Callable[[CondaBuild, str], CondaBuild | None], ...] = (_python, _cudnn, _cuda, _word)
