"""What the user chooses for a line of a start-up file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gpuassist.shellfiles.block import RepairError


class Choice(str, Enum):
    """A line is kept as it is, commented out, or replaced by one that leads to what is wanted.

    The values are those of the JSON documents.
    """

    KEEP = "leave"
    COMMENT_OUT = "retire"
    REPLACE = "rewrite"


@dataclass(frozen=True, slots=True)
class LineChoice:
    """The choice for the statement that begins on a line of a file; lines count from 1."""

    file: str
    line: int
    choice: Choice


class ChoiceError(RepairError):
    """A choice that the line does not offer, or a line that is none: wrong usage, not a state of the machine."""
