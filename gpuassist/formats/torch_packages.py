"""Every torch that a text names as a package, with what stands around its line: the environment, a removal, a mere search."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.formats.torch_mention import LineKind, Mention, read_mention
from gpuassist.formats.torch_version import read_torch_version
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Version

Numbered = tuple[int, str]

_QUOTATION = lazy_regex(r"^(?:[ \t]{0,8}>[ \t]?){1,4}")
_ENVIRONMENT = lazy_regex(
    r"^\s*(?:# packages in environment at (?P<list>/\S+?):|(?:environment location|Prefix): (?P<plan>/\S+))\s*$"
)
_SEARCH = lazy_regex(r"\b(?:conda|mamba)\s+(?:search|repoquery)\b|^\s*Loading channels: ")
_HEADING = lazy_regex(r"^\s*The following (?:NEW )?packages? will be (?P<what>[A-Za-z]+)", re.IGNORECASE)
_COMMAND = lazy_regex(r"^.{0,120}?(?<![-=])[$#%>❯»➜]\s+(?:sudo\s+)?[a-z./]")
_PINNED = lazy_regex(r"^\s*[A-Za-z][\w.-]*==\d[\w.+!]*\s*$")
_FREEZE = lazy_regex(r"\bpip3? (?:freeze|list\b.*freeze)|\bconda list --export\b")
_SHOWN_NAME = lazy_regex(r"^\s*Name: torch\s*$")
_SHOWN_VERSION = lazy_regex(r"^\s*Version: (\d\S*)\s*$")
_SHOWN_PLACE = lazy_regex(r"^\s*Location: (/\S+?)/lib(?:64)?/python[\d.]+/")
_FREEZE_LINE = lazy_regex(r"^\s*torch==(\d[\w.+]*)\s*$")
_FIRST_ARM_CUDA = Version((2, 11))  # PyPI's aarch64 wheels before it are for the CPU alone


class _Section(Struct, frozen=True):
    """What the lines above say of the next ones."""

    prefix: str = ""
    removed: bool = False
    search: bool = False


_NONE = _Section()
_MOST = 400  # torches that a text names in one manner: it repeats itself
_AROUND = 300  # lines before and after a line of a freeze


@lru_cache(2)
def mentions(text: str) -> tuple[Mention, ...]:
    """Those of a whole text, which may be quoted, with the numbers of their lines from 1."""
    if "torch" not in text:
        return ()
    lines = (_QUOTATION.sub("", line) if ">" in line[:16] else line for line in text.split("\n"))
    return read_mentions(enumerate((line.rstrip() for line in lines), 1))


def read_mentions(lines: Iterable[Numbered]) -> tuple[Mention, ...]:
    """Each torch that is listed, announced or removed, in the order of the text; what is merely searched for is none."""
    every = tuple(lines)
    found = (islice(read(every), _MOST) for read in (_rows, _frozen, _shown))
    return tuple(sorted({one for some in found for one in some}, key=lambda one: one.line))


def cpu_alone(mention: Mention) -> bool:
    """Whether a wheel without a tag is for the CPU by its platform: PyPI's of Windows and macOS, and of ARM before 2.11."""
    version = read_torch_version(mention.version)
    if version is None or version.tag or not mention.platform:
        return False
    if mention.platform.startswith(("win", "macosx")):
        return True
    return mention.platform.startswith("manylinux") and mention.platform.endswith("aarch64") and version.release < _FIRST_ARM_CUDA


def _rows(lines: tuple[Numbered, ...]) -> Iterator[Mention]:
    section = _NONE
    for number, words in lines:
        section = _after(section, words)
        mention = None if section.search else read_mention(number, words)
        if mention is not None:
            standing = LineKind.REMOVED if section.removed and mention.tool == "conda" else mention.standing
            yield replace(mention, standing=standing, prefix=mention.prefix or section.prefix)


def _after(section: _Section, words: str) -> _Section:
    """The section that a line opens, or the one that it stands in."""
    environment = _ENVIRONMENT.match(words) if "nvironment" in words or "Prefix" in words else None
    if environment:
        return _Section(environment["list"] or environment["plan"])
    if ("conda" in words or "mamba" in words or "Loading" in words) and _SEARCH.search(words):
        return _Section(search=True)
    if "he following" in words:
        heading = _HEADING.match(words)
        if heading:
            return replace(section, removed=heading["what"].upper() == "REMOVED", search=False)
    return _NONE if section is not _NONE and _COMMAND.match(words) else section


def _frozen(lines: tuple[Numbered, ...]) -> Iterator[Mention]:
    """`torch==2.7.0` of `pip freeze`, told from the same line of a requirements file by what stands above it."""
    named = [place for place, (_, words) in enumerate(lines) if "torch==" in words and _FREEZE_LINE.match(words)]
    for place in named[:_MOST]:
        number, words = lines[place]
        found = _FREEZE_LINE.match(words)
        if found and _is_freeze(lines[max(0, place - _AROUND) : place + _AROUND], min(place, _AROUND)):
            yield Mention(number, "torch", found[1], LineKind.INSTALLED, "pip")


def _is_freeze(lines: tuple[Numbered, ...], place: int) -> bool:
    above = place
    while above and _PINNED.match(lines[above - 1][1]):
        above -= 1
    below = place + 1
    while below < len(lines) and _PINNED.match(lines[below][1]):
        below += 1
    before = " ".join(words for _, words in lines[max(0, above - 2) : above])
    # A requirements file names no nvidia-* wheels: those come with torch.
    return bool(_FREEZE.search(before)) or any(words.lstrip().startswith("nvidia-") for _, words in lines[above:below])


def _shown(lines: tuple[Numbered, ...]) -> Iterator[Mention]:
    """`pip show torch`."""
    for place, (_, words) in enumerate(lines):
        if "Name: torch" not in words or not _SHOWN_NAME.match(words):
            continue
        below = lines[place + 1 : place + 12]
        version = next(((number, found[1]) for number, line in below if (found := _SHOWN_VERSION.match(line))), None)
        where = next((found[1] for _, line in below if (found := _SHOWN_PLACE.match(line))), "")
        if version:
            yield Mention(version[0], "torch", version[1], LineKind.INSTALLED, "pip", prefix=where)
