"""What to change first of a program that was profiled: the largest part of its time that need not be, start-up costs left out.

A GPU that computes is no loss; what is asked is what it does in the rest, and who makes it wait.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.finding import Finding
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.profile import GPU_KINDS, ProfileEntry, ProfileForm, ProfileGap, ProfileReading, ShareBasis, TimeKind
from gpuassist.model.text import Parameter

PROBLEM = "program-profile"

_WORTH = 0.2  # of the work: less is not what makes a program slow
_BUSY = 0.7  # with so much of the time in kernels they are what there is to shorten
_SHORT_KERNEL_SECONDS = 20e-6  # starting one takes the processor some 5 to 10 microseconds, torch's part included rather 20
_LEAST_HINT = 0.1
_MOST_WORDS = 120
_READS = frozenset({"aten::item", "aten::_local_scalar_dense", "aten::nonzero"})
_KERNELS_A_READ = 20  # with fewer between two reads the processor is never far ahead of the GPU
_HOST = (TimeKind.LAUNCHES, TimeKind.OPERATORS, TimeKind.PYTHON, TimeKind.REST)
_PLAIN_FLOAT = lazy_regex(r"sgemm|_f32f32_f32|simt|fp32_fp32|s\d+gemm_f32", re.IGNORECASE)
_LAYOUT = lazy_regex(r"nchwToNhwc|nhwcToNchw|nchw_to_nhwc", re.IGNORECASE)
_ELEMENTS = lazy_regex(r"elementwise|vectorized|reduce_kernel|unrolled|CatArray|multi_tensor_apply", re.IGNORECASE)
_ATTENTION = lazy_regex(r"softmax|bmm|flash_attn|scaled_dot_product", re.IGNORECASE)


_NO_OPERATORS = frozenset({TimeKind.START, TimeKind.PYTHON, TimeKind.REST})
_OF_FUNCTIONS = frozenset({
    ProfileForm.CPROFILE, ProfileForm.SPEEDSCOPE, ProfileForm.STACKS, ProfileForm.FLAME_GRAPH, ProfileForm.SCALENE,
    ProfileForm.LINES,
})  # fmt: skip


class Hint(str, Enum):
    """What the names behind a share tell beside it."""

    NONE = ""
    PAGEABLE = "pageable"
    READ_BACK = "read-back"
    PRECISION = "precision"
    LAYOUT = "layout"
    ELEMENTS = "elements"
    ATTENTION = "attention"
    ALLOCATION = "allocation"
    BACKWARD = "backward"
    UNSEEN = "unseen"


class FirstChange(Struct, frozen=True):
    """What to change first: `share` of the work goes to it, `entry` took most of that, `work` are the seconds without `start`."""

    kind: TimeKind
    share: float
    entry: ProfileEntry | None
    hint: Hint
    work: float
    start: float
    on_gpu: bool


def first_change(readings: Sequence[ProfileReading]) -> FirstChange | None:
    """By the best of what was read: moments, then the GPU's side beside the thread's, then a thread; None for an empty profile."""
    moments = next((one for one in readings if one.basis is ShareBasis.MOMENTS and one.seconds), None)
    if moments is not None:
        return _of_moments(moments)
    thread = next((one for one in readings if one.basis is ShareBasis.THREAD and one.shares), None)
    device = next((one for one in readings if one.basis is ShareBasis.DEVICE and one.seconds), None)
    if device is not None:
        return _of_sides(device, thread)
    return _of_thread(thread) if thread is not None else None


def _of_moments(told: ProfileReading) -> FirstChange:
    start = told.spent(TimeKind.START)
    work = (told.seconds or 0.0) - start
    on_gpu = any(told.spent(kind) for kind in GPU_KINDS)
    if not on_gpu:
        return _of_thread(told)
    losses = {
        TimeKind.DATA: told.spent(TimeKind.DATA),
        TimeKind.COPIES: told.spent(TimeKind.COPIES),
        TimeKind.COMMUNICATION: told.spent(TimeKind.COMMUNICATION),
        TimeKind.WAITS: told.spent(TimeKind.WAITS),
        TimeKind.LAUNCHES: told.spent(*_HOST),
    }
    kind = max(losses, key=lambda one: losses[one])
    busy = told.spent(TimeKind.KERNELS)
    if busy >= _BUSY * work or losses[kind] < _WORTH * work:
        return _made(told, TimeKind.KERNELS, busy, work=work, start=start, on_gpu=True)
    spent = losses[kind]
    if kind is TimeKind.LAUNCHES and _is_python(told):
        kind = TimeKind.PYTHON
    return _made(told, kind, spent, work=work, start=start, on_gpu=True)


def _is_python(told: ProfileReading) -> bool:
    """Whether the pauses of the GPU are the program's own code between operators, and not the starting of kernels."""
    return told.spent(TimeKind.PYTHON, TimeKind.REST) > told.spent(TimeKind.LAUNCHES, TimeKind.OPERATORS)


