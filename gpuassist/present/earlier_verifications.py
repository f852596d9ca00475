"""Earlier verifications of this machine, a line each: when, in which surroundings, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from gpuassist.model.text import Text, joined, text, verbatim
from gpuassist.model.verdict import Verdict
from gpuassist.present.marks import Mark
from gpuassist.present.moments import minute
from gpuassist.present.overview import short_name
from gpuassist.present.verification import VERDICT_WORDS
from gpuassist.session.verifications import KeptVerification, listed_in, text_in
from gpuassist.verify.runner import Level

_LEVELS = {Level.QUICK.value: text("Quick"), Level.FULL.value: text("Full")}
_BROKEN = (Verdict.FAIL, Verdict.HUNG, Verdict.ERROR)  # the first of them is told


class EarlierLine(Struct, frozen=True):
    """One of them: `2026-11-22 11:13`, what it came to, and what it ran with."""

    when: str
    mark: Mark
    verdict: Text
    about: Text


def earlier_line(kept: KeptVerification) -> EarlierLine:
    """In words; what its document does not hold is left out."""
    mark, verdict = _verdict(kept.document)
    return EarlierLine(minute(kept.made_at), mark, verdict, joined(tuple(_about(kept))))


def _verdict(document: Mapping[str, Any]) -> tuple[Mark, Text]:
    found = {text_in(one, "verdict") for one in listed_in(document, "devices")}
    bad = next((verdict for verdict in _BROKEN if verdict.value in found), None)
    if bad is not None:
        return Mark.PROBLEM, VERDICT_WORDS[bad]
    if document.get("accelerator_verified") is True:
        return Mark.RIGHT, text("passed")
    return Mark.UNKNOWN, text("no GPU tested") if found else text("nothing verified")


def _about(kept: KeptVerification) -> Iterator[Text]:
    environment = kept.document.get("environment")
    told = environment if isinstance(environment, dict) else {}
    names = dict.fromkeys(text_in(one, "name") for one in listed_in(kept.document, "devices"))
    yield from (verbatim(short_name(name)) for name in names if name)
    if text_in(told, "torch"):
        yield text("torch {version}", version=text_in(told, "torch"))
    if kept.driver:
        yield text("driver {version}", version=kept.driver)
    if kept.level in _LEVELS:
        yield _LEVELS[kept.level]
