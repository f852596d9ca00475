"""Every torch that a text names as a package: what pip, uv, conda, mamba, poetry and pdm list, announce, install, remove."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import lru_cache
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.formats.torch_version import read_torch_version
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Version

# A line in which a package manager names a torch.


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
_BRANCHES = r"[\s│├└─|`\\+-]{0,80}"
_SIZE = r"[\d.,]+ ?[kKMGT]?i?B"
# Cheap to look for, and part of every layout below.
_LIKELY = lazy_regex(
    r"torch(?:-nightly|-gpu|-cpu)?(?:[-=]{1,2}\d|:?[ \t]+(?:\(?\d|\S{1,120}::|\S{1,120}[ \t]+-->)|[ \t]*\|)"
    r"|satisfied: torch|torch @ |torch \[required|torch v\d|torch *│|\"torch\", ?\"version"
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
            version = mention.version.replace("%2B", "+").replace("%2b", "+").rstrip(".")
            return replace(mention, version=version, channel=mention.channel.partition("/linux-")[0])
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
        # The environment of a site-packages directory; a path from where the user stood says nothing.
        inside = re.match(r"(/\S+?)/lib(?:64|/python[\d.]+)?/", f"{told.get('place') or ''}/")
        platform, prefix = told.get("platform") or "", inside[1] if inside else ""
        return Mention(number, told["name"], told["version"], standing, "pip", platform=platform, prefix=prefix)

    return make


def _signed(number: int, found: re.Match[str]) -> Mention:
    """A row with its sign: mamba's `+` comes, `-` goes, `o` is installed anew."""
    return _conda(LineKind.REMOVED if found["sign"] == "-" else LineKind.ANNOUNCED)(number, found)


def _uv(number: int, found: re.Match[str]) -> Mention:
    return replace(_pip(LineKind.REMOVED if found["sign"] == "-" else LineKind.ANNOUNCED)(number, found), tool="uv")


def _uv_tree(number: int, found: re.Match[str]) -> Mention:
    return Mention(number, found["name"], found["version"], LineKind.INSTALLED, "uv")


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
    # `poetry show`, whose columns are as wide as they have to be
    (lazy_regex(rf"^\s*{_PIP_NAME} +{_VERSION} Tensors and Dynamic"), _pip(LineKind.INSTALLED)),
    # pipdeptree and `uv tree`, also as a branch of what asks for it; the frames of pdm; `pip list --format=json`
    (lazy_regex(rf"^{_BRANCHES}{_PIP_NAME} \[required: [^\]]{{1,80}}, installed: {_VERSION}\]"), _pip(LineKind.INSTALLED)),
    (lazy_regex(rf"^{_BRANCHES}{_PIP_NAME} v{_VERSION}(?: \(|$)"), _uv_tree),
    (lazy_regex(rf"^\s*[│┃|]\s*{_PIP_NAME}\s*[│┃|]\s*{_VERSION}\s*[│┃|]"), _pip(LineKind.INSTALLED)),
    (lazy_regex(rf"\"name\": ?\"{_PIP_NAME}\", ?\"version\": ?\"{_VERSION}\""), _pip(LineKind.INSTALLED)),
)  # fmt: skip


# What stands around such a line: the environment, a removal, a mere search.


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
    beside = any(words.lstrip().startswith("nvidia-") for _, words in lines[above:below])
    tree = any(words.startswith(("├", "└", "  - ")) and "installed: " in words for _, words in lines[place + 1 : place + 2])
    return beside or tree or bool(_FREEZE.search(before))


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
