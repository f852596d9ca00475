"""Each link from a project to the machine: holds, broken or not known, with the line that asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuassist.diagnose.project.extensions import compiling_links
from gpuassist.diagnose.project.ground import BROKEN, HOLDS, UNKNOWN, Mend, ProjectGround, ProjectLink, check_of
from gpuassist.diagnose.project.images import image_links
from gpuassist.diagnose.project.pick import pick
from gpuassist.diagnose.project.set_links import set_links, stock_of
from gpuassist.diagnose.project.sets import InstallSet, Project, include_troubles, sets_of
from gpuassist.diagnose.project.stock import Pick, TorchStock
from gpuassist.model.fact import Unknown
from gpuassist.model.project import CheckId
from gpuassist.model.text import enumerated, text
from gpuassist.model.version import Version


def links_of(project: Project, ground: ProjectGround) -> tuple[ProjectLink, ...]:
    """Every link; the same words of the same line once."""
    sets = sets_of(project)
    picks = [(one, stock_of(one, ground, project), pick(one, stock_of(one, ground, project))) for one in sets]
    links = [
        *_troubles(project),
        *_machine(ground, picks, project),
        *(link for one, stock, found in picks for link in set_links(one, stock, found, ground)),
        *image_links(project, ground),
        *compiling_links(project, picks, ground),
        *_devices(project),
    ]
    kept: dict[tuple[object, ...], ProjectLink] = {}
    for link in links:
        check = link.check
        kept.setdefault((check.id, check.state, check.file, check.line, check.text), link)
    return tuple(kept.values())


def _troubles(project: Project) -> Iterator[ProjectLink]:
    every = [
        *project.troubles,
        *(one for reading in project.readings.values() for one in reading.troubles),
        *include_troubles(project),
    ]
    for one in every:
        yield ProjectLink(check_of(CheckId(one.about), UNKNOWN, one.reason, one.spot))


# The machine itself


def _machine(
    ground: ProjectGround, picks: Sequence[tuple[InstallSet, TorchStock, Pick | None]], project: Project
) -> Iterator[ProjectLink]:
    """The GPUs and their driver, where anything of the project asks for them."""
    asks = any(found is not None for _, _, found in picks) or any(
        reading.images or reading.extensions or reading.architectures for reading in project.readings.values()
    )
    case = ground.case
    if not asks:
        return
    if isinstance(case.machine.gpus, Unknown):
        yield ProjectLink(
            check_of(CheckId.DRIVER, UNKNOWN, text("the GPUs of this machine: {reason}", reason=case.machine.gpus.reason))
        )
    elif not case.cards and not case.wsl and not case.jetson:
        yield ProjectLink(check_of(CheckId.DRIVER, BROKEN, text("there is no NVIDIA GPU in this computer")))
    elif isinstance(case.driver, Unknown):
        if ground.driver_missing:
            yield ProjectLink(check_of(CheckId.DRIVER, BROKEN, text("no NVIDIA driver runs here")), Mend.DRIVER)
        else:
            yield ProjectLink(check_of(CheckId.DRIVER, UNKNOWN, text("the driver: {reason}", reason=case.driver.reason)))
    else:
        yield _driver_itself(ground, case.driver.value)
    for card in case.cards:
        if isinstance(card.capability, Unknown):
            words = text("the compute capability of {gpu}: {reason}", gpu=card.name, reason=card.capability.reason)
            yield ProjectLink(check_of(CheckId.ARCHITECTURE, UNKNOWN, words))


def _driver_itself(ground: ProjectGround, driver: Version) -> ProjectLink:
    bad = [card for card in ground.case.cards if ground.case.ruled_out(card)]
    names = enumerated(card.name for card in bad or ground.case.cards)
    if bad:
        words = text("driver {driver} does not run {gpus}", driver=str(driver), gpus=names)
        return ProjectLink(check_of(CheckId.DRIVER, BROKEN, words), Mend.DRIVER)
    return ProjectLink(check_of(CheckId.DRIVER, HOLDS, text("driver {driver} runs {gpus}", driver=str(driver), gpus=names)))


def _devices(project: Project) -> Iterator[ProjectLink]:
    for reading in project.readings.values():
        for late in reading.devices:
            if late.started:
                words = text("CUDA_VISIBLE_DEVICES is set after CUDA was used, which has no effect")
            else:
                words = text(
                    "CUDA_VISIBLE_DEVICES is set below the import of torch (line {line}): it has no effect where anything has used "
                    "CUDA by then",
                    line=late.imported.line,
                )
            state = BROKEN if late.started else UNKNOWN
            yield ProjectLink(check_of(CheckId.CUDA, state, words, late.spot), Mend.DEVICES)
