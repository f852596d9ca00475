"""What the window shows before anything else is there: its side list and the outline of its page, as they will be.

It is drawn as one SVG document. PySide6 makes a class when it is first named, and `QPainter.fillRect` and `setPen` name the
namespace `Qt`, which costs 45 ms of the 220 that an empty window takes; the document is read and drawn in 20 (processor time,
6.11.3). Qt's SVG takes one family of a font, and finds others for the letters that it lacks.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QByteArray
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtSvg import QSvgRenderer

from gpuassist import __name__ as name
from gpuassist.formats.visible import visible
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.session.navigation import TITLES, Place, SideTool, WizardStep
from gpuassist.ui.fonts import families
from gpuassist.ui.palette import Palette

_LEAST_SIDE, _MARGIN, _GAP = 224, 32, 16
_SIDE_PART, _AROUND_WORDS = 0.4, 72  # as the frame and its side list have them
_ROW, _LEAST_ROW, _BETWEEN = 38, 28, 2
_FOOT, _FOOT_ROW = 122, 36  # look, language and help
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
        self._drawn: list[str] = []
        self._dots_an_inch = 96
        self._measured: dict[tuple[float, int], QFontMetrics] = {}

    def __call__(self, painter: QPainter, width: int, height: int) -> None:
        self._dots_an_inch = painter.device().logicalDpiY()
        self._drawn.clear()
        self._draw(width, height)
        body = "".join(self._drawn)
        document = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">{body}</svg>'
        QSvgRenderer(QByteArray(document.encode("utf-8", "replace"))).render(painter)

    def _draw(self, width: int, height: int) -> None:
        palette, side = self._palette, self._side(width)
        self._fill((0, 0, width, height), palette.background)
        self._fill((0, 0, side - 1, height), palette.side)
        self._fill((side - 1, 0, 1, height), palette.line)
        self._draw_side(side, height)
        left = side + _MARGIN
        top = self._write((left, 24), self._words(TITLES[WizardStep.MACHINE]), _TITLE, weight=_BOLD) + 6
        top = self._write((left, top), self._reading, _BASE, ink=palette.muted) + _GAP
        for rectangle, colour in outlines(palette, (left, top, width - left - _MARGIN, height - _BAR - top)):
            self._fill(rectangle, colour)
        self._fill((side, height - _BAR, width - side, _BAR), palette.panel)
        self._fill((side, height - _BAR, width - side, 1), palette.line)

    def _side(self, width: int) -> int:
        """As wide as the longest of its rows."""
        metrics = self._metrics(_BASE, _STRONG)
        wanted = max(metrics.horizontalAdvance(visible(self._words(title))) for title in TITLES.values()) + _AROUND_WORDS
        return max(_LEAST_SIDE, min(wanted, int(width * _SIDE_PART)))

    def _draw_side(self, side: int, height: int) -> None:
        muted = self._palette.muted
        top = self._write((22, 20), name, _BRAND, weight=_BOLD) + 24 + _BETWEEN
        high = self._metrics(_BASE, 0).height()
        row = min(max(_ROW, high + 18), max(_LEAST_ROW, high + 8, (height - top - 76 - _FOOT) // len(TITLES) - _BETWEEN))
        for title, above, places in self._sections():
            top = self._write((22, top + above), title, _SECTION, ink=muted, spacing=1) + 4 + _BETWEEN
            for place in places:
                self._draw_row(side, top, row, place)
                top += row + _BETWEEN
        if top > height - _FOOT:
            return  # in a low window the frame finds room for both
        for line, words in enumerate((text("Appearance"), text("Language"), text("Help"))):
            self._write((52, height - _FOOT + 7 + _FOOT_ROW * line), self._words(words), _BASE, weight=_MEDIUM)

    def _sections(self) -> Iterator[tuple[str, int, tuple[Place, ...]]]:
        yield self._words(text("SET UP")), 0, tuple(WizardStep)
        yield self._words(text("ANY TIME")), 16, tuple(SideTool)

    def _draw_row(self, side: int, top: int, height: int, place: Place) -> None:
        palette, is_current = self._palette, place is WizardStep.MACHINE
        if is_current:
            self._fill((13, top + 1, side - 27, height - 2), palette.accent_tint, round_corners=8)
        if isinstance(place, WizardStep):
            middle = top + height / 2
            self._drawn.append(f'<circle cx="32" cy="{middle}" r="9" fill="none" stroke="{palette.muted}" stroke-opacity="0.6"/>')
        waits = isinstance(place, WizardStep) and place not in {WizardStep.MACHINE, WizardStep.LIVE}
        ink = palette.accent if is_current else palette.muted if waits else palette.text
        below = top + (height - self._metrics(_BASE, 0).height() + 1) // 2
        self._write((52, below), self._words(TITLES[place]), _BASE, ink=ink, weight=_STRONG if is_current else 0)

    def _fill(self, rectangle: Rectangle, colour: str, *, round_corners: int = 0) -> None:
        x, y, width, height = rectangle
        corners = f' rx="{round_corners}"' if round_corners else ""
        self._drawn.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colour}"{corners}/>')

    def _write(
        self, corner: tuple[int, int], words: str, points: float, *, ink: str = "", weight: int = 0, spacing: int = 0
    ) -> int:
        """Writes a line below a corner, and returns where it ends."""
        metrics = self._metrics(points, weight)
        shown = visible(words).replace("&", "&amp;").replace("<", "&lt;")
        place = f'x="{corner[0]}" y="{corner[1] + metrics.ascent()}"'
        size = points * self._dots_an_inch / 72
        font = f'font-family="{self._families[0]}" font-size="{size}" font-weight="{weight or 400}" letter-spacing="{spacing}"'
        self._drawn.append(f'<text {place} {font} fill="{ink or self._palette.text}">{shown}</text>')
        return corner[1] + metrics.height()

    def _metrics(self, points: float, weight: int) -> QFontMetrics:
        known = self._measured.get((points, weight))
        if known is not None:
            return known
        font = QFont()
        font.setFamilies(self._families)
        font.setPointSizeF(points)
        if weight:
            font.setWeight(QFont.Weight(weight))
        self._measured[points, weight] = QFontMetrics(font)
        return self._measured[points, weight]


def outlines(palette: Palette, room: Rectangle) -> Iterator[tuple[Rectangle, str]]:
    """Where the first cards will stand, as rectangles with their colours; no words, because none is known yet."""
    left, top, width, height = room
    each, bottom = (width - _GAP) // 2, top + height
    while top + _CARD < bottom:
        for x in (left, left + each + _GAP):
            yield (x, top, each, _CARD), palette.line
            yield (x + 1, top + 1, each - 2, _CARD - 2), palette.panel
            for line, share in enumerate((3, 2, 4)):
                yield (x + 20, top + 24 + 36 * line, each * share // 6, 10), palette.well
        top += _CARD + _GAP
