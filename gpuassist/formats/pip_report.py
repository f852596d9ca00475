"""The report of `pip install --dry-run --report`: every package that pip would install, with what each asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from gpuassist.formats.index_address import without_login
from gpuassist.formats.installed import normalised
from gpuassist.model.json_reader import NotJsonError, read_json


@dataclass(frozen=True, slots=True)
class Planned:
    """A package that would be installed; `requires` as its metadata writes it, `source` the URL that it comes from."""

    name: str
    version: str
    requires: tuple[str, ...] = ()
    source: str = ""
    yanked: bool = False


def read_pip_report(words: str) -> tuple[Planned, ...] | None:
    """Those of a whole report; None where it is none, or where it is damaged."""
    try:
        report: object = read_json(words)
    except NotJsonError:
        return None
    rows = _get(report, "install")
    if not isinstance(rows, list):
        return None
    planned = tuple(_planned(row) for row in cast("list[object]", rows))
    return None if None in planned else tuple(_known(planned))


def _known(planned: tuple[Planned | None, ...]) -> Iterator[Planned]:
    yield from (one for one in planned if one is not None)


def _planned(row: object) -> Planned | None:
    metadata = _get(row, "metadata")
    name, version = _get(metadata, "name"), _get(metadata, "version")
    if not isinstance(name, str) or not isinstance(version, str) or not name or not version:
        return None
    asked = _get(metadata, "requires_dist")
    requires = tuple(one for one in cast("list[object]", asked) if isinstance(one, str)) if isinstance(asked, list) else ()
    url = _get(_get(row, "download_info"), "url")
    return Planned(
        normalised(name), version, requires, without_login(url) if isinstance(url, str) else "", _get(row, "is_yanked") is True
    )


def _get(value: object, key: str) -> object:
    return cast("dict[object, object]", value).get(key) if isinstance(value, dict) else None
