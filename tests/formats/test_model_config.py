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
LLAMA: dict[str, Any] = next(one["config"] for one in CASES["real"] if one["model"] == "Llama-3.1-8B")


def read(config: dict[str, Any]) -> Any:
    return read_model_config(json.dumps(config).encode())


@for_each("row", CASES["real"])
def test_as_many_parameters_as_a_model_of_that_size(row: dict[str, Any]) -> None:
    assert read(row["config"]).parameters == row["parameters"]


@for_each("row", CASES["made"])
def test_as_many_parameters_as_the_class_makes(row: dict[str, Any]) -> None:
    assert read(row["config"]).parameters == row["parameters"]


def test_matrices_and_vectors_add_up() -> None:
    shape = read(LLAMA)
    assert sum(one.parameters for one in shape.matrices) + 4096 * (2 * 32 + 1) == shape.parameters
    assert shape.kv_heads == 8
    assert shape.largest_layer * 32 >= sum(one.parameters for one in shape.matrices if one.in_layers)


def test_latent_attention_and_windows() -> None:
    deepseek = next(one["config"] for one in CASES["real"] if one["model"] == "DeepSeek-V3")
    assert read(deepseek).latent == 576
    mistral = {**LLAMA, "model_type": "mistral", "sliding_window": 4096}
    assert (read(mistral).window, read(mistral).window_layers) == (4096, 32)
    assert read({**LLAMA, "model_type": "qwen2", "sliding_window": 4096}).window_layers == 0


def test_the_text_part_of_a_model_for_pictures_is_counted_and_said() -> None:
    shape = read({"model_type": "gemma3", "text_config": {**LLAMA, "model_type": "llama"}, "vision_config": {}})
    assert shape.parameters == read(LLAMA).parameters
    assert shape.notes


def test_a_detector_is_not_taken_for_its_part_for_text() -> None:
    # Grounding DINO has 172 million parameters (transformers 5.24.0), of which BERT has 109.
    bert = next(one["config"] for one in CASES["real"] if one["model"] == "bert-base-uncased")
    with pytest.raises(ModelConfigError):
        read({"model_type": "grounding-dino", "text_config": bert, "backbone_config": {"model_type": "swin"}})


def test_parts_that_are_not_counted_are_known_to_be_missing() -> None:
    eye = {"num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128}
    whole = read({"model_type": "llava", "text_config": LLAMA, "vision_config": eye})
    assert not whole.partly
    assert read({"model_type": "granite_speech", "text_config": LLAMA, "encoder_config": {"hidden_dim": 1024}}).partly
    assert read({"model_type": "idefics2", "text_config": LLAMA, "vision_config": eye, "perceiver_config": eye}).partly


def test_embeddings_of_each_layer_are_not_left_out() -> None:
    with pytest.raises(ModelConfigError):
        read({**LLAMA, "model_type": "next_years_small", "hidden_size_per_layer_input": 256})


def test_experts_that_an_unknown_family_names_otherwise_are_not_left_out() -> None:
    unknown = {**LLAMA, "model_type": "next_years_moe"}
    counted = read({**unknown, "num_local_experts": 8, "moe_intermediate_size": 1024})
    assert counted.experts == 8
    without_width = {name: value for name, value in unknown.items() if name != "intermediate_size"}
    for config in (
        {**unknown, "moe_num_experts": 64},
        {**unknown, "moe_num_experts": [64, 64]},
        {**without_width, "ffn_dim": 11008, "n_routed_experts": 512},
    ):
        with pytest.raises(ModelConfigError):
            read(config)


def test_an_unknown_family_is_counted_as_a_llama_and_said() -> None:
    shape = read({**LLAMA, "model_type": "next_years_model"})
    assert shape.assumed
    assert shape.parameters == read(LLAMA).parameters
    assert shape.notes


@for_each(
    ("config", "parameters"),
    [
        ({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
          "num_hidden_layers": 34, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262208},
          "vision_config": {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27}}, 4_300_079_472),
        ({"model_type": "qwen2_vl", "text_config": {"model_type": "qwen2_vl_text", "hidden_size": 3584, "intermediate_size": 18944,
          "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064},
          "vision_config": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "hidden_size": 3584}}, 8_291_375_616),
    ],
)  # fmt: skip
def test_what_reads_pictures_is_counted_by_its_layers(config: dict[str, Any], parameters: int) -> None:
    # Made on the meta device by transformers 5.23.0 and counted, 2026-11-24.
    assert read(config).parameters == pytest.approx(parameters, rel=0.01)


_CLIP = {"model_type": "clip_vision_model", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
         "num_attention_heads": 16, "image_size": 336, "patch_size": 14}  # fmt: skip
_SIGLIP = {"model_type": "siglip_vision_model", "hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27,
           "num_attention_heads": 16, "image_size": 896, "patch_size": 14, "vision_use_head": False}  # fmt: skip
