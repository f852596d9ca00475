"""What is known of a container image, by its name in any spelling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuassist.model.nearest import nearest_names
from gpuassist.model.text import Text, text
from gpuassist.session.lookup.answer import LookupAnswer, LookupKind, LookupStatus, known, unknown

if TYPE_CHECKING:
    from gpuassist.knowledge.images import ImageReading
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.model.version import Version
    from gpuassist.session.lookup.answer import Document


def answer(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By rule from the name, and from the table for images that are named by their month."""
    from gpuassist.knowledge.images import ImageReading

    reading = knowledge.image(words)
    if not isinstance(reading, ImageReading):
        return unknown(reading.reason, nearest_names(words, names(knowledge)) or reading.expected)
    record = _document(reading)
    if reading.newer_than_known:
        title = text("{image}: newer than what I know", image=reading.name)
        record["source"] = f"newer than what I know; by rule: {reading.source}"
        return LookupAnswer(LookupStatus.NEWER, title, record, _notes(reading))
    return known(_title(reading), record, *_notes(reading))


def names(knowledge: Knowledge) -> tuple[str, ...]:
    """Those that are known by their month; the others follow by rule."""
    return tuple(image.name for image in knowledge.images())


def records(knowledge: Knowledge) -> Iterator[Document]:
    """One for each month of each framework."""
    readings = (knowledge.image(name) for name in names(knowledge))
    from gpuassist.knowledge.images import ImageReading

    return (_document(reading) for reading in (one for one in readings if isinstance(one, ImageReading)))


SHELF = LookupKind("image", answer, names, records)


def _title(reading: ImageReading) -> Text:
    if reading.cuda is None:
        return text("{image}: what is inside is not listed", image=reading.name)
    if reading.torch:
        return text("{image}: CUDA {cuda}, torch {torch}", image=reading.name, cuda=str(reading.cuda), torch=reading.torch)
    return text("{image}: CUDA {cuda}", image=reading.name, cuda=str(reading.cuda))


def _notes(reading: ImageReading) -> tuple[Text, ...]:
    if reading.integrated:
        return (text("It is for Jetson, where the driver is part of the system."),)
    if reading.driver_floor is None or reading.driver_min is None or reading.driver_floor == reading.driver_min:
        return ()
    floor = str(reading.driver_floor)
    if reading.requires_cuda is None or reading.cuda is None or reading.requires_cuda < reading.cuda.release:
        return (text("Drivers from {floor} on run it too (minor-version compatibility).", floor=floor),)
    note = text(
        "Drivers from {floor} on run it too (minor-version compatibility); its start may then need NVIDIA_DISABLE_REQUIRE=1.",
        floor=floor,
    )
    return (note,)


def _document(reading: ImageReading) -> Document:
    """Of `torch`, `tensorrt` and `cudnn` the empty text is none inside, and null that it is not known."""
    return {
        "source": reading.source,
        "checked": reading.checked,
        "image": reading.name,
        "cuda": _spelled(reading.cuda),
        "torch": reading.torch,
        "tensorrt": reading.tensorrt,
        "python": _spelled(reading.python),
        "nvcc_inside": reading.nvcc_inside,
        "cudnn_inside": reading.cudnn_inside,
        "cudnn": reading.cudnn,
        "os": reading.os,
        "glibc": _spelled(reading.glibc),
        "driver_min_linux": _spelled(reading.driver_min),
        "driver_floor_linux": _spelled(reading.driver_floor),
        "requires_cuda": _spelled(reading.requires_cuda),
        "compute_capability_min": None if reading.capability_min is None else str(reading.capability_min),
        "jetson": reading.integrated,
        "jetpack": _spelled(reading.jetpack),
    }


def _spelled(version: Version | None) -> str | None:
    return None if version is None else str(version)
