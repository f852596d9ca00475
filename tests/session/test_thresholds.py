"""Thresholds are kept between two starts, and nothing of somebody else's making breaks that."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gpuassist.monitor.alerts import Measure, Threshold, ThresholdError
from gpuassist.session.thresholds import load_thresholds, read_thresholds, save_thresholds, thresholds_words
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World

SET = (Threshold(Measure.MEMORY_PERCENT, 90), Threshold(Measure.IDLE_MINUTES, 10, 0), Threshold(Measure.TEMPERATURE, 85))


@pytest.fixture
def world(home: Path) -> World:
    return World(Surroundings(str(home), "you", os.geteuid()))


def test_what_is_set_is_there_at_the_next_start(world: World) -> None:
    assert load_thresholds(world) == ()
    save_thresholds(world, SET)
    assert load_thresholds(world) == SET
    save_thresholds(world, ())
    assert load_thresholds(world) == ()


def test_a_line_holds_all_of_them() -> None:
    assert read_thresholds(thresholds_words(SET)) == SET
    assert read_thresholds(" ; memory 90%;") == SET[:1]
    with pytest.raises(ThresholdError):
        read_thresholds("memory 90%; soon")


@pytest.mark.parametrize("content", ["[]", "{", json.dumps({"alerts": "memory 90%"}), json.dumps({"alerts": [7, None, "soon"]})])
def test_a_file_of_another_making_sets_nothing(world: World, home: Path, content: str) -> None:
    save_thresholds(world, SET)
    place = home / ".config" / "gpuassist" / "alerts.json"
    assert place.is_file()
    place.write_text(content)
    assert load_thresholds(world) == ()
