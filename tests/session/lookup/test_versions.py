"""Versions as people paste them, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.session.lookup.versions import read_version
from tests.rows import for_each


@for_each(
    ("words", "version", "rest"),
    [
        ("12", "12", ""),
        ("12.4.1", "12.4.1", ""),
        ("V12.4.131", "12.4.131", ""),
        ("12.x", "12", ""),
        ("CUDA 12.4", "12.4", ""),
        ("cuda-12.4", "12.4", ""),
        ("cu124", "12.4", ""),
        ("cu92", "9.2", ""),
        ("550", "550", ""),
        ("R550", "550", ""),
        ("550.54.14-0ubuntu1", "550.54.14", "0ubuntu1"),
        ("550.163.01-1", "550.163.01", "1"),
        ("3:570.86.15-1.fc41", "570.86.15", "1.fc41"),
        ("nvidia-driver-550-open", "550", "open"),
        ("2.6.0a0+git123", "2.6.0", "a0+git123"),
        ("2.1.0+cu121", "2.1.0", "cu121"),
        ("2.8.0.dev20250501+cu128", "2.8.0", "dev20250501+cu128"),
        ("torch==2.6.0", "2.6.0", ""),
        ("torch 2.6", "2.6", ""),
        ("v2.6.0-rc1", "2.6.0", "rc1"),
        ("  2.6\n", "2.6", ""),
    ],
)
def test_version_is_read(words: str, version: str, rest: str) -> None:
    asked = read_version(words)
    assert asked is not None
    assert (str(asked.version), asked.rest) == (version, rest)


@for_each(
    "words",
    ["", " ", "latest", "12..4", ".4", "12.4 12.5", "-12", "12,4", "١٢.٤", "9" * 5000, "1." * 5000, "cuda", "12.4/13", "1e5"],
)
def test_what_is_no_version_is_none(words: str) -> None:
    assert read_version(words) is None


@pytest.mark.parametrize(("words", "major"), [("12", True), ("12.x", True), ("12.0", False), ("550", True)])
def test_major_alone_is_told(words: str, major: bool) -> None:
    asked = read_version(words)
    assert asked is not None
    assert asked.is_major is major


@given(st.text(max_size=40))
def test_no_text_is_a_fault(words: str) -> None:
    asked = read_version(words)
    assert asked is None or asked.version.parts


@given(st.lists(st.integers(0, 999), min_size=1, max_size=4))
def test_every_dotted_number_is_itself(parts: list[int]) -> None:
    asked = read_version(".".join(map(str, parts)))
    assert asked is not None
    assert asked.version.parts == tuple(parts)
