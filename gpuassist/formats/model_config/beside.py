"""What a config says beside the text part of a model: the parts for pictures and sound, and what its weights are stored in."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.formats.model_config.encoders import ENCODERS, encoder
from gpuassist.formats.model_config.fields import Fields, ModelConfigError
from gpuassist.model.estimate import Quantization
from gpuassist.model.text import Text, text

PARTS = ("vision_config", "audio_config")
_MOST_LAYERS = 10_000


class StoredIn(Struct, frozen=True):
    """A `quantization_config`: the kind that is known here, or none, and what is to be said of it."""

    kind: Quantization
    note: Text


def parameters_beside(fields: Fields) -> int:
    """About as many as the encoders for pictures and sound have: four squares of the width and two or three matrices of the
    feed-forward part in each layer, and what joins pieces of a picture. 0 where the config does not say enough.
    """
    return sum(_of_part(part) for part in (fields.inside(name) for name in PARTS) if part is not None)


def _of_part(part: Fields) -> int:
    kind = part.word("model_type")
    try:
        if kind in ENCODERS:
            return encoder(part, kind, "").parameters
        layers = part.whole("num_hidden_layers", "depth", "encoder_layers")
        # The width of Qwen2-VL's is `embed_dim`; its `hidden_size` is that of the text part.
        width = part.whole("embed_dim", "hidden_size", "d_model")
        inner = part.whole("intermediate_size", "encoder_ffn_dim", default=part.whole("mlp_ratio", default=4) * width)
        joined = _joined(part, width)
    except ModelConfigError:
        return 0
    gated = kind == "pixtral" or part.word("hidden_act") == "silu"
    return min(layers, _MOST_LAYERS) * (4 * width * width + (3 if gated else 2) * width * inner) + joined


def _joined(part: Fields, width: int) -> int:
    """What makes one token of the text part of four of Qwen's pieces of a picture, behind the last layer and some others."""
    if not part.has("spatial_merge_size"):
        return 0
    outer = part.whole("out_hidden_size", "hidden_size")
    merged = width * part.whole("spatial_merge_size") ** 2
    times = 1 + len(part.wholes("deepstack_visual_indexes"))
    return times * merged * (merged + outer) + part.whole("num_position_embeddings", default=0, least=0) * width


def quantization_of(fields: Fields) -> StoredIn | None:
    """What the weights are stored in, where the config says that they are quantized."""
    given = fields.inside("quantization_config")
    method = given.word("quant_method") if given is not None else ""
    if given is None or not method:
        return None
    kind = _kind(given, method)
    if kind is None:
        unknown = text("its weights are stored by `{method}`, which is not known here: counted in 16 bits", method=method)
        return StoredIn(Quantization.NONE, unknown)
    said = text(
        "its config says that the weights are stored quantized ({method}): counted so unless all of it is trained", method=method
    )
    return StoredIn(kind, said)


def _kind(given: Fields, method: str) -> Quantization | None:
    eight = given.flag("load_in_8bit") or _bits(given) == 8
    if method in {"gptq", "awq"} and _bits(given) in {4, 8}:
        four = Quantization.AWQ if method == "awq" else Quantization.GPTQ
        return Quantization.INT8 if eight else four
    if method == "bitsandbytes" and (eight or given.flag("load_in_4bit")):
        double = given.flag("bnb_4bit_use_double_quant")
        return Quantization.INT8 if eight else (Quantization.NF4_DOUBLE if double else Quantization.NF4)
    return Quantization.FP8 if method in {"fp8", "fbgemm_fp8"} else None


def _bits(given: Fields) -> int:
    try:
        return given.whole("bits", "w_bit", default=0, least=0)
    except ModelConfigError:
        return 0
