"""A line in which a package manager names a torch: what pip, uv, conda, mamba, poetry and pdm list, announce, install, remove."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.lazy_regex import lazy_regex


class LineKind(str, Enum):
    """What becomes of the package that a line names."""

    INSTALLED = "installed"
    ANNOUNCED = "announced"
    REMOVED = "removed"


class Mention(Struct, frozen=True):
    """A torch in a line: `build` and `channel` are conda's, `platform` is that of a wheel's name, `prefix` the environment's
    directory; empty where the line does not say. `tool` is `conda`, `pip` or `uv`.
    """

    line: int
    name: str
    version: str
    standing: LineKind
    tool: str
    build: str = ""
    channel: str = ""
    platform: str = ""
    prefix: str = ""


_VERSION = r"(?P<version>\d{1,4}(?:\.\d{1,8}){1,4}[\w.+!%]{0,60})"
_PIP_NAME = r"(?P<name>torch)"
_CONDA_NAME = r"(?P<name>pytorch(?:-nightly|-gpu|-cpu)?)"
_BUILD = r"(?P<build>[A-Za-z][\w.]*_[\w.]+|\w+_\d+)"
_SIZE = r"[\d.,]+ ?[kKMGT]?i?B"
# Cheap to look for, and part of every layout below.
_LIKELY = lazy_regex(
    r"torch(?:-nightly|-gpu|-cpu)?(?:[-=]{1,2}\d|:?[ \t]+(?:\(?\d|\S{1,120}::|\S{1,120}[ \t]+-->)|[ \t]*\|)"
    r"|satisfied: torch|torch @ "
)
_LONGEST = 2000  # characters; what is longer is a log's list of everything that was installed, and is read from the first `torch-`


def read_mention(number: int, words: str) -> Mention | None:
    """What a line says of a torch; None where it names none in any layout of a package manager."""
    if "torch" not in words or not _LIKELY.search(words):
        return None
    if len(words) <= _LONGEST:
        short = words
    else:
        start = words.find(" torch-")
        short = words[:40] + words[max(40, start) : start + _LONGEST] if start >= 0 else words[:_LONGEST]
    for pattern, make in _LAYOUTS:
        found = pattern.search(short)
        if found:
            # `%2B` of an address is the plus of a version.
            mention = make(number, found)
            return replace(mention, version=_plus(mention.version).rstrip("."), channel=mention.channel.partition("/linux-")[0])
    return None


def _conda(standing: LineKind) -> Callable[[int, re.Match[str]], Mention]:
    def make(number: int, found: re.Match[str]) -> Mention:
        told = found.groupdict()
        channel = told.get("channel") or ""
        build = told["build"]
        pip = build.startswith("pypi_") or build in {"<pip>", "pypi"}
        return Mention(
            number, told["name"], told["version"], standing, "pip" if pip else "conda", "" if pip else build, "" if pip else channel
        )

    return make


def _pip(standing: LineKind) -> Callable[[int, re.Match[str]], Mention]:
    def make(number: int, found: re.Match[str]) -> Mention:
        told = found.groupdict()
        return Mention(
            number,
            told["name"],
            told["version"],
            standing,
            "pip",
            platform=told.get("platform") or "",
            prefix=_prefix(told.get("place") or ""),
        )

    return make


def _signed(number: int, found: re.Match[str]) -> Mention:
    """A row with its sign: mamba's `+` comes, `-` goes, `o` is installed anew."""
    return _conda(LineKind.REMOVED if found["sign"] == "-" else LineKind.ANNOUNCED)(number, found)


def _uv(number: int, found: re.Match[str]) -> Mention:
    return replace(_pip(LineKind.REMOVED if found["sign"] == "-" else LineKind.ANNOUNCED)(number, found), tool="uv")


def _prefix(place: str) -> str:
    """The environment of a site-packages directory; a path from where the user stood says nothing."""
    found = re.match(r"(/\S+?)/lib(?:64|/python[\d.]+)?/", f"{place}/")
    return found[1] if found else ""


