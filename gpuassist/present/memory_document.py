"""The picture of a card's memory as JSON: bytes as numbers, the parts in their order."""

from __future__ import annotations

from gpuassist.model.codec import Json
from gpuassist.model.memory_picture import MemoryPicture, Part
from gpuassist.model.words import Words
from gpuassist.present.memory import part_name


def memory_document(picture: MemoryPicture, words: Words) -> Json:
    """The whole of it; `parts` add up to `total_bytes`."""
    return {
        "device": picture.device,
        "total_bytes": picture.total_bytes,
        "requested_bytes": picture.requested_bytes,
        "beyond_the_card_bytes": picture.beyond_bytes,
        "parts": [_part(part, words) for part in picture.parts],
        "notes": [words(note) for note in picture.notes],
    }


def _part(part: Part, words: Words) -> Json:
    return {
        "kind": part.kind.value,
        "name": words(part_name(part)),
        "pid": part.pid or None,
        "bytes": part.size_bytes,
        "derived": part.derived,
    }
