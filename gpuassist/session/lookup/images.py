"""What is known of a container image, by its name in any spelling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuassist.model.nearest import MOST, nearest_names
from gpuassist.model.text import Text, text
from gpuassist.session.lookup.answer import LookupAnswer, LookupKind, LookupStatus, fields, known, unknown

if TYPE_CHECKING:
    from gpuassist.knowledge.images import ImageReading
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.session.lookup.answer import Document


def answer(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By rule from the name, and from the table for images that are named by their month."""
    from gpuassist.knowledge.images import ImageReading

    reading = knowledge.image(words)
    if not isinstance(reading, ImageReading):
        return unknown(reading.reason, nearest_names(words, _names(knowledge)) or reading.expected[:MOST])
    record, notes = _document(reading), tuple(_notes(reading))
    if reading.newer_than_known:
        title = text("{image}: newer than what I know", image=reading.name)
        record["source"] = f"newer than what I know; by rule: {reading.source}"
        return LookupAnswer(LookupStatus.NEWER, title, record, notes)
    own = reading.family.value.rpartition("/")[2]
    if reading.cuda is None and reading.version:
        title = text("{image}: {framework} {version}", image=reading.name, framework=own, version=reading.version)
    elif reading.cuda is None:
        title = text("{image}: what is inside is not listed", image=reading.name)
    elif reading.version:
        title = text(
            "{image}: CUDA {cuda}, {framework} {version}",
            image=reading.name,
            cuda=str(reading.cuda),
            framework=own,
            version=reading.version,
        )
    elif reading.torch:
        title = text("{image}: CUDA {cuda}, torch {torch}", image=reading.name, cuda=str(reading.cuda), torch=reading.torch)
    else:
        title = text("{image}: CUDA {cuda}", image=reading.name, cuda=str(reading.cuda))
    return known(title, record, *notes)


def _names(knowledge: Knowledge) -> Iterator[str]:
    """Those that are known by their month; the others follow by rule."""
    return (image.name for image in knowledge.images())


def _records(knowledge: Knowledge) -> Iterator[Document]:
    from gpuassist.knowledge.images import ImageReading

    readings = (knowledge.image(name) for name in _names(knowledge))
    return (_document(reading) for reading in readings if isinstance(reading, ImageReading))


SHELF = LookupKind("image", answer, _names, _records)


def _notes(reading: ImageReading) -> Iterator[Text]:
    floor = str(reading.driver_floor)
    if reading.by_base and reading.cuda is not None:
        yield text("Told by what the images of that month have in common; no source that I have tells of this one alone.")
    elif reading.cuda is None and not reading.newer_than_known:
        yield text("No source that I have tells what is inside.")
    if reading.integrated:
        yield text("It is for Jetson, where the driver is part of the system.")
    elif reading.driver_floor is None or reading.driver_min is None or reading.driver_floor == reading.driver_min:
        return
    elif reading.requires_cuda is None or reading.cuda is None or reading.requires_cuda < reading.cuda.release:
        yield text("Drivers from {floor} on run it too (minor-version compatibility).", floor=floor)
    else:
        yield text(
            "Drivers from {floor} on run it too (minor-version compatibility); its start may then need NVIDIA_DISABLE_REQUIRE=1.",
            floor=floor,
        )


def _document(reading: ImageReading) -> Document:
    """Of `torch`, `tensorrt` and `cudnn` the empty text is none inside, and null that it is not known."""
    return fields(
        source=reading.source,
        checked=reading.checked,
        image=reading.name,
        cuda=reading.cuda,
        version=reading.version,
        torch=reading.torch,
        tensorrt=reading.tensorrt,
        python=reading.python,
        nvcc_inside=reading.nvcc_inside,
        cudnn_inside=reading.cudnn_inside,
        cudnn=reading.cudnn,
        os=reading.os,
        glibc=reading.glibc,
        driver_min_linux=reading.driver_min,
        driver_floor_linux=reading.driver_floor,
        requires_cuda=reading.requires_cuda,
        compute_capability_min=reading.capability_min,
        jetson=reading.integrated,
        jetpack=reading.jetpack,
    )
