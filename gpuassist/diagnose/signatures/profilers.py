"""Output of profilers, read for which share is what; and profilers that are gone, or do not serve the GPU any more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.profiles import PROBLEM, profile_parameters
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, sign
from gpuassist.formats.profiles.tables import read_tables
from gpuassist.model.paste import Weight
from gpuassist.model.text import text


def _profile(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """What the program spends its time on once it runs; what it costs to start is told apart and never blamed."""
    told = profile_parameters(read_tables(setting.paste.words))
    if told:
        yield sign(PROBLEM, Weight.STATE, **told)  # kernels have run: a machine without a GPU is not its cause


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
        ("total time",),
        r"Time ?\(%\)[ \t|,\"]{1,16}Total Time(?: \([nuμµm]?s(?:ec)?\))?[ \t|,\"]{1,16}"
        r"(?:Num Calls|Calls|Instances|Count|Operations)\b"
        r"|\"Total Time \([nuμµm]?s(?:ec)?\)\": ?\d",
        _profile,
        window=200,
    ),
    Signature(
        ("% time", "│native"),
        r"Line # {1,20}Hits {1,20}Time {1,20}Per Hit {1,20}% Time|│Python {1,9}│native {1,9}│",
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
