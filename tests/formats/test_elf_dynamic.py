"""What libraries ask of the loader, from made-up files and from real ones."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.elf import Dynamic, Read, read_dynamic
from gpuassist.system.files import Files
from tests.formats.made_elf import PROGBITS, elf, shared_object


def of(content: bytes) -> Read:
    return lambda offset, size: content[offset : offset + size]


def test_names_and_paths_are_read() -> None:
    content = shared_object(("libc10.so", "libcudart.so.12"), soname="libtorch.so", rpath="$ORIGIN/../x", runpath="$ORIGIN:")
    assert read_dynamic(of(content)) == Dynamic(("libc10.so", "libcudart.so.12"), "libtorch.so", "$ORIGIN/../x", "$ORIGIN:")


def test_library_that_asks_for_nothing_is_one_all_the_same() -> None:
    assert read_dynamic(of(shared_object())) == Dynamic()


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x01\x01" + b"\0" * 100, b"/* a linker script */" * 9, elf()])
def test_what_is_no_such_file_has_nothing_to_say(content: bytes) -> None:
    assert read_dynamic(of(content)) is None


def test_file_without_segments_is_no_library() -> None:
    assert read_dynamic(of(elf((PROGBITS, 2, b"abc")))) is None


@given(st.binary(max_size=400), st.integers(0, 399))
def test_damage_never_raises(noise: bytes, place: int) -> None:
    whole = shared_object(("liba.so",), soname="libb.so")
    damaged = whole[:place] + noise + whole[place + len(noise) :]
    found = read_dynamic(of(damaged))
    assert found is None or isinstance(found.needed, tuple)


def test_this_python_needs_the_c_library() -> None:
    files, path = Files(), sys.executable
    found = read_dynamic(lambda offset, size: files.read_part(path, offset, size))
    assert found is not None
    assert "libc.so.6" in found.needed
