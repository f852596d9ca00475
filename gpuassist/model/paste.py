"""A text that somebody pasted, and the places in it that point to a problem."""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct

from gpuassist.model.text import Parameters


class Weight(IntEnum):
    """What a message can prove of the problem that it points to."""

    ASIDE = 1
    """It could mean that as well: named as less likely, never the answer while another reading stands."""
    CONSEQUENCE = 2
    """Almost every fault leads to it: the answer only where neither text nor machine shows anything more specific."""
    STATE = 3
    """It names a state that fits the problem among others."""
    CAUSE = 4
    """It names the problem."""


class Passage(Struct, frozen=True):
    """A piece of the pasted text, with the number of its first line, counted from 1."""

    line: int
    words: str


class Clue(Struct, frozen=True):
    """A passage that points to a problem of the catalogue, and the parameters that it gives to its sentences."""

    problem: str
    weight: Weight
    passage: Passage
    parameters: Parameters = ()


class Paste(Struct, frozen=True):
    """The text as it is read: no colours, no carriage returns, one `\\n` a line; `left_out` counts bytes that were too many.
    `original` is the text as it was pasted, line for line, where some of its lines are read in English.
    """

    words: str
    left_out: int = 0
    original: str = ""
