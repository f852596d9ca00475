"""GPU names brought to one form, so that what NVML prints finds what the id list calls it: `GeForce RTX 4090 Laptop GPU` and
`GeForce RTX 4090 Max-Q / Mobile`, `A100 80GB PCIe` and `A100 PCIe 80GB`.
"""

from __future__ import annotations

import re

Key = frozenset[str]

_WORD = re.compile(r"[a-z0-9.+]+")
_GLUED = re.compile(r"(\d)(ti|super)\b")
_GLUED_RTX = re.compile(r"\brtx(?=a?\d)")  # GRID RTX6000-8Q, NVIDIA RTXA6000-48Q
_BUS = re.compile(r"\b(sxm|hbm)\d\b")
_PROFILE = re.compile(r"-(?:\d+-)?\d+(?:[abcq]\d?|cme)$")  # a virtual GPU: GRID V100-8Q, NVIDIA A100-1-5C
_PLAIN_PROFILE = re.compile(r"-(?:\d+-)?\d+$")
_NOT_PRINTED = re.compile(r"\bmig\b.*|\brev\. ?\d")  # a MIG profile behind the name; a revision that only the id list tells
_ALTERNATIVE = re.compile(r"\s*/\s*")
_DIGIT = re.compile(r"\d")
_MOBILE = frozenset({"mobile", "laptop", "max", "q", "notebook"})
_FILLER = frozenset({"nvidia", "gpu", "with", "design", "corporation", "generation", "founders", "edition"})
# What tells cards of one chip apart, but never their capability: the slot, the memory, the cooling, the sort of machine.
_SLOT_AND_MEMORY = ("pcie", "sxm", "hbm", "hbm3e", "3e", "nvl")
_SORT = ("active", "lc", "oem", "refresh", "server", "workstation", "embedded", "hgx", "converged", "accelerator")
_DECORATION = frozenset((*_SLOT_AND_MEMORY, *_SORT))
_BRAND = frozenset({"geforce", "quadro", "tesla", "grid"})
_SIZE = re.compile(r"\d+gb?")


def board(name: str) -> str:
    """The board of a virtual GPU whose profile is a number alone (NVIDIA A40-12); other names end so too (P104-100)."""
    return _PLAIN_PROFILE.sub("", name)


def key(name: str) -> Key:
    """The words of a name that count, in any order; every way to say laptop is the word `mobile`."""
    plain = _NOT_PRINTED.sub("", _PROFILE.sub("", name.lower().strip()).replace("-", " "))
    words = set(_WORD.findall(_GLUED.sub(r"\1 \2", _GLUED_RTX.sub("rtx ", _BUS.sub(r"\1", plain)))))
    kept = words - _FILLER - _MOBILE
    return frozenset(kept | {"mobile"} if words & _MOBILE and kept else kept)


def looser(exact: Key) -> tuple[Key, ...]:
    """What to look for where nothing bears exactly that name, the nearest first: no decoration, no `mobile`, no brand."""
    plain = frozenset(word for word in exact if word not in _DECORATION and not _SIZE.fullmatch(word))
    return tuple(
        dict.fromkeys(found for found in (plain, plain - {"mobile"}, plain - _BRAND, plain - _BRAND - {"mobile"}) if found)
    )


def telling(exact: Key) -> str:
    """The word of a name that few other names have, and that stands in whatever name has the same key or a looser one."""
    words = (looser(exact) or (exact,))[-1] - {"mobile"}
    return max(words, key=lambda word: (bool(_DIGIT.search(word)), len(word), word), default="")


def alternatives(name: str) -> tuple[str, ...]:
    """The names in a name of the id list: `Tesla C2050 / C2070` is two; the pieces of `RTX 4090 Max-Q / Mobile` are one."""
    first, *others = _ALTERNATIVE.split(name)
    if not others:
        return (name,)
    words = first.split()
    brand = words[: next((place for place, word in enumerate(words) if _DIGIT.search(word)), 0)]
    products = [piece.split() for piece in others if looser(key(piece))]
    return (name, first, *(" ".join(piece if piece[0] in words else [*brand, *piece]) for piece in products))
