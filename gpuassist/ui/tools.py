"""The tools beside the steps, one entry each: its name in the side list, the glyph before it, and its page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuassist.model.text import Text, text
from gpuassist.session.flow import Tool

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gpuassist.ui.page import Desk, Page

Strokes = tuple[tuple[tuple[float, float], ...], ...]


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """What the window needs of a tool; the strokes are in units of the glyph's square."""

    words: Text
    strokes: Strokes
    make: Callable[[Desk, QWidget], Page]


def _what_if(desk: Desk, parent: QWidget) -> Page:
    from gpuassist.ui.pages.what_if import WhatIfPage  # a page's module is imported when it is first shown

    return WhatIfPage(desk, parent)


def _explain(desk: Desk, parent: QWidget) -> Page:
    from gpuassist.ui.pages.explain import ExplainPage

    return ExplainPage(desk, parent)


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

TOOLS: dict[Tool, ToolEntry] = {
    Tool.EXPLAIN: ToolEntry(text("Explain an error"), _GLASS, _explain),
    Tool.WHAT_IF: ToolEntry(text("What if…"), _SWAP, _what_if),
}
