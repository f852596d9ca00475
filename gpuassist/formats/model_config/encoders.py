"""Models that read rather than write, and those that do both: BERT and its kin, T5, Whisper, and which reader has which."""

from __future__ import annotations

from collections.abc import Callable

from gpuassist.formats.model_config import pictures
from gpuassist.formats.model_config.blocks import Found, block
from gpuassist.formats.model_config.fields import Fields, ModelConfigError, Pieces
from gpuassist.formats.model_config.seq2seq import SEQ2SEQ, seq2seq
from gpuassist.model.estimate import Matrix, ModelShape, ShapeOrigin
from gpuassist.model.text import text

_MOST_LAYERS = 10_000


def _bert(fields: Fields, pieces: Pieces) -> Found:
    hidden, layers = fields.whole("hidden_size", "dim"), fields.whole("num_hidden_layers", "n_layers")
    inner, longest = fields.whole("intermediate_size", "hidden_dim"), fields.whole("max_position_embeddings", default=512)
    vocabulary, kind = fields.whole("vocab_size"), fields.word("model_type")
    width = fields.whole("embedding_size", default=hidden) if kind == "electra" else hidden
    block(pieces, hidden, inner, layers)
    inside = pieces.parameters
    pieces.matrix("word_embeddings", vocabulary, width, inside=False)
    pieces.matrix("position_embeddings", longest, width, inside=False)
    if kind != "distilbert":
        pieces.matrix("token_type_embeddings", fields.whole("type_vocab_size", default=2), width, inside=False)
    if kind not in {"distilbert", "electra"}:
        pieces.matrix("pooler", hidden, hidden, bias=True, inside=False)
    if width != hidden:
        pieces.matrix("embeddings_project", width, hidden, bias=True, inside=False)
    pieces.vector(2 * width)
    heads = fields.whole("num_attention_heads", "n_heads")
    return {"layers": layers, "hidden": hidden, "inner": inner, "heads": heads, "longest": longest, "inside": inside}


def _t5(fields: Fields, pieces: Pieces) -> Found:
    hidden, inner = fields.whole("d_model"), fields.whole("d_ff")
    heads, size = fields.whole("num_heads"), fields.whole("d_kv", default=64)
    encoders = fields.whole("num_layers")
    decoders = fields.whole("num_decoder_layers", default=encoders)
    gated = fields.word("feed_forward_proj").startswith("gated")
    vocabulary, width = fields.whole("vocab_size"), heads * size
    for count, attentions in ((encoders, 1), (decoders, 2)):
        for name, sides in {"q": (hidden, width), "k": (hidden, width), "v": (hidden, width), "o": (width, hidden)}.items():
            pieces.matrix(name, *sides, count * attentions)
        for name in ("wi_0", "wi_1") if gated else ("wi",):
            pieces.matrix(name, hidden, inner, count)
        pieces.matrix("wo", inner, hidden, count)
        pieces.vector(hidden * (1 + attentions), count)
    inside = pieces.parameters
    pieces.vector(2 * fields.whole("relative_attention_num_buckets", default=32) * heads + 2 * hidden)
    pieces.matrix("shared", vocabulary, hidden, inside=False)
    if not fields.flag("tie_word_embeddings", default=True):
        pieces.matrix("lm_head", hidden, vocabulary, inside=False)
    return {
        "layers": encoders + decoders,
        "hidden": hidden,
        "inner": inner,
        "heads": heads,
        "size": size,
        "vocabulary": vocabulary,
        "writes": decoders,
        "inside": inside,
        "longest": fields.whole("n_positions", default=512),
    }


def _whisper(fields: Fields, pieces: Pieces) -> Found:
    hidden, vocabulary = fields.whole("d_model"), fields.whole("vocab_size")
    encoders, decoders = fields.whole("encoder_layers"), fields.whole("decoder_layers")
    inner, longest = fields.whole("encoder_ffn_dim"), fields.whole("max_target_positions", default=448)
    bins, positions = fields.whole("num_mel_bins", default=80), fields.whole("max_source_positions", default=1500)
    block(pieces, hidden, inner, encoders, key_bias=False)
    block(pieces, hidden, fields.whole("decoder_ffn_dim"), decoders, key_bias=False, crossed=True)
    inside = pieces.parameters
    pieces.matrix("conv1", bins * 3, hidden, bias=True, inside=False)
    pieces.matrix("conv2", hidden * 3, hidden, bias=True, inside=False)
    pieces.matrix("positions", positions + longest, hidden, inside=False)
    pieces.matrix("embed_tokens", vocabulary, hidden, inside=False)
    pieces.vector(4 * hidden)
    return {
        "layers": encoders + decoders,
        "hidden": hidden,
        "inner": inner,
        "heads": fields.whole("encoder_attention_heads"),
        "vocabulary": vocabulary,
        "tokens": positions,
        "writes": decoders,
        "inside": inside,
        "longest": longest,
    }


# Each with the family whose steps were measured for it.
ENCODERS: dict[str, tuple[Callable[[Fields, Pieces], Found], str]] = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "distilbert", "electra", "camembert", "data2vec-text", "ernie"), (_bert, "bert")),
    **dict.fromkeys(("t5", "mt5", "umt5"), (_t5, "t5")),
    "whisper": (_whisper, "whisper"),
    **dict.fromkeys(SEQ2SEQ, (seq2seq, "bart")),
    **dict.fromkeys(("vit", "deit"), (pictures.vit, "vit")),
    "beit": (pictures.beit, "beit"),
    **dict.fromkeys(("dinov2", "dinov2_with_registers", "dinov3_vit"), (pictures.dinov2, "dinov2")),
    "clip": (pictures.clip, "clip"),
    "clip_vision_model": (pictures.clip_vision, "clip"),
    "clip_text_model": (pictures.clip_text, "clip"),
    **dict.fromkeys(("siglip", "siglip2"), (pictures.siglip, "siglip")),
    **dict.fromkeys(("siglip_vision_model", "siglip2_vision_model"), (pictures.siglip_vision, "siglip")),
    **dict.fromkeys(("siglip_text_model", "siglip2_text_model"), (pictures.siglip_text, "siglip")),
}


def encoder(fields: Fields, kind: str, name: str) -> ModelShape:
    """The shape of a model of one of `ENCODERS`."""
    pieces = Pieces()
    read, family = ENCODERS[kind]
    found = read(fields, pieces)
    if found["layers"] > _MOST_LAYERS:
        raise ModelConfigError(text("its `{field}` is no number that a model can have", field="num_hidden_layers"))
    size = found.get("size") or max(1, found["hidden"] // found["heads"])
    return ModelShape(
        name=name or kind,
        family=family,
        origin=ShapeOrigin.CONFIG,
        parameters=pieces.parameters,
        layers=found["layers"],
        writing_layers=found.get("writes", 0),
        hidden=found["hidden"],
        inner=found["inner"],
        heads=found["heads"],
        kv_heads=found["heads"],
        head_size=size,
        value_size=size,
        vocabulary=found.get("vocabulary", 0),
        longest=found.get("longest", 0),
        kv_layers=2 * found.get("writes", 0),  # of itself, and of what was read
        largest_layer=-(-found["inside"] // found["layers"]),
        tokens=found.get("tokens", 0),
        writes=bool(found.get("writes")),
        matrices=tuple(Matrix(*one) for one in pieces.matrices),
    )
