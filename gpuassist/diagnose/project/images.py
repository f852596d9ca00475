"""Base images and services against the driver and the GPUs of the machine."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.project.ground import BROKEN, HOLDS, UNKNOWN, Mend, ProjectGround, ProjectLink, check_of
from gpuassist.diagnose.project.sets import Project
from gpuassist.formats.project.containers import COMPOSE
from gpuassist.formats.project.values import ProjectImage
from gpuassist.knowledge.compatibility import driver_serves_cuda, kernels_run, toolkit_builds_for
from gpuassist.knowledge.images import ImageReading
from gpuassist.knowledge.records import ImageFamily
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.project import CheckId, LinkState
from gpuassist.model.text import Text, text
from gpuassist.model.version import ComputeCapability, Version, VersionError

_OF_INTEREST = lazy_regex(r"(?:^|/)(?:nvidia/(?:cuda|pytorch|tensorrt|tensorflow|tritonserver|jax)|pytorch/pytorch)(?:[:@]|$)")


def image_links(project: Project, ground: ProjectGround) -> Iterator[ProjectLink]:
    for reading in project.readings.values():
        for image in reading.images:
            if not image.parent:
                yield from links_of_image(image, ground, compose=reading.kind == COMPOSE)


def links_of_image(image: ProjectImage, ground: ProjectGround, *, compose: bool = False) -> Iterator[ProjectLink]:
    """One image; one that has nothing to do with CUDA says nothing."""
    if not image.name:
        words = text("which image {words} is depends on a variable without a default", words=image.spelled[:120])
        yield _link(CheckId.IMAGE, UNKNOWN, words, image)
        return
    reading = ground.case.knowledge.image(image.name)
    if not isinstance(reading, ImageReading):
        if _OF_INTEREST.search(image.name.lower()):
            yield _link(CheckId.IMAGE, UNKNOWN, reading.reason, image)
        return
    if reading.integrated != ground.case.jetson and reading.integrated:
        yield _link(CheckId.IMAGE, BROKEN, text("{image} is made for Jetson alone", image=image.name), image, mend=Mend.IMAGE)
        return
    if reading.cuda is None:
        yield _link(CheckId.IMAGE, UNKNOWN, text("what is inside {image} is not known", image=image.name), image)
        return
    yield _driver(image, reading, reading.cuda, ground)
    yield from _code(image, reading, reading.cuda, ground)
    if compose and image.gpu is False:
        words = text("the service {service} is given no GPU: neither `gpus` nor a reservation of devices", service=image.service)
        yield _link(CheckId.IMAGE, BROKEN, words, image, mend=Mend.DEVICES)


def _driver(image: ProjectImage, reading: ImageReading, cuda: Version, ground: ProjectGround) -> ProjectLink:
    facts: dict[str, str] = {"image": image.name, "cuda": str(cuda)}
    if ground.driver is None:
        words = text("{image} holds CUDA {cuda}; which driver is here is not known", **facts)
        return _link(CheckId.IMAGE, UNKNOWN, words, image)
    facts["driver"] = str(ground.driver)
    if ground.case.jetson:
        return _link(CheckId.IMAGE, UNKNOWN, text("whether {image} runs on this Jetson is not known", **facts), image)
    compatible = any(ground.driver.parts[: len(one.parts)] == one.parts for one in reading.compat_drivers)
    if not driver_serves_cuda(ground.driver, cuda) and not compatible:
        words = text(
            "{image} holds CUDA {cuda}, which needs driver {floor} or newer; driver {driver} is older",
            floor=str(reading.driver_floor),
            **facts,
        )
        return _link(CheckId.IMAGE, BROKEN, words, image, mend=Mend.IMAGE, driver_for=cuda)
    if reading.requires_cuda is not None and ground.driver_cuda is not None and ground.driver_cuda < reading.requires_cuda:
        words = text(
            "{image} does not start: it asks for CUDA {cuda}, and driver {driver} offers {offered} (NVIDIA_REQUIRE_CUDA)",
            offered=str(ground.driver_cuda), **facts,
        )  # fmt: skip
        return _link(CheckId.IMAGE, BROKEN, words, image, mend=Mend.IMAGE, driver_for=cuda)
    words = text("{image} runs with driver {driver}", **facts)
    if reading.driver_min is not None and ground.driver < reading.driver_min:
        words = text(
            "{image} runs with driver {driver} by minor-version compatibility; it was made for {own}",
            own=str(reading.driver_min),
            **facts,
        )
    return _link(CheckId.IMAGE, HOLDS, words, image)


def _code(image: ProjectImage, reading: ImageReading, cuda: Version, ground: ProjectGround) -> Iterator[ProjectLink]:
    """Whether the torch inside has code for the GPUs."""
    for capability in ground.capabilities:
        name, code = ground.cards_of(capability), f"{capability.major}{capability.minor}"
        runs = _runs(reading, cuda, capability, ground)
        facts: dict[str, str | Text] = {"image": image.name, "gpu": name, "code": code}
        if runs is None:
            continue
        if runs:
            words = text("{image} has code for {gpu} (sm_{code})", **facts)
            yield _link(CheckId.ARCHITECTURE, HOLDS, words, image)
        else:
            words = text("cannot fit: {image} has no code for {gpu} (sm_{code})", **facts)
            yield _link(CheckId.ARCHITECTURE, BROKEN, words, image, mend=Mend.IMAGE)


def _runs(reading: ImageReading, cuda: Version, capability: ComputeCapability, ground: ProjectGround) -> bool | None:
    knowledge = ground.case.knowledge
    if reading.family is ImageFamily.TORCH:
        try:
            version = Version.parse(reading.torch or "")
        except VersionError:
            return None
        builds = [one for one in knowledge.torch_builds(version) if one.cuda is not None and one.cuda.release == cuda.release]
        builds = [one for one in builds if one.machine == ground.machine]
        if builds:
            return kernels_run(capability, builds[0].targets, cuda=builds[0].cuda)
        firsts = [
            one.release
            for one in knowledge.torch_builds()
            if one.machine == ground.machine and kernels_run(capability, one.targets, cuda=one.cuda)
        ]
        return False if firsts and version.release < min(firsts) else None
    if reading.family in {ImageFamily.NGC_PYTORCH, ImageFamily.NGC_TENSORRT}:
        record = knowledge.toolkit(cuda)
        if reading.capability_min is not None and capability < reading.capability_min:
            return False
        if (
            record is not None
            and not toolkit_builds_for(record.targets, capability)
            and capability > max(one.capability for one in record.targets)
        ):
            return False
        return True if reading.capability_min is not None and record is not None else None
    return None


def _link(
    id_: CheckId,
    state: LinkState,
    words: Text,
    image: ProjectImage,
    *,
    mend: Mend = Mend.NONE,
    driver_for: Version | None = None,
) -> ProjectLink:
    return ProjectLink(check_of(id_, state, words, image.spot), mend, driver_for=driver_for)