def _of_sides(device: ProfileReading, thread: ProfileReading | None) -> FirstChange:
    """Tables tell no moments: a GPU that worked for far less time than the thread took has waited for it."""
    busy = device.seconds or 0.0
    if thread is not None and thread.seconds and thread.form is ProfileForm.TORCH_TABLE and busy < _BUSY * thread.seconds:
        start = thread.spent(TimeKind.START)
        work = thread.seconds - start
        idle = work - busy
        losses = {TimeKind.DATA: thread.spent(TimeKind.DATA), TimeKind.LAUNCHES: thread.spent(*_HOST)}
        kind = most = max(losses, key=lambda one: losses[one])
        # A wait for the GPU is no longer than what it computes; what is more has another cause that the table does not show.
        if idle >= _WORTH * work and losses[kind] >= _WORTH * work:
            both = replace(thread, entries=(*thread.entries, *device.entries))
            if kind is TimeKind.LAUNCHES and ProfileGap.PART_OF_ROWS not in thread.gaps and _is_python(thread):
                kind = TimeKind.PYTHON
            return _made(both, kind, min(losses[most], idle), work=work, start=start, on_gpu=True)
    copies = device.spent(TimeKind.COPIES)
    talk = device.spent(TimeKind.COMMUNICATION)
    kind, spent = max(((TimeKind.COPIES, copies), (TimeKind.COMMUNICATION, talk)), key=lambda one: one[1])
    if spent < _WORTH * busy:
        kind, spent = TimeKind.KERNELS, device.spent(TimeKind.KERNELS)
    return _made(device, kind, spent, work=busy, start=0.0, on_gpu=True)


def _of_thread(told: ProfileReading) -> FirstChange:
    start = told.spent(TimeKind.START)
    whole = told.seconds if told.seconds else sum(one.seconds for one in told.shares)
    work = max(whole - start, 0.0)
    kinds = (TimeKind.DATA, TimeKind.WAITS, TimeKind.OPERATORS, TimeKind.PYTHON, TimeKind.LAUNCHES)
    spent = {kind: told.spent(kind) for kind in kinds}
    if told.basis is ShareBasis.MOMENTS:  # between operators runs the program's own code
        spent[TimeKind.PYTHON] += told.spent(TimeKind.REST)
    kind = max(kinds, key=lambda one: spent[one])
    if not spent[kind]:
        kind = TimeKind.REST
        spent[kind] = told.spent(kind)
    if told.form is ProfileForm.TORCH_TABLE and told.entries and told.entries[0].kind is TimeKind.DATA:
        kind = TimeKind.DATA  # of what a data set does itself, operators of torch stand on rows of their own
    return _made(told, kind, spent[kind], work=work, start=start, on_gpu=False)


def _made(told: ProfileReading, kind: TimeKind, spent: float, *, work: float, start: float, on_gpu: bool) -> FirstChange:
    entry = _entry(told, kind)
    return FirstChange(kind, spent / work if work > 0 else 0.0, entry, _hint(told, kind, entry), work, start, on_gpu)


def _entry(told: ProfileReading, kind: TimeKind) -> ProfileEntry | None:
    if kind is TimeKind.WAITS:  # of a call that waits the operator is the better name: it has a line
        found = next((one for one in told.entries if one.name in _READS), None)
        if found is not None:
            return found
    if kind is TimeKind.LAUNCHES:
        return told.first_of(TimeKind.OPERATORS) or told.first_of(TimeKind.LAUNCHES)
    return told.first_of(kind)


def _hint(told: ProfileReading, kind: TimeKind, entry: ProfileEntry | None) -> Hint:
    if kind is TimeKind.COPIES:
        return Hint.PAGEABLE if _part(told, kind, lazy_regex(r"Pageable")) >= _LEAST_HINT else Hint.NONE
    if kind is TimeKind.KERNELS:
        parts = {
            Hint.LAYOUT: _part(told, kind, _LAYOUT),
            Hint.PRECISION: _part(told, kind, _PLAIN_FLOAT),
            Hint.ATTENTION: _part(told, kind, _ATTENTION),
            Hint.ELEMENTS: _part(told, kind, _ELEMENTS),
        }
        best = max(parts, key=lambda one: parts[one])
        return best if parts[best] >= _LEAST_HINT else Hint.NONE
    if kind is TimeKind.WAITS and entry is not None and entry.name.startswith("aten::"):
        return Hint.READ_BACK
    if kind is TimeKind.PYTHON and told.spent(TimeKind.REST) > told.spent(TimeKind.PYTHON):
        return Hint.UNSEEN
    if kind is TimeKind.OPERATORS and entry is not None and "run_backward" in entry.name:
        return Hint.BACKWARD
    if kind is TimeKind.LAUNCHES:
        first = told.first_of(TimeKind.LAUNCHES)
        allocates = first is not None and first.name in {"cudaMalloc", "cudaFree", "cudaHostAlloc"}
        if first is not None and allocates and first.seconds >= _LEAST_HINT * told.spent(*_HOST):
            return Hint.ALLOCATION
        if _reads_back(told):
            return Hint.READ_BACK
    return Hint.NONE