_LLAMA_4 = {"model_type": "llama4_text", "hidden_size": 5120, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
            "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "vocab_size": 202048}  # fmt: skip
_LLAMA_4_EYE = {"model_type": "llama4_vision_model", "hidden_size": 1408, "intermediate_size": 5632, "num_hidden_layers": 34}


@for_each(
    ("config", "parameters"),
    [
        ({"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064}, "vision_config": _CLIP},
         7_063_427_072),
        ({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
          "num_hidden_layers": 34}, "vision_config": _SIGLIP}, 4_300_079_472),
        ({"model_type": "qwen2_5_vl", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
          "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064, "vision_config": {"depth": 32,
          "hidden_act": "silu", "hidden_size": 1280, "intermediate_size": 3420, "out_hidden_size": 3584, "spatial_merge_size": 2}},
         8_292_166_656),
        ({"model_type": "qwen2_vl", "hidden_size": 1536, "intermediate_size": 8960, "num_hidden_layers": 28,
          "num_attention_heads": 12, "num_key_value_heads": 2, "vocab_size": 151936, "tie_word_embeddings": True,
          "vision_config": {"depth": 32, "embed_dim": 1280, "hidden_size": 1536, "spatial_merge_size": 2}}, 2_208_985_600),
        ({"model_type": "qwen3_vl", "text_config": {"model_type": "qwen3_vl_text", "hidden_size": 4096, "intermediate_size": 12288,
          "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 151936}, "vision_config":
          {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "out_hidden_size": 4096, "spatial_merge_size": 2,
           "num_position_embeddings": 2304, "deepstack_visual_indexes": [8, 16, 24]}}, 8_767_123_696),
        ({"model_type": "llama4", "vision_config": _LLAMA_4_EYE, "text_config": {**_LLAMA_4, "num_local_experts": 16,
          "num_experts_per_tok": 1, "interleave_moe_layer_step": 1}}, 108_660_143_616),
        ({"model_type": "llama4", "vision_config": _LLAMA_4_EYE, "text_config": {**_LLAMA_4, "num_local_experts": 128,
          "num_experts_per_tok": 1, "interleave_moe_layer_step": 2}}, 401_602_131_456),
    ],
)  # fmt: skip
def test_configs_as_they_are_published_leave_out_what_their_classes_say(config: dict[str, Any], parameters: int) -> None:
    # Made on the meta device by transformers 5.24.0 and counted, 2026-11-28; their pages print 7.06, 4.30, 8.29, 2.21, 8.77, 109
    # and 402 billion.
    shape = read(config)
    assert shape.parameters == pytest.approx(parameters, rel=0.005)
    assert not shape.assumed


@for_each("kind", ["swin", "convnext", "wav2vec2", "longformer", "mamba2", "xlnet"])
def test_what_is_refused_names_a_way(kind: str) -> None:
    with pytest.raises(ModelConfigError) as raised:
        read({"model_type": kind, "d_model": 768, "hidden_size": 768})
    assert "name code that makes it" in raised.value.reason.message


def test_the_side_of_a_picture_is_told_where_training_takes_another() -> None:
    # DINOv2's config says 518, and the settings for pictures beside it cut them to 224.
    shape = read(next(one["config"] for one in CASES["real"] if one["model"] == "dinov2-base"))
    assert shape.tokens == (518 // 14) ** 2 + 1
    assert ("side", 518) in shape.notes[0].parameters


def test_two_towers_hold_what_both_hold() -> None:
    config = next(one["config"] for one in CASES["real"] if one["model"] == "clip-vit-base-patch32")
    both, seeing, reading = read(config), read(config["vision_config"]), read(config["text_config"])
    assert both.layers == seeing.layers + reading.layers
    held = sum(one.layers * one.tokens * one.hidden for one in (seeing, reading))
    assert both.layers * both.tokens * both.hidden == pytest.approx(held, rel=0.01)


@for_each(
    ("given", "kind"),
    [
        ({"quant_method": "gptq", "bits": 4}, "gptq"),
        ({"quant_method": "gptq", "bits": 8}, "int8"),
        ({"quant_method": "awq", "bits": 4}, "awq"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "nf4"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True}, "nf4-double"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8"),
        ({"quant_method": "fp8"}, "fp8"),
        ({"quant_method": "gptq", "bits": -4}, "none"),
        ({"quant_method": "next_years"}, "none"),
    ],
)
def test_how_weights_are_stored_is_read_and_said(given: dict[str, Any], kind: str) -> None:
    shape = read({**LLAMA, "quantization_config": given})
    assert shape.quantization.value == kind
    assert shape.notes


@for_each(
    "config",
    [
        {**LLAMA, "model_type": "mamba2"},
        {**LLAMA, "model_type": "jamba"},
        {"peft_type": "LORA", "r": 16, "base_model_name_or_path": "a/b"},
        {"_class_name": "UNet2DConditionModel", "sample_size": 64},
        {"model_type": "bart", "d_model": 8, "encoder_layers": 2},
    ],
)
def test_what_is_built_otherwise_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ModelConfigError):
        read(config)


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
        b'{"model_type": "clip", "vision_config": {"num_hidden_layers": 1000000}}',
        b'{"model_type": "siglip", "text_config": {"hidden_size": -1}}',
        b'{"model_type": "bart", "d_model": 8, "vocab_size": 9, "encoder_layers": 1e9, "decoder_layers": 1, "encoder_ffn_dim": 8}',
        b" " * (5 << 20),
    ],
)
def test_what_is_no_config_is_refused(content: bytes) -> None:
    with pytest.raises(ModelConfigError):
        read_model_config(content)


def test_sizes_that_no_model_has_are_only_large() -> None:
    assert read({**LLAMA, "hidden_size": 1 << 32, "intermediate_size": 1 << 32}).parameters > 1 << 64
