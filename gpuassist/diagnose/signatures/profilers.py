"""Output of profilers, read for which share is what; and profilers that are gone, or do not serve the GPU any more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, sign
from gpuassist.formats.profile import Profile, ProfiledFunction, ProfiledOperator, of_start, read_profile
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.text import text

_DATA = lazy_regex(
    r"dataset|dataloader|__getitem__|collate|_next_data|fetch|PIL|imread|decode|queue|'acquire' of '_thread|select\.poll|_io\."
    r"|numpy|pandas",
    re.IGNORECASE,
)
_WAITS = lazy_regex(
    r"'(?:item|cpu|tolist|numpy|to|nonzero|cuda)' of '?torch|synchronize|_local_scalar_dense|'is_nonzero'", re.IGNORECASE
)
_MOST_WORDS = 120


def _profile(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """What the program spends its time on once it runs; what it costs to start is told apart and never blamed."""
    told = read_profile(setting.paste.words.split("\n"))
    if told is None:
        return
    work = [row for row in told.rows if not of_start(row)]
    start = sum(row.seconds for row in told.rows if of_start(row))
    rest = (told.seconds or 0.0) - start
    first = max(work, key=lambda row: row.seconds, default=None)
    operator = _busiest(told)
    yield sign(
        "program-profile",
        Weight.CONSEQUENCE,
        seconds=f"{told.seconds:.1f}" if told.seconds else "",
        start=f"{start:.1f}" if start >= 0.05 and told.seconds else "",
        rest=f"{rest:.1f}" if told.seconds else "",
        first=_named(first) if first is not None and rest > 0 else "",
        share=_percent(first.seconds, rest) if first is not None and rest > 0 else "",
        kind=_kind(first.function) if first is not None else "",
        operator=operator.name if operator is not None else "",
        operator_share=_operator_share(told, operator) if operator is not None else "",
        gpu="yes" if operator is not None and operator.gpu is not None else "",
    )


def _busiest(told: Profile) -> ProfiledOperator | None:
    return max(told.operators, key=lambda one: one.cpu if one.gpu is None else one.gpu, default=None)


def _operator_share(told: Profile, operator: ProfiledOperator) -> str:
    """Of what torch says that all took; the table may show one operator several times."""
    total = told.cpu if operator.gpu is None else told.gpu
    own = operator.cpu if operator.gpu is None else operator.gpu
    return _percent(own, total) if total and own <= total else ""


def _percent(part: float, whole: float) -> str:
    return f"{round(100 * part / whole)}"


def _named(row: ProfiledFunction) -> str:
    return row.function if len(row.function) <= _MOST_WORDS else row.function[-_MOST_WORDS:]


def _kind(function: str) -> str:
    if _WAITS.search(function):
        return "waits"
    return "data" if _DATA.search(function) else "backward" if "run_backward" in function else ""


def _gone(_: re.Match[str], __: SignatureInput) -> Iterator[Sign]:
    yield sign(
        "not-a-gpu-problem",
        Weight.CAUSE,
        cause_id="profiler",
        cause=text("torch.utils.bottleneck was removed with torch 2.10"),
    )


def _nvprof(_: re.Match[str], __: SignatureInput) -> Iterator[Sign]:
    yield sign(
        "not-a-gpu-problem",
        Weight.CAUSE,
        cause_id="nvprof",
        cause=text("nvprof does not serve GPUs of compute capability 8.0 and newer"),
    )


SIGNATURES = (
    Signature(
        ("function calls", "self cpu"),
        r"\d{1,12} function calls (?:\(\d{1,12} primitive calls\) )?in \d{1,9}\.\d{1,6} (?:CPU )?seconds|Name {2,80}Self CPU",
        _profile,
        window=200,
    ),
    Signature(
        ("no module named torch.utils.bottleneck", "no module named 'torch.utils.bottleneck"),
        r"No module named '?torch\.utils\.bottleneck",
        _gone,
    ),
    Signature(
        ("nvprof is not supported", "nvvp is not supported"),
        r"nvprof is not supported on devices with compute capability [\d.]{3,4}",
        _nvprof,
    ),
)
