"""What every check works with: torch, the device, how large and how often, and how a result is held against its reference.

Bounds are derived, not tuned. `u` is the unit roundoff of a format. A sum of k products that is rounded at every step differs
from the exact one by at most k*u*sum|a||b|; with unbiased rounding the errors cancel, and it exceeds 8*sqrt(k)*u*sum|a||b| with
probability below 2k*exp(-32) (Higham and Mary 2019, A new approach to probabilistic rounding error analysis). sum|a||b| is at most
the product of the two Euclidean norms. Inputs are rounded to the format first: the fp64 reference has the very same inputs.

Every element of every repetition is looked at. Where a figure of speed needs many repetitions of something large, its inputs are
whole numbers for which every partial sum is exact in the format, so that each result must be the expected one bit by bit.
"""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

SEED = 20261121
U_FP64, U_FP32, U_FP16, U_BF16 = 2.0**-53, 2.0**-24, 2.0**-11, 2.0**-8
# Tensor cores cut instead of rounding: an error of a whole last place, and one that does not cancel.
U_TENSOR_CORE, U_TF32_INPUT = 2.0**-23, 2.0**-10
CANCELLING = 8.0
DTYPES = {
    "fp64": "float64",
    "fp32": "float32",
    "tf32": "float32",
    "fp16": "float16",
    "bf16": "bfloat16",
    "complex64": "complex64",
    "complex128": "complex128",
    "int8": "int8",
    "int32": "int32",
    "int64": "int64",
    "fp8": "float8_e4m3fn",
    "fp8-e5m2": "float8_e5m2",
}

QUICK, FULL = "quick", "full"


class Bench(NamedTuple):
    """`size` is the side of a large square matrix, `repeats` how often what is timed is repeated; `tick` says that the check
    goes on (a check that does not tick for long is taken to hang), `level` is `quick` or `full`, `scratch` a directory of this run,
    `endure` for how many seconds a check goes on that could go on for ever.
    """

    torch: Any
    device: Any
    size: int
    repeats: int
    level: str = QUICK
    tick: Callable[[], None] = lambda: None
    scratch: str = ""
    endure: float = 60.0

    @property
    def on_gpu(self) -> bool:
        return str(self.device) != "cpu"

    def dtype(self, kind: str) -> Any:
        """torch's dtype of a format."""
        return getattr(self.torch, DTYPES.get(kind, kind))

    def generator(self, salt: int = 0) -> Any:
        """Random numbers of the CPU, the same in every run."""
        return self.torch.Generator().manual_seed(SEED + salt)

    def uniform(self, *shape: int) -> Any:
        """fp32 on the CPU, from -1 to 1."""
        return self.torch.rand(*shape, generator=self.generator(sum(shape))) * 2 - 1

    def whole(self, low: int, high: int, *shape: int) -> Any:
        """Whole numbers from `low` to `high`, as int64 on the CPU."""
        return self.torch.randint(low, high + 1, shape, generator=self.generator(sum(shape)))

    def to_device(self, values: Any) -> Any:
        return values.to(self.device)

    def synchronize(self) -> None:
        """Waits for the device: a kernel that failed says so only here."""
        if self.on_gpu:
            self.torch.cuda.synchronize(self.device)
        self.tick()

    def capability(self) -> Tuple[int, int]:
        """The compute capability of the GPU; (0, 0) of the CPU."""
        if not self.on_gpu:
            return (0, 0)
        major, minor = self.torch.cuda.get_device_capability(self.device)
        return (int(major), int(minor))


class Measured(NamedTuple):
    """How far a result is from its reference, how far it may be, how fast it came, and what else is worth a line.

    `compared` counts the elements that were looked at, over all repetitions.
    """

    error: float
    tolerance: float
    rate: Optional[float] = None
    unit: str = ""
    compared: int = 0
    notes: Optional[Dict[str, Any]] = None  # names of the field's own terms, with numbers or short words


class Check(NamedTuple):
    """A check: its name, the format it computes in, what runs it, from which level on, and whether a CPU has it too.

    `optional`: a GPU or its driver may be without it, and says so with CUDA's error 801; of any other check that is a failure.
    """

    name: str
    dtype: str
    run: Callable[[Bench, str], Measured]
    level: str = QUICK
    on_cpu: bool = True
    optional: bool = False


class Skipped(Exception):  # noqa: N818 -- not an error: this device cannot be asked that
    """Why a check does not apply to a device. `cause`: `format` (not supported here), `absent` (a package is not installed),
    `memory` or `busy` (others hold it).
    """

    def __init__(self, reason: str, cause: str = "format") -> None:
        super().__init__(reason)
        self.cause = cause


class Wrong(Exception):  # noqa: N818 -- not an error: it ran, and what it gave is not right
    """A result that is wrong in a way that no distance tells: which element, in which repetition."""


class Runs(NamedTuple):
    """The first result of several runs of the same, how long one took, and how many elements were looked at."""

    first: Any
    seconds: float
    compared: int


def distance(bench: Bench, result: Any, reference: Any) -> float:
    """The greatest difference of any element, in fp64 on the CPU; not finite where an element is not."""
    bench.synchronize()
    wide = bench.torch.complex128 if result.is_complex() else bench.torch.float64
    there = result.detach().cpu().to(wide)
    if there.shape != reference.shape:
        raise Wrong("the result has the shape {} and not {}".format(tuple(there.shape), tuple(reference.shape)))
    bench.tick()
    # max() of torch hands a NaN on.
    return float((there - reference.to(wide)).abs().max()) if there.numel() else 0.0


