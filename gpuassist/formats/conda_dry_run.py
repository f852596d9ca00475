"""What conda, mamba and micromamba print with `--dry-run --json`, in each of the forms that they have had.

Up to 4.2 packages are strings (`defaults::numpy-1.11.1-py27_0 1`), in 4.3 `actions` is a list, since then one record; mamba 0.3
says it all twice, micromamba and mamba 2 give the whole record of each package; progress and remarks may stand around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from gpuassist.formats.index_address import without_login
from gpuassist.model.json_reader import whole
from gpuassist.model.solve import PackageChange

_Record = Mapping[str, object]
_START = re.compile(r"^[ \t]*\{", re.MULTILINE)
_STRING = re.compile(
    r"(?:(?P<channel>[^\s:]+(?:/[^\s:]+)*)::)?(?P<name>\S+)-(?P<version>[^\s-]+)-(?P<build>[^\s-]+?)(?:\.tar\.bz2)?(?:\s\d)?"
)
_DOCUMENTS_AT_MOST = 20


@dataclass(frozen=True, slots=True)
class Refused:
    """Why nothing would be installed, in the tool's words; `name` is that of its error (`PackagesNotFoundError`), or empty."""

    words: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class _Build:
    name: str
    version: str
    build: str = ""
    source: str = ""
    size: int | None = None


def read_conda_dry_run(words: str) -> tuple[PackageChange, ...] | Refused | None:
    """The changes by name, or why there are none; None where it is no such output, or damaged."""
    documents = tuple(_documents(words))
    refused = next((one for one in map(_refusal, documents) if one is not None), None)
    actions = tuple(one for document in documents for one in _actions(document))
    if actions:
        gone = _builds(actions, "UNLINK")
        come = _builds(actions, "LINK")
        fetched = _builds(actions, "FETCH")
        if gone is None or come is None or fetched is None:
            return None
        come = {**fetched, **come}  # mamba 0.3 names among LINK only what was asked for
        return tuple(_change(name, gone.get(name), come.get(name), fetched) for name in sorted({*gone, *come}))
    if refused is not None:
        return refused
    return () if any(one.get("success") is True for one in documents) else None


def _documents(words: str) -> Iterator[_Record]:
    decoder, place = json.JSONDecoder(parse_int=whole), 0
    for _ in range(_DOCUMENTS_AT_MOST):
        start = _START.search(words, place)
        if start is None:
            return
        try:
            value, place = decoder.raw_decode(words, start.end() - 1)
        except (ValueError, RecursionError):
            place = start.end()
            continue
        if isinstance(value, dict):
            yield cast("_Record", value)


def _actions(document: _Record) -> Iterator[_Record]:
    found = document.get("actions")
    for one in found if isinstance(found, list) else [found]:
        if isinstance(one, dict):
            yield cast("_Record", one)


def _change(name: str, gone: _Build | None, come: _Build | None, fetched: Mapping[str, _Build]) -> PackageChange:
    loaded = fetched.get(name)
    return PackageChange(
        name,
        gone.version if gone else "",
        come.version if come else "",
        gone.build if gone else "",
        come.build if come else "",
        loaded.size if loaded else 0 if fetched and come else None,
        (loaded.source if loaded else "") or (come.source if come else ""),
    )


def _builds(actions: tuple[_Record, ...], what: str) -> dict[str, _Build] | None:
    """The packages of one action by name; None where one cannot be read."""
    found: dict[str, _Build] = {}
    for action in actions:
        rows = action.get(what) or []
        for row in cast("list[object]", rows) if isinstance(rows, list) else []:
            one = _build(row)
            if one is None:
                return None
            found.setdefault(one.name, one)
    return found


def _build(row: object) -> _Build | None:
    if isinstance(row, str):
        match = _STRING.fullmatch(row.strip())
        return _Build(match["name"], match["version"], match["build"], match["channel"] or "") if match else None
    if not isinstance(row, dict):
        return None
    record = cast("_Record", row)
    name, version = _word(record, "name"), _word(record, "version")
    if not name or not version:
        return None
    size = record.get("size")
    source = without_login(_word(record, "url") or _word(record, "channel") or _word(record, "base_url"))
    return _Build(
        name, version, _word(record, "build_string") or _word(record, "build"), source, size if isinstance(size, int) else None
    )


def _refusal(document: _Record) -> Refused | None:
    problems = document.get("solver_problems")
    listed = [one for one in cast("list[object]", problems) if isinstance(one, str)] if isinstance(problems, list) else []
    words = "\n".join(listed) or _word(document, "message") or _word(document, "error") or "\n".join(_logged(document))
    failed = document.get("success") is False or "error" in document or "exception_name" in document or bool(listed)
    return Refused(words.strip(), _word(document, "exception_name") or _word(document, "error_type")) if failed else None


def _logged(document: _Record) -> Iterator[str]:
    """The errors among what mamba and micromamba 2.8.1 and newer log along."""
    records = document.get("log_history")
    for one in cast("list[object]", records) if isinstance(records, list) else []:
        if isinstance(one, dict) and _word(one, "level").lower() in {"error", "critical"}:
            yield _word(one, "message")


def _word(record: Mapping[str, object], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""
