"""Packed logs."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from itertools import islice

import pytest

from gpuassist.formats.package_logs.unpack import UnpackError, unpacked

LOG = b"".join(b"2026-11-14 06:12:11 status unpacked package-%d:amd64 1.0\n" % number for number in range(4000))
PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, 1),
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".bz2": bz2.compress,
}


@pytest.mark.parametrize("ending", PACK)
def test_what_was_packed_comes_back_in_blocks(ending: str) -> None:
    packed = PACK[ending](LOG)
    for block in (1000, 1 << 16, 1 << 20):
        blocks = list(unpacked(packed, ending, block))
        assert b"".join(blocks) == LOG
        assert max(map(len, blocks)) <= block
    assert b"".join(unpacked(packed + packed + b"\0" * 50, ending, 1 << 16)) == LOG * 2
    assert list(unpacked(b"", ending, 100)) == []


@pytest.mark.parametrize("ending", PACK)
def test_what_is_damaged_is_told_as_far_as_it_goes(ending: str) -> None:
    packed = PACK[ending](LOG)
    for damaged in (packed[: len(packed) // 2], packed[:10] + b"\xff" * 200, b"plain words", packed + b"garbage"):
        blocks = unpacked(damaged, ending, 1 << 16)
        told, error = b"", ""
        try:
            for block in blocks:
                told += block
        except UnpackError as caught:
            error = str(caught)
        assert error
        assert told == LOG[: len(told)]


@pytest.mark.parametrize("ending", PACK)
def test_a_bomb_costs_no_more_than_was_asked_for(ending: str) -> None:
    bomb = PACK[ending](bytes(8 << 20))
    assert sum(map(len, islice(unpacked(bomb, ending, 1 << 16), 4))) <= 4 << 16
