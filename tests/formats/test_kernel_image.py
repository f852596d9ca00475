"""What a kernel's image says of itself, and who signed a module."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from gpuassist.formats.kernel_image import release_of_bzimage, release_of_unified
from gpuassist.formats.kernel_module import Read, signer_of
from tests.machines import module_bytes
from tests.next_machines import MARK, bzimage, signed

MODULE = module_bytes({"license": "NVIDIA", "version": "580.95.05"})


def part_of(data: bytes) -> Read:
    return lambda place, size: data[place : place + size]


def unified(release: str, name: bytes = b".uname") -> bytes:
    """A PE image with one section, in which the release stands."""
    data = bytearray(0x600)
    data[:2] = b"MZ"
    struct.pack_into("<I", data, 0x3C, 0x80)
    data[0x80:0x84] = b"PE\0\0"
    struct.pack_into("<H", data, 0x86, 1)
    struct.pack_into("<H", data, 0x94, 0xF0)
    place = 0x80 + 24 + 0xF0
    data[place : place + len(name)] = name
    struct.pack_into("<IIII", data, place + 8, len(release), 0, 0x200, 0x400)
    data[0x400 : 0x400 + len(release)] = release.encode()
    return bytes(data)


def test_images_tell_their_release() -> None:
    assert release_of_bzimage(part_of(bzimage("6.17.8-arch1-1"))) == "6.17.8-arch1-1"
    assert release_of_unified(part_of(unified("6.17.8-arch1-1"))) == "6.17.8-arch1-1"


@pytest.mark.parametrize("ask", [release_of_bzimage, release_of_unified])
@pytest.mark.parametrize(
    "data",
    [b"", b"MZ", bytes(0x400), bzimage("x")[:0x20F], b"MZ" + b"\xff" * 0x1000, unified("", b".text"), unified("6.1")[:0x90]],
)
def test_anything_else_tells_none(ask: Callable[[Read], str], data: bytes) -> None:
    assert ask(part_of(data)) == ""


@pytest.mark.parametrize(
    "signer", ["Canonical Ltd. Kernel Module Signing", "ubuntu Secure Boot Module Signature key", "DKMS, Käthe"]
)
def test_signer_is_named(signer: str) -> None:
    data = signed(MODULE, signer)
    assert signer_of(part_of(data), len(data)) == signer


@pytest.mark.parametrize(
    ("data", "signer"),
    [
        (MODULE, ""),
        (b"", ""),
        (MARK, ""),
        (MODULE + MARK[:-1], ""),
        (MODULE + bytes(8) + (10).to_bytes(4, "big") + MARK, "?"),
        (MODULE + bytes(8) + b"\xff" * 4 + MARK, "?"),
        (MODULE + b"\x06\x03\x55\x04\x03" + bytes(8) + (5).to_bytes(4, "big") + MARK, "?"),
    ],
)
def test_damaged_signature_names_nobody(data: bytes, signer: str) -> None:
    assert signer_of(part_of(data), len(data)) == signer
