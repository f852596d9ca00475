"""Layer, group and batch normalization, forward and backward, against running error analysis.

Libraries write them in several ways: the variance as the squares' mean less the mean's square, the result as a*x + b, the gradient
as a*y + b*x + c. The exact value is the same; each way's own cancellation is a sum of parts that are rounded before they
cancel, and `with_error` adds what that makes of them.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Tuple

from .bench import FULL, Bench, Check, Measured, require
from .running_error import HALVES, Arithmetic, Comparison, Near

EPSILON = 2.0**-10  # exact in every format


class Layout(NamedTuple):
    """How the elements are to lie, over which sides the mean is taken, how scale and shift lie, and over which they are summed."""

    shape: Tuple[int, ...]
    over: Tuple[int, ...]
    scale: Tuple[int, ...]
    along: Tuple[int, ...]


def layer(rows: int, columns: int) -> Layout:
    return Layout((rows, columns), (1,), (1, columns), (0,))


def group(images: int, channels: int, places: int, *, groups: int) -> Layout:
    return Layout((images, groups, channels // groups, places), (2, 3), (1, groups, channels // groups, 1), (0, 3))


def batch(images: int, channels: int, places: int) -> Layout:
    return Layout((images, channels, places), (0, 2), (1, channels, 1), (0, 2))


class Normal(NamedTuple):
    """(x - mean)/sqrt(variance + epsilon), one over that root, and how large x and the mean are together."""

    value: Near
    deviation: Near
    sizes: Any
    terms: int


def normalized(rules: Arithmetic, x: Near, layout: Layout) -> Normal:
    x, count = x.shaped(*layout.shape), 1
    for side in layout.over:
        count *= layout.shape[side]
    mean = rules.scaled(rules.total(x, *layout.over), 1 / count)
    centred = rules.minus(x, mean)
    squares = rules.total(rules.times(centred, centred), *layout.over)
    squares = rules.with_error(squares, 2 * x.most.pow(2).sum(layout.over, keepdim=True), count)
    epsilon = Near(x.value.new_tensor(EPSILON), x.value.new_tensor(0.0))
    deviation = rules.rsqrt(rules.plus(rules.scaled(squares, 1 / count), epsilon))
    return Normal(rules.times(centred, deviation), deviation, x.most + mean.most, count)


def result(rules: Arithmetic, normal: Normal, layout: Layout, *, scale: Near, shift: Near) -> Near:
    scale, shift = scale.shaped(*layout.scale), shift.shaped(*layout.scale)
    near = rules.plus(rules.times(normal.value, scale), shift)
    return rules.with_error(near, scale.most * normal.deviation.most * normal.sizes + shift.most, 4)


def gradients(rules: Arithmetic, normal: Normal, layout: Layout, *, scale: Near, upstream: Near) -> Dict[str, Near]:
    """By what went in, by scale and by shift."""
    upstream, over = upstream.shaped(*layout.shape), layout.over
    sizes, deviation = normal.sizes * normal.deviation.most, normal.deviation
    parts = rules.times(upstream, normal.value)
    by_scale = rules.with_error(
        rules.total(parts, *layout.along), (upstream.most * sizes).sum(layout.along, keepdim=True), _terms(layout)
    )
    back = rules.times(upstream, scale.shaped(*layout.scale))
    mean = rules.scaled(rules.total(back, *over), 1 / normal.terms)
    along = rules.scaled(rules.total(rules.times(back, normal.value), *over), 1 / normal.terms)
    by_x = rules.times(rules.minus(rules.minus(back, mean), rules.times(normal.value, along)), deviation)
    sums = back.most.mean(over, keepdim=True) + sizes * (back.most * sizes).mean(over, keepdim=True)
    by_x = rules.with_error(by_x, deviation.most * (back.most + sums), normal.terms)
    return {"input": by_x, "scale": by_scale.shaped(-1), "shift": rules.total(upstream, *layout.along).shaped(-1)}


def _terms(layout: Layout) -> int:
    count = 1
    for side in layout.along:
        count *= layout.shape[side]
    return count


def _check(bench: Bench, kind: str, layout: Layout, *, operation: Callable[..., Any], shape: Tuple[int, ...]) -> Measured:
    """`operation` gets what is normalized, scale and shift; batch normalization of fp16 and bf16 has these in fp32, for cuDNN."""
    require(bench, kind)
    rules, found, dtype, width = Arithmetic(bench.torch, kind), Comparison(bench), bench.dtype(kind), 1
    for side in layout.scale:
        width *= side
    x, upstream = (bench.uniform(*shape).roll(number).add(0.25).to(dtype) for number in (0, 1))
    mixed = kind in HALVES and layout.over == (0, 2)
    scale, shift = (bench.uniform(width + number)[:width].to(bench.dtype("fp32") if mixed else dtype) for number in (0, 1))
    there = [bench.to_device(one.clone()) for one in (x, scale, shift)]
    # What some kernels for CPUs sum in fp16 and bf16 has no bound that is worth one.
    leaves = there if kind not in HALVES else there[:1] if mixed else []
    for one in leaves:
        one.requires_grad_()
    computed = operation(*there)
    wide = [rules.exact(one) for one in (x, scale, shift, upstream)]
    normal = normalized(rules, wide[0], layout)
    found.near("result", computed, rules.stored(result(rules, normal, layout, scale=wide[1], shift=wide[2])).shaped(*shape))
    if leaves:
        computed.backward(bench.to_device(upstream))
        slopes = gradients(rules, normal, layout, scale=wide[1], upstream=wide[3])
        for tensor, (name, slope) in zip(leaves, slopes.items()):
            found.near("gradient of the " + name, tensor.grad, rules.stored(slope).shaped(*tensor.shape))
    return found.measured()


def layer_norm(bench: Bench, kind: str) -> Measured:
    rows, columns = (512, 768) if bench.level == FULL else (64, 256)
    operation = bench.torch.nn.functional.layer_norm
    return _check(
        bench,
        kind,
        layer(rows, columns),
        shape=(rows, columns),
        operation=lambda x, *held: operation(x, (columns,), *held, EPSILON),
    )


def group_norm(bench: Bench, kind: str) -> Measured:
    shape, operation = (4, 32, 12, 12), bench.torch.nn.functional.group_norm
    return _check(bench, kind, group(4, 32, 144, groups=8), shape=shape, operation=lambda x, *held: operation(x, 8, *held, EPSILON))


def batch_norm(bench: Bench, kind: str) -> Measured:
    """In training, so that each channel's mean is its own; cuDNN's where torch has that."""
    shape, operation = (8, 16, 12, 12), bench.torch.nn.functional.batch_norm

    def run(x: Any, *held: Any) -> Any:
        return operation(x, None, None, *held, training=True, eps=EPSILON)

    return _check(bench, kind, batch(8, 16, 144), shape=shape, operation=run)


_RUNS = (("layer-norm", layer_norm), ("group-norm", group_norm), ("batch-norm", batch_norm))
CHECKS = (
    *(Check(name, "fp32", run, FULL) for name, run in _RUNS),
    # torch 1's kernels for CPUs round each step to the format
    *(Check(name, kind, run, FULL, on_cpu=False) for name, run in _RUNS for kind in HALVES),
)
