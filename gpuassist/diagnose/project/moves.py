"""Moving torch in a project: to which version and build, what is pinned beside it that moves along, and the words for that."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.project.edits import Impossible, NewWords, index_changes, respelled, spelled_as
from gpuassist.diagnose.project.ground import ProjectGround, ProjectLink
from gpuassist.diagnose.project.move import ANEW, PLACE, Move, fits, python_words, pythons_for
from gpuassist.diagnose.project.moves_conda import conda_moves
from gpuassist.diagnose.project.sets import CONDA, InstallSet, Project
from gpuassist.diagnose.project.stock import (
    COMPANIONS,
    Pick,
    TorchStock,
    applies,
    exact_of,
    limits_of,
    range_of,
    tag_of,
    takes,
    takes_all,
)
from gpuassist.formats.project.values import AskedAs, ProjectRequirement, PythonWish, Spelling
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version

_NVIDIA = lazy_regex(r"nvidia-[a-z0-9-]+(?:-cu1\d)?|triton|pytorch-triton")
_MOST = 24


def torch_moves(project: Project, link: ProjectLink, ground: ProjectGround, stock: TorchStock) -> tuple[Move, ...]:
    """The ways to move torch, or the Python that is pinned, the smallest first."""
    one, found = link.of, link.pick
    if one is None or found is None:
        return ()
    if one.tool == CONDA and (found.asked is None or found.asked.spelling is Spelling.CONDA):
        made = list(conda_moves(project, one, found, ground=ground, stock=stock))
    else:
        made = [
            move
            for version, build in _targets(found, ground, stock)
            for keeps in (True, False)
            for move in _move(project, one, found, stock=stock, version=version, build=build, keeps=keeps)
        ]
    made += list(_python_moves(one, found, stock))
    return tuple(sorted(made, key=lambda move: move.cost)[:_MOST])


def _targets(found: Pick, ground: ProjectGround, stock: TorchStock) -> Iterator[tuple[Version, TorchBuild]]:
    """Builds that fit GPUs, driver and Python; of the release that is asked for also the very patch."""
    for build in stock.builds:
        if not fits(build, ground):
            continue
        release = stock.knowledge.torch_release(build.release)
        if (
            found.version is not None
            and found.version.release == build.release
            and release is not None
            and found.version in release.patches
        ):
            yield found.version, build
        if found.version != build.newest:
            yield build.newest, build


def _move(
    project: Project, one: InstallSet, found: Pick, *, stock: TorchStock, version: Version, build: TorchBuild, keeps: bool
) -> Iterator[Move]:
    asked = tuple(each for each in one.named("torch") if applies(each, stock))
    anchor = next(
        (each for each in asked if each.origin is not AskedAs.CONSTRAINT), found.asked or next(iter(one.named(*COMPANIONS)), None)
    )
    if anchor is None:
        return
    pinned = any(exact_of(each) for each in asked)
    python = pythons_for(one, stock, build.pythons)
    if python is None:
        return
    try:
        words: list[NewWords] = list(python)
        for each in asked:
            words += _of_torch(project, each, version, build, keeps=keeps or (not each.versions and pinned))
        along, notes = _along(project, one, stock, version=version, build=build)
        words += along
        names = ("torch", *(each.name for each in one.named("torchvision", "torchaudio")))
        told = any(tag_of(each.value) for each in (stock.settings.pip.index, *stock.settings.pip.extra))
        words += index_changes(project, one, anchor, build, names=tuple(dict.fromkeys(names)), told=told)
    except Impossible:
        return
    words = list(dict.fromkeys(words))
    if not words:
        return
    does = text("torch {version} of {tag}", version=str(version), tag=build.tag)
    yield Move(
        tuple(words),
        does,
        (*notes, *((ANEW,) if python else ())),
        _cost(words, found, version, build, stock=stock, unmoved=len(notes) + len(python)),
    )


def _cost(
    words: list[NewWords], found: Pick, version: Version, build: TorchBuild, *, stock: TorchStock, unmoved: int
) -> tuple[int, ...]:
    """Few lines, then a near release, one above before one below, then the variant that is there or that pip takes by itself."""
    releases = sorted({each.release for each in stock.knowledge.torch_releases()})
    here = found.version.release if found.version is not None else None
    distance = releases.index(version.release) - releases.index(here) if here in releases and version.release in releases else 0
    if here is None or here not in releases:  # nothing to stay near to: the newest
        distance = -releases.index(version.release) if version.release in releases else 0
        near = distance
    else:
        near = abs(distance) * 2 + (distance < 0)
    other = 0 if build.tag == found.tag else 1
    patch = 0 if found.version is not None and version == found.version else 1
    cuda = build.cuda.parts if build.cuda is not None else (0, 0)
    # one more place in a file counts as much as two releases that are passed over, a companion without a release of its own as two
    return (
        PLACE * (len(words) + 2 * unmoved) + near,
        patch,
        other,
        0 if build.default else 1,
        -cuda[0],
        -(cuda[1] if len(cuda) > 1 else 0),
    )


def _of_torch(project: Project, each: ProjectRequirement, version: Version, build: TorchBuild, *, keeps: bool) -> list[NewWords]:
    """`keeps` where a range that takes the version stays as it is, whatever else it takes: what is picked is looked at later."""
    if each.url:
        if each.whole is None or not each.whole.editable or each.stage or each.spelling is not Spelling.PIP:
            raise Impossible(each.spot.file)
        whole = project.files[each.spot.file].decode("utf-8", "surrogateescape")
        end = "\r\n" if whole[: each.whole.end].endswith("\r\n") else "\n"
        marker = f" ; {each.marker}" if each.marker else ""
        return [NewWords(each.whole, f"torch=={version}{marker}{end}")]
    range_ = range_of(each.versions)
    pinned_tag = exact_of(each).partition("+")[2]
    taken = range_ is not None and takes(range_, f"{version}+{build.tag}") and (not pinned_tag or pinned_tag == build.tag)
    if taken and (keeps or exact_of(each)):
        return []
    return [spelled_as(project, each, respelled(each, str(version), build.tag))]


def _along(
    project: Project, one: InstallSet, stock: TorchStock, *, version: Version, build: TorchBuild
) -> tuple[list[NewWords], list[Text]]:
    """What is pinned beside torch and belongs to it: torchvision and its like, NVIDIA's wheels, triton."""
    release = stock.knowledge.torch_release(version)
    belongs = {each.name: each.version for each in release.companions_of(version)} if release is not None else {}
    pins = dict(build.pins) if build.pins is not None else None
    words: list[NewWords] = []
    notes: list[Text] = []
    limits = limits_of(stock.knowledge, version)
    for each in one.requirements:
        if not applies(each, stock) or each.spelling is Spelling.CONDA or each.origin is AskedAs.BUILD:
            continue
        if each.name in COMPANIONS:
            words += _companion(project, each, belongs.get(each.name, ""), build=build, version=version, notes=notes)
        elif each.name in limits and exact_of(each) and not takes_all(f"<{limits[each.name]}", exact_of(each)):
            words.append(spelled_as(project, each, f"<{limits[each.name]}"))
        elif _NVIDIA.fullmatch(each.name) and each.name != "nvidia-ml-py" and each.versions:
            words += _wheel(project, each, pins, belongs)
    return words, notes


