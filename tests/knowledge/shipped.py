"""The knowledge that ships, once for all tests that only read it."""

from __future__ import annotations

from collections.abc import Callable

from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.version import Code, ComputeCapability, Target, Version
from gpuassist.system.resources import Resources

KNOWLEDGE = Knowledge(Resources().read)
TODAY = "2026-11-21"

capability = ComputeCapability.parse
version = Version.parse
target = Target.parse


def cubins(*words: str) -> tuple[Target, ...]:
    return tuple(Target(capability(word), Code.CUBIN) for word in words)


def damaged_at(file: str, line: int, words: bytes) -> Callable[[str], bytes]:
    """A reader of the shipped files, in one of which one line is replaced."""

    def read(name: str) -> bytes:
        content = Resources().read(name)
        if name != file:
            return content
        lines = content.split(b"\n")
        lines[line - 1] = words
        return b"\n".join(lines)

    return read
