"""Colours, by what they mean: one palette for light and one for dark, and the marks that every status is shown with."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.present.marks import Mark


class Palette(Struct, frozen=True):
    """Every colour of the window as #rrggbb; a `tint` is the background that goes with the status of that name."""

    dark: bool
    background: str
    panel: str
    side: str
    well: str
    line: str
    text: str
    muted: str
    accent: str
    accent_hover: str
    on_accent: str
    accent_tint: str
    right: str
    right_tint: str
    warning: str
    warning_tint: str
    problem: str
    problem_tint: str
    unknown: str
    unknown_tint: str
    series: tuple[str, ...]

    def ink(self, mark: Mark) -> str:
        """The colour of a mark's glyph and word."""
        return self._pair(mark)[0]

    def tint(self, mark: Mark) -> str:
        """The background behind a mark's glyph and word."""
        return self._pair(mark)[1]

    def _pair(self, mark: Mark) -> tuple[str, str]:
        pairs = {
            Mark.RIGHT: (self.right, self.right_tint),
            Mark.WARNING: (self.warning, self.warning_tint),
            Mark.PROBLEM: (self.problem, self.problem_tint),
            Mark.BUSY: (self.accent, self.accent_tint),
            Mark.INFO: (self.accent, self.accent_tint),
        }
        return pairs.get(mark, (self.unknown, self.unknown_tint))


# Okabe and Ito's colour-blind-safe set gives the steps after the first three.
_LIGHT_SERIES = ("#4c78d8", "#e0913a", "#8a8f9c", "#009e73", "#cc79a7", "#56b4e9", "#b8860b", "#7a5195")
_DARK_SERIES = ("#5b86e5", "#e39a4b", "#8a8f9c", "#2fb98f", "#d58fb8", "#6fc1ee", "#e6d95c", "#a07cc0")

LIGHT = Palette(
    dark=False,
    background="#f6f7f9",
    panel="#ffffff",
    side="#eceef3",
    well="#f2f3f7",
    line="#d9dde5",
    text="#1b2130",
    muted="#5b6476",
    accent="#2f5bd0",
    accent_hover="#264db5",
    on_accent="#ffffff",
    accent_tint="#e4ecfe",
    right="#187747",
    right_tint="#e1f3e8",
    warning="#8a5a00",
    warning_tint="#fdf0d3",
    problem="#b3261e",
    problem_tint="#fde5e3",
    unknown="#5b6476",
    unknown_tint="#e9ebf0",
    series=_LIGHT_SERIES,
)

DARK = Palette(
    dark=True,
    background="#15181f",
    panel="#1d212b",
    side="#191c25",
    well="#161920",
    line="#303645",
    text="#e8ebf2",
    muted="#9aa4b8",
    accent="#8fb0ff",
    accent_hover="#a9c2ff",
    on_accent="#10141d",
    accent_tint="#263459",
    right="#6fd39c",
    right_tint="#163524",
    warning="#f0be5f",
    warning_tint="#3b2c10",
    problem="#ff8f86",
    problem_tint="#44201f",
    unknown="#9aa4b8",
    unknown_tint="#2a2f3c",
    series=_DARK_SERIES,
)
