"""The thresholds that the user has set in the window, kept between two starts as they are written."""

from __future__ import annotations

from collections.abc import Sequence

from gpuassist.monitor.alerts import Threshold, ThresholdError, read_threshold, threshold_words
from gpuassist.session.settings import read_own_object, write_own_object
from gpuassist.system.world import World

AT_MOST = 64
SEPARATOR = ";"
_NAME, _KEY = "alerts.json", "alerts"


def read_thresholds(words: str) -> tuple[Threshold, ...]:
    """`memory 90%; gpu0: idle 10`; raises `ThresholdError` for what is none."""
    return tuple(read_threshold(one) for one in words.split(SEPARATOR) if one.strip())[:AT_MOST]


def thresholds_words(thresholds: Sequence[Threshold]) -> str:
    return f"{SEPARATOR} ".join(map(threshold_words, thresholds))


def load_thresholds(world: World) -> tuple[Threshold, ...]:
    """What was set; a line of somebody else's making in it is left out."""
    lines = read_own_object(world, _NAME).get(_KEY)
    found = (_read(str(line)) for line in lines[:AT_MOST]) if isinstance(lines, list) else ()
    return tuple(one for one in found if one is not None)


def _read(words: str) -> Threshold | None:
    try:
        return read_threshold(words)
    except ThresholdError:
        return None


def save_thresholds(world: World, thresholds: Sequence[Threshold]) -> None:
    write_own_object(world, _NAME, {_KEY: list(map(threshold_words, thresholds))})
