"""What the window shows before anything else is there: its side list and the outline of its page, painted by hand as they will be.

It names as few of Qt's classes as it can (see `main_window`): no namespace `Qt`, no pen, no picture of an icon.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter

from gpuassist import __name__ as name
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.session.navigation import TITLES, Place, SideTool, WizardStep
from gpuassist.ui.fonts import families
from gpuassist.ui.palette import Palette

_SIDE, _MARGIN, _GAP = 224, 32, 16
_ROW, _LEAST_ROW, _BETWEEN = 38, 28, 2
_FOOT = 101  # look, language and help
_BAR = 58
_CARD = 148
_TITLE, _BRAND, _BASE, _SECTION = 17.25, 12.75, 10.5, 8.25  # points, as the style sheet has them
_BOLD, _STRONG, _MEDIUM = 700, 600, 500

Rectangle = tuple[int, int, int, int]
"""Left, top, width, height, in pixels."""


class FirstPaint:
    """Painted once or twice, and then the frame stands there."""

    def __init__(self, words: Words, palette: Palette, *, reading: str) -> None:
        self._words, self._palette, self._reading = words, palette, reading
        self._families = families(words.language)

    def __call__(self, painter: QPainter, width: int, height: int) -> None:
        palette, self._painter = self._palette, painter
        self._fill((0, 0, width, height), palette.background)
        self._fill((0, 0, _SIDE - 1, height), palette.side)
        self._fill((_SIDE - 1, 0, 1, height), palette.line)
        self._paint_side(height)
        left = _SIDE + _MARGIN
        top = self._write((left, 24), self._words(TITLES[WizardStep.MACHINE]), _TITLE, weight=_BOLD) + 6
        top = self._write((left, top), self._reading, _BASE, ink=palette.muted) + _GAP
        paint_cards(painter, palette, (left, top, width - left - _MARGIN, height - _BAR - top))
        self._fill((_SIDE, height - _BAR, width - _SIDE, _BAR), palette.panel)
        self._fill((_SIDE, height - _BAR, width - _SIDE, 1), palette.line)

    def _paint_side(self, height: int) -> None:
        muted = self._palette.muted
        top = self._write((22, 20), name, _BRAND, weight=_BOLD) + 24 + _BETWEEN
        row = min(_ROW, max(_LEAST_ROW, (height - top - 76 - _FOOT) // len(TITLES) - _BETWEEN))
        for title, above, places in self._sections():
            top = self._write((22, top + above), title, _SECTION, ink=muted, spacing=1.0) + 4 + _BETWEEN
            for place in places:
                self._paint_row(top, row, place)
                top += row + _BETWEEN
        for line, words in enumerate((text("Appearance"), text("Language"), text("Help"))):
            self._write((23, height - _FOOT + 5 + 29 * line), self._words(words), _BASE, ink=muted, weight=_MEDIUM)

    def _sections(self) -> Iterator[tuple[str, int, tuple[Place, ...]]]:
        yield self._words(text("SET UP")), 0, tuple(WizardStep)
        yield self._words(text("ANY TIME")), 16, tuple(SideTool)

    def _paint_row(self, top: int, height: int, place: Place) -> None:
        palette, is_current = self._palette, place is WizardStep.MACHINE
        if is_current:
            self._fill((13, top + 1, _SIDE - 27, height - 2), palette.accent_tint)
        waits = isinstance(place, WizardStep) and place not in {WizardStep.MACHINE, WizardStep.LIVE}
        ink = palette.accent if is_current else palette.muted if waits else palette.text
        below = top + (height - QFontMetrics(self._font(_BASE, 0)).height() + 1) // 2
        self._write((52, below), self._words(TITLES[place]), _BASE, ink=ink, weight=_STRONG if is_current else 0)

    def _fill(self, rectangle: Rectangle, colour: str) -> None:
        self._painter.fillRect(*rectangle, QColor(colour))

    def _write(
        self, corner: tuple[int, int], words: str, points: float, *, ink: str = "", weight: int = 0, spacing: float = 0.0
    ) -> int:
        """Writes a line below a corner, and returns where it ends."""
        font = self._font(points, weight)
        if spacing:
            font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, spacing)
        metrics = QFontMetrics(font)
        self._painter.setFont(font)
        self._painter.setPen(QColor(ink or self._palette.text))
        self._painter.drawText(corner[0], corner[1] + metrics.ascent(), words)
        return corner[1] + metrics.height()

    def _font(self, points: float, weight: int) -> QFont:
        font = QFont()
        font.setFamilies(self._families)
        font.setPointSizeF(points)
        if weight:
            font.setWeight(QFont.Weight(weight))
        return font


def paint_cards(painter: QPainter, palette: Palette, room: Rectangle) -> None:
    """Where the first cards will stand; no words, because none is known yet."""
    left, top, width, height = room
    each, bottom = (width - _GAP) // 2, top + height
    while top + _CARD < bottom:
        for x in (left, left + each + _GAP):
            painter.fillRect(x, top, each, _CARD, QColor(palette.line))
            painter.fillRect(x + 1, top + 1, each - 2, _CARD - 2, QColor(palette.panel))
            for line, share in enumerate((3, 2, 4)):
                painter.fillRect(x + 20, top + 24 + 36 * line, each * share // 6, 10, QColor(palette.well))
        top += _CARD + _GAP
