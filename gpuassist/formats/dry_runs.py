"""What pip, uv and conda say that they would do, or why they would do nothing; pip's report names what each package asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import cast

from msgspec import Struct

from gpuassist.formats.package_settings import without_login
from gpuassist.formats.packages import normalised
from gpuassist.model.json_reader import NotJsonError, read_json, whole
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.solve import PackageChange


class PlannedPackage(Struct, frozen=True):
    """A package that would be installed; `requires` as its metadata writes it, `source` the URL that it comes from."""

    name: str
    version: str
    requires: tuple[str, ...] = ()
    source: str = ""
    yanked: bool = False


def read_pip_report(words: str) -> tuple[PlannedPackage, ...] | None:
    """Those of a whole report; None where it is none, or where it is damaged."""
    try:
        report: object = read_json(words)
    except NotJsonError:
        return None
    rows = _get(report, "install")
    if not isinstance(rows, list):
        return None
    planned = tuple(_planned(row) for row in cast("list[object]", rows))
    return None if None in planned else tuple(one for one in planned if one is not None)


def _planned(row: object) -> PlannedPackage | None:
    metadata = _get(row, "metadata")
    name, version = _get(metadata, "name"), _get(metadata, "version")
    if not isinstance(name, str) or not isinstance(version, str) or not name or not version:
        return None
    asked = _get(metadata, "requires_dist")
    requires = tuple(one for one in cast("list[object]", asked) if isinstance(one, str)) if isinstance(asked, list) else ()
    url = _get(_get(row, "download_info"), "url")
    return PlannedPackage(
        normalised(name), version, requires, without_login(url) if isinstance(url, str) else "", _get(row, "is_yanked") is True
    )


def _get(value: object, key: str) -> object:
    return cast("dict[object, object]", value).get(key) if isinstance(value, dict) else None


# What `uv pip install --dry-run` prints: the packages that would come and go.


_CHANGE = lazy_regex(
    r"^\s*(?P<sign>[-+~])\s(?P<name>[A-Za-z0-9][\w.-]{0,200})==(?P<version>\S+)(?:\s\(from (?P<source>\S+)\))?\s*$"
)
_COUNTED = lazy_regex(r"^Would (?P<does>install|uninstall) (?P<count>\d{1,6}) packages?$")
_NOTHING = lazy_regex(r"^Would make no changes$", re.MULTILINE)


def read_uv_dry_run(words: str) -> tuple[PackageChange, ...] | None:
    """The changes by name; None where it is no such text, or where some of it is missing."""
    gone: dict[str, str] = {}
    come: dict[str, tuple[str, str]] = {}
    counted = {"install": 0, "uninstall": 0}
    for line in words.splitlines():
        found = _COUNTED.match(line.strip())
        if found:
            counted[found["does"]] = int(found["count"])
        change = _CHANGE.match(line)
        if change is None:
            continue
        name, version = normalised(change["name"]), change["version"]
        if change["sign"] in "-~":
            gone[name] = version
        if change["sign"] in "+~":
            come[name] = (version, without_login(change["source"] or ""))
    told = any(counted.values()) or _NOTHING.search(words) is not None
    if not told or (len(come), len(gone)) != (counted["install"], counted["uninstall"]):
        return None
    names = sorted({*gone, *come})
    after = {name: come.get(name, ("", "")) for name in names}
    return tuple(PackageChange(name, gone.get(name, ""), after[name][0], source=after[name][1]) for name in names)


# What conda, mamba and micromamba print with `--dry-run --json`, in each of the forms that they have had. Up to 4.2 packages are
# strings (`defaults::numpy-1.11.1-py27_0 1`), in 4.3 `actions` is a list, since then one record; mamba 0.3 says it all twice,
# micromamba and mamba 2 give the whole record of each package; progress and remarks may stand around it.


_Record = Mapping[str, object]
_START = lazy_regex(r"^[ \t]*\{", re.MULTILINE)
_STRING = lazy_regex(
    r"(?:(?P<channel>[^\s:]+(?:/[^\s:]+)*)::)?(?P<name>\S+)-(?P<version>[^\s-]+)-(?P<build>[^\s-]+?)(?:\.tar\.bz2)?(?:\s\d)?"
)
_DOCUMENTS_AT_MOST = 20


class DryRunRefused(Struct, frozen=True):
    """Why nothing would be installed, in the tool's words; `name` is that of its error (`PackagesNotFoundError`), or empty."""

    words: str
    name: str = ""


