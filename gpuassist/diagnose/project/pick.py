"""Which torch a tool would really install for what a set asks: by its range, its indexes, this Python and this processor.

pip takes the highest version of all its indexes, and of equal ones that with a local part (`2.5.1+cu121` before `2.5.1`); uv takes
the first index that has the package at all, those that are named before PyPI; a package that is bound to an index comes from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace
from packaging.specifiers import SpecifierSet
from packaging.version import Version as PipVersion

from gpuassist.diagnose.project.pick_conda import build_of_lock, pick_of_conda
from gpuassist.diagnose.project.sets import CONDA, PIP, POETRY, UV, InstallSet
from gpuassist.diagnose.project.stock import (
    COMPANIONS,
    EXACT,
    PYPI,
    TAG,
    Pick,
    TorchStock,
    applies,
    bound_index,
    exact_of,
    indexes_for,
    number_of,
    specifier,
    tag_of,
    torch_of,
)
from gpuassist.formats.project.requirements import wheel_tags
from gpuassist.formats.project.values import AskedAs, IndexRole, ProjectIndex, ProjectRequirement, Spelling, Spot
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.model.version import Version

_LINKS = lazy_regex(r"torch_stable\.html")
_ELSEWHERE = ("rocm", "xpu")
_NAMES = ("torch", "pytorch")
NO_SPOT = Spot("", 0)


class _Candidate(Struct, frozen=True):
    version: PipVersion
    number: Version
    build: TorchBuild | None
    index: str


class _Source(Struct, frozen=True):
    """A place to pick from: PyPI or a mirror of it (`tag` empty), or the index of one variant."""

    tag: str
    name: str
    other: str = ""  # what gpuassist knows no builds of: nightly builds, AMD's


def pick(one: InstallSet, stock: TorchStock) -> Pick | None:
    """None where the set asks for no torch."""
    asked = [each for each in one.named(*_NAMES) if applies(each, stock)]
    along = [each for each in one.named(*COMPANIONS) if applies(each, stock) and each.origin is not AskedAs.CONSTRAINT]
    if "torch" in one.locked or "pytorch" in one.locked:
        return _of_lock(one, stock)
    if not any(each.origin is not AskedAs.CONSTRAINT for each in asked) and not along:
        return None
    if one.tool == CONDA:
        by_pip = [each for each in asked if each.spelling is not Spelling.CONDA]
        if not by_pip:
            return pick_of_conda(one, stock, asked)
        asked = by_pip
        along = [each for each in along if each.spelling is not Spelling.CONDA]
    main = next((each for each in asked if each.origin is not AskedAs.CONSTRAINT), None) or next(iter(asked or along))
    decides = max(asked, key=lambda each: len(each.versions), default=main)
    wanted = ",".join(dict.fromkeys(each.versions for each in asked if each.versions))
    told = Pick(decides.spot, asked=next(iter(asked), None), wanted=wanted)
    if main.url and main.name == "torch":
        return _of_address(told, main, stock)
    range_ = specifier(asked)
    if range_ is None:
        return replace(told, why=text("this is no range of versions that pip reads: {words}", words=wanted[:80]))
    implied = _implied(along, stock)
    sources = _sources(one, decides if asked else main, stock)
    known = [source for source in sources if not source.other]
    if not known:
        other = sources[0].other
        broken = other.startswith(_ELSEWHERE)
        why = text("{index} has builds for other GPUs than NVIDIA's", index=sources[0].name)
        if not broken:
            why = text("what {index} holds is not known", index=sources[0].name)
        return replace(told, why=why, broken=broken)
    every = [candidate for source in known for candidate in _candidates(source, stock)]
    if one.tool == UV:
        every = next((own for source in known for own in [[each for each in every if each.index == source.name]] if own), [])
    return _chosen(told, every, range_, implied=implied, stock=stock)


def _chosen(told: Pick, every: list[_Candidate], range_: SpecifierSet, *, implied: Version | None, stock: TorchStock) -> Pick:
    allowed = [each for each in every if range_.contains(each.version)]
    if implied is not None:
        fitting = [each for each in allowed if each.number == implied]
        if not fitting and allowed and every:
            newest = max(allowed, key=lambda each: each.version).number
            clash = text("its companions ask for torch {version}, which is not allowed", version=str(implied))
            return replace(told, version=newest, why=clash, broken=True)
        allowed = fitting
    served = [each for each in allowed if _has_wheel(each, stock)]
    if served:
        best = max(served, key=lambda each: each.version)
        why = None if best.build is not None else text("the builds of torch {version} are not known", version=str(best.number))
        return replace(told, version=best.number, build=best.build, index=best.index, why=why)
    if allowed and stock.python is not None:
        best = max(allowed, key=lambda each: each.version)
        why = text("torch {version} has no wheel for Python {python}", version=str(best.number), python=str(stock.python.release))
        return Pick(
            told.spot, best.number, None, told.asked, why, broken=True, about_python=True, index=best.index, wanted=told.wanted
        )
    return _nothing(told, every, range_, stock)


def _nothing(told: Pick, every: Sequence[_Candidate], range_: SpecifierSet, stock: TorchStock) -> Pick:
    """Why no version that is offered is allowed."""
    newest = max((build.newest for build in stock.builds), default=Version((0,)))
    exact = EXACT.fullmatch(told.wanted)
    number = number_of(exact[1]) if exact else None
    if number is not None and number > newest:
        return replace(told, version=number, why=text("torch {version} is newer than what gpuassist knows", version=str(number)))
    if not exact and any(
        range_.contains(f"{newest.major}.{minor}.0") for minor in range((newest.parts[1] if len(newest.parts) > 1 else 0) + 1, 60)
    ):
        return replace(told, why=text("torch {wanted} is newer than what gpuassist knows", wanted=told.wanted))
    indexes = ", ".join(dict.fromkeys(each.index for each in every)) or PYPI
    if number is not None:
        release = stock.knowledge.torch_release(number)
        if release is None or number not in release.patches:
            why = text("there is no torch {version} that gpuassist knows", version=str(number))
            return replace(told, why=why, broken=release is not None and release.known_in_detail)
        words = str(exact[1]) if exact else str(number)
        return replace(told, version=number, why=text("{index} has no torch {version}", index=indexes, version=words), broken=True)
    return replace(told, why=text("{index} has no torch {version}", index=indexes, version=told.wanted or "–"), broken=True)


def _implied(along: Iterable[ProjectRequirement], stock: TorchStock) -> Version | None:
    """The torch that an exact pin of a companion brings: its wheels ask for one patch of torch alone."""
    for one in along:
        pinned = exact_of(one).partition("+")[0]
        torch = torch_of(stock.knowledge, one.name, pinned) if pinned else None
        if torch is not None:
            return torch
    return None


def _candidates(source: _Source, stock: TorchStock) -> Iterator[_Candidate]:
    for build in stock.builds:
        if (build.tag == source.tag) if source.tag else build.default:
            release = stock.knowledge.torch_release(build.release)
            for patch in release.patches if release is not None else (build.newest,):
                local = f"+{build.tag}" if source.tag else ""
                yield _Candidate(PipVersion(f"{patch}{local}"), patch, build, source.name)
    if source.tag:
        return
    for release in stock.knowledge.torch_releases():  # older than the builds that are known
        if not release.known_in_detail and release.pythons:
            for patch in release.patches:
                yield _Candidate(PipVersion(str(patch)), patch, None, source.name)


def _has_wheel(candidate: _Candidate, stock: TorchStock) -> bool:
    if stock.python is None:
        return True
    if candidate.build is not None:
        return stock.python.release in candidate.build.pythons
    release = stock.knowledge.torch_release(candidate.number)
    return release is None or stock.python.release in release.pythons


def _sources(one: InstallSet, requirement: ProjectRequirement, stock: TorchStock) -> list[_Source]:
    bound = bound_index(one, requirement)
    if bound is not None:
        return [_source(bound)]
    counted = (*_of_settings(one, stock), *indexes_for(one, requirement))  # what the project says comes last, and wins
    beside = [_source(each) for each in counted if each.role is IndexRole.BESIDE]
    links = [_source(each) for each in counted if each.role is IndexRole.LINKS and (tag_of(each.url) or _LINKS.search(each.url))]
    if any(_LINKS.search(each.url) and not tag_of(each.url) for each in counted if each.role is IndexRole.LINKS):
        local = exact_of(requirement).partition("+")[2]
        links = [_Source(local, "download.pytorch.org/whl/torch_stable.html")] if local else []
    instead = [_source(each) for each in counted if each.role is IndexRole.INSTEAD][-1:] or [_Source("", PYPI)]
    if one.tool == POETRY and beside and not instead[0].tag:
        return [*instead, *links]  # a supplemental source is asked where no other has the package
    return [*beside, *links, *instead]


def _of_settings(one: InstallSet, stock: TorchStock) -> Iterator[ProjectIndex]:
    """The indexes of the user's own pip.conf or uv.toml, and of variables, which count for every project."""
    if one.tool not in {PIP, UV}:
        return
    told = stock.settings.uv if one.tool == UV else stock.settings.pip
    if told.index:
        yield ProjectIndex(told.index.value, IndexRole.INSTEAD, NO_SPOT)
    for each in told.extra:
        yield ProjectIndex(each.value, IndexRole.BESIDE, NO_SPOT)


