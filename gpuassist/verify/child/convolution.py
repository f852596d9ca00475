"""Convolutions, forward and backward, of whole numbers and of real ones.

Whole numbers come out exact of every way of computing that only adds products: at stride 2 there is no other, since Winograd's and
Fourier's, which round otherwise, are for stride 1 (cuDNN's documentation of its algorithms). Stride 1 has a check of its own.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Tuple

from .bench import (
    FULL,
    U_BF16,
    U_FP16,
    U_FP32,
    Bench,
    Check,
    Measured,
    distance,
    implemented,
    precision,
    repeated,
    require,
    same,
    sum_bound,
    tera,
)
from .exact import greatest, numbers, spread, worst
from .products import product_bound
from .spectral import stages

# Winograd's way for tiles of 4 by 4 and filters of 3 by 3, the largest that cuDNN has for them (its numerical notes: 6 by 6 of the
# input), with the matrices of Lavin and Gray 2015, Fast algorithms for convolutional neural networks. With every number replaced by
# its absolute value a product of ones grows to 48 along one side: the sum over the greatest row of |A'| of what the rows of |G| and
# |B'| sum up to, 5 + 5 + 8 * 1.75 + 8 * 1.75 + 10.
WINOGRAD_GROWTH = 48.0**2
# And no number passes more roundings: 6 along each of two sides in each of three transforms, one product; the channels come to it.
WINOGRAD_ROUNDINGS = 37

# The function of torch, the shapes of images and filters, and what it is told.
Form = Tuple[str, Tuple[int, ...], Tuple[int, ...], Dict[str, Any]]
FORWARD: Tuple[Form, ...] = (("conv2d", (2, 16, 16, 16), (24, 16, 3, 3), {"stride": 2, "padding": 1}),)
GROUPED: Tuple[Form, ...] = (
    ("conv2d", (2, 16, 16, 16), (24, 4, 3, 3), {"stride": 2, "padding": 1, "groups": 4}),
    ("conv2d", (2, 16, 16, 16), (16, 1, 3, 3), {"stride": 2, "padding": 1, "groups": 16}),
)
# By 3: with 2 every other pixel would be left out.
DILATED: Tuple[Form, ...] = (("conv2d", (2, 16, 16, 16), (24, 16, 3, 3), {"stride": 2, "padding": 3, "dilation": 3}),)
TRANSPOSED: Tuple[Form, ...] = (
    ("conv_transpose2d", (2, 16, 8, 8), (16, 24, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
)
SIDES: Tuple[Form, ...] = (
    ("conv1d", (2, 16, 128), (24, 16, 5), {"stride": 2, "padding": 2}),
    ("conv3d", (2, 8, 8, 8, 8), (12, 8, 3, 3, 3), {"stride": 2, "padding": 1}),
)
_UNITS = {"fp16": U_FP16, "bf16": U_BF16}
# The longest sum in all these: 12 filters of 3 by 3 by 3.
MOST_PRODUCTS = 324


def convolution(bench: Bench, kind: str) -> Measured:
    """Real numbers against fp64, then whole numbers, large and timed, in both orders that images lie in memory."""
    require(bench, kind)
    convolve = bench.torch.nn.functional.conv2d
    images, filters = (bench.uniform(*shape).to(bench.dtype(kind)) for shape in ((2, 16, 32, 32), (24, 16, 3, 3)))
    reference = convolve(images.double(), filters.double(), stride=2, padding=1)
    norms = _patch_norm(bench, images) * float(filters.double().flatten(1).norm(dim=1).max())
    bound = product_bound(kind, 16 * 9, norms, float(reference.abs().max()))
    with precision(bench.torch, tf32=kind == "tf32"):
        x, w = bench.to_device(images), bench.to_device(filters)
        error = distance(bench, implemented(bench, kind, lambda: convolve(x, w, stride=2, padding=1)), reference)
        rate, compared = _large(bench, kind)
    return Measured(error, bound, rate, "TFLOP/s", reference.numel() + compared)


def _patch_norm(bench: Bench, images: Any) -> float:
    """The greatest Euclidean norm of what a 3 by 3 filter sees."""
    squares = images.double().pow(2).sum(1, keepdim=True)
    return math.sqrt(float(bench.torch.nn.functional.avg_pool2d(squares, 3, 1, 1).max()) * 9)


def _large(bench: Bench, kind: str) -> Tuple[float, int]:
    """Two images and eight filters are computed on the CPU; all others are these in another order, with other signs."""
    torch, channels = bench.torch, 64
    convolve = torch.nn.functional.conv2d
    batch, side, filters = (min(max(bench.size // part, 8), most) for part, most in ((64, 64), (64, 64), (32, 128)))
    most = greatest(kind, channels * 9)
    image, few = numbers(bench, kind, most, 2, channels, side, side), numbers(bench, kind, most, 8, channels, 3, 3, salt=1)
    dtype = bench.dtype(kind)
    known = bench.to_device(convolve(image, few, stride=2, padding=1).to(dtype))
    x = spread(bench, bench.to_device(image.to(dtype)), 0, batch)
    w = spread(bench, bench.to_device(few.to(dtype)), 0, filters, salt=1)
    expected = spread(bench, spread(bench, known, 0, batch), 1, filters)
    bench.tick()
    runs = repeated(bench, lambda: convolve(x, w, stride=2, padding=1), expected)
    by_pixel = [one.contiguous(memory_format=torch.channels_last) for one in (x, w)]
    compared = runs.compared + same(bench, convolve(by_pixel[0], by_pixel[1], stride=2, padding=1), expected)
    return tera(2.0 * expected.numel() * channels * 9, runs.seconds), compared


def backward(bench: Bench, kind: str) -> Measured:
    """The result and both gradients: of whole numbers exact and repeated, of real ones against fp64."""
    require(bench, kind)
    images, filters, weights = (bench.uniform(*shape).to(bench.dtype(kind)) for shape in (*FORWARD[0][1:3], (2, 24, 8, 8)))
    wanted = _with_gradients(bench, FORWARD[0], [images.double(), filters.double(), weights.double()])
    with precision(bench.torch, tf32=kind == "tf32"):
        compared = implemented(bench, kind, lambda: _exact(FORWARD)(bench, kind)).compared
        found = _with_gradients(bench, FORWARD[0], [bench.to_device(one) for one in (images, filters, weights)])
        errors = [distance(bench, one, right) for one, right in zip(found, wanted)]
    by_channel = [float(one.double().transpose(0, 1).flatten(1).norm(dim=1).max()) for one in (images, filters, weights)]
    sums = (  # of the result; of the images' gradient, no weight being greater than 1; of the filters', over images and places
        (16 * 9, _patch_norm(bench, images) * float(filters.double().flatten(1).norm(dim=1).max())),
        (24 * 9, math.sqrt(24 * 9) * by_channel[1]),
        (2 * 8 * 8, by_channel[0] * by_channel[2]),
    )
    bounds = [product_bound(kind, k, norms, float(right.abs().max())) for (k, norms), right in zip(sums, wanted)]
    if bench.torch.device(bench.device).type == "cpu" and kind in _UNITS:
        more = _rounded_on_the_way(bench, [images.double(), filters.double(), weights.double()])
        bounds[1:] = [bound + _UNITS[kind] * one for bound, one in zip(bounds[1:], more)]
    return worst(zip(errors, bounds), compared + sum(one.numel() for one in wanted))


def _rounded_on_the_way(bench: Bench, given: List[Any]) -> Tuple[float, float]:
    """What a CPU without instructions for the format rounds besides the result, in units of it (torch's slow_conv2d): the images'
    gradient is added up place by place of the filter, of which stride 2 leaves 4 to a pixel, the filters' gradient image by image.
    """
    images, filters, weights = given
    by_place = []
    for place in range(filters[0, 0].numel()):
        alone = bench.torch.zeros_like(filters)
        alone.flatten(2)[:, :, place] = filters.flatten(2)[:, :, place]
        by_place.append(_with_gradients(bench, FORWARD[0], [images, alone, weights])[1].abs())
    by_image = [_with_gradients(bench, FORWARD[0], [images[[n]], filters, weights[[n]]])[2].abs() for n in range(len(images))]
    return 4 * float(sum(by_place).max()), float(sum(by_image).max())


def _with_gradients(bench: Bench, form: Form, given: List[Any]) -> List[Any]:
    """The result of images and filters, and what it gives back to both when its elements are weighed by the third that is given."""
    images, filters = (one.detach().requires_grad_() for one in given[:2])
    result = getattr(bench.torch.nn.functional, form[0])(images, filters, **form[3])
    return [result.detach(), *bench.torch.autograd.grad(result, (images, filters), given[2].reshape(result.shape))]


def _exact(forms: Tuple[Form, ...]) -> Callable[[Bench, str], Measured]:
    """A check of the result and both gradients of whole numbers."""

    def run(bench: Bench, kind: str) -> Measured:
        require(bench, kind)
        torch, dtype, most, compared = bench.torch, bench.dtype(kind), greatest(kind, MOST_PRODUCTS), 0
        with precision(torch, tf32=kind == "tf32"):
            for form in forms:
                images, filters = (numbers(bench, kind, most, *shape, salt=len(shape)) for shape in form[1:3])
                count = getattr(torch.nn.functional, form[0])(images, filters, **form[3]).numel()
                given = [images, filters, numbers(bench, kind, most, count)]
                expected = torch.cat([one.flatten() for one in _with_gradients(bench, form, given)])
                there = [bench.to_device(one.to(dtype)) for one in given]
                compared += _repeated_parts(bench, form, there, bench.to_device(expected.to(dtype)))
        return Measured(0.0, 0.0, compared=compared)

    return run


def _repeated_parts(bench: Bench, form: Form, there: List[Any], expected: Any) -> int:
    def action() -> Any:
        return bench.torch.cat([one.flatten() for one in _with_gradients(bench, form, there)])

    return repeated(bench, action, expected).compared


def stride_1(bench: Bench, kind: str) -> Measured:
    """As most networks convolve; bounded for sums of products, for Winograd's way and for Fourier transforms of up to 64 by 64."""
    require(bench, kind)
    channels, convolve = 4, bench.torch.nn.functional.conv2d
    images, filters = bench.uniform(2, channels, 32, 32), bench.uniform(8, channels, 3, 3)
    reference = convolve(images.double(), filters.double(), padding=1)
    largest, norm = float(filters.abs().max()), float(filters.double().flatten(1).norm(dim=1).max())
    winograd = (WINOGRAD_ROUNDINGS + channels) * U_FP32 * WINOGRAD_GROWTH * channels * largest
    # The error of a transform, relative to the Euclidean norm, comes in once by the image, once by the filters, and once by the way
    # back, there with the sum of 9 absolute values of a filter, at most 3 times its norm.
    fourier = (5 * stages(64 * 64) + channels + 3) * U_FP32 * norm * float(images.double().flatten(1).norm(dim=1).max())
    direct = sum_bound(channels * 9, U_FP32, _patch_norm(bench, images) * norm)
    x, w = bench.to_device(images), bench.to_device(filters)
    with precision(bench.torch, tf32=False):
        runs = repeated(bench, lambda: convolve(x, w, padding=1))
        error = distance(bench, runs.first, reference)
    return Measured(error, max(winograd, fourier, direct), compared=runs.compared + reference.numel())


CHECKS = (
    Check("convolution", "fp32", convolution),
    Check("convolution", "fp16", convolution),
    Check("convolution-backward", "fp32", backward),
    Check("convolution", "bf16", convolution, FULL),
    Check("convolution", "tf32", convolution, FULL, on_cpu=False),
    Check("convolution-stride-1", "fp32", stride_1, FULL),
    Check("convolution-backward", "fp16", backward, FULL),
    Check("convolution-backward", "bf16", backward, FULL),
    Check("convolution-grouped", "fp32", _exact(GROUPED), FULL),
    Check("convolution-dilated", "fp32", _exact(DILATED), FULL),
    Check("convolution-transposed", "fp32", _exact(TRANSPOSED), FULL),
    Check("convolution-1d-3d", "fp32", _exact(SIDES), FULL),
)
