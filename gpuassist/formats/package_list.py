"""The packages that a pasted list names, with their versions: what pip, conda, uv, poetry, pdm, pixi and pipdeptree print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from gpuassist.formats.packages import is_of_interest, normalised
from gpuassist.model.lazy_regex import lazy_regex


class ListedPackage(Struct, frozen=True):
    """A package in a line: its name as indexes compare it, and `build` as conda writes it (empty elsewhere)."""

    line: int
    name: str
    version: str
    build: str = ""


_NAME = r"(?P<name>[A-Za-z][\w.-]{1,60})"
_VERSION = r"(?P<version>\d[\w.!+]{0,40})"
_LABEL = r"(?:\[(?:pip3?|conda)\] ?)?"
_BRANCHES = r"[\s│├└─|`\\+-]{1,80}"
_BEHIND = r"[ \t]{2,}\S.{0,300}|[ \t]+(?:/|~/|[A-Z]:\\).{0,300}"
_LAYOUTS = tuple(
    lazy_regex(one)
    for one in (
        # pipdeptree below its first line, and `uv tree`: `├── nvidia-nccl-cu12 v2.21.5 (extra: …)`
        rf"^{_BRANCHES}{_NAME} \[required: [^\]\n]{{1,80}}, installed: {_VERSION}\]",
        rf"^(?:{_BRANCHES})?{_NAME} v{_VERSION}(?: \(.{{0,120}})?$",
        # `pip freeze` with a marker or a hash behind it, uv's ` + name==version`
        rf"^\s*{_LABEL}(?:[+~] )?{_NAME}=={_VERSION}(?:\s*[;\\].{{0,200}}|\s+--hash.{{0,200}})?$",
        # pip before version 9
        rf"^\s*{_LABEL}{_NAME} \({_VERSION}(?:, .{{0,200}})?\)$",
        # `conda list` and its export, pixi's with a size
        rf"^\s*{_LABEL}{_NAME}[ \t]+{_VERSION}[ \t]+(?P<build>[\w.]*_[\w.]+|pypi|<pip>)(?:[ \t]+.{{0,160}})?$",
        rf"^\s*{_NAME}={_VERSION}=(?P<build>[\w.]+)$",
        # `pip list`, `poetry show`: columns; a description or a directory may follow
        rf"^\s*{_LABEL}{_NAME}[ \t]{{1,60}}(?:\(!\)[ \t]+)?{_VERSION}(?:{_BEHIND})?$",
        rf"^\s*(?P<name>nvidia-[\w-]{{2,40}}|torch)[ \t]{{1,60}}{_VERSION} [A-Zc][A-Za-z]{{2,20}} .{{0,200}}$",
        # the frames of `pdm list` and of Markdown
        rf"^\s*[│┃|]\s*{_NAME}\s*[│┃|]\s*{_VERSION}\s*[│┃|].{{0,200}}$",
        # `pip list --format=json`, one package a line
        r"^\W{0,6}\"name\": ?\"(?P<name>[\w.-]{2,60})\", ?\"version\": ?\"(?P<version>\d[\w.!+]{0,40})\"",
        # a second installation
        rf"^\s*Requirement already satisfied: {_NAME}\b.{{0,200}}\({_VERSION}\)$",
    )
)

# Every package on one line: what pip says at the end.
_DONE = lazy_regex(r"^\s*(?:Successfully installed|Would install) ")
_INSTALLED = lazy_regex(r"(?<=\s)(?P<name>[A-Za-z][A-Za-z0-9_.-]{1,60}?)-(?P<version>\d[\w.!+]{0,40})(?=\s|$)")
_JSON = lazy_regex(r"\{\s*\"name\": ?\"(?P<name>[\w.-]{2,60})\", ?\"version\": ?\"(?P<version>\d[\w.!+]{0,40})\"")
_SHOWN = lazy_regex(r"^\s*Name: ([\w.-]{2,60})\s*$")
_SHOWN_VERSION = lazy_regex(r"^\s*Version: (\d\S{0,40})\s*$")
_LONGEST = 4000  # characters of a line: what pip says at the end is the longest


def listed_packages(lines: Iterable[tuple[int, str]]) -> Iterator[ListedPackage]:
    """Those that have to do with the GPU, in the order of the text."""
    shown, place = "", 0
    for number, words in lines:
        name = _SHOWN.match(words)
        if name:  # of `pip show`, whose next line is the version
            shown, place = normalised(name[1]), number
            continue
        version = _SHOWN_VERSION.match(words) if shown and number <= place + 2 else None
        if version and is_of_interest(shown):
            yield ListedPackage(number, shown, version[1])
        else:
            yield from _of_line(number, words[:_LONGEST])


def _of_line(number: int, words: str) -> Iterator[ListedPackage]:
    several = _INSTALLED if _DONE.match(words) else _JSON if words.count('"name"') > 1 else None
    found = several.finditer(words) if several else filter(None, (one.match(words) for one in _LAYOUTS))
    for match in found:
        name = normalised(match[1])
        if is_of_interest(name):
            build = match.groupdict().get("build") or ""
            yield ListedPackage(number, name, match["version"], "" if build.startswith(("pypi", "<pip>")) else build)
        if not several:
            return
