"""Kernel modules: made-up ones, the system's own, and damaged ones."""

from __future__ import annotations

import gzip
import lzma
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.kernel_module import ModuleError, Read, parse_modinfo_output, read_modinfo, unpack
from tests.machines import module_bytes

MODULE = module_bytes({"license": "Dual MIT/GPL", "version": "580.95.05", "vermagic": "6.8.0 SMP"})


def part_of(data: bytes) -> Read:
    return lambda offset, size: data[offset : offset + size]


def test_words_of_modinfo_are_read() -> None:
    assert read_modinfo(part_of(MODULE)) == {"license": "Dual MIT/GPL", "version": "580.95.05", "vermagic": "6.8.0 SMP"}


def test_first_of_a_name_counts() -> None:
    data = MODULE.replace(b"vermagic", b"version\0")
    assert read_modinfo(part_of(data))["version"] == "580.95.05"


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"MZ" + MODULE[2:], MODULE[:200], MODULE.replace(b".modinfo", b".othersx")])
def test_other_bytes_are_an_error(data: bytes) -> None:
    with pytest.raises(ModuleError):
        read_modinfo(part_of(data))


@given(st.integers(0, len(MODULE) - 1), st.integers(0, 255))
def test_any_damaged_byte_is_survived(place: int, value: int) -> None:
    damaged = MODULE[:place] + bytes([value]) + MODULE[place + 1 :]
    with suppress(ModuleError):
        assert "" not in read_modinfo(part_of(damaged))


@pytest.mark.parametrize(("packed", "ending"), [(gzip.compress(MODULE, mtime=0), ".gz"), (lzma.compress(MODULE), ".xz")])
def test_packed_module_is_unpacked(packed: bytes, ending: str) -> None:
    assert unpack(packed, ending) == MODULE


@pytest.mark.parametrize("ending", [".gz", ".xz"])
@pytest.mark.parametrize("data", [b"junk", gzip.compress(MODULE, mtime=0)[:40], lzma.compress(MODULE)[:40]])
def test_damaged_package_is_an_error(data: bytes, ending: str) -> None:
    with pytest.raises(ModuleError):
        unpack(data, ending)


def test_output_of_modinfo_is_read() -> None:
    words = "filename:       /lib/modules/6.8/nvidia.ko.zst\nlicense:        NVIDIA\nversion:        535.183.01\n"
    assert parse_modinfo_output(words)["version"] == "535.183.01"
    assert parse_modinfo_output(words)["license"] == "NVIDIA"


def test_first_line_of_modinfo_counts() -> None:
    assert parse_modinfo_output("alias:  one\nalias:  two\nno colon here\n") == {"alias": "one"}
