"""What a list of packages says by itself: which builds of torch a set of NVIDIA's packages belongs to, and what was compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpuassist.diagnose.case import InstalledTorch, RuleInput
from gpuassist.diagnose.torch_companions import cuda_majors, exact_pins
from gpuassist.knowledge.records import TorchBuild
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known, value_or
from gpuassist.model.text import Parameter, text

_LEAST = 3  # packages of one version each, that name a build: fewer are shared by many


def builds_of(knowledge: Knowledge, wheels: Mapping[str, str], machine: str = "x86_64") -> tuple[TorchBuild, ...]:
    """The builds of torch that ask for every one of these packages in this very version; none where that is said of too few."""
    parts = {name: version for name, version in wheels.items() if cuda_majors(knowledge, name)}
    every = [build for build in knowledge.torch_builds() if build.machine == machine and build.pins]
    asked = {name for build in every for name, _ in build.pins or ()}
    judged = {name: version for name, version in parts.items() if name in asked}
    if len(judged) < _LEAST:
        return ()
    return tuple(build for build in every if judged.items() <= dict(build.pins or ()).items())


def in_words(builds: Iterable[TorchBuild]) -> str:
    """`torch 2.5, 2.6 (cu118)`: the releases, tag by tag."""
    tags: dict[str, list[str]] = {}
    for build in builds:
        tags.setdefault(build.tag, []).append(str(build.release))
    return "; ".join(f"torch {_joined(releases)} ({tag})" for tag, releases in tags.items())


def looked_at(case: RuleInput) -> dict[str, Parameter]:
    """What stands behind the answer that nothing is wrong: which links were compared, and what the text does not name."""
    there = ((text("the GPU"), bool(case.cards)), (text("the driver"), isinstance(case.driver, Known)))
    lacking = [part for part, named in there if not named]
    pins = {one.version: _compared(case, one) for one in case.torches[:2]}
    return {
        "torch": "yes" if case.cuda_torches and not lacking else "",
        "pinned": next((version for version, done in pins.items() if done), ""),
        "unpinned": next((version for version, done in pins.items() if done is False), ""),
        "lacking": text("{names} and {last}", names=lacking[0], last=lacking[1])
        if len(lacking) > 1
        else lacking[0]
        if lacking
        else "",
    }


def _compared(case: RuleInput, one: InstalledTorch) -> bool | None:
    """Whether the packages around a torch were held against what it asks for; None where there are none to hold against it."""
    installed = {package.name for package in value_or(one.environment.packages, ())}
    parts = {name for name in installed if cuda_majors(case.knowledge, name)}
    return bool(parts & set(exact_pins(case, one))) if parts else None


def _joined(releases: list[str]) -> str:
    return releases[0] if len(releases) == 1 else f"{', '.join(releases[:-1])} or {releases[-1]}"
