"""What tests of the session share: each file of the catalogue is parsed once, however many answers are written from it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from gpuassist.diagnose.catalogue_entry import read_entry


@pytest.fixture(scope="package", autouse=True)
def entries_read_once() -> Iterator[None]:
    """By their bytes: a damaged copy is another one."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("gpuassist.diagnose.catalogue.read_entry", cache(read_entry))
        yield
