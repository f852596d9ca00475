"""What tests of the pages share: homes at one place, so that what a real shell said in one of them is known in the next."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def place_of_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages") / "home"


@pytest.fixture
def home(home: Path, place_of_home: Path) -> Iterator[Path]:
    """A home directory of the test's own, as every test has one."""
    place_of_home.mkdir(mode=0o700)
    os.environ["HOME"] = str(place_of_home)
    yield place_of_home
    shutil.rmtree(place_of_home)
