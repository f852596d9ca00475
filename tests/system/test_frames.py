"""Documents between us and a child of our own: whole, in pieces, and what is none."""

from __future__ import annotations

import os
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.system import frames
from gpuassist.system.frames import FrameError

DOCUMENTS = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**64) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.lists(DOCUMENTS, max_size=4), st.integers(1, 40))
def test_documents_come_whole_however_they_are_cut(documents: list[Any], size: int) -> None:
    sent = b"".join(map(frames.packed, documents))
    pending, came = bytearray(), []
    for place in range(0, len(sent), size):
        pending += sent[place : place + size]
        while (document := frames.taken(pending)) is not None:
            came.append(document)
    assert came == documents
    assert not pending


@given(st.binary(min_size=8, max_size=60))
def test_junk_is_refused_or_waited_for(junk: bytes) -> None:
    try:
        assert frames.taken(bytearray(junk)) is None or junk.startswith(b"GPA")
    except FrameError:
        pass


@pytest.mark.parametrize(
    "sent",
    [
        struct.pack("!3sBI", b"GPX", 1, 2) + b"{}",
        struct.pack("!3sBI", b"GPA", 2, 2) + b"{}",
        struct.pack("!3sBI", b"GPA", 1, 1 << 31),
        struct.pack("!3sBI", b"GPA", 1, 2) + b"{]",
        struct.pack("!3sBI", b"GPA", 1, 100_000) + b"[" * 100_000,
    ],
    ids=["not ours", "another version", "too long", "no JSON", "too deep"],
)
def test_what_is_no_frame_is_refused(sent: bytes) -> None:
    with pytest.raises(FrameError):
        frames.taken(bytearray(sent))


def test_both_ends_of_a_pipe_understand_each_other() -> None:
    reading, writing = os.pipe()
    frames.write(writing, {"addresses": None})
    frames.write(writing, [1])
    os.close(writing)
    assert [frames.read(reading), frames.read(reading), frames.read(reading)] == [{"addresses": None}, [1], None]
    os.close(reading)
