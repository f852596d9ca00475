"""What the numbers of a strip look like: bands of processes, curves, gaps."""

from __future__ import annotations

from PySide6.QtGui import QColor

from gpuassist.ui.palette import Palette
from gpuassist.ui.plots import raster

REST = -1  # the colour of use that no band explains
OVER = -2  # of another run's line
TORCH = -3  # of what torch has allocated
LINES = (OVER, TORCH)  # across the bands
_SOLID, _FAINT, _SET_BACK = 0.72, 0.38, 0.25
_GAP = 0.5


def band_table(palette: Palette, series: tuple[int, ...], marked: int | None = None) -> list[int]:
    """The topmost band first, the unexplained rest last, the same again fainter; where one is marked by its place, all others are
    set back.
    """
    panel = QColor(palette.panel)
    table = [panel.rgb()] * (raster.FAINT_FROM * 2)
    for place, number in enumerate((*reversed(series), REST), start=1):
        colour = QColor(series_colour(palette, number))
        share = _SET_BACK if marked is not None and len(series) - place != marked else 1.0
        table[place] = _mixed(colour, panel, _SOLID * share)
        table[place + raster.FAINT_FROM] = _mixed(colour, panel, _FAINT * share)
    table[raster.GAP] = _mixed(QColor(palette.line), panel, _GAP)
    return table


def line_table(palette: Palette, colours: tuple[str, ...], *, opaque: bool) -> list[int]:
    """Curves in these colours, on the panel or on whatever is there."""
    clear = QColor(0, 0, 0, 0).rgba()
    return [QColor(palette.panel).rgb() if opaque else clear, *(QColor(colour).rgb() for colour in colours)]


def series_colour(palette: Palette, number: int) -> str:
    """The colour of a band; the third of the palette is grey and kept for what no band explains."""
    coloured = (*palette.series[:2], *palette.series[3:])
    return {REST: palette.series[2], OVER: palette.problem, TORCH: palette.text}.get(number) or coloured[number % len(coloured)]


COLOURS = 7  # that processes can be told apart by


def _mixed(colour: QColor, panel: QColor, share: float) -> int:
    parts = ((colour.red(), panel.red()), (colour.green(), panel.green()), (colour.blue(), panel.blue()))
    red, green, blue = (round(own * share + other * (1 - share)) for own, other in parts)
    return QColor(red, green, blue).rgb()
