"""Models that read rather than write, and those that do both: BERT and its kin, T5, Whisper, and which reader has which."""

from __future__ import annotations

from collections.abc import Callable

from gpuassist.formats.model_config import pictures
from gpuassist.formats.model_config.blocks import Found, block, found, sizes_of
from gpuassist.formats.model_config.fields import Fields, ModelConfigError, Pieces
from gpuassist.formats.model_config.seq2seq import SEQ2SEQ, seq2seq
from gpuassist.model.estimate import Matrix, ModelShape, ShapeOrigin
from gpuassist.model.text import Text, text

_MOST_LAYERS = 10_000


def _bert(fields: Fields, pieces: Pieces) -> Found:
    hidden, layers = fields.whole("hidden_size", "dim"), fields.whole("num_hidden_layers", "n_layers")
    inner, longest = fields.whole("intermediate_size", "hidden_dim"), fields.whole("max_position_embeddings", default=512)
    vocabulary, kind = fields.whole("vocab_size"), fields.word("model_type")
    heads = fields.whole("num_attention_heads", "n_heads")
    width = fields.whole("embedding_size", default=hidden) if kind == "electra" else hidden
    block(pieces, hidden, inner, layers)
    inside = pieces.parameters
    pieces.matrix("word_embeddings", vocabulary, width, inside=False)
    pieces.matrix("position_embeddings", longest, width, inside=False)
    if kind == "mpnet":
        pieces.matrix("relative_attention_bias", fields.whole("relative_attention_num_buckets", default=32), heads, inside=False)
    elif kind != "distilbert":
        pieces.matrix("token_type_embeddings", fields.whole("type_vocab_size", default=2), width, inside=False)
    if kind not in {"distilbert", "electra"}:
        pieces.matrix("pooler", hidden, hidden, bias=True, inside=False)
    if width != hidden:
        pieces.matrix("embeddings_project", width, hidden, bias=True, inside=False)
    pieces.vector(2 * width)
    return {"layers": layers, "hidden": hidden, "inner": inner, "heads": heads, "longest": longest, "inside": inside}


