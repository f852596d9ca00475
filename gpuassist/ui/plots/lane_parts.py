"""What a lane is told, and how its words and lines are put on it."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPixmap

from gpuassist.present.marks import Mark


class Flag(Struct, frozen=True):
    """Something that happened: when, what it says, and whether it is bad; `until` makes it a stretch."""

    time: float
    label: str
    bad: bool = False
    until: float | None = None


class Head(Struct, frozen=True):
    """What stands above a lane: its title, why there are no figures, and these, the most important first.

    `short` is all that is said where there is no room for the first of them; `stale` figures are of before.
    """

    title: str
    figures: tuple[str, ...] = ()
    short: str = ""
    trouble: str = ""
    mark: Mark = Mark.WARNING
    stale: bool = False


class CurveLook(Struct, frozen=True):
    """A strip of curves below the memory: what stands in it, the top of its scale, and where a line lies across."""

    title: str
    scale: str = ""
    top: float = 1.0
    limit: float = 0.0
    lines: int = 1


def draw_dashes(painter: QPainter, area: QRectF, y: float, colour: str, *, dash: int = 4) -> None:
    """A dashed line across: Qt's own takes 0.1 ms, a tiled picture of one dash a tenth of that."""
    painter.drawTiledPixmap(QRectF(area.x(), round(y), area.width(), 1), _dash(colour, dash))


@lru_cache(maxsize=16)
def _dash(colour: str, dash: int) -> QPixmap:
    made = QPixmap(dash + 2, 1)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    painter.fillRect(0, 0, dash, 1, QColor(colour))
    painter.end()
    return made


def fitting(figures: tuple[str, ...], short: str, metrics: QFontMetrics, room: int) -> str:
    """As many as fit, or what is short: what is least important goes first, and no figure is cut."""
    for count in range(len(figures), 0, -1):
        words = " · ".join(figures[:count])
        if metrics.horizontalAdvance(words) <= room:
            return words
    return short if metrics.horizontalAdvance(short) <= room else ""
