"""A move of what a project asks for, which builds one may go to, and what it may break."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gpuassist.diagnose.project.edits import NewWords
from gpuassist.diagnose.project.ground import ProjectGround
from gpuassist.diagnose.project.stock import Pick
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
    """Whether a build runs on every GPU under the driver."""
    if build.cuda is None or (ground.driver is not None and not driver_serves_cuda(ground.driver, build.cuda)):
        return False
    dead = {CodePath.NONE, CodePath.DRIVER_TOO_OLD_TO_COMPILE}
    return all(
        way_to_run(one, build.targets, cuda=build.cuda, driver_cuda=ground.driver_cuda) not in dead for one in ground.capabilities
    )


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
