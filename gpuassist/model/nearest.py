"""The known names that are nearest to one that is not known: letters swapped or mistyped, a brand left out, a number beside it."""

from __future__ import annotations

from collections.abc import Iterable

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Version

MOST = 5
_NEAR = 0.6  # of the letters; below it a name has nothing to do with what was asked
_NUMBER = lazy_regex(r"[0-9]{3,}")
_NOT_TELLING = lazy_regex(r"\b(nvidia|geforce|gpu|generation|corporation)\b|[^a-z0-9.]+")


def nearest_names(wanted: str, names: Iterable[str]) -> tuple[str, ...]:
    """At most five, the nearest first; of equally near ones the shorter, because it leaves less to guess."""
    asked = _plain(wanted)
    scored = [(_likeness(asked, _plain(name)), -len(name), name) for name in dict.fromkeys(names)]
    near = sorted((one for one in scored if one[0] >= _NEAR), key=lambda one: (-one[0], -one[1], one[2]))
    return tuple(name for _, _, name in near[:MOST])


def nearest_versions(wanted: Version, versions: Iterable[Version], *, most: int = MOST) -> tuple[Version, ...]:
    """Those beside it, the nearest first: 12.6 and 12.8 for 12.7."""
    return tuple(sorted(set(versions), key=lambda one: (_distance(one, wanted), one))[:most])


def nearest_numbers(wanted: int, numbers: Iterable[int], *, most: int = MOST) -> tuple[int, ...]:
    """Those beside it, the nearest first."""
    return tuple(sorted(set(numbers), key=lambda one: (abs(one - wanted), one))[:most])


def _plain(name: str) -> str:
    return " ".join(_NOT_TELLING.sub(" ", name.lower()).split())


def _likeness(asked: str, name: str) -> float:
    """How much of both agrees, in order; better where the number is the same, best where only letters are swapped (4909, 4090)."""
    if not asked or not name:
        return 0.0
    from difflib import SequenceMatcher  # only for a name that is not known, while every `plan` and `explain` imports this

    matcher = SequenceMatcher(None, asked, name, autojunk=False)
    if matcher.real_quick_ratio() < _NEAR or matcher.quick_ratio() < _NEAR:
        return 0.0
    same_number = set(_NUMBER.findall(asked)) & set(_NUMBER.findall(name))
    return matcher.ratio() + (0.2 if same_number else 0.0) + (0.4 if sorted(asked) == sorted(name) else 0.0)


def _distance(one: Version, other: Version) -> tuple[int, ...]:
    longest = max(len(one.parts), len(other.parts))
    pairs = zip(_padded(one, longest), _padded(other, longest), strict=True)
    return tuple(abs(first - second) for first, second in pairs)


def _padded(version: Version, length: int) -> tuple[int, ...]:
    return (*version.parts, *(0,) * (length - len(version.parts)))
