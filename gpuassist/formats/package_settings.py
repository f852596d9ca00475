"""The settings files of conda, pip and uv that decide where packages come from; conda's: values, lists, names with a URL.

YAML is more than this; people and `conda config` write these files by hand in this much of it.
"""

from __future__ import annotations

import configparser
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from gpuassist.model.lazy_regex import lazy_regex

_KEY = lazy_regex(r"([A-Za-z_][\w-]*)\s*:(?:\s+(.*)|\s*)")
_NAMED = lazy_regex(r"""["']?([\w.-]+)["']?\s*:\s+(\S+)""")
_COMMENT = lazy_regex(r"(?:^|\s)#.*")


class Condarc(Struct, frozen=True):
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


# pip's configuration file: the settings of its sections, under the names that its options have.


_INSTALL = ("global", "install")  # the second wins where both say something


def read_pip_conf(words: str) -> Mapping[str, tuple[str, ...]]:
    """What holds for `pip install`, each with its values, one a line in the file; empty where the file cannot be read."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(words)
    except configparser.Error:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for section in _INSTALL:
        if parser.has_section(section):
            found.update({name.lower().replace("_", "-"): tuple(str(value).split()) for name, value in parser.items(section)})
    return {name: values for name, values in found.items() if values}


# uv's configuration file: the indexes that it names, the one that stands in the place of PyPI first.


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class UvSettings(Struct, frozen=True):
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


# The address that a package comes from, without the name and the password that mirrors of companies have in it.


_LOGIN = lazy_regex(r"(?<=://)[^/@\s]+@")
_PYTORCH = lazy_regex(r"/whl/(?:nightly/|test/)?(cpu|xpu|cu\d{2,3}|rocm[\d.]+)/")


def without_login(address: str) -> str:
    return _LOGIN.sub("", address)


def tag_of(address: str) -> str:
    """The build that an address of PyTorch's index, or of a mirror of it, is for: `cu128`; empty where it names none."""
    found = _PYTORCH.search(address)
    return found[1] if found else ""
