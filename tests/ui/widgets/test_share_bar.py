"""A bar that shows how much of a whole is taken."""

from __future__ import annotations

import pytest

from gpuassist.ui.theme import Theme, colours
from gpuassist.ui.widgets.table import ShareBar
from tests.ui.showing import Show


def columns_in(bar: ShareBar, colour: str) -> int:
    """How many pixels of its middle line are in that colour."""
    image = bar.grab().toImage()
    return sum(image.pixelColor(x, image.height() // 2).name() == colour for x in range(image.width()))


def shown(show: Show, share: float) -> ShareBar:
    bar = show(ShareBar(), 200, 6)
    bar.show_share(share)
    return bar


@pytest.mark.parametrize(("share", "pixels"), [(0.0, 0), (0.25, 50), (0.5, 100), (1.0, 200), (7.0, 200)])
def test_it_is_as_long_as_the_share(each_look: Theme, show: Show, share: float, pixels: int) -> None:
    bar = shown(show, share)
    assert abs(columns_in(bar, colours().series[0]) - pixels) <= 4
    assert bar.share == share


def test_the_smallest_share_is_seen(theme: Theme, show: Show) -> None:
    bar = shown(show, 0.0001)
    assert columns_in(bar, colours().line) < 200


def test_nothing_is_not_drawn_for_less_than_nothing(theme: Theme, show: Show) -> None:
    assert columns_in(shown(show, -1), colours().series[0]) == 0
