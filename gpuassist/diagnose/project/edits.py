"""Other words in a project's files: which words are put where, and what a whole file is then. Everything else stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from packaging.version import Version as PipVersion

from gpuassist.diagnose.project.sets import POETRY, UV, InstallSet, Project
from gpuassist.diagnose.project.stock import bound_index, exact_of, indexes_for, range_of, tag_of
from gpuassist.formats.project import containers, pyproject, requirements
from gpuassist.formats.project.values import IndexRole, ProjectIndex, ProjectRequirement, Spelling, Spot
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Version

WHEELS = "https://download.pytorch.org/whl/"
_TAG = lazy_regex(r"(?:cpu|xpu|cu\d{2,3}|rocm[\d.]+)")
_STABLE = lazy_regex(r"torch_stable\.html")
_OPTION_LENGTH = 20
_LINKS_OPTION = lazy_regex(r"(?:-f|--find-links)[ =]+\Z")
_SOURCES = lazy_regex(r"(?m)^\[tool\.uv\.sources\][ \t]*(?:#[^\n]*)?\r?\n")
_UPPER = lazy_regex(r"(?:<=?|==|~=|===)")


class NewWords(Struct, frozen=True):
    """New words for a place; where the place is empty they are put in."""

    spot: Spot
    words: str


class Impossible(Exception):  # noqa: N818 -- says why a file cannot be changed so
    """A file has no place for the words that it would need."""


def written(project: Project, changes: Iterable[NewWords]) -> Mapping[str, bytes]:
    """The files as they are with the changes; raises `Impossible` where a place cannot be changed, or two changes meet."""
    by_file: dict[str, list[NewWords]] = {}
    for one in dict.fromkeys(changes):
        if not one.spot.editable or one.spot.file not in project.files or one.spot.file.startswith(("../", "/")):
            raise Impossible(one.spot.file)
        by_file.setdefault(one.spot.file, []).append(one)
    made: dict[str, bytes] = {}
    for file, own in by_file.items():
        whole = project.files[file].decode("utf-8", "surrogateescape")
        last = len(whole)
        for one in sorted(own, key=lambda each: (each.spot.first, each.spot.end), reverse=True):
            if one.spot.end > last:
                raise Impossible(file)
            whole = whole[: one.spot.first] + one.words + whole[one.spot.end :]
            last = one.spot.first
        made[file] = whole.encode("utf-8", "surrogateescape")
    return made


# A pin


def respelled(one: ProjectRequirement, version: str, tag: str) -> str:
    """The range as its file writes it, moved so that it takes this version; a pin stays a pin, a range a range."""
    number = Version.parse(version)
    local = f"+{tag}" if "+" in one.versions and tag else ""
    following = f"{number.major}.{number.parts[1] + 1}" if len(number.parts) > 1 else f"{number.major + 1}"
    spelled = one.spelled.strip()
    if one.spelling is Spelling.POETRY:
        return _of_poetry(spelled, version, local, following)
    if one.spelling is Spelling.CONDA:
        sign = "==" if spelled.startswith("==") else "" if spelled[:1].isdigit() else "="
        return f"{sign}{version}"
    clauses = [clause for clause in one.versions.split(",") if clause]
    exact = exact_of(one)
    if len(clauses) == 1 and clauses[0].startswith("==") and clauses[0].endswith(".*"):
        return f"=={'.'.join(version.split('.')[: clauses[0].count('.')])}.*"
    if len(clauses) == 1 and exact:
        sign = "===" if clauses[0].startswith("===") else "=="
        return f"{sign}{version}{local}"
    if len(clauses) == 1 and clauses[0].startswith("~="):
        return f"~={version}" if clauses[0].count(".") > 1 else f">={version},<{following}"
    lower = [clause for clause in clauses if clause.startswith(">") and _admits(clause, version)]
    excluded = [clause for clause in clauses if clause.startswith("!=")]
    begin = lower or ([f">={version}"] if clauses else [])
    return ",".join((*begin, *excluded, f"<{following}"))


def _of_poetry(spelled: str, version: str, local: str, following: str) -> str:
    if spelled[:1] in "^~":
        return f"~{version}"
    if spelled in {"*", ""}:
        return f"<{following}"
    if spelled[:1].isdigit():
        return f"{version}{local}"
    clauses = [clause.strip() for clause in spelled.split(",")]
    if len(clauses) == 1 and spelled.startswith("=="):
        return f"=={version}{local}"
    lower = [clause for clause in clauses if clause.startswith(">") and _admits("".join(clause.split()), version)]
    return ",".join((*(lower or [f">={version}"]), f"<{following}"))


def _admits(clause: str, version: str) -> bool:

    range_ = range_of(clause)
    return range_ is not None and range_.contains(PipVersion(version))


def spelled_as(project: Project, one: ProjectRequirement, words: str) -> NewWords:
    """The words for the versions of a requirement, as its file needs them: an operator in a shell's line wants quotes."""
    spot = one.spot
    if not spot.editable:
        raise Impossible(spot.file)
    reading = project.readings.get(spot.file)
    if reading is not None and reading.kind == containers.KIND and any(sign in words for sign in "<>"):
        whole = project.files[spot.file].decode("utf-8", "surrogateescape")
        if spot.end < len(whole) and whole[spot.end : spot.end + 1] not in {'"', "'"}:
            raise Impossible(spot.file)
    return NewWords(spot, words)


# The index


