"""Constant sections, in made-up files and in one that the system's own compiler wrote."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.elf import constant_sections
from tests.formats.made_elf import ALLOCATED, CODE, NOBITS, PROGBITS, WRITABLE, elf


def _contents(data: bytes) -> list[bytes]:
    places = constant_sections(lambda offset, size: data[offset : offset + size])
    return [data[offset : offset + size] for offset, size in places]


def test_only_constants_are_named() -> None:
    data = elf((PROGBITS, CODE, b"code"), (PROGBITS, ALLOCATED, b"text"), (PROGBITS, WRITABLE, b"data"), (NOBITS, ALLOCATED, b""))
    assert _contents(data) == [b"text"]


def test_several_are_named_in_order() -> None:
    assert _contents(elf((PROGBITS, ALLOCATED, b"one"), (PROGBITS, ALLOCATED, b"two"))) == [b"one", b"two"]


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF", b"#!/bin/sh\n" * 20, b"\x7fELF\x01\x01" + bytes(100), b"\x7fELF\x02\x02" + bytes(100)]
)
def test_other_files_have_none(data: bytes) -> None:
    assert _contents(data) == []


def test_file_that_was_cut_short_has_none() -> None:
    assert _contents(elf((PROGBITS, ALLOCATED, b"text"))[:80]) == []


@pytest.mark.needs("gcc")
def test_real_library_keeps_its_strings_there(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text('const char *targets(void) { return "sm_75 sm_80 compute_90"; }\n')
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "a.so", tmp_path / "a.c"], check=True)
    assert any(b"sm_75 sm_80 compute_90\0" in content for content in _contents((tmp_path / "a.so").read_bytes()))


@given(st.binary(max_size=300))
def test_any_bytes_are_survived(data: bytes) -> None:
    _contents(b"\x7fELF\x02\x01" + data)
