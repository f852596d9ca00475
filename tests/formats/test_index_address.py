"""Addresses that packages come from."""

from __future__ import annotations

import pytest

from gpuassist.formats.package_settings import tag_of, without_login


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://me:secret@mirror.example.org/simple/", "https://mirror.example.org/simple/"),
        ("https://token@mirror.example.org/simple/", "https://mirror.example.org/simple/"),
        ("https://pypi.org/simple", "https://pypi.org/simple"),
        ("https://example.org/@scope/torch.whl", "https://example.org/@scope/torch.whl"),
        ("file:///home/you/wheels", "file:///home/you/wheels"),
        ("conda-forge", "conda-forge"),
        ("", ""),
    ],
)
def test_address_is_shown_without_a_login(address: str, shown: str) -> None:
    assert without_login(address) == shown


@pytest.mark.parametrize(
    ("address", "tag"),
    [
        ("https://download.pytorch.org/whl/cu128/torch-2.9.1%2Bcu128-cp312-cp312-manylinux_2_28_x86_64.whl", "cu128"),
        ("https://download.pytorch.org/whl/cpu/torch-2.9.1-cp312-none-macosx_11_0_arm64.whl", "cpu"),
        ("https://download.pytorch.org/whl/nightly/cu130/torch-2.11.0.dev20260101.whl", "cu130"),
        ("https://mirror.example.org/pytorch/whl/rocm6.4/torch-2.9.1.whl", "rocm6.4"),
        ("https://files.pythonhosted.org/packages/ab/torch-2.9.1-cp312.whl", ""),
        ("", ""),
    ],
)
def test_build_that_an_address_is_for(address: str, tag: str) -> None:
    assert tag_of(address) == tag