_LAYOUTS: tuple[tuple[re.Pattern[str], Callable[[int, re.Match[str]], Mention]], ...] = (
    # what conda will change: `pytorch  2.0.1-py3.10_cuda11.7_0 --> 2.1.0-cpu_py310h1_0`, with channels since 4.4
    (lazy_regex(rf"^\s*{_CONDA_NAME}:?\s+\S+(?:\s+\S+)?\s+-->\s+(?:(?P<channel>[^\s:]+)::)?(?:[a-z-]+-)?{_VERSION}-{_BUILD}"),
     _conda(LineKind.ANNOUNCED)),
    # what it will install: `pytorch  conda-forge/linux-64::pytorch-1.11.0-cpu_py37h1_1`, and bare in an explicit list
    (lazy_regex(rf"(?:^\s*|\s)(?:(?P<channel>[^\s:]+)::){_CONDA_NAME}-{_VERSION}-{_BUILD}"), _conda(LineKind.ANNOUNCED)),
    (lazy_regex(rf"(?:^\s*|\s)(?:(?P<channel>[^\s:]+)::)?{_CONDA_NAME}==?{_VERSION}==?{_BUILD}\s*$"), _conda(LineKind.INSTALLED)),
    # conda before 4.4: `pytorch:  0.4.1-py36_cuda9.0.176_cudnn7.1.2_1  pytorch`
    (lazy_regex(rf"^\s*{_CONDA_NAME}:\s+{_VERSION}-{_BUILD}(?:\s+(?P<channel>[a-z][\w/-]*))?"), _conda(LineKind.ANNOUNCED)),
    # the table of downloads
    (lazy_regex(rf"^\s*{_CONDA_NAME}-{_VERSION}\s*\|\s*{_BUILD}(?:\s+{_SIZE}(?:\s+(?P<channel>[a-z][\w/-]*))?)?"),
     _conda(LineKind.ANNOUNCED)),
    # mamba and micromamba: `  + pytorch  2.0.1  cpu_mkl_py310h1_102  conda-forge/linux-64  27MB`
    (lazy_regex(rf"^\s*(?P<sign>[+~o-])\s+{_CONDA_NAME}\s+{_VERSION}\s+{_BUILD}(?:\s+(?P<channel>[a-z][\w/-]*))?"), _signed),
    # `conda list`, pixi's too, which names a size before the channel
    (lazy_regex(rf"^\s*{_CONDA_NAME}\s+{_VERSION}\s+{_BUILD}(?:\s+{_SIZE}\s+conda)?(?:\s+(?P<channel>[a-z][\w/-]*))?"),
     _conda(LineKind.INSTALLED)),
    (lazy_regex(rf"^\s*{_PIP_NAME}\s+{_VERSION}\s+(?P<build>pypi(?:_\d+)?|<pip>)\b"), _conda(LineKind.INSTALLED)),
    # uv: ` + torch==2.7.0+cpu`
    (lazy_regex(rf"^\s*(?P<sign>[+~-]) {_PIP_NAME}==?{_VERSION}(?:\s+\(.*\))?\s*$"), _uv),
    # pip's wheels, by name or address
    (lazy_regex(rf"\b(?:Downloading|Using cached|Saved)\s+(?:\S*/)?{_PIP_NAME}-{_VERSION}-\w+-\w+-(?P<platform>[\w.]+)\.whl"),
     _pip(LineKind.ANNOUNCED)),
    (lazy_regex(rf"^\s*{_PIP_NAME} @ \S*/torch-{_VERSION}-\w+-\w+-(?P<platform>[\w.]+)\.whl"), _pip(LineKind.INSTALLED)),
    (lazy_regex(rf"\b(?:Successfully installed|Would install)\b[^\n]*?\s{_PIP_NAME}-{_VERSION}(?=\s|$)"), _pip(LineKind.ANNOUNCED)),
    (lazy_regex(rf"\bSuccessfully uninstalled {_PIP_NAME}-{_VERSION}"), _pip(LineKind.REMOVED)),
    (lazy_regex(rf"\b(?:Uninstalling |Found existing installation: ){_PIP_NAME}[- ]{_VERSION}"), _pip(LineKind.REMOVED)),
    (lazy_regex(rf"\bRequirement already satisfied: {_PIP_NAME}\b[^\n(]*? in (?P<place>\S+)[^\n]*\({_VERSION}\)\s*$"),
     _pip(LineKind.INSTALLED)),
    # poetry and pdm
    (lazy_regex(rf"\b(?:Installing|Install|Updating|Update)\s+{_PIP_NAME} \((?:[^()\s]+ -> )?{_VERSION}\)"),
     _pip(LineKind.ANNOUNCED)),
    (lazy_regex(rf"\bInstall {_PIP_NAME} {_VERSION} successful"), _pip(LineKind.ANNOUNCED)),
    # `pip list`: a name, a version, at most columns that no sentence has; before pip 9 the version in brackets
    (lazy_regex(rf"^\s*{_PIP_NAME} +{_VERSION}(?:\s*|\s+(?:/|~/|[A-Z]:\\)\S.*|\s+\d[\w.+]*\s+(?:wheel|sdist)\s*|\s{{2,}}\S.*)$"),
     _pip(LineKind.INSTALLED)),
    (lazy_regex(rf"^\s*{_PIP_NAME} \({_VERSION}\)\s*$"), _pip(LineKind.INSTALLED)),
)  # fmt: skip


def _plus(version: str) -> str:
    """The `+` before a build's tag, which the addresses of wheels write as `%2B`."""
    return version.replace("%2B", "+").replace("%2b", "+")
