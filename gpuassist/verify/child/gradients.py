"""Gradients of a small network, against running error analysis and against finite differences, and steps of
optimizers.
"""

from __future__ import annotations

import inspect
from typing import Any, Dict, List

from . import network
from .bench import FULL, Bench, Check, Measured
from .running_error import Arithmetic, Comparison, Near


def backward(bench: Bench, kind: str) -> Measured:
    """The loss, and its gradients by the images and by each parameter, layer by layer."""
    found, given = Comparison(bench), network.batch(bench)
    held = network.parameters(bench)
    there = network.leaves(bench, held, given, bench.dtype(kind))
    network.arrived(found, there, held, given)
    with network.settled(bench):
        done = network.forward(bench.torch, there, bench.to_device(given.classes))
        done.loss.backward()
    network.compare(found, Arithmetic(bench.torch, kind), done, given)
    return found.measured()


def gradients(bench: Bench, _kind: str) -> Measured:
    """Each parameter is moved by a step there and back; the losses' difference over twice the step is the gradient, but for the
    losses' own rounding over the step, and for what the curve does in between, which the CPU knows.
    """
    torch, step, found = bench.torch, 2.0**-16, Comparison(bench)
    given, held, rules = network.batch(bench), network.parameters(bench), Arithmetic(bench.torch, "fp64")
    there = network.leaves(bench, held, given, torch.float64)
    network.arrived(found, there, held, given)
    with network.settled(bench):
        done = network.forward(torch, there, bench.to_device(given.classes))
        done.loss.backward()
    network.compare(found, rules, done, given)
    own = network.leaves(bench._replace(device=torch.device("cpu")), held, given, torch.float64)
    network.forward(torch, own, given.classes).loss.backward()
    fixed, plain = ({name: tensor.detach() for name, tensor in side.items()} for side in (there, own))
    rounding = 2 * network.known_loss(rules, held, given).error / step
    for name in ("filters", "scale", "shift", "bias"):
        slope = own[name].grad
        curve = (_differences(bench, plain, name, classes=given.classes, step=step) - slope).abs()
        differences = _differences(bench, fixed, name, classes=bench.to_device(given.classes), step=step)
        found.near("differences by the " + name, differences, Near(slope, curve + rounding))
    return found.measured()


def _differences(bench: Bench, held: Dict[str, Any], name: str, *, classes: Any, step: float) -> Any:
    torch, losses = bench.torch, []
    with torch.no_grad(), network.settled(bench):
        for number in range(held[name].numel()):
            for sign in (1, -1):
                moved = held[name].clone()
                moved.view(-1)[number] += sign * step
                losses.append(network.forward(torch, dict(held, **{name: moved}), classes).loss)
            bench.tick()
        return ((torch.stack(losses[::2]) - torch.stack(losses[1::2])) / (2 * step)).view(held[name].shape)


RATE, MOMENTUM, DECAY = 2.0**-4, 0.5, 2.0**-6
BETAS, TINY = (0.5, 0.75), 2.0**-10  # powers of two and their sums: no constant is rounded


def optimizers(bench: Bench, kind: str) -> Measured:
    """Three steps of SGD with momentum and of AdamW, in each way that torch takes them: one by one, all at once, in one kernel."""
    torch, found, ways = bench.torch, Comparison(bench), []
    given = [[bench.uniform(*shape) for shape in ((64, 33), (257 + turn,))] for turn in range(4)]
    given = [[first, second[:257].contiguous()] for first, second in given]
    start, slopes = given[0], given[1:]
    rules = Arithmetic(torch, kind)
    for name, follow, options in (
        ("SGD", _sgd, {"lr": RATE, "momentum": MOMENTUM, "weight_decay": DECAY}),
        ("AdamW", _adamw, {"lr": RATE, "betas": BETAS, "eps": TINY, "weight_decay": DECAY}),
    ):
        make = getattr(torch.optim, name)
        known = [follow(rules, one, [turn[number] for turn in slopes]) for number, one in enumerate(start)]
        for way in _ways(bench, make):
            there = [bench.to_device(one.clone()).requires_grad_() for one in start]
            optimizer = make(there, **options, **way)
            for turn, turns in enumerate(slopes):
                for tensor, slope in zip(there, turns):
                    tensor.grad = bench.to_device(slope.clone())
                optimizer.step()
                for number, tensor in enumerate(there):
                    found.near("{}, step {}".format(name, turn + 1), tensor, known[number][turn])
            ways.append("{} {}".format(name, next(iter(way), "")).strip())
    return found.measured({"ways": ", ".join(ways)})


def _ways(bench: Bench, make: Any) -> List[Dict[str, bool]]:
    """`foreach` and `fused` where this optimizer has them; `fused` on CPUs came later than on GPUs, and says so."""
    has = inspect.signature(make).parameters
    ways: List[Dict[str, bool]] = [{"foreach": False}, {"foreach": True}] if "foreach" in has else [{}]
    return [*ways, {"fused": True}] if "fused" in has and bench.on_gpu else ways


def _sgd(rules: Arithmetic, start: Any, slopes: List[Any]) -> List[Near]:
    """d = g + decay*p; b = momentum*b + d; p = p - rate*b (torch.optim.SGD's documentation)."""
    place, speed, places = rules.exact(start), None, []
    for slope in slopes:
        change = rules.plus(rules.exact(slope), rules.scaled(place, DECAY))
        speed = change if speed is None else rules.plus(rules.scaled(speed, MOMENTUM), change)
        place = rules.minus(place, rules.scaled(speed, RATE))
        places.append(place)
    return places


def _adamw(rules: Arithmetic, start: Any, slopes: List[Any]) -> List[Near]:
    """torch.optim.AdamW's documentation; the corrections of the first steps divide before or after the root."""
    place, places = rules.exact(start), []
    mean = square = rules.exact(start * 0)
    for number, slope in enumerate(slopes):
        wide = rules.exact(slope)
        place = rules.scaled(place, 1 - RATE * DECAY)
        mean = rules.plus(rules.scaled(mean, BETAS[0]), rules.scaled(wide, 1 - BETAS[0]))
        square = rules.plus(rules.scaled(square, BETAS[1]), rules.scaled(rules.times(wide, wide), 1 - BETAS[1]))
        even = rules.scaled(square, 1 / (1 - BETAS[1] ** (number + 1)))
        root = rules.scaled(_root(rules, even), 1.0)
        below = rules.plus(root, Near(start.new_tensor(TINY).double(), start.new_tensor(0.0).double()))
        step = rules.scaled(rules.over(mean, below), RATE / (1 - BETAS[0] ** (number + 1)))
        place = rules.minus(place, rules.scaled(step, 1.0))
        places.append(place)
    return places


def _root(rules: Arithmetic, a: Near) -> Near:
    """|sqrt(a + e) - sqrt(a)| is at most the root of e, and at most e/sqrt(a)."""
    root = a.value.sqrt()
    error = a.error / root.clamp_min(1e-150)
    return rules.function(Near(a.value, error.minimum(a.error.sqrt())), root, 1.0, 0.0, ulps=1)


CHECKS = (
    Check("backward", "fp32", backward),
    Check("gradients", "fp64", gradients, FULL),
    Check("optimizers", "fp32", optimizers, FULL),
)
