"""Steps looked at before they run, by the real tools against an index of small made-up wheels."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.solving import Place, changes
from tests.wheels import Wheel, torch

RUNTIME = Wheel("nvidia-cuda-runtime-cu12", "12.8.90")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_pip_adds_and_changes(place: Place) -> None:
    place.offers(torch("2.9.1+cu128"), torch("2.9.1+cpu"), RUNTIME)
    place.has(torch("2.8.0+cpu"))
    looked = place.look(place.pip("install torch==2.9.1"))
    assert changes(looked) == [("nvidia-cuda-runtime-cu12", "", "12.8.90"), ("torch", "2.8.0+cpu", "2.9.1+cu128")]
