"""Configs of models: exactly as many weights as the models themselves have, whatever their fields are called; and hostile ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuassist.formats.model_config.fields import ModelConfigError
from gpuassist.formats.model_config.read import read_model_config
from tests.rows import for_each

CASES = json.loads((Path(__file__).parent.parent / "cases/estimates/parameters.json").read_text("utf-8"))
LLAMA: dict[str, Any] = next(one["config"] for one in CASES["published"] if one["model"] == "Llama-3.1-8B")
# Of DeepSeek-V3 the biases of its routers lie in the checkpoint, and are not trained.
STORED_BESIDE = {"DeepSeek-V3": 58 * 256}


def read(config: dict[str, Any]) -> Any:
    return read_model_config(json.dumps(config).encode())


@for_each("row", CASES["published"])
def test_as_many_parameters_as_published(row: dict[str, Any]) -> None:
    assert read(row["config"]).parameters == row["parameters"] - STORED_BESIDE.get(row["model"], 0)


@for_each("row", CASES["made"])
def test_as_many_parameters_as_the_class_makes(row: dict[str, Any]) -> None:
    assert read(row["config"]).parameters == row["parameters"]


def test_matrices_and_vectors_add_up() -> None:
    shape = read(LLAMA)
    assert sum(one.parameters for one in shape.matrices) + 4096 * (2 * 32 + 1) == shape.parameters
    assert shape.kv_heads == 8
    assert shape.largest_layer * 32 >= sum(one.parameters for one in shape.matrices if one.in_layers)


def test_latent_attention_and_windows() -> None:
    deepseek = next(one["config"] for one in CASES["published"] if one["model"] == "DeepSeek-V3")
    assert read(deepseek).latent == 576
    mistral = {**LLAMA, "model_type": "mistral", "sliding_window": 4096}
    assert (read(mistral).window, read(mistral).window_layers) == (4096, 32)
    assert read({**LLAMA, "model_type": "qwen2", "sliding_window": 4096}).window_layers == 0


def test_the_text_part_of_a_model_for_pictures_is_counted_and_said() -> None:
    shape = read({"model_type": "gemma3", "text_config": {**LLAMA, "model_type": "llama"}, "vision_config": {}})
    assert shape.parameters == read(LLAMA).parameters
    assert shape.notes


def test_an_unknown_family_is_counted_as_a_llama_and_said() -> None:
    shape = read({**LLAMA, "model_type": "next_years_model"})
    assert shape.parameters == read(LLAMA).parameters
    assert shape.notes


@for_each(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"[]",
        b"[" * 100_000,
        b"{}",
        b'{"model_type": "llama"}',
        json.dumps({**LLAMA, "hidden_size": -1}).encode(),
        json.dumps({**LLAMA, "hidden_size": 10**30}).encode(),
        json.dumps({**LLAMA, "hidden_size": 1.5}).encode(),
        json.dumps({**LLAMA, "hidden_size": True}).encode(),
        json.dumps({**LLAMA, "hidden_size": "4096"}).encode(),
        json.dumps({**LLAMA, "num_hidden_layers": 10**9}).encode(),
        b'{"model_type": "llama", "hidden_size": NaN}',
        b'{"model_type": "vit", "hidden_size": 8, "patch_size": 0}',
        b" " * (5 << 20),
    ],
)
def test_what_is_no_config_is_refused(content: bytes) -> None:
    with pytest.raises(ModelConfigError):
        read_model_config(content)


def test_sizes_that_no_model_has_are_only_large() -> None:
    assert read({**LLAMA, "hidden_size": 1 << 32, "intermediate_size": 1 << 32}).parameters > 1 << 64
