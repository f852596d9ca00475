"""The kinds of scopes and which programs see each, as the command line and the window show them."""

from __future__ import annotations

from gpuassist.changes.scopes.kinds import PROGRAMS, SEEN, TITLES, Kind, Program, Sees, Sight

__all__ = ["PROGRAMS", "SEEN", "TITLES", "Kind", "Program", "Sees", "Sight"]
