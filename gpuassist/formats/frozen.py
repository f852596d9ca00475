"""What an environment held, as `pip freeze` and `conda list --explicit` print it, and what takes it back to that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_EDITABLE = re.compile(r"-e .*[#&]egg=([\w.-]+)")
_NAMED = re.compile(r"([\w.-]+)\s*(?:==|===|@)")
_CONDA = re.compile(r".*/(?P<name>[^/]+)-[^-/]+-[^-/]+(?:\.tar\.bz2|\.conda)(?:#\w*)?")


@dataclass(frozen=True, slots=True)
class Back:
    """`remove` are the names of what was added, `restore` the lines of what was changed or removed; `left` are the names of what
    somebody else changed since, which stays.
    """

    remove: tuple[str, ...]
    restore: tuple[str, ...]
    left: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether all is as it was."""
        return not (self.remove or self.restore)


def frozen_packages(lines: Iterable[str]) -> dict[str, str]:
    """The lines of `pip freeze` by the normalised name of the package."""
    found = {}
    for line in lines:
        match = _EDITABLE.match(line) or _NAMED.match(line)
        if match is not None:
            found[re.sub(r"[-_.]+", "-", match[1]).lower()] = line.strip()
    return found


def explicit_packages(lines: Iterable[str]) -> dict[str, str]:
    """The lines of `conda list --explicit` by the name of the package."""
    return {match["name"]: line.strip() for line in lines if (match := _CONDA.fullmatch(line.strip()))}


def back_to(before: Mapping[str, str], after: Mapping[str, str], now: Mapping[str, str]) -> Back:
    """What takes `now` back to `before`, as far as a step that left `after` had changed it."""
    ours = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    still = {name for name in ours if now.get(name) == after.get(name)}
    others = {name for name in ours - still if now.get(name) != before.get(name)}
    return Back(
        tuple(sorted(name for name in still if name not in before)),
        tuple(before[name] for name in sorted(still) if name in before),
        tuple(sorted(others)),
    )
