"""Fonts of the plot with their metrics, made once: a frame has hundreds of words, and making a font looks it up anew (20 µs)."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QFont, QFontMetrics

from gpuassist.ui.theme import BASE_POINTS, SMALL_POINTS, language_written, sans

SMALL, FIGURES, TITLE = SMALL_POINTS, SMALL_POINTS + 0.75, BASE_POINTS


def lettering(points: float, *, bold: bool = False) -> tuple[QFont, QFontMetrics]:
    """A font of that size, and how wide its words are."""
    return _made(points, bold, language_written())


@lru_cache(maxsize=8)
def _made(points: float, bold: bool, language: str) -> tuple[QFont, QFontMetrics]:  # noqa: FBT001 -- keys of the cache
    font = sans(points, bold=bold)
    return font, QFontMetrics(font)
