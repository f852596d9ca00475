"""The layer that models since BERT share, and what a reader of a family tells of its model."""

from __future__ import annotations

from gpuassist.formats.model_config.fields import Fields, Pieces

# Figures of a `ModelShape` by their names, but for: `size` of a head, `writes` (layers that write), `inside` (parameters of all
# layers) and `side` (of a picture, where users should know which was taken).
Found = dict[str, int]
Sizes = tuple[int, int, int, int]
"""Width, width of the feed-forward part, layers and heads."""


def sizes_of(fields: Fields) -> Sizes:
    """As most families call them."""
    names = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
    hidden, inner, layers, heads = (fields.whole(name) for name in names)
    return hidden, inner, layers, heads


def found(sizes: Sizes, inside: int, **more: int) -> Found:
    """What a reader tells of a model of these sizes."""
    hidden, inner, layers, heads = sizes
    return {"hidden": hidden, "inner": inner, "layers": layers, "heads": heads, "inside": inside, **more}


def block(pieces: Pieces, hidden: int, inner: int, count: int, *, key_bias: bool = True, crossed: bool = False) -> None:
    """Attention with biases and a feed-forward part of two matrices, each with a LayerNorm; `crossed` ones look at what was read
    as well.
    """
    for name in ("query", "key", "value", "output"):
        pieces.matrix(name, hidden, hidden, count, bias=key_bias or name != "key")
        if crossed:
            pieces.matrix(f"cross_{name}", hidden, hidden, count, bias=key_bias or name != "key")
    pieces.matrix("fc1", hidden, inner, count, bias=True)
    pieces.matrix("fc2", inner, hidden, count, bias=True)
    pieces.vector((6 if crossed else 4) * hidden, count)
