"""What the user chooses for a line of a start-up file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gpuassist.shellfiles.block import RepairError


class Choice(str, Enum):
    """A line stays, is kept as a comment only, or is kept as a comment with a new line below it."""

    LEAVE = "leave"
    RETIRE = "retire"
    REWRITE = "rewrite"


@dataclass(frozen=True, slots=True)
class LineChoice:
    """The choice for the statement that begins on a line of a file; lines count from 1."""

    file: str
    line: int
    choice: Choice


class ChoiceError(RepairError):
    """A choice that the line does not offer, or a line that is none: wrong usage, not a state of the machine."""
