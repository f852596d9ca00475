"""Running error analysis: a reference in fp64 that knows, for each of its elements, how far a result may be from it.

Each step of a computation adds what its own rounding explains to what the errors of its inputs become in it (Higham 2002, Accuracy
and Stability of Numerical Algorithms, section 3.3). `u` is the unit roundoff of the format that is computed in; torch computes
on fp16 and bf16 in fp32 and rounds what it stores. A sum of k terms: `bench`'s bound, or k*u*sum|terms| where that is less.
"""

from __future__ import annotations

import math
from typing import Any, Dict, NamedTuple, Optional, Tuple

from .bench import CANCELLING, U_BF16, U_FP16, U_FP32, U_FP64, U_TENSOR_CORE, Bench, Measured, Wrong, same


class Format(NamedTuple):
    """The unit roundoff, and half of the distance between the smallest numbers, where rounding is no longer relative."""

    unit: float
    least: float


# In fp64 the reference is rounded as much as the result.
FORMATS = {
    "fp64": Format(2 * U_FP64, 2.0**-1074),
    "fp32": Format(U_FP32, 2.0**-150),
    "fp16": Format(U_FP16, 2.0**-25),
    "bf16": Format(U_BF16, 2.0**-134),
}
HALVES = ("fp16", "bf16")
# The largest error of CUDA's expf, sinf, cosf, tanhf, erff and rsqrtf is 2 ulp, of logf 1, in fp64 2 and less (CUDA C++ programming
# guide, table of maximum errors). An ulp is at most 2u.
FUNCTION_ULPS = 2.0
# What torch's softmax and attention for CPUs use is good to 20 ulp (its name is `exp_u20`).
SOFTMAX_EXP_ULPS = 20.0


class Near(NamedTuple):
    """The exact value in fp64, and how far a computed one may be from it, by element."""

    value: Any
    error: Any

    @property
    def most(self) -> Any:
        return self.value.abs() + self.error

    def shaped(self, *shape: int) -> "Near":
        return Near(self.value.reshape(shape), self.error.reshape(shape))

    def turned(self, one: int, other: int) -> "Near":
        return Near(self.value.transpose(one, other), self.error.transpose(one, other))

    def times_power_of_two(self, number: float) -> "Near":
        return Near(self.value * number, self.error * abs(number))

    def part(self, *place: Any) -> "Near":
        return Near(self.value[place], self.error[place])


class Arithmetic:
    """The operations of a format, each with its rounding; of fp16 and bf16 what stays in registers is fp32, `stored` rounds it."""

    def __init__(self, torch: Any, kind: str) -> None:
        self.torch, self._kind = torch, kind
        self._unit, self._least = FORMATS["fp32" if kind in HALVES else kind]

    def exact(self, values: Any) -> Near:
        wide = values.detach().to("cpu", copy=True).double()
        return Near(wide, self.torch.zeros_like(wide))

    def stored(self, a: Near) -> Near:
        """Rounded to the format."""
        return _rounded(a.value, a.error, FORMATS[self._kind]) if self._kind in HALVES else a

    def plus(self, a: Near, b: Near) -> Near:
        return self._done(a.value + b.value, a.error + b.error)

    def minus(self, a: Near, b: Near) -> Near:
        return self._done(a.value - b.value, a.error + b.error)

    def times(self, a: Near, b: Near) -> Near:
        return self._done(a.value * b.value, a.error * b.most + a.value.abs() * b.error)

    def scaled(self, a: Near, number: float) -> Near:
        """By a number that is rounded itself."""
        return self._done(a.value * number, (a.error + self._unit * a.most) * abs(number))

    def over(self, a: Near, b: Near) -> Near:
        value = a.value / b.value
        return self._done(value, (a.error + value.abs() * b.error) / _least(b))

    def product(self, a: Near, b: Near, terms: int = 0) -> Near:
        """A matrix product. Tensor cores, which fp16 and bf16 go to, cut each of the partial sums."""
        k = max(terms, a.value.shape[-1])
        unit = k * U_TENSOR_CORE if self._kind in HALVES else self._sum(k)
        error = a.value.abs() @ (b.error + unit * b.most)
        if bool((a.error != 0).any()):
            error = error + a.error @ ((1 + unit) * b.most)
        return self._done(a.value @ b.value, error)

    def total(self, a: Near, *dims: int) -> Near:
        k = 1
        for dim in dims:
            k *= a.value.shape[dim]
        value, error = a.value.sum(dims, keepdim=True), a.error.sum(dims, keepdim=True)
        return self._done(value, error + self._sum(k) * a.most.sum(dims, keepdim=True))

    def exp(self, a: Near, ulps: float = FUNCTION_ULPS) -> Near:
        value = a.value.exp()
        return self.function(a, value, value, value * a.error.exp() / 2, ulps=ulps)

    def log(self, a: Near) -> Near:
        return self.function(a, a.value.log(), 1 / _least(a), 0.0)

    def rsqrt(self, a: Near) -> Near:
        return self.function(a, a.value.rsqrt(), _least(a).pow(-1.5) / 2, 0.0)

    def function(self, a: Near, value: Any, slope: Any, bend: Any, *, ulps: float = FUNCTION_ULPS, absolute: Any = 0.0) -> Near:
        """`value` is f(a), `slope` |f'| there, `bend` a bound of |f''|/2 near it; f itself is computed to so many ulp, or with an
        error of so many u.
        """
        error = slope * a.error + bend * a.error * a.error
        own = 2 * ulps * self._unit * (value.abs() + error) + absolute * self._unit
        return Near(value, error + own + self._least)

    def with_error(self, a: Near, terms: Any, k: int) -> Near:
        """With the rounding of a sum of k terms added whose absolute values have the sum `terms`."""
        return Near(a.value, a.error + self._sum(k) * terms)

    def _sum(self, k: int) -> float:
        return min(float(k), CANCELLING * math.sqrt(k)) * self._unit

    def _done(self, value: Any, error: Any) -> Near:
        return _rounded(value, error, Format(self._unit, self._least))


