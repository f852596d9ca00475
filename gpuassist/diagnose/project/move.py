"""A move of what a project asks for, which builds one may go to, and what it may break."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gpuassist.diagnose.project.edits import NewWords
from gpuassist.diagnose.project.ground import ProjectGround
from gpuassist.diagnose.project.sets import InstallSet
from gpuassist.diagnose.project.stock import Pick, TorchStock, range_of, takes
from gpuassist.formats.project.values import PythonWish, Spelling
from gpuassist.knowledge.compatibility import CodePath, driver_serves_cuda, way_to_run
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version

PLACE = 4
"""One more place in a file counts as much as two releases that are passed over, a companion without a release of its own as two."""


class Move(Struct, frozen=True):
    """NewWords to change with what they do, and what may break by it; `cost` puts the smallest first."""

    words: tuple[NewWords, ...]
    text: Text
    may_break: tuple[Text, ...]
    cost: tuple[int, ...]


def fits(build: TorchBuild, ground: ProjectGround) -> bool:
    """Whether a build runs on every GPU under the driver, by code of its own: what a driver has to compile lacks its libraries."""
    if build.cuda is None or (ground.driver is not None and not driver_serves_cuda(ground.driver, build.cuda)):
        return False
    ways = (way_to_run(one, build.targets, cuda=build.cuda, driver_cuda=ground.driver_cuda) for one in ground.capabilities)
    return all(one is CodePath.NATIVE for one in ways)


def python_words(pinned: PythonWish, python: Version) -> NewWords:
    """Another version in the place of the Python that is pinned."""
    spelled = pinned.spelled
    if pinned.spelling is Spelling.CONDA:
        return NewWords(pinned.spot, f"{'==' if spelled.startswith('==') else '='}{python}")
    return NewWords(pinned.spot, str(python))


def pythons_for(one: InstallSet, stock: TorchStock, pythons: tuple[Version, ...]) -> tuple[NewWords, ...] | None:
    """What has to be written so that one of these Pythons is there: nothing where it is, none where no file pins another."""
    if stock.python is None or not pythons or stock.python.release in pythons:
        return ()
    pinned = next((wish for wish in one.pythons if wish.pinned and wish.spot.editable), None)
    minor = stock.python.parts[1] if len(stock.python.parts) > 1 else 0
    near = sorted(pythons, key=lambda each: (abs(each.parts[1] - minor), -each.parts[1]))
    ranges = [range_of(wish.versions) for wish in one.pythons if not wish.pinned]
    usable = [each for each in near if all(range_ is None or takes(range_, f"{each}.0") for range_ in ranges)]
    return (python_words(pinned, usable[0]),) if pinned is not None and usable else None


ANEW = text("the environment has to be made anew for another Python")


def jump(found: Pick, version: Version) -> Iterator[Text]:
    """What a move of torch may break."""
    if found.version is None or version == found.version:
        return
    before, after = str(found.version), str(version)
    if found.version.major != version.major:
        yield text(
            "torch {before} to {after} is another major release: what was removed in between has to be looked for",
            before=before,
            after=after,
        )
    elif found.version.release != version.release:
        yield text(
            "torch {before} to {after}: deprecated functions may be gone, and packages compiled for torch have to be built anew",
            before=before,
            after=after,
        )
    if found.version < Version((2, 6)) <= version:
        yield text("torch.load reads weights alone by default from torch 2.6 on (weights_only)")
