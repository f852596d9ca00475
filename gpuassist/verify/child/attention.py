"""scaled_dot_product_attention by each of its backends, against softmax attention in fp64.

The backends multiply in the format with sums in fp32. `math` stores in the format what it computes: scaled queries and keys,
scores, weights and the gradients of each. The fused ones keep all that in fp32, but for what a product takes: weights, and the
gradients of scores.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, Tuple

from .bench import FULL, Bench, Check, Measured, Skipped, precision, require
from .running_error import SOFTMAX_EXP_ULPS, Arithmetic, Comparison, Near

# torch.backends.cuda has `enable_…_sdp` and `…_sdp_enabled` of each since torch 2.0, of cuDNN since 2.4; they hold for a CPU too.
BACKENDS = ("math", "flash", "mem_efficient", "cudnn")
# What an operation leaves in the graph, by the name of torch's own.
OPERATIONS = {"flash": "FlashAttention", "mem_efficient": "EfficientAttention", "cudnn": "CudnnAttention"}


class Inputs(object):
    """Queries, keys, values and the gradient of the result, in the format on the CPU; `hidden` is true where a key is not seen."""

    def __init__(self, bench: Bench, kind: str, length: int, mask: str) -> None:
        torch, shape = bench.torch, (2, 4, length, 64)
        parts = (bench.uniform(*shape[:3], 65 + number)[..., :64] for number in range(4))
        self.query, self.key, self.value, self.upstream = (one.to(bench.dtype(kind)).contiguous() for one in parts)
        self.hidden: Any = torch.ones(length, length, dtype=torch.bool).triu(1) if mask == "causal" else None
        if mask == "mask":  # each query sees its own key at least
            self.hidden = (bench.whole(0, 2, length, length) == 0) & ~torch.eye(length, dtype=torch.bool)


class Known(object):
    """The result and the three gradients, each with its bound."""

    def __init__(self, bench: Bench, kind: str, inputs: Inputs, *, fused: bool) -> None:
        rules = Arithmetic(bench.torch, kind)

        def kept(one: Near) -> Near:
            return one if fused else rules.stored(one)

        query, key, value, upstream = map(rules.exact, (inputs.query, inputs.key, inputs.value, inputs.upstream))
        # Each factor is scaled by the root of 1/sqrt(64), or the product by the whole.
        scale = 1 / math.sqrt(64)
        query_scaled = kept(rules.scaled(query, scale))
        key_scaled = kept(rules.scaled(key, 1.0))
        scores = kept(rules.product(query_scaled, key_scaled.turned(-1, -2)))
        weights = _softmax(rules, scores, inputs.hidden)
        self.result = rules.stored(rules.product(weights, value))
        self.gradients: Tuple[Near, ...] = ()
        if bench.level == FULL:
            by_weights = kept(rules.product(upstream, value.turned(-1, -2)))
            weighted = rules.times(by_weights, weights)
            # sum(g*p) comes of the product of the result and its gradient in the other backends
            sums = rules.total(weighted, -1)
            other = rules.total(rules.times(upstream, self.result), -1)
            sums = Near(sums.value, bench.torch.maximum(sums.error, other.error))
            by_scores = rules.stored(rules.minus(weighted, rules.times(weights, sums)))
            self.gradients = (
                rules.stored(rules.scaled(kept(rules.product(by_scores, key_scaled)), scale)),
                rules.stored(rules.scaled(kept(rules.product(by_scores.turned(-1, -2), query_scaled)), 1.0)),
                rules.stored(rules.product(weights.turned(-1, -2), upstream)),
            )


def _softmax(rules: Arithmetic, scores: Near, hidden: Any) -> Near:
    value = scores.value if hidden is None else scores.value.masked_fill(hidden, -math.inf)
    greatest = value.max(dim=-1, keepdim=True).values
    lowered = rules.minus(scores, Near(greatest, scores.error.new_zeros(1)))
    powers = rules.exp(lowered, SOFTMAX_EXP_ULPS)
    if hidden is not None:
        powers = Near(powers.value.masked_fill(hidden, 0.0), powers.error.masked_fill(hidden, 0.0))
    total = rules.total(powers, -1)
    return rules.stored(rules.over(rules.stored(powers), total))


def attention(bench: Bench, kind: str) -> Measured:
    """What torch chooses by itself."""
    return _attention(bench, kind, "")


def _attention(bench: Bench, kind: str, backend: str) -> Measured:
    require(bench, kind)
    if not hasattr(bench.torch.nn.functional, "scaled_dot_product_attention"):
        raise Skipped("scaled_dot_product_attention came with torch 2.0", "absent")
    found, ran = Comparison(bench), ""
    for mask in ("causal", "mask", "none") if bench.level == FULL else ("causal",):
        if mask == "mask" and backend == "flash":
            continue  # it takes none
        inputs = Inputs(bench, kind, 256 if bench.level == FULL else 64, mask)
        with precision(bench.torch, tf32=False), _only(bench, backend):
            there, result = _run(bench, found, inputs, mask=mask)
        ran = _backend_of(result)
        known = Known(bench, kind, inputs, fused=ran != "math")
        found.near(mask, result, known.result)
        for name, tensor, gradient in zip(("query", "key", "value"), there, known.gradients):
            found.near("{}, gradient of the {}".format(mask, name), tensor.grad, gradient)
    return found.measured({"backend": ran})


def _run(bench: Bench, found: Comparison, inputs: Inputs, *, mask: str) -> Tuple[List[Any], Any]:
    """Queries, keys and values with their gradients, in full, and the result."""
    there = [bench.to_device(one.clone()).requires_grad_() for one in (inputs.query, inputs.key, inputs.value)]
    for sent, tensor in zip((inputs.query, inputs.key, inputs.value), there):  # a query that sees one key alone does not show
        found.exact("inputs, as they came", tensor, sent)
    seen = bench.to_device(~inputs.hidden) if mask == "mask" else None
    operation = bench.torch.nn.functional.scaled_dot_product_attention
    try:
        result = operation(*there, attn_mask=seen, is_causal=mask == "causal")
    except RuntimeError as error:
        if "No available kernel" in str(error) or "No viable backend" in str(error):
            raise Skipped("this backend does not take these inputs on this device: {}".format(error)) from None
        raise
    if bench.level == FULL:
        result.backward(bench.to_device(inputs.upstream))
    return there, result


def _backend_of(result: Any) -> str:
    """Which operation made it; `math` is made of others."""
    name = type(result.grad_fn).__name__
    return next((backend for backend, word in OPERATIONS.items() if word in name), "math")


@contextmanager
def _only(bench: Bench, backend: str) -> Iterator[None]:
    """Switches every other backend off; none named: torch chooses."""
    flags = bench.torch.backends.cuda
    switches: Dict[str, Any] = {one: getattr(flags, "enable_{}_sdp".format(one), None) for one in BACKENDS} if backend else {}
    if backend and switches[backend] is None:
        raise Skipped("this torch has no {} backend".format(backend), "absent")
    before: Dict[str, bool] = {one: getattr(flags, one + "_sdp_enabled")() for one, switch in switches.items() if switch}
    try:
        for one in before:
            switches[one](one == backend)
        yield
    finally:
        for one, value in before.items():
            switches[one](value)


def _by(backend: str) -> Callable[[Bench, str], Measured]:
    return lambda bench, kind: _attention(bench, kind, backend)


KINDS = {
    "math": ("fp32", "fp16", "bf16"),
    "flash": ("fp16", "bf16"),
    "mem_efficient": ("fp32", "fp16", "bf16"),
    "cudnn": ("fp16", "bf16"),
}
CHECKS = (
    # Made of products and a softmax, it is what every GPU has; which fused kernel torch would choose is a question of its own.
    *(Check("attention-math", kind, _by("math"), on_cpu=kind == "fp32") for kind in ("fp32", "fp16")),
    Check("attention", "fp16", attention, FULL, on_cpu=False),
    Check("attention", "fp32", attention, FULL),
    *(
        Check("attention-" + backend.replace("_", "-"), kind, _by(backend), FULL, on_cpu=(backend, kind) == ("math", "fp32"))
        for backend in BACKENDS
        for kind in KINDS[backend]
        if (backend, kind) not in {("math", "fp32"), ("math", "fp16")}
    ),
)
