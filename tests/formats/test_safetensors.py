"""The head of a file of weights: how many numbers it holds and in which formats, and heads that say what cannot be."""

from __future__ import annotations

import json

from gpuassist.formats.safetensors import head_size, read_head, read_index
from tests.rows import for_each


def head(**tensors: object) -> bytes:
    return json.dumps({"__metadata__": {"format": "pt"}, **tensors}).encode()


def test_numbers_and_bytes() -> None:
    stored = read_head(
        head(
            a={"dtype": "BF16", "shape": [4, 8], "data_offsets": [0, 64]}, b={"dtype": "F32", "shape": [], "data_offsets": [64, 68]}
        )
    )
    assert stored is not None
    assert (stored.parameters, stored.stored_bytes) == (33, 68)
    assert stored.formats == (("BF16", 32), ("F32", 1))
    assert stored.are_plain


def test_packed_weights_are_no_parameters() -> None:
    stored = read_head(head(a={"dtype": "I32", "shape": [4, 8]}, b={"dtype": "F16", "shape": [4]}))
    assert stored is not None
    assert not stored.are_plain


def test_the_length_of_a_head() -> None:
    assert head_size((300).to_bytes(8, "little")) == 300
    assert head_size(b"\xff" * 8) is None
    assert head_size(b"abc") is None


@for_each(
    "content",
    [
        b"",
        b"[]",
        b"{" * 50_000,
        head(a={"dtype": "BF16", "shape": [-1]}),
        head(a={"dtype": "BF16", "shape": [1 << 40, 1 << 40]}),
        head(a={"dtype": "BF16", "shape": [True]}),
        head(a={"dtype": "BF16", "shape": [1] * 100}),
        head(a={"dtype": "Q9", "shape": [1]}),
        head(a={"dtype": {}, "shape": [1]}),
        head(a={"dtype": ["F32"], "shape": [1]}),
        head(a=3),
    ],
)
def test_what_cannot_be_is_none(content: bytes) -> None:
    assert read_head(content) is None


def test_an_index_names_files_of_its_own_directory_alone() -> None:
    index = {"metadata": {"total_size": 10}, "weight_map": {"a": "model-1.safetensors", "b": "../../etc/passwd", "c": 7}}
    found = read_index(json.dumps(index).encode())
    assert found is not None
    assert found.files == ("model-1.safetensors",)
    assert found.stored_bytes == 10
    assert read_index(b"{}") is None
