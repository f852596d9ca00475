"""Models that read pictures: ViT and its kin, and the two towers of CLIP and SigLIP; built as transformers 5.24 has them,
`modeling_*.py`, read 2026-11-28; held by counts of the same models made on the meta device.
"""

from __future__ import annotations

from collections.abc import Callable

from gpuassist.formats.model_config.blocks import Found, Sizes, block, found, sizes_of
from gpuassist.formats.model_config.fields import Fields, ModelConfigError, Pieces
from gpuassist.model.text import text


def vit(fields: Fields, pieces: Pieces) -> Found:
    """ViT, and DeiT, which has a token more."""
    sizes = hidden, inner, layers, _ = sizes_of(fields)
    tokens = _patches(fields, 16) + (2 if fields.word("model_type") == "deit" else 1)
    biased = fields.flag("qkv_bias", default=True)
    for name in ("query", "key", "value"):
        pieces.matrix(name, hidden, hidden, layers, bias=biased)
    pieces.matrix("output", hidden, hidden, layers, bias=True)
    _plain(pieces, hidden, inner, layers)
    inside = pieces.parameters
    _patch_matrix(fields, pieces, hidden, 16)
    pieces.matrix("pooler", hidden, hidden, bias=True, inside=False)
    pieces.vector((tokens - _patches(fields, 16)) * hidden + tokens * hidden + 2 * hidden)
    return found(sizes, inside, tokens=tokens)


def beit(fields: Fields, pieces: Pieces) -> Found:
    """BEiT: no bias of keys, scales behind each half of a layer, and positions in the scores of pairs."""
    sizes = hidden, inner, layers, heads = sizes_of(fields)
    patches = _patches(fields, 16)
    block(pieces, hidden, inner, layers, key_bias=False)
    pieces.vector(2 * hidden, layers)
    side = fields.whole("image_size", default=224) // fields.whole("patch_size", default=16)
    pairs = ((2 * side - 1) ** 2 + 3) * heads
    if fields.flag("use_relative_position_bias"):
        pieces.vector(pairs, layers)
    inside = pieces.parameters
    if fields.flag("use_shared_relative_position_bias"):
        pieces.vector(pairs)
    _patch_matrix(fields, pieces, hidden, 16)
    absolute = (patches + 1) * hidden if fields.flag("use_absolute_position_embeddings") else 0
    pieces.vector(hidden * (4 if fields.flag("use_mask_token") else 3) + absolute)
    return found(sizes, inside, tokens=patches + 1)