def _source(index: ProjectIndex) -> _Source:
    found = TAG.search(index.url)
    name = index.url.partition("://")[2].rpartition("@")[2] or index.url
    if found is None:
        # A mirror is taken for one of PyPI; an address that is put together of variables tells nothing.
        return _Source("", PYPI if "pypi.org" in index.url else name, "variable" if "${" in index.url else "")
    tag = found[2] or found[3]
    if found[1]:
        return _Source(tag, name, found[1])
    return _Source(tag, name, tag if tag.startswith(_ELSEWHERE) else "")


def _of_address(told: Pick, requirement: ProjectRequirement, stock: TorchStock) -> Pick:
    """A wheel by its address."""
    number = number_of(exact_of(requirement))
    if number is None:
        return replace(told, why=text("what lies at {url} is not known", url=requirement.url[:200]))
    local = exact_of(requirement).partition("+")[2] or tag_of(requirement.url)
    build = _build(stock, number, local)
    tags = wheel_tags(requirement.url)
    wanted = f"cp{stock.python.release}".replace(".", "") if stock.python is not None else ""
    if (
        tags is not None
        and wanted
        and wanted not in tags[0].split(".")
        and "abi3" not in requirement.url
        and not tags[0].startswith("py3")
    ):
        python = str(stock.python.release) if stock.python is not None else ""
        why = text("the wheel is for {tag}, and Python is {python}", tag=tags[0], python=python)
        return replace(told, version=number, why=why, broken=True, about_python=True)
    unknown = text("the builds of torch {version} are not known", version=f"{number}+{local}" if local else str(number))
    return replace(told, version=number, build=build, why=unknown if build is None else None, index=requirement.url[:200])