def _least(a: Near) -> Any:
    """How close to 0 it may be; where that is 0, no bound is left: what divides by it becomes infinite."""
    return (a.value.abs() - a.error).clamp_min(0.0)


def _rounded(value: Any, error: Any, format_: Format) -> Near:
    return Near(value, error + format_.unit * (value.abs() + error) + format_.least)


def spacing(torch: Any, values: Any, kind: str) -> Any:
    """The distance between the numbers of a format around each of the values (fp64): an ulp, where they lie close to a power
    of two the larger one.
    """
    unit, least = FORMATS[kind][0] / (2 if kind == "fp64" else 1), FORMATS[kind][1]
    above = values * (1 + 8 * unit)
    power = (above.contiguous().view(torch.int64) & 0x7FF0000000000000).view(torch.float64)  # the exponent alone
    return (power * (2 * unit)).clamp_min(2 * least)


class Comparison:
    """Several results of one check, each element held against its own bound; the worst is what the check tells, or the first that
    is wrong: what comes after it may be computed from it, and so may its reference.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._worst: Tuple[float, float, float, str] = (-1.0, 0.0, 0.0, "")
        self._compared = 0

    def near(self, name: str, result: Any, reference: Near) -> None:
        """Every element of the result is no farther from the reference than its bound."""
        self.within(name, result, reference.value, reference.error)

    def within(self, name: str, result: Any, reference: Any, bound: Any) -> None:
        bench = self._bench
        bench.synchronize()
        there = result.detach().cpu().double()
        if there.shape != reference.shape:
            raise Wrong("{} has the shape {} and not {}".format(name, tuple(there.shape), tuple(reference.shape)))
        self._compared += there.numel()
        if there.numel():
            self._look(name, (there - reference).abs() / bound.clamp_min(1e-300), bound)
        bench.tick()

    def _look(self, name: str, ratios: Any, bound: Any) -> None:
        allowed = float(bound.max())  # both hand a NaN on
        worst = float(ratios.max())
        if self._worst[0] > 1 or (worst <= self._worst[0] and allowed < math.inf):
            return
        if not allowed < math.inf:
            raise Wrong("{}: what it is computed from is so far from what it should be that no bound is left".format(name))
        if 0 < worst < math.inf:
            place = int(ratios.argmax())
            if not 0 <= place < ratios.numel() or float(ratios.flatten()[place]) != worst:
                raise Wrong("{}: the CPU finds another greatest error when it looks again".format(name))
            allowed = float(bound.expand_as(ratios).flatten()[place])
        self._worst = (math.inf if math.isnan(worst) else worst, worst * allowed, allowed, name)

    def exact(self, name: str, result: Any, expected: Any) -> None:
        """Every element is the expected one, bit by bit; `expected` is on the CPU."""
        self._bench.synchronize()
        try:
            self._compared += same(self._bench, result.detach(), self._bench.to_device(expected))
        except Wrong as wrong:
            raise Wrong("{}, {}".format(name, wrong)) from None

    def measured(self, notes: Optional[Dict[str, Any]] = None) -> Measured:
        ratio, error, allowed, name = self._worst
        said = dict(notes or {})
        if ratio > 0:
            said["closest_to_its_bound"] = name
        return Measured(error, allowed, compared=self._compared, notes=said or None)
