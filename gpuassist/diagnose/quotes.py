"""Which passages of a text are shown for one problem: each fact once, however many messages were found in it."""

from __future__ import annotations

from collections.abc import Iterable

from gpuassist.formats.visible import MARK
from gpuassist.model.paste import Passage


def distinct(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Those of different lines, of which none is a part of another, in their order; the one that says most stands for the rest."""
    every = tuple(dict.fromkeys(passages))
    kept: list[Passage] = []
    for one in sorted(every, key=lambda passage: -len(passage.words)):
        if not any(one.line == other.line or _bare(one) in other.words for other in kept):
            kept.append(one)
    return tuple(one for one in every if one in kept)


def _bare(passage: Passage) -> str:
    return passage.words.removesuffix(MARK).rstrip()
