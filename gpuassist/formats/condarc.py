"""conda's .condarc, as far as its settings decide where packages come from: single values, lists, and names with a URL each.

YAML is more than this; people and `conda config` write these files by hand in this much of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_KEY = re.compile(r"([A-Za-z_][\w-]*)\s*:(?:\s+(.*)|\s*)")
_NAMED = re.compile(r"""["']?([\w.-]+)["']?\s*:\s+(\S+)""")
_COMMENT = re.compile(r"(?:^|\s)#.*")


@dataclass(frozen=True, slots=True)
class Condarc:
    """`lists` holds single values too, as lists of one; `maps` what is given by name, as custom_channels are."""

    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def read_condarc(words: str) -> Condarc:
    """What the file says; a line that is neither of the three is passed over."""
    lists: dict[str, list[str]] = {}
    maps: dict[str, dict[str, str]] = {}
    key = ""
    for line in words.splitlines():
        bare = _COMMENT.sub("", line).rstrip()
        item = bare.lstrip()
        found = _KEY.fullmatch(bare)
        if found and not bare[:1].isspace():
            key = found[1]
            lists[key] = _values(found[2] or "")
        elif item.startswith("- ") and key:
            lists[key].append(_plain(item[2:]))
        elif key and (named := _NAMED.fullmatch(item)) and bare[:1].isspace():
            maps.setdefault(key, {})[named[1]] = _plain(named[2])
    return Condarc({name: tuple(values) for name, values in lists.items() if values}, maps)


def _values(words: str) -> list[str]:
    if words.startswith("[") and words.endswith("]"):
        return [_plain(one) for one in words[1:-1].split(",") if one.strip()]
    return [_plain(words)] if words.strip() else []


def _plain(words: str) -> str:
    return words.strip().strip("\"'")
