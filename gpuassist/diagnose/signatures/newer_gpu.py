"""What programs say of a part of theirs that asks for a newer GPU: a data type, a kernel, an attention."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import card_name
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, sign
from gpuassist.model.fact import Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import ComputeCapability

_OTHERWISE = lazy_regex(  # of another maker's GPU, of flash-attn, which has an explanation of its own, or of what is done instead
    r"\b(?:amd|rocm|hip|xpu|intel|sycl|gfx\d)\b|flash[- _]?attention(?:-?2)? (?:is )?only|flash ?attention ?2 requires"
    r"|fall(?:s|ing)? ?back|\bdisabl(?:ed|ing)\b|\bskipp(?:ed|ing)\b|\bignored\b|will default to|; using\b|serving this",
    re.IGNORECASE,
)
_NUMBER = lazy_regex(r"\d{1,3}(?:\.\d)?")
_GENERATIONS = {"volta": "7.0", "turing": "7.5", "ampere": "8.0", "ada": "8.9", "hopper": "9.0", "blackwell": "10.0"}
_GENERATION = r"(?P<generation>Volta|Turing|Ampere|Ada(?: Lovelace)?|Hopper|Blackwell)"
_MORE = (
    r"(?:\+|(?: \([^)\n]{1,20}\))?,? (?:or|and) (?:newer|later|higher|above|greater|up)"
    r"| (?:GPUs?|architectures?|devices?|generation)\b)"
)
_WANTS = r"\b(?:requires?|needs?|only (?:supported|supports?|works?|available|runs?))\b"


def _needed(match: re.Match[str]) -> tuple[ComputeCapability | None, str]:
    """The compute capability that is asked for, and the generation where the message names that alone."""
    groups = match.groupdict()
    number = _NUMBER.search(groups.get("number") or "")
    generation = (groups.get("generation") or "").partition(" ")[0].capitalize()
    digits = number[0] if number else _GENERATIONS.get(generation.lower(), "")
    if not digits:
        return None, ""
    major, _, minor = digits.partition(".")
    if not minor and len(major) > 1:  # 80 is 8.0, 120 is 12.0
        major, minor = major[:-1], major[-1]
    return ComputeCapability(int(major), int(minor or 0)), "" if number else generation


def _newer_gpu(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Nothing where the only GPU has what is asked for, or the program goes on without."""
    words = match.string
    start, end = words.rfind("\n", 0, match.start()) + 1, words.find("\n", match.end())
    if _OTHERWISE.search(words, start, end if end >= 0 else len(words)):
        return
    needed, generation = _needed(match)
    cards = setting.case.cards
    own = cards[0].capability if len(cards) == 1 else None
    known = own.value if isinstance(own, Known) else None
    if known is not None and needed is not None and known >= needed:
        return
    yield sign(
        "gpu-too-old-for-feature",
        gpu=card_name(setting) if known else "",
        capability=str(known or ""),
        needed=str(needed) if needed and not generation else "",
        generation=generation,
    )


def _asks(literals: tuple[str, ...], pattern: str) -> Signature:
    return Signature(literals, pattern, _newer_gpu, window=260)


SIGNATURES = (
    _asks(
        ("compute capabilit",),
        rf"{_WANTS}[^.\n]{{0,80}}?compute capabilit(?:y|ies) ?(?:>=|≥|of at least|at least|of|>)? ?"
        r"(?P<number>\d{1,2}(?:\.\d)?)",
    ),
    _asks(
        ("is insufficient", "not sufficient", "is too low", "is too old", "is less than", "is below", "is lower than"),
        r"compute capabilit(?:y|ies)[^\n]{0,40}\bis (?:insufficient|not sufficient|too low|too old|less than|below|lower than)"
        r"(?:[^.\n]{0,20}?(?P<number>\d{1,2}\.\d))?",
    ),
    _asks(
        ("capability <", "capability below", "capability lower", "capability less"),
        r"(?:not supported|unsupported)[^.\n]{0,60}compute capability (?:<|below|lower than|less than) ?"
        r"(?P<number>\d{1,2}(?:\.\d)?)",
    ),
    _asks(
        ("capability below", "capability lower", "capability less", "capability under", "capability <"),
        r"compute capability (?:below|lower than|less than|under|<) ?(?P<number>\d{1,2}\.\d) (?:(?:is|are) )?"
        r"(?:not|no longer) supported",
    ),
    _asks(("+ compute capabilit",), r"\bneed (?P<number>\d{1,2}\.\d)\+ compute capability"),
    _asks(("unsupported compute capabilit",), r"Unsupported compute capability[^.\n]{0,6}(?:\.\d)?\. Supported: \d"),
    _asks(("minimum compute capabilit",), r"minimum compute capability of (?P<number>\d{1,2}\.\d) is required"),
    _asks(
        ("requires >",),
        r"compute capability [\d.]{1,8} is not supported ?\(requires ?>= ?(?P<number>\d{1,2}\.\d)\)",
    ),
    _asks(
        ("sm_", "sm7", "sm8", "sm9", "sm10", "sm12"),
        rf"(?:{_WANTS}|\bneed\b)[^.\n]{{0,60}}?\bsm_?(?P<number>\d{{2,3}})[af]?(?:\b|(?=\+))",
    ),
    _asks(
        ("volta", "turing", "ampere", "ada", "hopper", "blackwell"),
        rf"(?:{_WANTS}|\bneed\b|\bonly support\b)[^.\n]{{0,60}}?\b{_GENERATION}{_MORE}",
    ),
    _asks(("not supported in this architecture",), r"type fp8e\w{2,6} not supported in this architecture"),
    _asks((".target sm_",), r"Feature '[^'\n]{1,60}' requires \.target sm_(?P<number>\d{2,3})[af]? or higher"),
)
