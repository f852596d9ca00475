"""How the tools stand in the side list, one entry each: its name and the glyph before it (its page: `pages.catalogue`)."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.text import Text, text
from gpuassist.session.navigation import SideTool

Strokes = tuple[tuple[tuple[float, float], ...], ...]


class ToolEntry(Struct, frozen=True):
    """A row of the side list; the strokes are in units of the glyph's square."""

    words: Text
    strokes: Strokes


_GLASS: Strokes = (
    ((0.68, 0.42), (0.65, 0.55), (0.55, 0.65), (0.42, 0.68), (0.29, 0.65), (0.19, 0.55), (0.16, 0.42)),
    ((0.16, 0.42), (0.19, 0.29), (0.29, 0.19), (0.42, 0.16), (0.55, 0.19), (0.65, 0.29), (0.68, 0.42)),
    ((0.61, 0.61), (0.84, 0.84)),
)
_SWAP: Strokes = (
    ((0.2, 0.36), (0.8, 0.36)),
    ((0.64, 0.2), (0.8, 0.36), (0.64, 0.52)),
    ((0.8, 0.66), (0.2, 0.66)),
    ((0.36, 0.5), (0.2, 0.66), (0.36, 0.82)),
)
_TRAY: Strokes = (
    ((0.5, 0.16), (0.5, 0.6)),
    ((0.34, 0.44), (0.5, 0.6), (0.66, 0.44)),
    ((0.18, 0.6), (0.18, 0.82), (0.82, 0.82), (0.82, 0.6)),
)
_BOOK: Strokes = (
    ((0.5, 0.28), (0.36, 0.2), (0.16, 0.2), (0.16, 0.74), (0.36, 0.74), (0.5, 0.82)),
    ((0.5, 0.28), (0.64, 0.2), (0.84, 0.2), (0.84, 0.74), (0.64, 0.74), (0.5, 0.82)),
    ((0.5, 0.28), (0.5, 0.82)),
)
_CHIP: Strokes = (
    ((0.3, 0.3), (0.7, 0.3), (0.7, 0.7), (0.3, 0.7), (0.3, 0.3)),
    *(((at, 0.16), (at, 0.3)) for at in (0.4, 0.6)),
    *(((at, 0.7), (at, 0.84)) for at in (0.4, 0.6)),
    *(((0.16, at), (0.3, at)) for at in (0.4, 0.6)),
    *(((0.7, at), (0.84, at)) for at in (0.4, 0.6)),
)

TOOLS: dict[SideTool, ToolEntry] = {
    SideTool.EXPLAIN: ToolEntry(text("Explain an error"), _GLASS),
    SideTool.WHAT_IF: ToolEntry(text("What if…"), _SWAP),
    SideTool.INSTALL: ToolEntry(text("Install"), _TRAY),
    SideTool.GUIDES: ToolEntry(text("Guides"), _BOOK),
    SideTool.HOLDERS: ToolEntry(text("Who holds the GPU"), _CHIP),
}