def repeated(bench: Bench, action: Callable[[], Any], expected: Any = None) -> Runs:
    """Runs `action` once, so that all it loads is loaded, then `bench.repeats` times by the clock.

    Every element of every result is held against `expected`, or the first result where none is given, on the device and bit by
    bit; that time is not counted. A difference raises `Wrong`. Give `expected` (on the device) wherever the exact result is
    known: without it the first result must still be compared with a reference, by `distance`. Each result is a new tensor.
    """
    first, seconds = action(), 0.0
    bench.synchronize()
    wanted = first if expected is None else expected
    compared = 0 if expected is None else _same(bench, first, wanted, 0)
    for number in range(1, bench.repeats + 1):
        bench.synchronize()
        began = time.perf_counter()
        result = action()
        bench.synchronize()
        seconds += time.perf_counter() - began
        compared += _same(bench, result, wanted, number)
        spoil(bench.torch, result)
    return Runs(first, max(seconds / max(bench.repeats, 1), 1e-9), compared)


def spoil(torch: Any, result: Any) -> None:
    """Makes each element wrong: its memory is given out again, and a run that wrote nothing there must not pass for a right one.

    Raises `Wrong` where an element is not what was just written there.
    """
    there, numbers = result.detach(), result.is_floating_point() or result.is_complex()
    least = math.nan if numbers else torch.iinfo(result.dtype).min
    there.fill_(least)
    if not bool((there != there if numbers else there == least).all()):
        raise Wrong("memory that was filled with {} holds something else".format(least))


def same(bench: Bench, result: Any, expected: Any, number: int = 0) -> int:
    """How many elements were looked at; raises `Wrong` unless each is the expected one, bit by bit; `number` is the run's."""
    return _same(bench, result, expected, number)


def _same(bench: Bench, result: Any, expected: Any, number: int) -> int:
    if tuple(result.shape) != tuple(expected.shape):
        raise Wrong("the result has the shape {} and not {}".format(tuple(result.shape), tuple(expected.shape)))
    alike = bool(bench.torch.equal(result, expected))
    bench.tick()
    if not alike:
        raise Wrong(_difference(bench, result, expected, number))
    return int(result.numel())


def _difference(bench: Bench, result: Any, expected: Any, number: int) -> str:
    """Where two tensors differ, looked up on the CPU."""
    here, wanted = result.detach().cpu().flatten(), expected.detach().cpu().flatten()
    places: List[int] = (~(here == wanted)).nonzero().flatten()[:1].tolist()
    run = "in run {}".format(number + 1)
    if not places:
        return "{}: comparing on the device found a difference, comparing on the CPU none".format(run)
    count = int((~(here == wanted)).sum())
    place = places[0]
    where: List[int] = []
    for side in reversed(tuple(expected.shape)):
        where.insert(0, place % side)
        place //= side
    found = "{}: {} of {} elements differ, the first at {}: {} and not {}"
    index = "[{}]".format(", ".join(str(one) for one in where))
    return found.format(run, count, here.numel(), index, here[places[0]].item(), wanted[places[0]].item())


@contextmanager
def precision(torch: Any, *, tf32: bool) -> Iterator[None]:
    """Sets how torch may shorten products for the time of a check, and puts back what was set."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    wanted = [(matmul, "allow_tf32", tf32), (cudnn, "allow_tf32", tf32)]
    reduced = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction")
    wanted += [(matmul, name, False) for name in reduced if _has(matmul, name)]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in wanted]
    try:
        for owner, name, value in wanted:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def _has(owner: Any, name: str) -> bool:
    try:
        return hasattr(owner, name)
    except AssertionError:  # what torch 1.13 says of a name it does not know
        return False


def sum_bound(k: int, unit: float, norms: float) -> float:
    """How far a sum of k products may be from the exact one; `norms` is the product of the two Euclidean norms."""
    return CANCELLING * math.sqrt(k) * unit * norms


def tera(operations: float, seconds: float) -> float:
    return operations / seconds / 1e12


def require(bench: Bench, kind: str) -> None:
    """Raises `Skipped` where the device has no arithmetic in that format."""
    if kind not in ("bf16", "tf32") or getattr(bench.torch.version, "hip", None):
        return
    if not bench.on_gpu and kind == "tf32":
        raise Skipped("TF32 is a format of GPUs")
    if bench.on_gpu and bench.capability()[0] < 8:
        raise Skipped("a GPU of compute capability below 8.0 has no {} arithmetic".format(kind))


def implemented(bench: Bench, kind: str, action: Callable[[], Any]) -> Any:
    """What `action` gives; raises `Skipped` where torch says that its CPU has no such operation in that format."""
    try:
        return action()
    except RuntimeError as error:
        if bench.on_gpu or "not implemented for" not in str(error):
            raise
        raise Skipped("torch {} has no such operation in {} on a CPU".format(bench.torch.__version__, kind)) from error


def release(torch: Any) -> Tuple[int, int]:
    """The first two numbers of torch's release."""
    major, minor = str(torch.__version__).split(".")[:2]
    return int(major), int(minor)