def _of_lock(one: InstallSet, stock: TorchStock) -> Pick:
    entry = one.locked.get("torch") or one.locked["pytorch"]
    asked = next((each for each in one.named(*_NAMES) if applies(each, stock)), None)
    told = Pick(entry.spot, asked=asked, wanted=f"=={entry.version}", locked=True, index=one.lock)
    number = number_of(entry.version)
    if number is None:
        return replace(told, why=text("{words} is no version", words=entry.version[:80]))
    tag = entry.version.partition("+")[2] or tag_of(entry.source)
    of_conda = entry.name == "pytorch" and bool(entry.build)
    build = build_of_lock(entry, number, stock) if of_conda else _build(stock, number, tag)
    if build is not None and stock.python is not None and stock.python.release not in build.pythons:
        why = text("torch {version} has no wheel for Python {python}", version=str(number), python=str(stock.python.release))
        return replace(told, version=number, why=why, broken=True, about_python=True)
    unknown = text("the builds of torch {version} are not known", version=entry.version[:80])
    return replace(told, version=number, build=build, why=unknown if build is None else None)


def _build(stock: TorchStock, number: Version, tag: str) -> TorchBuild | None:
    of_release = [each for each in stock.builds if each.release == number.release]
    return next((each for each in of_release if (each.tag == tag if tag else each.default)), None)
