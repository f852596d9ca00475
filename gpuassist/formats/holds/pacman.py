"""What pacman is told to ignore (pacman.conf(5)): packages and groups, and the files that are included there."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.formats.holds.lines import HoldLine, numbered
from gpuassist.model.holds import HoldKind, HoldReach
from gpuassist.model.lazy_regex import lazy_regex

_SECTION = lazy_regex(r"\[(?P<name>[^\]]+)\]")
_IGNORED = {"IgnorePkg": HoldKind.PACMAN, "IgnoreGroup": HoldKind.PACMAN_GROUP}


def read_pacman_conf(words: str, section: str = "") -> Iterator[HoldLine]:
    """The directives of the section `options`, repeated or with several names; `section` is the one that a file is included in.
    Comments begin a line, and names are case-sensitive.
    """
    for number, line in numbered(words):
        stripped = line.strip()
        heading = _SECTION.fullmatch(stripped)
        key, sign, value = stripped.partition("=")
        if heading is not None:
            section = heading["name"]
        elif sign and section == "options" and (kind := _IGNORED.get(key.strip())) is not None:
            for pattern in value.split():
                yield HoldLine(number, kind, HoldReach.EVERY_UPGRADE, pattern)


def included(words: str) -> Iterator[tuple[str, str]]:
    """The patterns of the included files, each with the section that it stands in."""
    section = ""
    for _, line in numbered(words):
        stripped = line.strip()
        heading = _SECTION.fullmatch(stripped)
        key, sign, value = stripped.partition("=")
        if heading is not None:
            section = heading["name"]
        elif sign and key.strip() == "Include" and value.strip().startswith("/"):
            yield section, value.strip()
