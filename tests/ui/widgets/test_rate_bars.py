"""Rates as bars: how long each is, what its figure says, and that nothing is told by colour alone."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest

from gpuassist.model.words import ENGLISH
from gpuassist.ui.theme import Theme, colours
from gpuassist.ui.widgets.rate_bars import RateBar, RateBars
from tests.translations import shipped
from tests.ui.showing import Show, ink_in

FULL = RateBar("fp16", 158.0, 165.2, "TFLOP/s", "158 TFLOP/s")
LOW = RateBar("fp32", 30.6, 82.6, "TFLOP/s", "30.6 TFLOP/s", "37 % of what RTX 4090 should reach: power limit 150 W", low=True)
ALONE = RateBar("copy back", 12.0, 0.0, "GB/s", "12 GB/s", scale=24.0)


@pytest.mark.parametrize(
    ("bar", "share", "figure"),
    [
        (FULL, 158 / 165.2, "96 %"),
        (LOW, 30.6 / 82.6, "37 %"),
        (ALONE, 0.5, "12 GB/s"),
        (RateBar("fp32", 5.0, 0.0, "TFLOP/s", "5 TFLOP/s"), 0.0, "5 TFLOP/s"),
        (RateBar("fp32", 90.0, 82.6, "TFLOP/s", "90 TFLOP/s"), 90 / 82.6, "109 %"),
        (RateBar("fp32", 0.2, 82.6, "TFLOP/s", "0.2 TFLOP/s"), 0.2 / 82.6, "< 1 %"),
    ],
)
def test_a_bar_is_its_share_of_what_it_should_be(bar: RateBar, share: float, figure: str) -> None:
    assert bar.share == pytest.approx(share)
    assert ENGLISH(bar.figure) == figure


def test_a_share_is_written_as_its_language_does(show: Show) -> None:
    made = show(RateBars(shipped("zh_CN"), "Speed"), 200, 100)
    made.show_bars((FULL,))
    assert made.accessibleDescription() == "fp16: 158 TFLOP/s / 165 TFLOP/s = 96%"


def test_a_bar_ends_at_its_row_whatever_was_reached(show: Show, theme: Theme) -> None:
    made = show(RateBars(ENGLISH, "Speed"), 200, 100)
    made.show_bars((RateBar("fp32", 90.0, 82.6, "TFLOP/s", "90 TFLOP/s"),))
    whole = ink_in(made, colours().right)
    made.show_bars((RateBar("fp32", 82.6, 82.6, "TFLOP/s", "82.6 TFLOP/s"),))
    assert ink_in(made, colours().right) == whole


def test_rows_stand_below_one_another(show: Show) -> None:
    made = show(RateBars(ENGLISH, "Speed"), 200, 100)
    made.show_bars((FULL, LOW, ALONE))
    boxes = [made.box(place) for place in range(3)]
    assert all(below.top() > above.bottom() for above, below in pairwise(boxes))
    assert boxes[-1].bottom() <= made.sizeHint().height()


def test_what_is_low_is_painted_otherwise(show: Show, theme: Theme) -> None:
    made = show(RateBars(ENGLISH, "Speed"), 200, 40)
    made.show_bars((LOW,))
    assert ink_in(made, colours().warning) > 0
    made.show_bars((FULL,))
    assert ink_in(made, colours().warning) == 0


def test_all_is_read_aloud_and_copied(show: Show, clipboard: QClipboard) -> None:
    made = show(RateBars(ENGLISH, "Speed"), 200, 100)
    made.show_bars((FULL, LOW))
    QTest.keyClick(made, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == made.accessibleDescription()
    assert "power limit 150 W" in clipboard.text()
    assert len(clipboard.text().splitlines()) == 2


@pytest.mark.qt_log_ignore("does not support raise")  # the offscreen platform's answer to a tool tip
def test_arrow_keys_walk_the_rows(show: Show) -> None:
    made = show(RateBars(ENGLISH, "Speed"), 200, 100)
    made.show_bars((FULL, LOW))
    for _ in range(3):
        QTest.keyClick(made, Qt.Key.Key_Down)
    assert made.at == 1
    QTest.keyClick(made, Qt.Key.Key_Up)
    assert made.at == 0