def _companion(
    project: Project, each: ProjectRequirement, wanted: str, *, build: TorchBuild, version: Version, notes: list[Text]
) -> list[NewWords]:
    if not each.versions and not each.url:
        return []
    if not wanted:
        if exact_of(each):
            notes.append(
                text(
                    "gpuassist knows no {name} that belongs to torch {torch}: {pinned} stays",
                    name=each.name,
                    torch=str(version),
                    pinned=each.versions,
                )
            )
        return []
    number = wanted.lstrip("=<>~!")
    range_ = range_of(each.versions)
    tag = exact_of(each).partition("+")[2]
    if range_ is not None and takes(range_, f"{number}+{build.tag}") and (not tag or tag == build.tag) and not each.url:
        return []
    if each.url:
        raise Impossible(each.spot.file)
    if not wanted[:1].isdigit() and exact_of(each):
        return [spelled_as(project, each, wanted)]
    return [spelled_as(project, each, respelled(each, number, build.tag))]


def _wheel(project: Project, each: ProjectRequirement, pins: dict[str, str] | None, belongs: dict[str, str]) -> list[NewWords]:
    """A wheel that torch brings itself: in the version that this build asks for, or out where it asks for another or for none."""
    wanted = (pins or {}).get(each.name) or (belongs.get("triton", "") if each.name in {"triton", "pytorch-triton"} else "")
    range_ = range_of(each.versions)
    if wanted and range_ is not None and wanted[:1].isdigit():
        return [] if takes(range_, wanted) else [spelled_as(project, each, respelled(each, wanted, ""))]
    if each.whole is None or not each.whole.editable or each.stage:
        raise Impossible(each.spot.file)
    return [NewWords(each.whole, "")]


# The Python


def _python_moves(one: InstallSet, found: Pick, stock: TorchStock) -> Iterator[Move]:
    """The pinned Python moved to the nearest that the torch which is asked for has a wheel for."""
    pinned = next((wish for wish in one.pythons if wish.pinned and wish.spot.editable), None)
    if pinned is None or found.version is None or stock.python is None or not found.about_python or len(stock.python.parts) < 2:
        return
    release = stock.knowledge.torch_release(found.version)
    minor = stock.python.parts[1]
    usable = sorted(release.pythons if release is not None else (), key=lambda each: (abs(each.parts[1] - minor), -each.parts[1]))
    ranges = [wish for wish in one.pythons if not wish.pinned]
    for python in usable[:3]:
        if python.major != stock.python.major or not all(_within(wish, python) for wish in ranges):
            continue
        does = text("Python {python}, which torch {version} has a wheel for", python=str(python), version=str(found.version))
        breaks = (text("the environment has to be made anew with Python {python}", python=str(python)),)
        yield Move((python_words(pinned, python),), does, breaks, (3 * PLACE, abs(python.parts[1] - minor)))


def _within(wish: PythonWish, python: Version) -> bool:
    range_ = range_of(wish.versions)
    return range_ is None or takes(range_, f"{python}.0")
