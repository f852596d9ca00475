"""What a step keeps until its backward pass, what it takes for a moment, and what an answer keeps of its context."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.knowledge.memory_costs import MemoryCosts
from gpuassist.model.estimate import AttentionKernel, EstimateSetting, ModelShape, Precision
from gpuassist.session.estimate.states import widened

_HALF, _FULL = 2, 4
_LOGITS_KEPT, _LOGITS_PASSING = "kept", "passing"


class StepMemory(Struct, frozen=True):
    """Bytes for one batch: kept until the backward pass, and there for a moment at the worst time beyond that. `held` is what the
    loop itself holds of what the model gave, until the next step. `known` is whether the model's own family was measured.
    """

    kept: int
    passing: int
    known: bool
    held: int = 0


def tokens_of(shape: ModelShape, setting: EstimateSetting) -> int:
    """The tokens of a batch, those of its pictures where a model has a number of its own."""
    return setting.batch * (shape.tokens or setting.sequence)


def step_memory(shape: ModelShape, setting: EstimateSetting, costs: MemoryCosts) -> StepMemory:
    """What one training step takes beside the model's states."""
    if shape.traced is not None:
        return _traced(shape, setting)
    half, wide = _in_half(shape, setting), widened(shape, setting)
    precision = "16-bit" if half else Precision.AUTOCAST.value if wide else setting.precision.value
    cost, known = costs.activation(shape.family, precision)
    tokens, seen = tokens_of(shape, setting), shape.tokens or setting.sequence
    each = cost.hidden * shape.hidden + cost.inner * shape.inner
    each += cost.query * shape.heads * shape.head_size + cost.key * shape.kv_heads * shape.head_size
    working = float(_FULL * shape.inner)  # gradients of a feed-forward part
    if cost.eager_only or setting.attention is AttentionKernel.EAGER:
        each += cost.score * shape.heads * seen
        # Those of the scores before and behind the softmax, which is in fp32.
        working = max(working, costs.amount("scores", "passing").value * shape.heads * seen)
    layer, working = each * tokens, working * tokens
    kept = layer * (shape.layers - shape.writing_layers) + _written(shape, setting, each, tokens)
    held, kept_logits, passing = _logits(shape, setting, costs, tokens)
    if setting.checkpointing:
        boundary = cost.boundary * shape.hidden * tokens * shape.layers
        return StepMemory(round(boundary), round(held + max(kept_logits + passing, layer + working)), known, round(held))
    # What the loss kept is gone when the gradients of the last layer are made.
    return StepMemory(round(kept + kept_logits), round(held + max(passing, working - kept_logits)), known, round(held))


def _in_half(shape: ModelShape, setting: EstimateSetting) -> bool:
    if setting.lora:
        return not widened(shape, setting) and setting.precision is not Precision.FP32
    return setting.precision in {Precision.BF16, Precision.MASTER}


def _written(shape: ModelShape, setting: EstimateSetting, each: float, read: int) -> float:
    """The layers that write beside others that read (T5, Whisper): they attend twice, and keep keys and values of what was read."""
    if not shape.writing_layers:
        return 0.0
    long = min(setting.sequence, shape.longest or setting.sequence) if shape.tokens else setting.sequence
    number = _HALF if _in_half(shape, setting) else _FULL
    return shape.writing_layers * (_TWICE * each * setting.batch * long + 2 * number * shape.hidden * read)


def _traced(shape: ModelShape, setting: EstimateSetting) -> StepMemory:
    figures = shape.traced
    assert figures is not None
    times = setting.batch / max(1, figures.batch)
    kept = figures.fixed_bytes + (figures.kept_bytes - figures.fixed_bytes) * times
    passing = figures.passing_fixed_bytes + (figures.passing_bytes - figures.passing_fixed_bytes) * times
    return StepMemory(round(kept), round(passing), known=True)


def _logits(shape: ModelShape, setting: EstimateSetting, costs: MemoryCosts, tokens: int) -> tuple[float, float, float]:
    """The numbers that the model gives, which the loop holds; what the loss keeps of them, and what comes and goes beside it."""
    if not shape.writes or not shape.vocabulary:
        return 0.0, 0.0, 0.0
    if shape.tokens:
        tokens = setting.batch * min(setting.sequence, shape.longest)  # those that are written, not those of the picture or sound
    numbers = tokens * shape.vocabulary
    kept = costs.amount("logits", _LOGITS_KEPT).value * numbers
    each = _HALF if _in_half(shape, setting) else _FULL
    given = _HALF if setting.precision is Precision.AUTOCAST and not setting.lora else each
    held = costs.amount("logits", "held").value * given * numbers
    # The head's gradient is made while nearly all else is still there; what the loss kept is gone by then.
    head = 0 if setting.lora else given * numbers + shape.vocabulary * shape.hidden * each - kept
    return held, kept, max(costs.amount("logits", _LOGITS_PASSING).value * numbers, head)


def kv_bytes_a_token(shape: ModelShape, bits: int) -> int:
    """What one token leaves in the cache of all layers; layers that look back over a window are counted as any other."""
    if shape.latent:
        return shape.kv_layers * shape.latent * bits // 8
    return shape.kv_layers * shape.kv_heads * (shape.head_size + shape.value_size) * bits // 8


def kv_cache_bytes(shape: ModelShape, setting: EstimateSetting) -> int:
    """The cache of all sequences at their full context; a layer with a window keeps no more than that."""
    if not shape.writes or not shape.kv_layers:
        return 0
    each = kv_bytes_a_token(shape, setting.kv_bits) / shape.kv_layers
    long = setting.sequence
    short = min(long, shape.window) if shape.window else long
    behind = min(shape.window_layers, shape.kv_layers)
    return round(each * (behind * short + (shape.kv_layers - behind) * long) * setting.sequences)


def answering_bytes(shape: ModelShape, setting: EstimateSetting) -> int:
    """What the first pass over a prompt takes for a moment: the feed-forward part of one layer and the last numbers of each
    sequence; engines cut a prompt into pieces of some thousand tokens.
    """
    width = 2 * max(shape.inner, shape.hidden) + 4 * shape.hidden
    piece = min(shape.tokens or setting.sequence, _PIECE)
    return piece * width * _HALF + setting.sequences * shape.vocabulary * (_FULL + _HALF)


_PIECE = 8192
_TWICE = 1.35  # of a layer that reads; traced steps of T5 and Whisper
