"""What the metadata of an installed package says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.packages import PackageMetadata, read_package_metadata

TORCHVISION = """Metadata-Version: 2.1
Name: torchvision
Version: 0.24.1+cu128
Summary: image and video datasets and models for torch deep learning
Requires-Python: >=3.10
License-File: LICENSE
Requires-Dist: numpy
Requires-Dist: torch==2.9.1
Requires-Dist: pillow!=8.3.*,>=5.3.0
Provides-Extra: gdown
Requires-Dist: gdown>=4.7.3; extra == "gdown"

# torchvision

Name: not this
Requires-Dist: nor-this
"""


def test_name_version_and_what_is_asked_for() -> None:
    asks = ("numpy", "torch==2.9.1", "pillow!=8.3.*,>=5.3.0", 'gdown>=4.7.3; extra == "gdown"')
    assert read_package_metadata(TORCHVISION) == PackageMetadata("torchvision", "0.24.1+cu128", asks)


def test_line_ends_of_windows_change_nothing() -> None:
    assert read_package_metadata(TORCHVISION.replace("\n", "\r\n")) == read_package_metadata(TORCHVISION)


@pytest.mark.parametrize("name", ["Flash_Attn", "flash.attn", "FLASH-ATTN"])
def test_name_is_as_indexes_compare_it(name: str) -> None:
    assert read_package_metadata(f"Name: {name}\nVersion: 2.8.3\n") == PackageMetadata("flash-attn", "2.8.3")


def test_fields_are_known_in_any_case() -> None:
    assert read_package_metadata("name: a\nVERSION: 1\nrequires-dist: b\n") == PackageMetadata("a", "1", ("b",))


@pytest.mark.parametrize("words", ["", "Name: a", "Version: 1", "\n\nName: a\nVersion: 1\n", "PK\x03\x04"])
def test_other_text_is_none(words: str) -> None:
    assert read_package_metadata(words) is None


@given(st.text())
def test_any_text_is_read_or_none(words: str) -> None:
    found = read_package_metadata(words)
    assert found is None or found.name
