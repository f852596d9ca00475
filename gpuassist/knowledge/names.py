"""GPU names brought to one form, so that what NVML prints finds what the id list calls it: `GeForce RTX 4090 Laptop GPU` and
`GeForce RTX 4090 Max-Q / Mobile`, `A100 80GB PCIe` and `A100 PCIe 80GB`.
"""

from __future__ import annotations

import re

from gpuassist.model.lazy_regex import lazy_regex

Key = frozenset[str]

_WORD = lazy_regex(r"[a-z0-9.+]+")
_GLUED = lazy_regex(r"(\d)(ti|super)\b")
_GLUED_RTX = lazy_regex(r"\brtx(?=a?\d)")  # GRID RTX6000-8Q, NVIDIA RTXA6000-48Q
_BUS = lazy_regex(r"\b(sxm|hbm)\d\b")
_PROFILE = lazy_regex(r"-(?:\d+-)?\d+(?:[abcq]\d?|cme)$")  # a virtual GPU: GRID V100-8Q, NVIDIA A100-1-5C
_PLAIN_PROFILE = lazy_regex(r"-(?:\d+-)?\d+$")
_NOT_PRINTED = lazy_regex(r"\bmig\b.*|\brev\. ?\d")  # a MIG profile behind the name; a revision that only the id list tells
_ALTERNATIVE = lazy_regex(r"\s*/\s*")
_DIGIT = lazy_regex(r"\d")
_MOBILE = frozenset({"mobile", "laptop", "max", "q", "notebook"})
_FILLER = frozenset({"nvidia", "gpu", "with", "design", "corporation", "generation", "founders", "edition"})
# What tells cards of one chip apart, but never their capability: the slot, the memory, the cooling, the sort of machine.
_SLOT_AND_MEMORY = ("pcie", "sxm", "hbm", "hbm3e", "3e", "nvl")
_SORT = frozenset(("active", "lc", "oem", "refresh", "server", "workstation", "embedded", "hgx", "converged", "accelerator"))
_DECORATION = frozenset((*_SLOT_AND_MEMORY, *_SORT))
_BRAND = frozenset({"geforce", "quadro", "tesla", "grid"})
_SIZE = lazy_regex(r"\d+gb?")
_SAID_SIZE = lazy_regex(r"(?<![\w.])(\d{1,4})\s?gi?b?(?![\w.])", re.IGNORECASE)
# The number of a GeForce or RTX A card in what a shop or a person writes: ASUS TUF RTX 4070 SUPER OC, gtx1080 ti, 4090D.
_PRODUCT = lazy_regex(
    r"(?<![a-z0-9])(?:rtx ?(?P<rtx>\d0[5-9]0|a\d{4})|gtx ?(?P<gtx>\d{3,4})|(?P<bare>10[5-8]0|16[5-6]0|[2-5]0[5-9]0))"
    r"(?P<ti> ?ti\b)?(?P<super> ?super\b)?(?P<d> ?d\b)?(?![a-z0-9])"
)
_MAKERS = frozenset(
    (
        "asus",
        "colorful",
        "evga",
        "gainward",
        "galax",
        "gigabyte",
        "inno3d",
        "kfa2",
        "leadtek",
        "manli",
        "msi",
        "palit",
        "pny",
        "zotac",
    )
)


def board(name: str) -> str:
    """The board of a virtual GPU whose profile is a number alone (NVIDIA A40-12); other names end so too (P104-100)."""
    return _PLAIN_PROFILE.sub("", name)


def key(name: str) -> Key:
    """The words of a name that count, in any order; every way to say laptop is the word `mobile`."""
    plain = _NOT_PRINTED.sub("", _PROFILE.sub("", name.lower().strip()).replace("-", " "))
    words = set(_WORD.findall(_GLUED.sub(r"\1 \2", _GLUED_RTX.sub("rtx ", _BUS.sub(r"\1", plain)))))
    kept = words - _FILLER - _MOBILE
    return frozenset(kept | {"mobile"} if words & _MOBILE and kept else kept)


def product(name: str, *, asked: bool = False) -> str:
    """The card that a longer name is about: its maker's words left out, glued ones taken apart; empty where words remain that may
    be part of a name that is not known. A bare number names a card where somebody is `asked` for one, and nowhere else.
    """
    plain = " ".join(name.lower().replace("-", " ").split())
    found = _PRODUCT.search(plain)
    if found is None:
        return ""
    line = "gtx" if found["gtx"] or (found["bare"] or "").startswith("1") else "rtx"
    suffixes = [word for word in ("ti", "super", "d") if found[word]]
    rest = set(_PRODUCT.sub(" ", plain, count=1).split())
    mobile = ["laptop"] if _MOBILE & rest else []
    sure = rest & _MAKERS or not rest - _MOBILE - _FILLER - _BRAND
    if not sure or (found["bare"] and not suffixes and not mobile and not asked):
        return ""
    return " ".join([line, found["rtx"] or found["gtx"] or found["bare"], *suffixes, *mobile])


def undecorated(exact: Key) -> Key:
    """What is left of a name without its memory, its slot, and what else tells cards of one chip apart."""
    return frozenset(word for word in exact if word not in _DECORATION and not _SIZE.fullmatch(word))


def decoration(exact: Key) -> Key:
    """The words of a name that tell cards of one chip apart, sizes of memory left out."""
    return exact & _DECORATION


def sort(exact: Key) -> Key:
    """Those of them that name a sort of machine or board: an embedded card is another product, with memory of its own."""
    return exact & _SORT


def sizes(exact: Key) -> frozenset[int]:
    """How much memory a name says there is, in GB."""
    return frozenset(int(word.rstrip("gb")) for word in exact if _SIZE.fullmatch(word))


def without_sizes(name: str) -> tuple[str, frozenset[int]]:
    """A name without what it says of its memory, and the sizes that it says in GB: `4080 16 GB`."""
    return " ".join(_SAID_SIZE.sub(" ", name).split()), frozenset(int(found[1]) for found in _SAID_SIZE.finditer(name))


def is_of_product(word: str) -> bool:
    """Whether a word of a name may be a product's own, with a number in it that is no size of memory."""
    return len(word) > 2 and bool(_DIGIT.search(word)) and not _SIZE.fullmatch(word)


def looser(exact: Key) -> tuple[Key, ...]:
    """What to look for where nothing bears exactly that name, the nearest first: no decoration, no `mobile`, no brand."""
    bare = undecorated(exact)
    return tuple(dict.fromkeys(found for found in (bare, bare - {"mobile"}, bare - _BRAND, bare - _BRAND - {"mobile"}) if found))


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
