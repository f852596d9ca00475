"""Operations on each element: functions to their documented ulps, arithmetic exactly rounded, whole numbers and bits exact; and
softmax of rows.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Tuple

from .bench import FULL, U_FP32, Bench, Check, Measured, require
from .running_error import FUNCTION_ULPS, HALVES, SOFTMAX_EXP_ULPS, Arithmetic, Comparison, Near, spacing


class Function(NamedTuple):
    """A function of torch, where it is looked at, how many ulp it may be from the correctly rounded value, and how far at least.

    The CUDA C++ programming guide's tables allow 2 ulp and less, and of torch's kernels for CPUs SLEEF's sin and cos are the worst
    (their names say 3.5 ulp). torch's erf for AVX-512 is Abramowitz and Stegun 7.1.26, |error| <= 1.5e-7, with eight roundings
    near 1.
    """

    name: str
    low: float
    high: float
    ulps: float = FUNCTION_ULPS
    least: float = 0.0


FUNCTIONS = (
    Function("exp", -8, 8),
    Function("log", 2.0**-10, 64),
    Function("sin", -32, 32, 4),
    Function("cos", -32, 32, 4),
    Function("tanh", -4, 4),
    Function("erf", -3, 3, FUNCTION_ULPS, 1.5e-7 + 8 * U_FP32),
    Function("sqrt", 0, 64, 1),
    Function("rsqrt", 2.0**-10, 64),
)


def elementwise(bench: Bench, kind: str) -> Measured:
    """Each function against fp64; sums, differences, products and quotients bit by bit: fp64 has more than twice the digits and two
    more, so that rounding its result once more gives the correctly rounded one (Figueroa 1995).
    """
    require(bench, kind)
    torch, found, dtype = bench.torch, Comparison(bench), bench.dtype(kind)
    count = min(bench.size * 256, 1 << 21) if bench.level == FULL else min(bench.size * 128, 1 << 15)
    part = (bench.uniform(count) + 1) / 2
    for number, one in enumerate(FUNCTIONS):
        x = _inputs(bench, kind, part.roll(number * 7), one).to(dtype)
        reference = getattr(torch, one.name)(x.double())
        found.within(one.name, getattr(torch, one.name)(bench.to_device(x)), reference, _bound(bench, kind, one, reference))
    a, b = (part * 6 - 3).to(dtype), (part.roll(1) * 4 + 0.5).to(dtype)
    there, other = bench.to_device(a), bench.to_device(b)
    for name in ("add", "sub", "mul", "true_divide"):
        operation = getattr(torch, name)
        found.exact(name, operation(there, other), operation(a.double(), b.double()).to(dtype))
    for name in ("lt", "ge"):
        found.exact(name, getattr(torch, name)(there, other), getattr(torch, name)(a, b))
    return found.measured()


def _inputs(bench: Bench, kind: str, part: Any, one: Function) -> Any:
    """Of fp16 and bf16 every number in the range; the smallest ones left out, which libraries of CPUs take for 0."""
    if kind not in HALVES:
        return part * (one.high - one.low) + one.low
    every = bench.torch.arange(-(1 << 15), 1 << 15, dtype=bench.torch.int32).to(bench.torch.int16).view(bench.dtype(kind))
    wide = every.double()
    return every[(wide >= one.low) & (wide <= one.high) & ((wide.abs() >= 2.0**-60) | (wide == 0))]


def _bound(bench: Bench, kind: str, one: Function, reference: Any) -> Any:
    """So many ulp from the correctly rounded value, which is half an ulp from the exact one; what is stored is rounded once more,
    and in fp64 the reference is no better than the result.
    """
    wide = "fp32" if kind in HALVES else kind
    bound = (2 * one.ulps + 1 if kind == "fp64" else one.ulps + 0.5) * spacing(bench.torch, reference, wide)
    if kind != "fp64":
        bound = bound.clamp_min(one.least)
    return bound + spacing(bench.torch, reference, kind) / 2 if kind in HALVES else bound


def integers(bench: Bench, kind: str) -> Measured:
    """Sums and products that wrap, quotients, remainders, shifts and bits, against the CPU's."""
    torch, found, dtype = bench.torch, Comparison(bench), bench.dtype(kind)
    count = min(bench.size * 128, 1 << 22)
    a = bench.whole(-(2**62), 2**62, count)
    a = a if kind == "int64" else (a >> 20).to(dtype)  # the lower half of what is left
    b = a.roll(1)
    divisor, places = bench.whole(1, 2**30, count).to(dtype), bench.whole(0, 30, count).to(dtype)
    two: Tuple[Tuple[str, Callable[..., Any], Any], ...] = (
        ("add", torch.add, b),
        ("sub", torch.sub, b),
        ("mul", torch.mul, b),
        ("remainder", torch.remainder, divisor),
        ("bitwise_and", torch.bitwise_and, b),
        ("bitwise_or", torch.bitwise_or, b),
        ("bitwise_xor", torch.bitwise_xor, b),
        ("floor_divide", lambda x, y: torch.div(x, y, rounding_mode="floor"), divisor),
        ("shift_left", lambda x, y: x << y, places),
        ("shift_right", lambda x, y: x >> y, places),
        ("maximum", torch.maximum, b),
        ("eq", torch.eq, a.roll(count // 2)),
    )
    there = bench.to_device(a)
    for name, operation, other in two:
        copied = bench.to_device(other)
        found.exact(name, operation(there, copied), operation(a, other))
        found.exact(name + "'s input", copied, other)  # not every bit of it counts in the result
    found.exact("bitwise_not", ~there, -1 - a)
    found.exact("to int8", there.to(torch.int8), ((a + 128) % 256 - 128).to(torch.int8) if kind == "int64" else a.to(torch.int8))
    return found.measured()


def softmax(bench: Bench, kind: str) -> Measured:
    """softmax and log_softmax of rows; in full the gradients of both, too."""
    require(bench, kind)
    torch, rules, found = bench.torch, Arithmetic(bench.torch, kind), Comparison(bench)
    rows, columns = (256, 1000) if bench.level == FULL else (32, 250)
    x, upstream = ((bench.uniform(rows, one + columns)[:, one:] * 4).to(bench.dtype(kind)) for one in (0, 1))
    known = _softmax(rules, x)
    for name, forward, backward in (("softmax", known[0], _softmax_gradient), ("log_softmax", known[1], _log_softmax_gradient)):
        there = bench.to_device(x.clone())
        if bench.level != FULL:
            found.near(name, getattr(torch, name)(there, dim=1), forward)
            continue
        result = getattr(torch, name)(there.requires_grad_(), dim=1)
        result.backward(bench.to_device(upstream))  # the first call with a gradient imports a second's worth of torch
        found.near(name, result, forward)
        found.near(name + " gradient", there.grad, rules.stored(backward(rules, rules.exact(upstream), forward)))
    return found.measured()


def _softmax(rules: Arithmetic, x: Any) -> Tuple[Near, Near]:
    """Of fp16 and bf16 a CPU stores the logarithm of the sum in that format."""
    wide = rules.exact(x)
    lowered = rules.minus(wide, rules.exact(wide.value.max(dim=1, keepdim=True).values))
    powers = rules.exp(lowered, SOFTMAX_EXP_ULPS)
    total = rules.total(powers, 1)
    return rules.stored(rules.over(powers, total)), rules.stored(rules.minus(lowered, rules.stored(rules.log(total))))


def _softmax_gradient(rules: Arithmetic, upstream: Near, result: Near) -> Near:
    """(g - sum(g*p))*p, or g*p - p*sum(g*p), whose two parts are rounded before they cancel."""
    weighted = rules.times(upstream, result)
    return rules.minus(weighted, rules.times(result, rules.total(weighted, 1)))


def _log_softmax_gradient(rules: Arithmetic, upstream: Near, result: Near) -> Near:
    return rules.minus(upstream, rules.times(rules.exp(result, SOFTMAX_EXP_ULPS), rules.total(upstream, 1)))


CHECKS = (
    Check("elementwise", "fp32", elementwise),
    Check("softmax", "fp32", softmax),
    *(Check("elementwise", kind, elementwise, FULL) for kind in ("fp64", "fp16", "bf16")),
    *(Check("integers", kind, integers, FULL) for kind in ("int32", "int64")),
    *(Check("softmax", kind, softmax, FULL) for kind in ("fp16", "bf16")),
)
