"""The loader's cache as ldconfig writes it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.elf import read_cache
from tests.formats.made_elf import loader_cache

LIBRARIES = (("libcudart.so.12", "/usr/local/cuda/lib64/libcudart.so.12"), ("libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6"))


def test_paths_are_found_by_name() -> None:
    assert read_cache(loader_cache(*LIBRARIES)) == {name: (path,) for name, path in LIBRARIES}


def test_order_of_several_paths_is_kept() -> None:
    twice = loader_cache(("liba.so", "/first/liba.so"), ("liba.so", "/second/liba.so"))
    assert read_cache(twice) == {"liba.so": ("/first/liba.so", "/second/liba.so")}


def test_older_table_in_front_is_passed_over() -> None:
    assert "libc.so.6" in read_cache(loader_cache(*LIBRARIES, before=b"ld.so-1.7.0\0" + b"\0" * 60))


def test_libraries_of_32_bits_are_left_out() -> None:
    assert read_cache(loader_cache(*LIBRARIES, flags=0x0003)) == {}


@pytest.mark.parametrize("content", [b"", b"nothing of the kind", loader_cache(*LIBRARIES)[:30]])
def test_what_is_no_cache_holds_nothing(content: bytes) -> None:
    assert read_cache(content) == {}


@given(st.integers(0, 200), st.binary(max_size=60))
def test_damage_never_raises(place: int, noise: bytes) -> None:
    whole = loader_cache(*LIBRARIES)
    assert isinstance(read_cache(whole[:place] + noise), dict)
