"""uv's configuration file: the indexes that it names, the one that stands in the place of PyPI first."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True, slots=True)
class UvSettings:
    """What a file says; empty or false where it says nothing."""

    index: str = ""
    extra: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    forbidden: bool = False
    offline: bool = False
    backend: str = ""
    constraints: tuple[str, ...] = ()


def read_uv_toml(words: str) -> UvSettings:
    """The settings of uv.toml; what `[pip]` says counts for `uv pip` before what stands at the top."""
    try:
        whole = tomllib.loads(words)
    except (ValueError, RecursionError):  # also of a number of thousands of digits, and of ten thousand brackets
        return UvSettings()
    own = {**whole, **_table(whole.get("pip"))}
    named = tuple(_indexes(whole)) + tuple(_indexes(_table(whole.get("pip"))))
    default = next((url for url, first in named if first), "")
    return UvSettings(
        index=default or _text(own.get("index-url")),
        extra=(*(url for url, first in named if not first), *_texts(own.get("extra-index-url"))),
        links=_texts(own.get("find-links")),
        forbidden=own.get("no-index") is True,
        offline=own.get("offline") is True,
        backend=_text(own.get("torch-backend")),
        constraints=_texts(own.get("constraint-dependencies")),
    )


def _indexes(table: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """The URLs of `[[index]]`, and which is the default; one that is `explicit` serves only packages that a project names."""
    listed = table.get("index")
    for one in listed if isinstance(listed, list) else ():
        entry = _table(one)
        if isinstance(entry.get("url"), str) and entry.get("explicit") is not True:
            yield entry["url"], entry.get("default") is True


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else tuple(_text(value).split())
