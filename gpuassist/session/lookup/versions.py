"""Versions as people paste them: `12.4.1`, `550.54.14-0ubuntu1`, `2.6.0a0+git123`, `torch==2.6`, `cu124`, `R550`."""

from __future__ import annotations

import re

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Version

# What package names and habit put in front: `nvidia-driver-550`, `cuda-12.4`, `CUDA 12.4`, `torch==2.6`, `1:550.54` (an epoch).
_BEFORE = lazy_regex(r"(?:[a-z][a-z-]*(?:[ =:~<>-]+|(?=[0-9])))?(?:[0-9]:)?", re.IGNORECASE)
_NUMBER = lazy_regex(r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,5}")
_AFTER = lazy_regex(r"(?:\.[x*])?(?P<rest>(?:[+~_-]|(?:a|b|rc|\.?dev|\.?post)[0-9])[A-Za-z0-9.+~_-]*)?")
_GLUED = lazy_regex(r"cu(?P<major>[0-9]{1,2})(?P<minor>[0-9])", re.IGNORECASE)  # as wheels name a CUDA release


class PastedVersion(Struct, frozen=True):
    """A version somebody asked about; `rest` is what stands behind the number, `0ubuntu1` without its hyphen."""

    version: Version
    rest: str = ""

    @property
    def is_major(self) -> bool:
        """Whether only a first number is given: any release of it is meant."""
        return len(self.version.parts) == 1


def read_version(words: str) -> PastedVersion | None:
    """The version in `words`; None where there is none, or more than one."""
    plain = words.strip()
    glued = _GLUED.fullmatch(plain)
    if glued:
        return PastedVersion(Version.parse(f"{glued['major']}.{glued['minor']}"))
    before = _BEFORE.match(plain)
    plain = plain[before.end() :] if before else plain
    number = _NUMBER.match(plain)
    after = _AFTER.fullmatch(plain, number.end()) if number else None
    if number is None or after is None:
        return None
    return PastedVersion(Version.parse(number[0]), (after["rest"] or "").lstrip("+~_-."))