def index_changes(
    project: Project, one: InstallSet, torch: ProjectRequirement, build: TorchBuild, *, names: tuple[str, ...], told: bool
) -> Iterator[NewWords]:
    """What makes torch come from the index of a build; `names` are the packages that come from there with it. `told` where the
    user's own settings lead to another variant, so that the one which PyPI has must be asked for as well.
    """
    bound = bound_index(one, torch)
    counted = (bound,) if bound is not None else indexes_for(one, torch)
    tagged = [each for each in counted if tag_of(each.url) or _STABLE.search(each.url)]
    if tagged:
        for each in tagged:
            if tag_of(each.url) != build.tag:
                yield _other_index(project, each, build)
        return
    if build.default and not told:
        return
    yield from _new_index(project, one, torch, build, names=names)


def _other_index(project: Project, index: ProjectIndex, build: TorchBuild) -> NewWords:
    """The same index for another variant; a page of links is taken for the index."""
    if index.role is IndexRole.LINKS:
        if index.stage and index.spot.editable:
            return _links_in_line(project, index, build)
        if index.whole is None or index.stage:
            raise Impossible(index.spot.file)
        return NewWords(index.whole, f"--extra-index-url {WHEELS}{build.tag}\n")
    if not index.spot.editable:
        raise Impossible(index.spot.file)
    place = list(_TAG.finditer(index.url))
    if not place:
        raise Impossible(index.spot.file)
    found = place[-1]
    first = index.spot.first + found.start()
    if index.spot.end - index.spot.first != len(index.url):
        raise Impossible(index.spot.file)
    return NewWords(Spot(index.spot.file, index.spot.line, first, first + len(found[0])), build.tag)


def _links_in_line(project: Project, index: ProjectIndex, build: TorchBuild) -> NewWords:
    """The option of a command line with its page of links."""
    spot = index.spot
    whole = project.files[spot.file].decode("utf-8", "surrogateescape")
    begin = max(0, spot.first - _OPTION_LENGTH)
    found = _LINKS_OPTION.search(whole[begin : spot.first])
    if found is None:
        raise Impossible(spot.file)
    return NewWords(Spot(spot.file, spot.line, begin + found.start(), spot.end), f"--extra-index-url {WHEELS}{build.tag}")


def _new_index(
    project: Project, one: InstallSet, torch: ProjectRequirement, build: TorchBuild, *, names: tuple[str, ...]
) -> Iterator[NewWords]:
    file = torch.spot.file
    reading = project.readings.get(file)
    kind = reading.kind if reading is not None else ""
    url = f"{WHEELS}{build.tag}"
    whole = project.files[file].decode("utf-8", "surrogateescape") if file in project.files else ""
    if kind == requirements.KIND and torch.whole is not None:
        end = "\r\n" if "\r\n" in whole else "\n"
        yield NewWords(Spot(file, torch.spot.line, torch.whole.first, torch.whole.first), f"--extra-index-url {url}{end}")
    elif kind == containers.KIND and torch.spot.editable:
        place = torch.spot.end + (whole[torch.spot.end : torch.spot.end + 1] in {'"', "'"})
        yield NewWords(Spot(file, torch.spot.line, place, place), f" --extra-index-url {url}")
    elif kind == pyproject.KIND and one.tool == UV:
        yield from _uv_index(file, whole, build, names)
    elif kind == pyproject.KIND and one.tool == POETRY:
        yield from _poetry_source(torch, whole, build, url)
    elif kind == "conda" and torch.spelling is Spelling.PIP and torch.whole is not None:
        line = whole[torch.whole.first : torch.whole.end]
        indent = line[: len(line) - len(line.lstrip())]
        yield NewWords(Spot(file, torch.spot.line, torch.whole.first, torch.whole.first), f"{indent}- --extra-index-url {url}\n")
    else:
        raise Impossible(file)


def _uv_index(file: str, whole: str, build: TorchBuild, names: tuple[str, ...]) -> Iterator[NewWords]:
    name = f"pytorch-{build.tag}"
    bound = "".join(f'{each} = {{ index = "{name}" }}\n' for each in names)
    table = f'\n[[tool.uv.index]]\nname = "{name}"\nurl = "{WHEELS}{build.tag}"\nexplicit = true\n'
    end = len(whole)
    begin = "" if not whole or whole.endswith("\n") else "\n"
    found = _SOURCES.search(whole)
    if found is None:
        yield NewWords(Spot(file, 1, end, end), f"{begin}\n[tool.uv.sources]\n{bound}{table}")
        return
    yield NewWords(Spot(file, 1, found.end(), found.end()), bound)
    yield NewWords(Spot(file, 1, end, end), f"{begin}{table}")


def _poetry_source(torch: ProjectRequirement, whole: str, build: TorchBuild, url: str) -> Iterator[NewWords]:
    """Only for `torch = "…"`: the text with its quotes becomes a table; the versions are a change of their own beside it."""
    spot = torch.spot
    if (
        torch.source
        or torch.spelling is not Spelling.POETRY
        or whole[spot.first - 1 : spot.first] not in {'"', "'"}
        or "{" in whole[whole.rfind("\n", 0, spot.first) + 1 : spot.first]
    ):
        raise Impossible(spot.file)
    name = f"pytorch-{build.tag}"
    yield NewWords(Spot(spot.file, spot.line, spot.first - 1, spot.first - 1), "{ version = ")
    yield NewWords(Spot(spot.file, spot.line, spot.end + 1, spot.end + 1), f', source = "{name}" }}')
    end = len(whole)
    begin = "" if whole.endswith("\n") else "\n"
    yield NewWords(
        Spot(spot.file, spot.line, end, end),
        f'{begin}\n[[tool.poetry.source]]\nname = "{name}"\nurl = "{url}"\npriority = "explicit"\n',
    )
