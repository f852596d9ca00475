"""A small network, as torch computes it and as running error analysis knows it: convolution, group normalization, GELU, a linear
layer and cross entropy, with the gradients of all it is made of.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import Any, Dict, Iterator, NamedTuple, Tuple

from . import normalization
from .bench import Bench, precision
from .running_error import SOFTMAX_EXP_ULPS, Arithmetic, Comparison, Near

IMAGES, CHANNELS, SIDE, FILTERS, CLASSES = 8, 3, 12, 8, 10
STRIDE, PADDING, KERNEL = (
    2,
    1,
    3,
)  # stride 2: Winograd and FFT, which round otherwise, do stride 1 alone (cuDNN's list of algorithms)
HALF = SIDE // STRIDE
GROUPS = 2
SMOOTHING = 2.0**-3  # of the classes: with it the loss depends on every logarithm of a chance
LAYOUT = normalization.group(IMAGES, FILTERS, HALF * HALF, groups=GROUPS)
NAMES = ("filters", "scale", "shift", "weights", "bias")


class Batch(NamedTuple):
    """What goes in, and which class each image is of; in fp32 on the CPU."""

    images: Any
    classes: Any


def batch(bench: Bench, number: int = 0) -> Batch:
    images = bench.uniform(IMAGES + number, CHANNELS, SIDE, SIDE)[number:]
    return Batch(images.contiguous(), bench.whole(0, CLASSES - 1, IMAGES))


def parameters(bench: Bench) -> Dict[str, Any]:
    """In fp32 on the CPU; layers of the usual size, so that no signal grows or dies."""
    return {
        "filters": bench.uniform(FILTERS, CHANNELS, KERNEL, KERNEL) * 0.3,
        "scale": bench.uniform(FILTERS) * 0.25 + 1,
        "shift": bench.uniform(FILTERS + 1)[1:] * 0.25,
        "weights": bench.uniform(CLASSES, FILTERS * HALF * HALF) * 0.1,
        "bias": bench.uniform(CLASSES) * 0.1,
    }


@contextmanager
def settled(bench: Bench) -> Iterator[None]:
    """Without TF32, and with algorithms of cuDNN that are not tried out first."""
    cudnn = bench.torch.backends.cudnn
    before = cudnn.benchmark
    with precision(bench.torch, tf32=False):
        try:
            cudnn.benchmark = False
            yield
        finally:
            cudnn.benchmark = before


class Done(NamedTuple):
    """What torch computed: leaves, what lies between the layers, each with its gradient, and the loss."""

    leaves: Dict[str, Any]
    between: Dict[str, Any]
    loss: Any


def leaves(bench: Bench, held: Dict[str, Any], given: Batch, dtype: Any) -> Dict[str, Any]:
    """Parameters and images on the device, of which gradients are taken."""
    values = dict(held, images=given.images)
    return {name: bench.to_device(value.to(dtype, copy=True)).detach().requires_grad_() for name, value in values.items()}


def arrived(found: Comparison, there: Dict[str, Any], held: Dict[str, Any], given: Batch) -> None:
    """What lies on the device is what was sent: all that follows is held against what lies there."""
    for name, value in dict(held, images=given.images).items():
        found.exact(name + ", as it came", there[name], value.to(there[name].dtype))


def forward(torch: Any, there: Dict[str, Any], classes: Any) -> Done:
    functional = torch.nn.functional
    maps = functional.conv2d(there["images"], there["filters"], stride=STRIDE, padding=PADDING)
    through = functional.group_norm(maps, GROUPS, there["scale"], there["shift"], normalization.EPSILON)
    hidden = functional.gelu(through).flatten(1)
    logits = functional.linear(hidden, there["weights"], there["bias"])
    between = {"maps": maps, "through": through, "hidden": hidden, "logits": logits}
    if maps.requires_grad:
        for tensor in between.values():
            tensor.retain_grad()
    return Done(there, between, functional.cross_entropy(logits, classes, label_smoothing=SMOOTHING))


def compare(found: Comparison, rules: Arithmetic, done: Done, given: Batch, *, grown: float = 1.0) -> None:
    """Each layer's result and gradients, from what the layers around it really gave: so each bound is that of one layer.

    Mixed precision stores what lies between the layers in its format, and computes a loss `grown` times as large.
    """
    seen = {name: rules.exact(tensor) for name, tensor in {**done.leaves, **done.between}.items()}
    slopes = {name: rules.exact(tensor.grad) for name, tensor in done.between.items()}
    images, filters, weights = (rules.stored(seen[name]) for name in ("images", "filters", "weights"))
    # Of what is stored in fp32 a product takes what is left of it in the format.
    hidden = rules.stored(seen["hidden"]) if done.between["hidden"].dtype is rules.torch.float32 else seen["hidden"]
    normal = normalization.normalized(rules, seen["maps"], LAYOUT)
    by_loss, loss = _cross_entropy(rules, seen["logits"], given.classes, grown=grown)
    expected = {
        "maps": _convolution(rules, images, filters),
        "through": normalization.result(rules, normal, LAYOUT, scale=seen["scale"], shift=seen["shift"]),
        "hidden": _gelu(rules, seen["through"]),
        "logits": _linear(rules, hidden, weights, seen["bias"]),
    }
    for name, near in expected.items():
        found.near(name, done.between[name], rules.stored(near).shaped(*done.between[name].shape))
    found.near("loss", done.loss, loss)
    by_logits, by_hidden, by_through, by_maps = (slopes[name] for name in ("logits", "hidden", "through", "maps"))
    by_scaled = normalization.gradients(rules, normal, LAYOUT, scale=seen["scale"], upstream=by_through)
    expected = {
        "logits": by_loss,
        "hidden": rules.product(by_logits, weights),
        "through": rules.times(by_hidden.shaped(*by_through.value.shape), _gelu_slope(rules, seen["through"])),
        "maps": by_scaled["input"],
        "filters": _summed_product(rules, by_maps, _columns(rules, images)),
        "images": _convolution_backward(rules, by_maps, filters),
        "scale": by_scaled["scale"],
        "shift": by_scaled["shift"],
        "weights": rules.product(by_logits.turned(0, 1), hidden),
        "bias": rules.total(by_logits, 0),
    }
    for name, near in expected.items():
        tensor, larger = (done.leaves[name], grown) if name in done.leaves else (done.between[name], 1.0)
        near = near if name in ("scale", "shift") else rules.stored(near)  # which mixed precision keeps in fp32
        found.near("gradient of the " + name, tensor.grad, near.shaped(*tensor.shape).times_power_of_two(1 / larger))


def known_loss(rules: Arithmetic, held: Dict[str, Any], given: Batch) -> Near:
    """From the images to the loss."""
    own = {name: rules.exact(value) for name, value in held.items()}
    normal = normalization.normalized(rules, _convolution(rules, rules.exact(given.images), own["filters"]), LAYOUT)
    through = normalization.result(rules, normal, LAYOUT, scale=own["scale"], shift=own["shift"])
    hidden = _gelu(rules, through).shaped(IMAGES, -1)
    return _cross_entropy(rules, _linear(rules, hidden, own["weights"], own["bias"]), given.classes, grown=1.0)[1]


def _convolution(rules: Arithmetic, images: Near, filters: Near) -> Near:
    return rules.product(filters.shaped(FILTERS, -1), _columns(rules, images)).shaped(IMAGES, FILTERS, HALF, HALF)


def _linear(rules: Arithmetic, hidden: Near, weights: Near, bias: Near) -> Near:
    """torch may round the bias to the format, too, and the product before it is added."""
    return rules.plus(rules.stored(rules.product(hidden, weights.turned(0, 1))), rules.stored(bias))


def _convolution_backward(rules: Arithmetic, by_maps: Near, filters: Near) -> Near:
    turned = filters.shaped(FILTERS, -1).turned(0, 1)
    return _folded(rules, rules.product(turned, by_maps.shaped(IMAGES, FILTERS, -1), FILTERS * KERNEL * KERNEL))


def _columns(rules: Arithmetic, images: Near) -> Near:
    """What each place of the convolution sees, as a column."""
    unfold = rules.torch.nn.functional.unfold
    return Near(*(unfold(part, KERNEL, padding=PADDING, stride=STRIDE) for part in images))


def _folded(rules: Arithmetic, columns: Near) -> Near:
    fold = rules.torch.nn.functional.fold
    parts = (fold(part, (SIDE, SIDE), KERNEL, padding=PADDING, stride=STRIDE) for part in (*columns, columns.most))
    value, error, most = parts
    return rules.with_error(Near(value, error), most, KERNEL * KERNEL)


def _summed_product(rules: Arithmetic, by_maps: Near, columns: Near) -> Near:
    """Over all images and places at once."""
    left = by_maps.turned(0, 1).shaped(FILTERS, -1)
    return rules.product(left, columns.turned(0, 1).shaped(columns.value.shape[1], -1).turned(0, 1))


def _gelu(rules: Arithmetic, x: Near) -> Near:
    """x*(1 + erf(x/sqrt(2)))/2: of erf, 1 + erf and the products less than 8u of |x|; |f''| is at most 0.8."""
    value, slope = x.value * _normal_below(x.value), _gelu_slope_at(x.value)
    return rules.function(x, value, slope.abs(), 0.4, absolute=8 * x.value.abs())


def _gelu_slope(rules: Arithmetic, x: Near) -> Near:
    """The second derivative is phi(x)*(2 - x*x), the third at most 0.8; erf, exp and products: less than 8u of 1 + |x|."""
    slope = (_density(x.value) * (2 - x.value * x.value)).abs()
    return rules.function(x, _gelu_slope_at(x.value), slope, 0.4, absolute=8 * (1 + x.value.abs()))


def _gelu_slope_at(x: Any) -> Any:
    return _normal_below(x) + x * _density(x)


def _normal_below(x: Any) -> Any:
    return (1 + (x / math.sqrt(2)).erf()) / 2


def _density(x: Any) -> Any:
    return (-x * x / 2).exp() / math.sqrt(2 * math.pi)


def _cross_entropy(rules: Arithmetic, logits: Near, classes: Any, *, grown: float) -> Tuple[Near, Near]:
    """The gradient of a loss that is `grown` times as large, and the loss: -log softmax at the class, of all images the mean, and a
    part of it the mean over all classes. Mixed precision may store log softmax, and its gradient, in its format.
    """
    torch = rules.torch
    greatest = logits.value.max(dim=1, keepdim=True).values
    lowered = rules.minus(logits, Near(greatest, torch.zeros_like(greatest)))
    logs = rules.stored(rules.minus(lowered, rules.log(rules.total(rules.exp(lowered, SOFTMAX_EXP_ULPS), 1))))
    there = rules.scaled(rules.total(logs.part(torch.arange(IMAGES), classes), 0), -(1 - SMOOTHING) / IMAGES)
    everywhere = rules.scaled(rules.total(rules.scaled(logs, -1.0), 0, 1), SMOOTHING / CLASSES / IMAGES)
    aim = torch.nn.functional.one_hot(classes, CLASSES).double() * (1 - SMOOTHING) + SMOOTHING / CLASSES
    by_logs = rules.stored(rules.scaled(rules.exact(aim), -grown / IMAGES))
    back = rules.minus(by_logs, rules.times(rules.exp(logs, SOFTMAX_EXP_ULPS), rules.total(by_logs, 1)))
    return back, rules.plus(there, everywhere.shaped(1)).shaped()
