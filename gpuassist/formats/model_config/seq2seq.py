"""Models that read a text and write another: BART and what was made of it, built as transformers 5.24 has them, `modeling_*.py`,
read 2026-11-28; held by counts of the same models made on the meta device.
"""

from __future__ import annotations

from msgspec import Struct

from gpuassist.formats.model_config.blocks import Found, block, found
from gpuassist.formats.model_config.fields import Fields, Pieces


class Seq2SeqFamily(Struct, frozen=True):
    """`positions`: with so many more than the config says, None where they are no parameters; fixed ones that lie in the files are
    counted. `embedding_norm` and `last_norm` are whether reader and writer have one before and behind their layers.
    """

    positions: int | None = 0
    embedding_norm: bool = False
    last_norm: bool = False


SEQ2SEQ: dict[str, Seq2SeqFamily] = {
    "bart": Seq2SeqFamily(positions=2, embedding_norm=True),
    "plbart": Seq2SeqFamily(positions=2, embedding_norm=True),
    "mbart": Seq2SeqFamily(positions=2, embedding_norm=True, last_norm=True),
    "pegasus": Seq2SeqFamily(last_norm=True),
    "blenderbot": Seq2SeqFamily(last_norm=True),
    "blenderbot-small": Seq2SeqFamily(embedding_norm=True),
    "marian": Seq2SeqFamily(),
    "m2m_100": Seq2SeqFamily(positions=None, last_norm=True),  # NLLB as well
}
_LONGEST = {"blenderbot": 128, "blenderbot-small": 512}


def seq2seq(fields: Fields, pieces: Pieces) -> Found:
    """The shape of a model of one of `SEQ2SEQ`."""
    kind = fields.word("model_type")
    family, hidden, vocabulary = SEQ2SEQ[kind], fields.whole("d_model"), fields.whole("vocab_size")
    encoders, decoders = fields.whole("encoder_layers"), fields.whole("decoder_layers")
    inner = fields.whole("encoder_ffn_dim")
    longest = fields.whole("max_position_embeddings", default=_LONGEST.get(kind, 1024))
    block(pieces, hidden, inner, encoders)
    block(pieces, hidden, fields.whole("decoder_ffn_dim"), decoders, crossed=True)
    inside = pieces.parameters
    pieces.matrix("shared", vocabulary, hidden, inside=False)
    if not fields.flag("share_encoder_decoder_embeddings", default=True):
        vocabulary = fields.whole("decoder_vocab_size", default=vocabulary)
        pieces.matrix("decoder_tokens", vocabulary, hidden, inside=False)
    if not fields.flag("tie_word_embeddings", default=True):
        pieces.matrix("lm_head", hidden, vocabulary, inside=False)
    if family.positions is not None:
        pieces.matrix("positions", longest + family.positions, hidden, 2, inside=False)
    pieces.vector(2 * hidden, 2 * (family.embedding_norm + family.last_norm))
    sizes = hidden, inner, encoders + decoders, fields.whole("encoder_attention_heads")
    return found(sizes, inside, vocabulary=vocabulary, writes=decoders, longest=longest)
