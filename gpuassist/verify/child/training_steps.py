"""Training steps of a small network: one in mixed precision, and a loop of them, each held against its own in fp64."""

from __future__ import annotations

from typing import Any, Dict

from . import network
from .bench import FULL, Bench, Check, Measured, Skipped, Wrong, require
from .running_error import Arithmetic, Comparison

RATE = 2.0**-4


def mixed_precision(bench: Bench, kind: str) -> Measured:
    """A step under autocast with a scaled loss: as far from fp64 as the roundings to the format between the layers explain."""
    require(bench, kind)
    torch, found, grown = bench.torch, Comparison(bench), 2.0**10
    given, held = network.batch(bench), network.parameters(bench)
    there = network.leaves(bench, held, given, torch.float32)
    network.arrived(found, there, held, given)
    scaler, optimizer = _scaler(bench, grown), torch.optim.SGD([there[name] for name in held], lr=RATE)
    with network.settled(bench):
        with torch.autocast(bench.device.type, dtype=bench.dtype(kind)):
            done = network.forward(torch, there, bench.to_device(given.classes))
        scaled = scaler.scale(done.loss)
        scaled.backward()
    found.exact("scaled loss", scaled, done.loss.detach().to("cpu", copy=True) * grown)
    scaler.unscale_(optimizer)
    there["images"].grad.div_(grown)
    network.compare(found, Arithmetic(torch, kind), done, given, grown=grown)
    scaler.step(optimizer)
    scaler.update()
    if scaler.get_scale() != grown:
        raise Wrong("the scale of the loss is {} after a step without overflow, and not {}".format(scaler.get_scale(), grown))
    _stepped(found, Arithmetic(torch, "fp32"), held, there)
    return found.measured()


def _stepped(found: Comparison, rules: Arithmetic, before: Dict[str, Any], there: Dict[str, Any]) -> None:
    """Plain descent along the gradients that are there."""
    for name, value in before.items():
        step = rules.scaled(rules.exact(there[name].grad), RATE)
        found.near("step of the " + name, there[name], rules.minus(rules.exact(value), step))


def _scaler(bench: Bench, grown: float) -> Any:
    """torch.amp.GradScaler takes the kind of device since torch 2.3; before it was CUDA's alone."""
    torch = bench.torch
    made: Any = getattr(torch.amp, "GradScaler", None)
    if made is not None:
        return made(bench.device.type, init_scale=grown, growth_interval=1000)
    if not bench.on_gpu:
        raise Skipped("this torch scales losses on GPUs alone", "absent")
    return torch.cuda.amp.GradScaler(init_scale=grown, growth_interval=1000)


def training_loop(bench: Bench, kind: str) -> Measured:
    """Ten steps of descent. Each is held against fp64 from where it began, and the last loss is far below the first."""
    torch, found, losses = bench.torch, Comparison(bench), []
    given, held, rules = network.batch(bench), network.parameters(bench), Arithmetic(bench.torch, kind)
    there = network.leaves(bench, held, given, bench.dtype(kind))
    network.arrived(found, there, held, given)
    optimizer, classes = torch.optim.SGD([there[name] for name in held], lr=RATE), bench.to_device(given.classes)
    for _ in range(10):
        before = {name: there[name].detach().to("cpu", copy=True) for name in held}
        for tensor in there.values():
            tensor.grad = None
        with network.settled(bench):
            done = network.forward(torch, there, classes)
            done.loss.backward()
        network.compare(found, rules, done, given)
        optimizer.step()
        _stepped(found, rules, before, there)
        losses.append(float(done.loss.detach()))
    if not losses[-1] < losses[0] / 2:
        raise Wrong("the loss goes from {} to {} in {} steps".format(losses[0], losses[-1], len(losses)))
    return found.measured({"first_loss": losses[0], "last_loss": losses[-1]})


CHECKS = (
    Check("training-loop", "fp32", training_loop, FULL),
    *(Check("mixed-precision", kind, mixed_precision, FULL) for kind in ("fp16", "bf16")),
)
