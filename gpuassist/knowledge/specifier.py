"""Version ranges as pip writes them (`>=2.10,<3`, `~=3.9.0`), held against a version; and words that may be one."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Version, VersionError

_CLAUSE = lazy_regex(r"(<=|>=|==|!=|~=|<|>)?\s*(\d{1,9}(?:\.\d{1,9})*)(?:(\.\*)|\.post\d{1,9})?")
_COMPARISONS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
    "==": eq,
    "!=": ne,
}


def version_in(words: str) -> Version | None:
    """None where the words are no version."""
    try:
        return Version.parse(words)
    except VersionError:
        return None


def admits(versions: str, version: Version) -> bool:
    """Whether a range takes a version in; an empty range takes any, a bare number that one alone. What a version does not keep
    does not count: 0.0.28.post1 is 0.0.28.
    """
    return all(_holds(clause.strip(), version.parts) for clause in versions.split(",") if clause.strip())


def _holds(clause: str, version: tuple[int, ...]) -> bool:
    found = _CLAUSE.fullmatch(clause)
    if found is None:
        raise VersionError(clause)
    sign, limit, family = found[1] or "==", Version.parse(found[2]).parts, bool(found[3])
    if sign == "~=":
        return _padded(version, limit) >= limit and version[: len(limit) - 1] == limit[:-1]
    if family:
        return _COMPARISONS[sign](_padded(version, limit)[: len(limit)], limit)
    return _COMPARISONS[sign](_padded(version, limit), _padded(limit, version))


def _padded(parts: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """With the zeros that a shorter number leaves out: 2.3 is 2.3.0."""
    return (*parts, *(0 for _ in range(len(other) - len(parts))))