def dinov2(fields: Fields, pieces: Pieces) -> Found:
    """DINOv2, with registers or without, and DINOv3, whose positions are turned into keys and queries. The `side` of a picture is
    told: DINOv2's configs say 518, and its own settings for pictures cut them to 224.
    """
    kind = fields.word("model_type")
    third = kind == "dinov3_vit"
    hidden, layers, heads = fields.whole("hidden_size"), fields.whole("num_hidden_layers"), fields.whole("num_attention_heads")
    inner = fields.whole("intermediate_size") if third else fields.whole("mlp_ratio", default=4) * hidden
    gated = fields.flag("use_gated_mlp" if third else "use_swiglu_ffn")
    if gated and not third:
        inner = (inner * 2 // 3 + 7) // 8 * 8
    for name in ("query", "key", "value"):
        biased = fields.flag(f"{name}_bias", default=name != "key") if third else fields.flag("qkv_bias", default=True)
        pieces.matrix(name, hidden, hidden, layers, bias=biased)
    pieces.matrix("output", hidden, hidden, layers, bias=fields.flag("proj_bias", default=True))
    if gated:
        pieces.matrix("gate_proj", hidden, inner, layers, bias=fields.flag("mlp_bias", default=True))
    _plain(pieces, hidden, inner, layers, bias=fields.flag("mlp_bias", default=True))
    pieces.vector(2 * hidden, layers)  # scales
    inside = pieces.parameters
    _patch_matrix(fields, pieces, hidden, 16 if third else 14)
    patches = _patches(fields, 16 if third else 14)
    registers = fields.whole("num_register_tokens", default=4 if kind == "dinov2_with_registers" else 0, least=0)
    masked = third or fields.flag("use_mask_token", default=True)
    pieces.vector(hidden * (3 + registers + (1 if masked else 0)))
    if not third:
        pieces.matrix("positions", patches + 1, hidden, inside=False)
    side, tokens = fields.whole("image_size", default=224), patches + 1 + registers
    return found((hidden, inner, layers, heads), inside, tokens=tokens, side=side)


def clip_vision(fields: Fields, pieces: Pieces) -> Found:
    """The tower of CLIP that reads pictures, without what follows it."""
    sizes = hidden, inner, layers, _ = _sizes(fields, 768, 12)
    tokens = _patches(fields, 32) + 1
    block(pieces, hidden, inner, layers)
    inside = pieces.parameters
    _patch_matrix(fields, pieces, hidden, 32, bias=False)
    pieces.matrix("positions", tokens, hidden, inside=False)
    pieces.vector(5 * hidden)
    return found(sizes, inside, tokens=tokens)


def clip_text(fields: Fields, pieces: Pieces) -> Found:
    """The tower that reads texts; all of a batch are as long as its longest."""
    return _text_tower(fields, pieces, _sizes(fields, 512, 8), (77, 49408))


def siglip_vision(fields: Fields, pieces: Pieces) -> Found:
    """The tower of SigLIP that reads pictures, with its head: a layer of attention that one learned query looks with."""
    sizes = hidden, inner, layers, _ = _sizes(fields, 768, 12)
    # Those of SigLIP 2 that take pictures of any form say how many pieces, and not the sides of one.
    patches = fields.whole("num_patches", default=256) if _is_second(fields) else _patches(fields, 16)
    block(pieces, hidden, inner, layers)
    inside = pieces.parameters
    _patch_matrix(fields, pieces, hidden, 16)
    pieces.matrix("positions", patches, hidden, inside=False)
    pieces.vector(2 * hidden)
    if fields.flag("vision_use_head", default=True):
        pieces.matrix("head_attention", hidden, 4 * hidden, bias=True, inside=False)
        pieces.matrix("head_fc1", hidden, inner, bias=True, inside=False)
        pieces.matrix("head_fc2", inner, hidden, bias=True, inside=False)
        pieces.vector(3 * hidden)
    return found(sizes, inside, tokens=patches)


def siglip_text(fields: Fields, pieces: Pieces) -> Found:
    """The tower that reads texts, with its head."""
    sizes = _sizes(fields, 768, 12)
    figures = _text_tower(fields, pieces, sizes, (64, 32000))
    pieces.matrix("head", sizes[0], fields.whole("projection_size", default=sizes[0]), bias=True, inside=False)
    return figures


_Reader = Callable[[Fields, Pieces], Found]


def clip(fields: Fields, pieces: Pieces) -> Found:
    """Both towers, and what brings them to one width."""
    figures, vision, words = _two_towers(fields, pieces, clip_vision, clip_text)
    width = fields.whole("projection_dim", default=512)
    pieces.matrix("visual_projection", vision, width, inside=False)
    pieces.matrix("text_projection", words, width, inside=False)
    pieces.vector(1)
    return figures


def siglip(fields: Fields, pieces: Pieces) -> Found:
    """Both towers, and the scale and bias of their products."""
    figures, _, _ = _two_towers(fields, pieces, siglip_vision, siglip_text)
    pieces.vector(2)
    return figures


def _two_towers(fields: Fields, pieces: Pieces, vision: _Reader, words: _Reader) -> tuple[Found, int, int]:
    """One model of as many layers as both have, as wide as that for pictures, in which a sample has so many tokens that the layers
    hold as much as those of both towers do; and the widths of both.
    """
    within = [fields.inside(name) or Fields({}) for name in ("vision_config", "text_config")]
    ours, theirs = vision(within[0], pieces), words(within[1], pieces)
    if max(ours["layers"], theirs["layers"]) > _MOST_LAYERS:
        raise ModelConfigError(text("its `{field}` is no number that a model can have", field="num_hidden_layers"))
    layers = ours["layers"] + theirs["layers"]
    held = sum(one["layers"] * one["tokens"] * one["hidden"] for one in (ours, theirs))
    tokens = max(1, round(held / (layers * ours["hidden"])))
    both = {**ours, "layers": layers, "inside": ours["inside"] + theirs["inside"], "tokens": tokens}
    return both, ours["hidden"], theirs["hidden"]


_MOST_LAYERS = 10_000


def _text_tower(fields: Fields, pieces: Pieces, sizes: Sizes, defaults: tuple[int, int]) -> Found:
    hidden, inner, layers, _ = sizes
    longest, vocabulary = (
        fields.whole("max_position_embeddings", default=defaults[0]),
        fields.whole("vocab_size", default=defaults[1]),
    )
    block(pieces, hidden, inner, layers)
    inside = pieces.parameters
    pieces.matrix("token_embedding", vocabulary, hidden, inside=False)
    pieces.matrix("positions", longest, hidden, inside=False)
    pieces.vector(2 * hidden)
    return found(sizes, inside, tokens=longest)


def _sizes(fields: Fields, hidden: int, heads: int) -> Sizes:
    """Configs of towers leave out what their class says by itself."""
    return (
        fields.whole("hidden_size", default=hidden),
        fields.whole("intermediate_size", default=4 * hidden),
        fields.whole("num_hidden_layers", default=12),
        fields.whole("num_attention_heads", default=heads),
    )


def _is_second(fields: Fields) -> bool:
    return fields.word("model_type") == "siglip2_vision_model"


def _patches(fields: Fields, patch: int) -> int:
    return max(1, fields.whole("image_size", default=224) // fields.whole("patch_size", default=patch)) ** 2


def _patch_matrix(fields: Fields, pieces: Pieces, hidden: int, patch: int, *, bias: bool = True) -> None:
    side = fields.whole("patch_size", default=patch)
    pieces.matrix("patches", fields.whole("num_channels", default=3) * side * side, hidden, bias=bias, inside=False)


def _plain(pieces: Pieces, hidden: int, inner: int, layers: int, *, bias: bool = True) -> None:
    pieces.matrix("fc1", hidden, inner, layers, bias=bias)
    pieces.matrix("fc2", inner, hidden, layers, bias=bias)
    pieces.vector(4 * hidden, layers)
