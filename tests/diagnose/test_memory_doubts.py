"""Figures of an "out of memory" message that cannot all be true."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.memory import contradiction
from gpuassist.formats.oom import OutOfMemory, ProcessUse, principal
from tests import memory_messages as messages
from tests.rows import for_each

GIB = 1 << 30


@pytest.mark.parametrize(
    "message",
    [
        OutOfMemory(total=8 * GIB, free=9 * GIB),
        OutOfMemory(total=8 * GIB, free=2 * GIB, processes=(ProcessUse(7, 7 * GIB),)),
        OutOfMemory(total=8 * GIB, free=2 * GIB, allocated=6 * GIB, unallocated=GIB),
        OutOfMemory(total=8 * GIB, own=2 * GIB, allocated=3 * GIB),
        OutOfMemory(total=8 * GIB, allocated=GIB, private=2 * GIB),
    ],
)
def test_what_is_more_than_its_whole_contradicts_it(message: OutOfMemory) -> None:
    assert contradiction(message) is not None


@pytest.mark.parametrize(
    "message",
    [
        OutOfMemory(),
        OutOfMemory(total=8 * GIB, free=0, allocated=14 * GIB),  # Windows and WSL lend the computer's own memory
        OutOfMemory(total=8 * GIB, free=2 * GIB, allocated=6 * GIB),
        OutOfMemory(total=8 * GIB, own=7 * GIB, free=GIB, processes=(ProcessUse(7, 7 * GIB),)),
    ],
)
def test_what_adds_up_is_believed(message: OutOfMemory) -> None:
    assert contradiction(message) is None


@for_each("name", [name for name in dir(messages) if name.isupper()])
def test_what_programs_print_is_believed(name: str) -> None:
    message = principal(getattr(messages, name))
    assert message is None or contradiction(message) is None