class _Build(Struct, frozen=True):
    name: str
    version: str
    build: str = ""
    source: str = ""
    size: int | None = None


def read_conda_dry_run(words: str) -> tuple[PackageChange, ...] | DryRunRefused | None:
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


def _refusal(document: _Record) -> DryRunRefused | None:
    problems = document.get("solver_problems")
    listed = [one for one in cast("list[object]", problems) if isinstance(one, str)] if isinstance(problems, list) else []
    # mamba and micromamba 2.8.1 and newer log their errors along.
    records = document.get("log_history")
    logged = (one for one in cast("list[object]", records) if isinstance(one, dict)) if isinstance(records, list) else ()
    errors = [_word(one, "message") for one in logged if _word(one, "level").lower() in {"error", "critical"}]
    words = "\n".join(listed) or _word(document, "message") or _word(document, "error") or "\n".join(errors)
    failed = document.get("success") is False or "error" in document or "exception_name" in document or bool(listed)
    return DryRunRefused(words.strip(), _word(document, "exception_name") or _word(document, "error_type")) if failed else None


def _word(record: Mapping[str, object], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


# What pip, uv and conda say when they install nothing: which of a few reasons it is, and their explanation without the rest.


_UNREACHABLE = lazy_regex(
    r"NewConnectionError|ConnectTimeout|ReadTimeout|Temporary failure in name resolution|Name or service not known|dns error"
    r"|Could not resolve host|ProxyError|SSLError|CERTIFICATE_VERIFY_FAILED|CondaHTTPError|CondaSSLError|error sending request"
    r"|Failed to fetch|Connection refused|network connectivity is disabled|Download error"
)
_NO_OPTION = lazy_regex(r"no such option: --(?:dry-run|report)|unrecognized arguments: .*--(?:dry-run|report)")
_NO_PIP = lazy_regex(r"No module named pip\b")
_CLOSED = lazy_regex(r"externally[- ]managed")
_IMPOSSIBLE = lazy_regex(
    r"ResolutionImpossible|No matching distribution found|No solution found|conflicting dependencies|nothing provides"
    r"|Unsatisfiable|PackagesNotFound|ResolvePackageNotFound|incompatible with each other|are incompatible|solver_problems"
    r"|Could not solve for environment specs|Encountered problems while solving"
)
_CAUSE = lazy_regex(
    r"^(?:ERROR: (?:Cannot install|No matching|Could not find|Ignored the following)|The conflict is caused by:|\s{4}\S.*)"
)
_DRAWN = lazy_regex(r"[│├└╰─▶×┌]+|^\s*(?:ERROR|error|cause|hint): ")


class Reason(str, Enum):
    """Why nothing would be installed."""

    IMPOSSIBLE = "impossible"  # no set of packages fits
    UNREACHABLE = "unreachable"
    TOO_OLD = "too old"  # a pip that cannot look
    NO_PIP = "no pip"
    CLOSED = "closed"  # the distribution's own environment: PEP 668
    OTHER = "other"


def reason_of(words: str) -> Reason:
    """Which of them; a tool that reached no index says in the end that nothing was found there, so that is asked before."""
    for pattern, reason in _REASONS:
        if pattern.search(words):
            return reason
    return Reason.OTHER


def explanation(words: str) -> str:
    """The lines that explain, on one line."""
    lines = [line for line in words.splitlines() if line.strip()]
    causes = [line for line in lines if _CAUSE.match(line)]
    if any(not line.startswith(" ") for line in causes):
        chosen = causes
    else:  # from the first line on that names an error, else the last ones
        chosen = lines[next((place for place, line in enumerate(lines) if _NAMES_ERROR.search(line)), max(0, len(lines) - 12)) :]
    return " ".join(" ".join(_DRAWN.sub(" ", line) for line in dict.fromkeys(chosen)).split())


_NAMES_ERROR = lazy_regex(r"(?i)no solution found|\berror\b|problems while solving|unsatisfiable|conflict")
_REASONS = (
    (_NO_OPTION, Reason.TOO_OLD),
    (_NO_PIP, Reason.NO_PIP),
    (_CLOSED, Reason.CLOSED),
    (_UNREACHABLE, Reason.UNREACHABLE),
    (_IMPOSSIBLE, Reason.IMPOSSIBLE),
)
