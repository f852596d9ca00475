"""The tables of Python's profiler and of torch's: which function or operator took which share of the time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex


class ProfiledFunction(Struct, frozen=True):
    """A function of cProfile's table: `seconds` are its own, without what it calls."""

    calls: int
    seconds: float
    function: str


class ProfiledOperator(Struct, frozen=True):
    """An operator of torch's table, by the time that is its own: on the processor and, where that was measured, on the GPU."""

    name: str
    cpu: float
    gpu: float | None


class Profile(Struct, frozen=True):
    """What `python -m torch.utils.bottleneck`, `cProfile` and `torch.profiler` print; a part that is missing is empty. `seconds` is
    cProfile's total, `cpu` and `gpu` the totals that torch names.
    """

    seconds: float | None
    rows: tuple[ProfiledFunction, ...]
    operators: tuple[ProfiledOperator, ...]
    cpu: float | None = None
    gpu: float | None = None


_TOTAL = lazy_regex(r"^\s*\d+ function calls(?: \(\d+ primitive calls\))? in (?P<seconds>\d+\.\d+) (?:CPU )?seconds")
_ROW = lazy_regex(r"^\s*(?P<calls>\d+)(?:/\d+)?\s+(?P<own>\d+\.\d+)\s+\d+\.\d+\s+\d+\.\d+\s+\d+\.\d+\s+(?P<function>\S.*)$")
_HEAD = lazy_regex(r"^\s*Name\s{2,}.*Self CPU\b.*$")
_TIME = lazy_regex(r"^(?P<number>\d+(?:\.\d+)?)(?P<unit>us|ms|s)$")
_SUM = lazy_regex(r"^Self (?P<kind>CPU|CUDA) time total: (?P<time>\d+(?:\.\d+)?(?:us|ms|s))\b")
_COLUMNS = lazy_regex(r"\s{2,}")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_MOST = 2000  # lines of tables
# What happens once when a program starts, or is none of its work: CUDA's first call, imports, a pause that the program asks for.
_START = lazy_regex(
    r"cudaProfilerStart|_cuda_init|cudart|\{built-in method time\.sleep\}|<frozen |importlib|marshal\.loads|_imp\.|posix\.stat"
    r"|builtins\.exec|builtins\.__build_class__|'read' of '_io\.(?:BufferedReader|FileIO)'|tokenize\.py|sre_(?:compile|parse)"
    r"|typing\.py|inspect\.py|site-packages/(?:torch/_inductor|torch/_dynamo|sympy)/|_get_cuda_arch|cuda_?[gG]etDeviceCount"
)


def read_profile(lines: Iterable[str]) -> Profile | None:
    """The first profile in a text; None where there is none."""
    every = list(lines)[:_MOST]
    seconds = next((float(found["seconds"]) for line in every if (found := _TOTAL.match(line))), None)
    rows = tuple(
        ProfiledFunction(int(found["calls"]), float(found["own"]), found["function"].strip())
        for line in (every if seconds is not None else ())
        if (found := _ROW.match(line[:400]))
    )
    operators = tuple(_operators(every))
    sums = {found["kind"]: _seconds(found["time"]) for line in every if (found := _SUM.match(line.strip()))}
    if not (rows and seconds) and not operators:
        return None
    return Profile(seconds, rows, operators, sums.get("CPU"), sums.get("CUDA"))


def of_start(row: ProfiledFunction) -> bool:
    """Whether a row is a cost of starting, or a pause: no part of the work that is repeated."""
    return _START.search(row.function) is not None


def _operators(lines: list[str]) -> Iterator[ProfiledOperator]:
    """Of the last table: where there are two, that of CUDA comes second."""
    heads = [place for place, line in enumerate(lines) if _HEAD.match(line)]
    if not heads:
        return
    columns = _COLUMNS.split(lines[heads[-1]].strip())
    cpu = columns.index("Self CPU") if "Self CPU" in columns else -1
    gpu = next((columns.index(name) for name in ("Self CUDA", "Self Device") if name in columns), -1)
    if cpu < 0:
        return
    summed: dict[str, tuple[float, float]] = {}
    for line in lines[heads[-1] + 2 :]:
        cells = _COLUMNS.split(line.strip())
        if len(cells) != len(columns) or not cells[0].strip("-"):
            break
        own, there = _seconds(cells[cpu]), _seconds(cells[gpu]) if gpu >= 0 else 0.0
        before = summed.get(cells[0], (0.0, 0.0))
        summed[cells[0]] = before[0] + (own or 0.0), before[1] + (there or 0.0)
    yield from (ProfiledOperator(name, own, there if gpu >= 0 else None) for name, (own, there) in summed.items())


def _seconds(words: str) -> float | None:
    found = _TIME.match(words)
    return float(found["number"]) * _UNITS[found["unit"]] if found else None
