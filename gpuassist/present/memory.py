"""The picture of a card's memory in words: what each part is called, a line of figures, and a bar for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gpuassist.formats.size import shown_size
from gpuassist.model.codec import Json
from gpuassist.model.memory_picture import MemoryPart, MemoryPicture, PartKind, PictureOf
from gpuassist.model.text import Text, labelled, text
from gpuassist.model.words import Words

_NAMES: dict[PartKind, Text] = {
    PartKind.ALLOCATED: text("in use by your tensors"),
    PartKind.WORKSPACE: text("cuBLAS's workspace"),
    PartKind.PRIVATE_POOLS: text("in private pools (CUDA graphs)"),
    PartKind.UNUSED: text("reserved, but in pieces"),
    PartKind.CACHED: text("reserved, for the next tensors"),
    PartKind.CONTEXT: text("CUDA itself"),
    PartKind.DESKTOP: text("the desktop"),
    PartKind.OTHERS: text("other processes"),
    PartKind.REST: text("CUDA itself and other processes"),
    PartKind.USED: text("in use, by this process and others"),
    PartKind.UNACCOUNTED: text("not accounted for"),
    PartKind.FREE: text("free"),
}
_EXPLAINED: dict[PartKind, Text] = {
    PartKind.ALLOCATED: text("live tensors of the program that failed: weights, gradients, activations"),
    PartKind.WORKSPACE: text("taken at the first matrix product and kept on purpose; `empty_cache()` leaves it, and it is no leak"),
    PartKind.PRIVATE_POOLS: text("kept for captured CUDA graphs; nothing else can use it"),
    PartKind.UNUSED: text("freed tensors whose blocks torch keeps; each lies between others that are in use"),
    PartKind.CACHED: text("freed tensors whose blocks torch keeps, so that the next ones need not ask the driver"),
    PartKind.CONTEXT: text("CUDA's context, kernels and libraries of this process"),
    PartKind.PROCESS: text("another process on the same card"),
    PartKind.DESKTOP: text("what draws your screen, and browsers and the like, together"),
    PartKind.OTHERS: text("processes that the message does not name"),
    PartKind.REST: text("what the message does not tell apart"),
    PartKind.USED: text("tensors, torch's cache, CUDA's context and other processes: the figures do not tell them apart"),
    PartKind.UNACCOUNTED: text("kept by the driver, or lost to rounding"),
    PartKind.FREE: text("free for everybody"),
}
# One character a kind, so that the bar can be read without colours.
_MARKS: dict[PartKind, str] = {
    PartKind.ALLOCATED: "█",
    PartKind.WORKSPACE: "%",
    PartKind.PRIVATE_POOLS: "▓",
    PartKind.UNUSED: "▒",
    PartKind.CACHED: "+",
    PartKind.CONTEXT: "░",
    PartKind.PROCESS: "#",
    PartKind.DESKTOP: "@",
    PartKind.OTHERS: "=",
    PartKind.REST: "~",
    PartKind.USED: "-",
    PartKind.UNACCOUNTED: "?",
    PartKind.FREE: "·",
}
_IN_ASCII = str.maketrans("█▓▒░·", "*&:o.")  # where a terminal or its locale has no more
_GIB = 1 << 30
_MUCH_CONTEXT = 3 << 29  # more than CUDA alone takes: libraries that have memory beside torch


def part_name(part: MemoryPart) -> Text:
    if part.kind is PartKind.CONTEXT and part.size_bytes > _MUCH_CONTEXT:
        return text("CUDA itself and other libraries")
    if part.kind is PartKind.DESKTOP and part.name:
        return text("the desktop ({programs})", programs=part.name)
    if part.kind is not PartKind.PROCESS:
        return _NAMES[part.kind]
    if part.name:
        return text("process {pid} ({name})", pid=str(part.pid), name=part.name)
    return text("process {pid}", pid=str(part.pid))


def part_explained(part: MemoryPart) -> Text:
    """What a part is, in a sentence, and whether it was reckoned."""
    if part.derived:
        return text("{what} (reckoned from the other figures)", what=_EXPLAINED[part.kind])
    return _EXPLAINED[part.kind]


def short_size(count: int) -> str:
    """A size in the bar: GiB with one decimal; MiB of what is less than a tenth of one."""
    return f"{count / _GIB:.1f} GiB" if count >= _GIB // 10 else f"{count / (1 << 20):.0f} MiB"


def picture_title(picture: MemoryPicture) -> Text:
    """What the picture shows, and when."""
    if picture.of is PictureOf.RESERVED:
        return text("What torch has of the card's memory")
    if picture.of is PictureOf.CARD:
        return text("The card's memory")
    if picture.device is None:
        return text("The card's memory when it failed")
    return text("The memory of GPU {index} when it failed", index=picture.device)


def wanted(picture: MemoryPicture) -> Text:
    """What was asked for, and the card that it was asked of."""
    card = shown_size(picture.total_bytes)
    if picture.of is PictureOf.RESERVED:
        return text("reserved by torch: {total}", total=card)
    if picture.requested_bytes is None:
        return text("card: {total}", total=card)
    return text("wanted: {requested} in one piece · card: {total}", requested=shown_size(picture.requested_bytes), total=card)


def as_plain_text(picture: MemoryPicture, words: Words) -> str:
    """The figures, a line each: to be copied, and for those who do not see the bar."""
    lines = [words(labelled(part_name(part), shown_size(part.size_bytes))) for part in picture.parts]
    return "\n".join([*lines, words(wanted(picture)), *map(words, picture.notes)])


def text_bar(picture: MemoryPicture, width: int, *, unicode: bool = True) -> str:
    """The bar for a terminal, exactly `width` characters between its ends; every part has at least one."""
    cells = _cells([part.size_bytes for part in picture.parts], width)
    return "".join(_mark(part, unicode=unicode) * count for part, count in zip(picture.parts, cells, strict=True))


def text_legend(picture: MemoryPicture, words: Words, *, unicode: bool = True) -> tuple[str, ...]:
    """A line for each part: its mark, name and size."""
    return tuple(
        f"{_mark(part, unicode=unicode)} {words(part_name(part))}  {short_size(part.size_bytes)}" for part in picture.parts
    )


def _mark(part: MemoryPart, *, unicode: bool) -> str:
    return _MARKS[part.kind] if unicode else _MARKS[part.kind].translate(_IN_ASCII)


def _cells(sizes: Sequence[int], width: int) -> list[int]:
    """Whole characters that add up to the width, as near to the shares as one each allows."""
    spare = max(0, width - len(sizes))
    total = sum(sizes)
    shares = [size * spare / total for size in sizes]
    cells = [int(share) for share in shares]
    by_loss = sorted(range(len(sizes)), key=lambda place: cells[place] - shares[place])
    for place in by_loss[: spare - sum(cells)]:
        cells[place] += 1
    return [1 + count for count in cells]


# The picture of a card's memory as JSON: bytes as numbers, the parts in their order.
def memory_document(picture: MemoryPicture, words: Words) -> Json:
    """The whole of it; `parts` add up to `total_bytes`."""
    return {
        "device": picture.device,
        "total_bytes": picture.total_bytes,
        "of": picture.of.value,
        "requested_bytes": picture.requested_bytes,
        "beyond_the_card_bytes": picture.beyond_bytes,
        "parts": [
            {
                "kind": part.kind.value,
                "name": words(part_name(part)),
                "pid": part.pid or None,
                "bytes": part.size_bytes,
                "derived": part.derived,
            }
            for part in picture.parts
        ],
        "notes": [words(note) for note in picture.notes],
    }
