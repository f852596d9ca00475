"""The colours can be read by everybody: contrast in both looks, and curves that can be told apart."""

from __future__ import annotations

import math
import re
from itertools import combinations

import pytest
from PySide6.QtGui import QColor

from gpuassist.model.memory_picture import MemoryPart, MemoryPicture, PartKind
from gpuassist.present.marks import Mark
from gpuassist.ui.palette import DARK, LIGHT, Palette
from gpuassist.ui.widgets.memory_bar import ink_on, part_colour

LOOKS = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
GROUNDS = ("background", "panel", "side", "well")
COLOURS = tuple(name for name in Palette.__struct_fields__ if name not in {"dark", "series"})


def parts(colour: str) -> tuple[float, float, float]:
    """Red, green and blue, each from 0 to 1."""
    exact = QColor(colour)
    return exact.redF(), exact.greenF(), exact.blueF()


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else math.pow((part + 0.055) / 1.055, 2.4)

    red, green, blue = map(linear, parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, contrast ratio."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def distance(one: str, other: str) -> float:
    """How far apart two colours are in sRGB, from 0 to 1."""
    pairs = zip(parts(one), parts(other), strict=True)
    return math.sqrt(sum((a - b) ** 2 for a, b in pairs) / 3)


def test_the_measure_of_contrast_is_the_standards() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@LOOKS
@pytest.mark.parametrize("name", COLOURS)
def test_every_colour_is_six_hexadecimal_digits(palette: Palette, name: str) -> None:
    assert re.fullmatch("#[0-9a-f]{6}", getattr(palette, name))


@LOOKS
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("ink", ["text", "muted", "accent"])
def test_words_can_be_read_on_every_ground(palette: Palette, ground: str, ink: str) -> None:
    assert contrast(getattr(palette, ink), getattr(palette, ground)) >= 4.5


@LOOKS
@pytest.mark.parametrize("mark", list(Mark))
def test_a_marks_word_can_be_read_on_its_tint(palette: Palette, mark: Mark) -> None:
    assert contrast(palette.ink(mark), palette.tint(mark)) >= 4.5


@LOOKS
@pytest.mark.parametrize("mark", list(Mark))
def test_a_marks_word_can_be_read_on_a_card(palette: Palette, mark: Mark) -> None:
    assert contrast(palette.ink(mark), palette.panel) >= 4.5


@LOOKS
@pytest.mark.parametrize("tint", ["right_tint", "warning_tint", "problem_tint", "unknown_tint", "accent_tint"])
def test_text_can_be_read_on_every_tint(palette: Palette, tint: str) -> None:
    assert contrast(palette.text, getattr(palette, tint)) >= 4.5


@LOOKS
@pytest.mark.parametrize("ground", ["accent", "accent_hover"])
def test_a_primary_button_can_be_read(palette: Palette, ground: str) -> None:
    assert contrast(palette.on_accent, getattr(palette, ground)) >= 4.5


@LOOKS
def test_a_button_that_loses_something_can_be_read(palette: Palette) -> None:
    assert contrast(palette.panel, palette.problem) >= 4.5


@LOOKS
def test_text_on_every_part_of_a_memory_bar_can_be_read(palette: Palette) -> None:
    mib = 1 << 20
    kinds = (*PartKind, *[PartKind.PROCESS] * 8)
    picture = MemoryPicture(mib * len(kinds), tuple(MemoryPart(kind, mib) for kind in kinds))
    for place in range(len(picture.parts)):
        colour = part_colour(palette, picture, place)
        assert contrast(ink_on(colour).name(), colour.name()) >= 4.5


@LOOKS
def test_the_ring_of_focus_is_seen_on_every_ground(palette: Palette) -> None:
    assert all(contrast(palette.accent, getattr(palette, ground)) >= 3 for ground in GROUNDS)


@LOOKS
def test_line_numbers_can_be_read_on_changed_lines(palette: Palette) -> None:
    assert all(contrast(palette.muted, tint) >= 4.5 for tint in (palette.right_tint, palette.problem_tint))


@LOOKS
def test_the_current_step_can_be_read(palette: Palette) -> None:
    assert contrast(palette.accent, palette.accent_tint) >= 4.5


@LOOKS
def test_no_two_curves_share_a_colour(palette: Palette) -> None:
    assert min(distance(one, other) for one, other in combinations(palette.series, 2)) > 0.1


@LOOKS
def test_dark_is_dark_and_light_is_light(palette: Palette) -> None:
    assert palette.dark == (luminance(palette.background) < luminance(palette.text))


def test_both_looks_have_as_many_curves() -> None:
    assert len(LIGHT.series) == len(DARK.series) == 8


@pytest.mark.parametrize("mark", [Mark.UNKNOWN, Mark.ABSENT, Mark.TODO])
def test_what_is_not_known_is_neither_good_nor_bad(mark: Mark) -> None:
    assert LIGHT.ink(mark) not in {LIGHT.right, LIGHT.warning, LIGHT.problem}
