"""LSTM and GRU, which a GPU computes in cuDNN, forward and backward: against the same recurrence in fp64, whose running error is
carried from step to step and back.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Tuple

from .bench import FULL, Bench, Check, Measured
from .network import settled
from .running_error import Arithmetic, Comparison, Near

STEPS, BATCH, INPUT, HIDDEN = 4, 8, 24, 16
NAMES = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
# cuDNN does not say how it computes tanh and the logistic function. CUDA's fastest exponential that is no approximation of fewer
# bits, __expf, is within 2 + |1.173*x| ulp (CUDA C++ programming guide, intrinsic functions): 8 for |x| < 5, and as much again for
# the sum, the quotient and, of tanh, the doubling of its argument.
ULPS = 16.0


class Held(NamedTuple):
    """What goes in, by name, in fp32 on the CPU: the weights, the inputs of all steps, the gradients of all results."""

    weights: Dict[str, Any]
    inputs: Any
    upstream: Any
    states: Tuple[Any, ...]


class Step(NamedTuple):
    """What a step computed and its way back needs."""

    gates: Tuple[Near, ...]
    before: Tuple[Near, ...]
    after: Tuple[Near, ...]


class Cell(NamedTuple):
    """A kind of recurrence: what makes it in torch, how many gates it has, a step of it, and a step back."""

    make: str
    gates: int
    step: Callable[..., Step]
    back: Callable[..., Tuple[Tuple[Near, ...], Near, Near]]


def held_of(bench: Bench, gates: int) -> Held:
    shapes = ((gates * HIDDEN, INPUT), (gates * HIDDEN, HIDDEN), (gates * HIDDEN,), (gates * HIDDEN + 1,))
    values = [bench.uniform(*shape)[: gates * HIDDEN].contiguous() * 0.25 for shape in shapes]
    weights = {name: values[number] for number, name in enumerate(NAMES)}
    states = tuple(bench.uniform(1, BATCH, HIDDEN + number)[..., number:].contiguous() for number in range(2 if gates == 4 else 1))
    return Held(weights, bench.uniform(STEPS, BATCH, INPUT), bench.uniform(STEPS, BATCH, HIDDEN), states)


def _logistic(rules: Arithmetic, x: Near) -> Near:
    value = x.value.sigmoid()
    return rules.function(x, value, value * (1 - value), 0.05, ulps=ULPS)  # |f''| is at most 0.0963


def _tanh(rules: Arithmetic, x: Near) -> Near:
    value = x.value.tanh()
    return rules.function(x, value, 1 - value * value, 0.39, ulps=ULPS, absolute=ULPS)  # |f''| is at most 0.770


def _by_logistic(rules: Arithmetic, slope: Near, value: Near) -> Near:
    return rules.times(slope, rules.times(value, rules.minus(_one(value), value)))


def _by_tanh(rules: Arithmetic, slope: Near, value: Near) -> Near:
    return rules.times(slope, rules.minus(_one(value), rules.times(value, value)))


def _one(like: Near) -> Near:
    return Near(like.value * 0 + 1, like.error * 0)


def _linear(rules: Arithmetic, x: Near, weight: Near, bias: Near) -> Near:
    return rules.plus(rules.product(x, weight.turned(0, 1)), bias)


def _parts(gates: Near, count: int) -> List[Near]:
    return [gates.part(slice(None), slice(number * HIDDEN, (number + 1) * HIDDEN)) for number in range(count)]


def _joined(torch: Any, parts: List[Near]) -> Near:
    return Near(torch.cat([one.value for one in parts], dim=-1), torch.cat([one.error for one in parts], dim=-1))


def _lstm(rules: Arithmetic, own: Dict[str, Near], x: Near, before: Tuple[Near, ...]) -> Step:
    """i, f, g, o (torch.nn.LSTM's documentation): c = f*c + i*g, h = o*tanh(c)."""
    hidden, cell = before
    from_x = _linear(rules, x, own["weight_ih_l0"], own["bias_ih_l0"])
    total = rules.plus(from_x, _linear(rules, hidden, own["weight_hh_l0"], own["bias_hh_l0"]))
    i, f, g, o = _parts(total, 4)
    i, f, g, o = _logistic(rules, i), _logistic(rules, f), _tanh(rules, g), _logistic(rules, o)
    after = rules.plus(rules.times(f, cell), rules.times(i, g))
    through = _tanh(rules, after)
    return Step((i, f, g, o, through), before, (rules.times(o, through), after))


def _lstm_back(
    rules: Arithmetic, own: Dict[str, Near], step: Step, slopes: Tuple[Near, ...]
) -> Tuple[Tuple[Near, ...], Near, Near]:
    """The gradients of what was before, and of the sums of both products."""
    (i, f, g, o, through), (_, cell) = step.gates, step.before
    by_hidden, by_cell = slopes
    by_cell = rules.plus(by_cell, _by_tanh(rules, rules.times(by_hidden, o), through))
    parts = [
        _by_logistic(rules, rules.times(by_cell, g), i),
        _by_logistic(rules, rules.times(by_cell, cell), f),
        _by_tanh(rules, rules.times(by_cell, i), g),
        _by_logistic(rules, rules.times(by_hidden, through), o),
    ]
    total = _joined(rules.torch, parts)
    return (rules.product(total, own["weight_hh_l0"]), rules.times(by_cell, f)), total, total


def _gru(rules: Arithmetic, own: Dict[str, Near], x: Near, before: Tuple[Near, ...]) -> Step:
    """r, z, n (torch.nn.GRU's documentation): n = tanh(from x + r*from h), h = (1 - z)*n + z*h."""
    hidden = before[0]
    from_x = _parts(_linear(rules, x, own["weight_ih_l0"], own["bias_ih_l0"]), 3)
    from_h = _parts(_linear(rules, hidden, own["weight_hh_l0"], own["bias_hh_l0"]), 3)
    r, z = (_logistic(rules, rules.plus(from_x[number], from_h[number])) for number in (0, 1))
    n = _tanh(rules, rules.plus(from_x[2], rules.times(r, from_h[2])))
    # or n + z*(h - n), which torch's own kernel computes
    after = rules.plus(n, rules.times(z, rules.minus(hidden, n)))
    other = rules.plus(rules.times(rules.minus(_one(z), z), n), rules.times(z, hidden))
    return Step((r, z, n, from_h[2]), before, (Near(after.value, rules.torch.maximum(after.error, other.error)),))


def _gru_back(rules: Arithmetic, own: Dict[str, Near], step: Step, slopes: Tuple[Near, ...]) -> Tuple[Tuple[Near, ...], Near, Near]:
    (r, z, n, from_h), (hidden,), (by_hidden,) = step.gates, step.before, slopes
    by_n = _by_tanh(rules, rules.times(by_hidden, rules.minus(_one(z), z)), n)
    by_z = _by_logistic(rules, rules.times(by_hidden, rules.minus(hidden, n)), z)
    by_r = _by_logistic(rules, rules.times(by_n, from_h), r)
    by_x = _joined(rules.torch, [by_r, by_z, by_n])
    by_h = _joined(rules.torch, [by_r, by_z, rules.times(by_n, r)])
    return (rules.plus(rules.times(by_hidden, z), rules.product(by_h, own["weight_hh_l0"])),), by_x, by_h


CELLS = {"lstm": Cell("LSTM", 4, _lstm, _lstm_back), "gru": Cell("GRU", 3, _gru, _gru_back)}


def known(rules: Arithmetic, cell: Cell, held: Held) -> Dict[str, Near]:
    """The results of all steps, the states after the last one, and the gradients by inputs, first states and weights."""
    torch = rules.torch
    own = {name: rules.exact(value) for name, value in held.weights.items()}
    inputs, upstream = rules.exact(held.inputs), rules.exact(held.upstream)
    nothing = rules.exact(torch.zeros(BATCH, HIDDEN))
    state: Tuple[Near, ...] = tuple(rules.exact(one[0]) for one in held.states)
    steps = []
    for number in range(STEPS):
        steps.append(cell.step(rules, own, inputs.part(number), state))
        state = steps[-1].after
    slopes: Tuple[Near, ...] = tuple(nothing for _ in state)
    sums_x: List[Near] = []
    sums_h: List[Near] = []
    for number in reversed(range(STEPS)):
        slopes = (rules.plus(slopes[0], upstream.part(number)), *slopes[1:])
        slopes, by_x, by_h = cell.back(rules, own, steps[number], slopes)
        sums_x.insert(0, by_x)
        sums_h.insert(0, by_h)
    by_x, by_h, hidden = (_stacked(torch, sides) for sides in (sums_x, sums_h, [step.before[0] for step in steps]))
    found = {"result": _stacked(torch, [step.after[0] for step in steps]).shaped(STEPS, BATCH, HIDDEN)}
    found.update({"state {}".format(number + 1): one.shaped(1, BATCH, HIDDEN) for number, one in enumerate(state)})
    found.update({"gradient of state {}".format(number + 1): one.shaped(1, BATCH, HIDDEN) for number, one in enumerate(slopes)})
    found["gradient of the inputs"] = rules.product(by_x, own["weight_ih_l0"]).shaped(STEPS, BATCH, INPUT)
    weights = (
        rules.product(by_x.turned(0, 1), inputs.shaped(STEPS * BATCH, INPUT)),
        rules.product(by_h.turned(0, 1), hidden),
        rules.total(by_x, 0).shaped(-1),
        rules.total(by_h, 0).shaped(-1),
    )
    found.update({"gradient of " + name: weights[number] for number, name in enumerate(NAMES)})
    return found


def _stacked(torch: Any, steps: List[Near]) -> Near:
    return Near(torch.cat([one.value for one in steps]), torch.cat([one.error for one in steps]))


def _recurrence(name: str) -> Callable[[Bench, str], Measured]:
    return lambda bench, kind: recurrence(bench, kind, CELLS[name])


def recurrence(bench: Bench, kind: str, cell: Cell) -> Measured:
    """One layer over a few steps; the loss is the sum of all results, each times a number of its own."""
    torch, found, held = bench.torch, Comparison(bench), held_of(bench, cell.gates)
    dtype = bench.dtype(kind)
    layer = getattr(torch.nn, cell.make)(INPUT, HIDDEN, device="meta", dtype=dtype).to_empty(device=bench.device)
    with torch.no_grad():
        for name, value in held.weights.items():
            getattr(layer, name).copy_(bench.to_device(value.to(dtype)))
    inputs, *states = (bench.to_device(one.to(dtype, copy=True)).requires_grad_() for one in (held.inputs, *held.states))
    with settled(bench):
        result, state = layer(inputs, tuple(states) if cell.gates == 4 else states[0])
        result.backward(bench.to_device(held.upstream.to(dtype)))
    computed = {"result": result, "gradient of the inputs": inputs.grad}
    for number, one in enumerate(state if cell.gates == 4 else (state,)):
        computed["state {}".format(number + 1)] = one
        computed["gradient of state {}".format(number + 1)] = states[number].grad
    computed.update({"gradient of " + name: getattr(layer, name).grad for name in NAMES})
    for name, near in known(Arithmetic(torch, kind), cell, held).items():
        found.near(name, computed[name], near)
    cudnn = bench.on_gpu and torch.backends.cudnn.is_available() and torch.backends.cudnn.enabled
    return found.measured({"by": "cuDNN" if cudnn else "torch"})


CHECKS = tuple(Check(name, kind, _recurrence(name), FULL) for name in CELLS for kind in ("fp32", "fp64"))
