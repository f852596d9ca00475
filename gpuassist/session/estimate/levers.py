"""What would make it fit: each change of the setting by itself and what it saves, the largest batch, the smallest card."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from gpuassist.knowledge.memory_costs import MemoryCosts
from gpuassist.model.estimate import (
    AttentionKernel,
    CardRoom,
    Estimate,
    EstimateSetting,
    Lever,
    LeverKind,
    ModelShape,
    Offload,
    Optimizer,
    Precision,
    Quantization,
    Sharding,
    Task,
    judged_by,
)
from gpuassist.session.estimate.estimate import estimate

MOST_BATCH = 1 << 16
MOST_SEQUENCE = 1 << 24
_RANK = 16


def fits_in(found: Estimate, room: int) -> bool | None:
    """Whether an estimate fits into so many bytes: None where its error is larger than the difference."""
    if found.high_bytes <= room:
        return True
    return False if found.low_bytes > room else None


def levers_of(shape: ModelShape, setting: EstimateSetting, costs: MemoryCosts, cards: Sequence[CardRoom]) -> tuple[Lever, ...]:
    """Every change that saves something, the largest saving first, held against the best of the cards; those that are there can
    share it.
    """
    best = judged_by(cards)
    gpus = sum(one.index is not None for one in cards)
    now = estimate(shape, setting, costs).total_bytes
    found = []
    for kind, changed in _changes(shape, setting, gpus):
        then = estimate(shape, changed, costs)
        saves = now - then.total_bytes
        if saves > 0:
            fits = fits_in(then, best.room_bytes) if best is not None else None
            found.append(Lever(kind, changed, saves, then.total_bytes, fits))
    return tuple(sorted(found, key=lambda one: -one.saves_bytes))


def _changes(shape: ModelShape, setting: EstimateSetting, gpus: int) -> Iterator[tuple[LeverKind, EstimateSetting]]:
    yield from _for_training(shape, setting, gpus) if setting.task is Task.TRAIN else _for_answers(setting, gpus)


def _for_training(shape: ModelShape, setting: EstimateSetting, gpus: int) -> Iterator[tuple[LeverKind, EstimateSetting]]:
    traced = shape.traced is not None  # of a step that was measured only what does not change its course is known
    if not traced:
        yield LeverKind.CHECKPOINTING, replace(setting, checkpointing=True)
        yield LeverKind.FUSED_ATTENTION, replace(setting, attention=AttentionKernel.FUSED)
        if setting.precision is Precision.FP32:
            yield LeverKind.AUTOCAST, replace(setting, precision=Precision.AUTOCAST)
        yield LeverKind.BF16, replace(setting, precision=Precision.BF16)
        if not setting.lora:
            yield LeverKind.LORA, replace(setting, lora=_RANK, precision=Precision.BF16)
        if setting.quantization is Quantization.NONE:
            rank = setting.lora or _RANK
            yield LeverKind.QLORA, replace(setting, lora=rank, precision=Precision.BF16, quantization=Quantization.NF4)
        if not shape.tokens and setting.sequence > 1:
            yield LeverKind.HALF_SEQUENCE, replace(setting, sequence=setting.sequence // 2)
    yield LeverKind.FUSED_OPTIMIZER, _with_optimizer(setting, Optimizer.ADAMW, {Optimizer.ADAMW_FOREACH})
    if setting.optimizer in {Optimizer.ADAMW, Optimizer.ADAMW_FOREACH, Optimizer.LION}:
        yield LeverKind.OPTIMIZER_8BIT, replace(setting, optimizer=Optimizer.ADAMW_8BIT)
    if setting.offload is Offload.NONE:
        yield LeverKind.OFFLOAD_OPTIMIZER, replace(setting, offload=Offload.OPTIMIZER)
    yield LeverKind.OFFLOAD_ALL, replace(setting, offload=Offload.ALL)
    over = max(2, setting.gpus, gpus)
    yield LeverKind.SHARD, replace(setting, sharding=Sharding.ZERO3, gpus=over)
    if setting.batch > 1:
        yield LeverKind.HALF_BATCH, replace(setting, batch=setting.batch // 2, accumulates=True)


def _with_optimizer(setting: EstimateSetting, wanted: Optimizer, instead_of: set[Optimizer]) -> EstimateSetting:
    return replace(setting, optimizer=wanted) if setting.optimizer in instead_of else setting


def _for_answers(setting: EstimateSetting, gpus: int) -> Iterator[tuple[LeverKind, EstimateSetting]]:
    if setting.precision is Precision.FP32:
        yield LeverKind.SIXTEEN_BITS, replace(setting, precision=Precision.BF16)
    if setting.quantization is Quantization.NONE:
        yield LeverKind.INT8, replace(setting, quantization=Quantization.INT8)
    yield LeverKind.FOUR_BITS, replace(setting, quantization=Quantization.AWQ)
    if setting.kv_bits > 8:
        yield LeverKind.KV_FP8, replace(setting, kv_bits=8)
    if setting.sequences > 1:
        yield LeverKind.HALF_SEQUENCES, replace(setting, sequences=setting.sequences // 2)
    if setting.sequence > 1:
        yield LeverKind.HALF_SEQUENCE, replace(setting, sequence=setting.sequence // 2)
    yield LeverKind.SHARD, replace(setting, gpus=max(2, 2 * setting.gpus, gpus))
    yield LeverKind.OFFLOAD_ALL, replace(setting, offload=Offload.ALL)


def largest_batch(shape: ModelShape, setting: EstimateSetting, costs: MemoryCosts, room: int) -> int:
    """The largest batch that surely fits, or how many sequences at once; 0 where not even one does."""
    name = "batch" if setting.task is Task.TRAIN else "sequences"
    return _largest(lambda count: replace(setting, **{name: count}), shape, costs, (room, MOST_BATCH))


def largest_sequence(shape: ModelShape, setting: EstimateSetting, costs: MemoryCosts, room: int) -> int:
    """The longest sequence that surely fits, no longer than the model takes; 0 where a model has samples of one size."""
    if shape.tokens or shape.traced is not None:
        return 0
    most = min(shape.longest or MOST_SEQUENCE, MOST_SEQUENCE)
    return _largest(lambda count: replace(setting, sequence=count), shape, costs, (room, most))


def _largest(changed: Callable[[int], EstimateSetting], shape: ModelShape, costs: MemoryCosts, bounds: tuple[int, int]) -> int:
    room, most = bounds
    low, high = 0, most
    while low < high:  # more never takes less
        middle = (low + high + 1) // 2
        if fits_in(estimate(shape, changed(middle), costs), room):
            low = middle
        else:
            high = middle - 1
    return low


def smallest_cards(found: Estimate, cards: Sequence[CardRoom]) -> tuple[CardRoom, ...]:
    """Those of the smallest size on which it surely fits; none where no card has that much."""
    enough = [one for one in cards if fits_in(found, one.room_bytes)]
    least = min((one.total_bytes for one in enough), default=0)
    return tuple(one for one in enough if one.total_bytes == least)