def _albert(fields: Fields, pieces: Pieces) -> Found:
    """Its layers share their weights, all of them or by groups; each keeps its own of a step."""
    sizes = hidden, inner, layers, _ = sizes_of(fields)
    width, longest = fields.whole("embedding_size", default=128), fields.whole("max_position_embeddings", default=512)
    kinds = fields.whole("num_hidden_groups", default=1) * fields.whole("inner_group_num", default=1)
    block(pieces, hidden, inner, kinds)
    inside = -(-pieces.parameters // kinds) * layers
    pieces.matrix("word_embeddings", fields.whole("vocab_size"), width, inside=False)
    pieces.matrix("position_embeddings", longest, width, inside=False)
    pieces.matrix("token_type_embeddings", fields.whole("type_vocab_size", default=2), width, inside=False)
    pieces.matrix("embeddings_project", width, hidden, bias=True, inside=False)
    pieces.matrix("pooler", hidden, hidden, bias=True, inside=False)
    pieces.vector(2 * width)
    return found(sizes, inside, longest=longest)


def _deberta(fields: Fields, pieces: Pieces) -> Found:
    """Distances of tokens are embedded and attended to: by the keys and queries of tokens, or by matrices of their own."""
    sizes = hidden, inner, layers, _ = sizes_of(fields)
    longest, first = fields.whole("max_position_embeddings", default=512), fields.word("model_type") == "deberta"
    width = fields.whole("embedding_size", default=hidden)
    block(pieces, hidden, inner, layers, key_bias=not first)
    relative = fields.flag("relative_attention")
    if relative and not fields.flag("share_att_key"):
        told = fields.word("pos_att_type") or "|".join(fields.words("pos_att_type"))
        for name, own in (("c2p", not first), ("p2c", True)):
            if name in told:
                pieces.matrix(f"{name}_proj", hidden, hidden, layers, bias=own)
    inside = pieces.parameters
    pieces.matrix("word_embeddings", fields.whole("vocab_size"), width, inside=False)
    if fields.flag("position_biased_input", default=True):
        pieces.matrix("position_embeddings", longest, width, inside=False)
    pieces.matrix("token_type_embeddings", fields.whole("type_vocab_size", default=0, least=0), width, inside=False)
    if width != hidden:
        pieces.matrix("embed_proj", width, hidden, inside=False)
    if relative:
        far = fields.whole("max_relative_positions", default=-1, least=-1)
        buckets = fields.whole("position_buckets", default=-1, least=-1)
        rows = buckets if buckets > 0 and not first else far if far > 0 else longest
        pieces.matrix("rel_embeddings", 2 * rows, hidden, inside=False)
    if "layer_norm" in fields.word("norm_rel_ebd") and not first:
        pieces.vector(2 * hidden)
    kernel = fields.whole("conv_kernel_size", default=0, least=0)
    if kernel and not first:
        pieces.matrix("conv", kernel * hidden, hidden, bias=True, inside=False)
        pieces.vector(2 * hidden)
    pieces.vector(2 * hidden)
    return found(sizes, inside, longest=longest)


def _modernbert(fields: Fields, pieces: Pieces) -> Found:
    """Norms before, gated feed-forward parts, turned positions; two layers of three look back over a window only."""
    sizes = hidden, inner, layers, _ = sizes_of(fields)
    biased, norm = fields.flag("attention_bias"), hidden * (2 if fields.flag("norm_bias") else 1)
    for name in ("query", "key", "value", "output"):
        pieces.matrix(name, hidden, hidden, layers, bias=biased)
    pieces.matrix("Wi", hidden, 2 * inner, layers, bias=fields.flag("mlp_bias"))
    pieces.matrix("Wo", inner, hidden, layers, bias=fields.flag("mlp_bias"))
    pieces.vector(norm, 2 * layers - 1)  # the first layer has none before its attention
    inside = pieces.parameters
    pieces.matrix("tok_embeddings", fields.whole("vocab_size"), hidden, inside=False)
    pieces.vector(2 * norm)
    return found(sizes, inside, longest=fields.whole("max_position_embeddings", default=8192))


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
    **dict.fromkeys(
        ("bert", "roberta", "xlm-roberta", "distilbert", "electra", "camembert", "data2vec-text", "ernie"), (_bert, "bert")
    ),
    "albert": (_albert, "albert"),
    "mpnet": (_bert, "mpnet"),
    "deberta": (_deberta, "deberta"),
    "deberta-v2": (_deberta, "deberta-v2"),
    "modernbert": (_modernbert, "modernbert"),
    **dict.fromkeys(("t5", "mt5", "umt5"), (_t5, "t5")),
    "whisper": (_whisper, "whisper"),
    **dict.fromkeys(SEQ2SEQ, (seq2seq, "bart")),
    **dict.fromkeys(("vit", "deit"), (pictures.vit, "vit")),
    "beit": (pictures.beit, "beit"),
    **dict.fromkeys(("dinov2", "dinov2_with_registers", "dinov3_vit"), (pictures.dinov2, "dinov2")),
    "clip": (pictures.clip, "clip"),
    "clip_vision_model": (pictures.clip_vision, "clip"),
    "clip_text_model": (pictures.clip_text, "clip"),
    **dict.fromkeys(("siglip", "siglip2"), (pictures.siglip, "vit")),
    **dict.fromkeys(("siglip_vision_model", "siglip2_vision_model"), (pictures.siglip_vision, "vit")),
    **dict.fromkeys(("siglip_text_model", "siglip2_text_model"), (pictures.siglip_text, "vit")),
}


def encoder(fields: Fields, kind: str, name: str) -> ModelShape:
    """The shape of a model of one of `ENCODERS`."""
    pieces = Pieces()
    read, family = ENCODERS[kind]
    figures = read(fields, pieces)
    if figures["layers"] > _MOST_LAYERS:
        raise ModelConfigError(text("its `{field}` is no number that a model can have", field="num_hidden_layers"))
    size = figures.get("size") or max(1, figures["hidden"] // figures["heads"])
    return ModelShape(
        name=name or kind,
        family=family,
        origin=ShapeOrigin.CONFIG,
        parameters=pieces.parameters,
        layers=figures["layers"],
        writing_layers=figures.get("writes", 0),
        hidden=figures["hidden"],
        inner=figures["inner"],
        heads=figures["heads"],
        kv_heads=figures["heads"],
        head_size=size,
        value_size=size,
        vocabulary=figures.get("vocabulary", 0),
        longest=figures.get("longest", 0),
        kv_layers=2 * figures.get("writes", 0),  # of itself, and of what was read
        largest_layer=-(-figures["inside"] // figures["layers"]),
        tokens=figures.get("tokens", 0),
        writes=bool(figures.get("writes")),
        matrices=tuple(Matrix(*one) for one in pieces.matrices),
        notes=(_side(figures["side"]),) if "side" in figures else (),
    )


def _side(side: int) -> Text:
    return text("pictures are taken as {side}×{side}, as its config says; smaller ones take less memory", side=side)