def _reads_back(told: ProfileReading) -> bool:
    """Whether kernels are long enough to be started ahead of time, and reading results keeps the program from it."""
    kernels = [one for one in told.entries if one.kind is TimeKind.KERNELS]
    count = sum(one.calls for one in kernels)
    reads = max((one.calls for one in told.entries if one.name in _READS), default=0)
    return reads * _KERNELS_A_READ >= max(count, 1) and sum(one.seconds for one in kernels) > count * _SHORT_KERNEL_SECONDS


def _part(told: ProfileReading, kind: TimeKind, names: re.Pattern[str]) -> float:
    """How much of a kind's listed time has such a name."""
    of_kind = [one for one in told.entries if one.kind is kind]
    whole = sum(one.seconds for one in of_kind)
    return sum(one.seconds for one in of_kind if names.search(one.name)) / whole if whole else 0.0


# As a finding, whose words the catalogue has.


def profile_finding(readings: Sequence[ProfileReading]) -> Finding | None:
    """The same for the catalogue; None where nothing can be said."""
    told = profile_parameters(readings)
    return Finding(PROBLEM, tuple(told.items()), ()) if told else None


def profile_parameters(readings: Sequence[ProfileReading]) -> dict[str, Parameter]:
    """Empty where nothing can be said."""
    change = first_change(readings)
    if change is None:
        return {}
    thread = next((one for one in readings if one.form in _OF_FUNCTIONS), None)
    basis = next((one.basis for one in readings if one.basis is ShareBasis.MOMENTS), None)
    told: dict[str, Parameter] = {
        "change": change.kind.value,
        "change_share": _percent(change.share, 1.0),
        "hint": change.hint.value,
        "moments": "yes" if basis is not None else "",
        "gpu": "yes" if change.on_gpu else "",
        "entry": _named(change.entry) if change.entry is not None else "",
        "place": change.entry.place if change.entry is not None else "",
        "start": _of_seconds(change.start) if change.start >= 0.05 else "",
    }
    return {**told, **_of_function(thread), **_of_operators(readings)}


def _of_function(thread: ProfileReading | None) -> dict[str, Parameter]:
    """Python's own profiler: the function by itself, not its kind, since the user asks which one."""
    if thread is None:
        return {}
    whole = thread.seconds or sum(one.seconds for one in thread.shares)
    start = thread.spent(TimeKind.START)
    rest = whole - start
    first = max((one for one in thread.entries if one.kind is not TimeKind.START), key=lambda one: one.seconds, default=None)
    named = first is not None and rest > 0
    return {
        "seconds": _of_seconds(whole) if thread.form is ProfileForm.CPROFILE else "",
        "start": _of_seconds(start) if start >= 0.05 and thread.seconds else "",
        "rest": _of_seconds(rest),
        "first": _named(first) if first is not None and named else "",
        "place": first.place[-_MOST_WORDS:] if first is not None and named else "",
        "share": _percent(first.seconds, rest) if first is not None and named else "",
        "kind": _function_word(first) if first is not None else "",
    }


def _function_word(first: ProfileEntry) -> str:
    if "run_backward" in first.name:
        return "backward"
    return first.kind.value if first.kind in {TimeKind.WAITS, TimeKind.DATA} else ""


def _of_operators(readings: Sequence[ProfileReading]) -> dict[str, Parameter]:
    """Of torch's table; the table may show one operator several times, so a share beyond the whole is none."""
    tables = [one for one in readings if one.form is ProfileForm.TORCH_TABLE]
    table = next((one for one in tables if one.basis is ShareBasis.DEVICE), None) or next(iter(tables), None)
    if table is None or not table.entries:
        return {}
    gpu = "yes" if table.basis is ShareBasis.DEVICE else ""
    operators = [one for one in table.entries if one.kind not in _NO_OPERATORS and ".py(" not in one.name and one.name[:1] != "<"]
    if not operators:
        return {"gpu": gpu}
    first = max(operators, key=lambda one: one.seconds)
    whole = table.seconds or 0.0
    return {
        "operator": _named(first),
        "operator_share": _percent(first.seconds, whole) if whole and first.seconds <= whole else "",
        "gpu": gpu,
    }


def _of_seconds(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds >= 0.1 else f"{seconds:.3f}"


def _percent(part: float, whole: float) -> str:
    return f"{round(100 * part / whole)}" if whole else ""


def _named(one: ProfileEntry) -> str:
    return one.name if len(one.name) <= _MOST_WORDS else one.name[-_MOST_WORDS:]
