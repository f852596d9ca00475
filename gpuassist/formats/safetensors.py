"""The head of a `.safetensors` file, and the index beside several of them: how many numbers there are, and in which formats.

The head is eight bytes with its length and a JSON object of tensors (github.com/huggingface/safetensors, README, "Format"); the
library takes heads of up to 100 MB, which no model comes near. The weights themselves are never read.
"""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.json_reader import NotJsonError, read_json

LENGTH_BYTES = 8
LARGEST_HEAD = 64 << 20
LARGEST_INDEX = 64 << 20
_TENSORS = 1_000_000
_MOST = 1 << 50
# Bits of a number in each format that the library knows.
_BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16,
    "I32": 32, "U32": 32, "F32": 32, "F64": 64, "I64": 64, "U64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "C64": 64,
}  # fmt: skip


class StoredWeights(Struct, frozen=True):
    """The numbers of a file by format, such as `BF16`, and the bytes that they take."""

    parameters: int
    stored_bytes: int
    formats: tuple[tuple[str, int], ...]

    def with_those_of(self, other: StoredWeights) -> StoredWeights:
        counts = dict(self.formats)
        for name, count in other.formats:
            counts[name] = counts.get(name, 0) + count
        return StoredWeights(
            self.parameters + other.parameters, self.stored_bytes + other.stored_bytes, tuple(sorted(counts.items()))
        )

    @property
    def are_plain(self) -> bool:
        """Whether each number of it is a parameter: packed ones, of GPTQ or bitsandbytes, are not."""
        return bool(self.formats) and {name for name, _ in self.formats} <= {"F16", "BF16", "F32", "F64", "F8_E4M3", "F8_E5M2"}


def head_size(first: bytes) -> int | None:
    """How many bytes of head follow the first eight; None where this is no such file."""
    size = int.from_bytes(first[:LENGTH_BYTES], "little")
    return size if len(first) >= LENGTH_BYTES and 2 <= size <= LARGEST_HEAD else None


def read_head(content: bytes) -> StoredWeights | None:
    """The tensors of a head; None where it cannot be read or says what cannot be."""
    try:
        head = read_json(content)
    except NotJsonError:
        return None
    if not isinstance(head, dict) or len(head) > _TENSORS:
        return None
    counts: dict[str, int] = {}
    for name, tensor in head.items():
        if name == "__metadata__":
            continue
        found = _tensor(tensor)
        if found is None:
            return None
        counts[found[0]] = counts.get(found[0], 0) + found[1]
    total = sum(counts.values())
    stored = sum(count * _BITS[kind] // 8 for kind, count in counts.items())
    return StoredWeights(total, stored, tuple(sorted(counts.items()))) if 0 < total <= _MOST else None


def _tensor(tensor: object) -> tuple[str, int] | None:
    if not isinstance(tensor, dict):
        return None
    kind, shape, count = tensor.get("dtype"), tensor.get("shape"), 1
    if not isinstance(kind, str) or kind not in _BITS or not isinstance(shape, list) or len(shape) > 16:
        return None
    for side in shape:
        if not isinstance(side, int) or isinstance(side, bool) or not 0 <= side <= _MOST:
            return None
        count *= side
        if count > _MOST:
            return None
    return kind, count


class WeightIndex(Struct, frozen=True):
    """What `model.safetensors.index.json` says: the files it names, and the bytes of all of them, 0 where it does not."""

    files: tuple[str, ...]
    stored_bytes: int
    parameters: int


def read_index(content: bytes) -> WeightIndex | None:
    """The index; None where it is none. A file is named without a directory, or left out."""
    try:
        index = read_json(content)
    except NotJsonError:
        return None
    if not isinstance(index, dict) or not isinstance(index.get("weight_map"), dict):
        return None
    metadata = index.get("metadata")
    numbers = metadata if isinstance(metadata, dict) else {}
    files = {name for name in index["weight_map"].values() if isinstance(name, str) and "/" not in name and "\0" not in name}
    return WeightIndex(tuple(sorted(files))[:10_000], _number(numbers.get("total_size")), _number(numbers.get("total_parameters")))


def _number(value: object) -> int:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MOST * 8
    return int(value) if fits else 0  # type: ignore[call-overload]
