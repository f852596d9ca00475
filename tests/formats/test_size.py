"""Sizes in every spelling that programs of this field use, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.size import read_size, shown_size
from tests.rows import for_each

GIB, MIB, KIB = 1 << 30, 1 << 20, 1 << 10


@for_each(
    ("words", "size"),
    [
        ("1.50 GiB", GIB * 3 // 2),
        ("412.00 MiB", 412 * MIB),
        ("896.00 KiB", 896 * KIB),
        ("0 bytes", 0),
        ("512 bytes", 512),
        ("1 byte", 1),
        ("2.00GiB", 2 * GIB),
        ("1.000000GB", GIB),
        ("100MB", 100 * MIB),
        ("1.50G", GIB * 3 // 2),
        ("7K", 7 * KIB),
        ("8,589,934,592 bytes", 8 * GIB),
        ("33554432B", 32 * MIB),
        ("17179869184.00 GiB", 1 << 64),
        ("3 TiB", 3 << 40),
        ("2 EiB", 2 << 60),
    ],
)
def test_size_is_read(words: str, size: int) -> None:
    assert read_size(words) == size


@for_each(
    "words", ["", "GiB", "1.2.3 GiB", "1,5 GiB", "12", "1 XB", "1 zebra", "-1 GiB", "1 GiB more", "0iB", "7 ib", "9" * 400 + " GiB"]
)
def test_what_is_no_size_is_none(words: str) -> None:
    assert read_size(words) is None


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (512, "512 bytes"),
        (KIB, "1.00 KiB"),
        (412 * MIB, "412.00 MiB"),
        (GIB * 3 // 2, "1.50 GiB"),
        (24 * GIB, "24.00 GiB"),
        (5 << 40, "5.00 TiB"),
        (7 << 60, "7.00 EiB"),
    ],
)
def test_size_is_shown_as_torch_does(count: int, words: str) -> None:
    assert shown_size(count) == words


@given(st.integers(0, 1 << 62))
def test_what_is_shown_is_read_again_within_rounding(count: int) -> None:
    again = read_size(shown_size(count))
    assert again is not None
    assert abs(again - count) <= max(1, count // 100)
