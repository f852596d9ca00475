"""The proof of the toolkits told: a line a check, and as a part of the JSON document."""

from __future__ import annotations

from collections.abc import Sequence

from gpuassist.model.codec import Json
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.verification import VERDICT_WORDS
from gpuassist.verify.toolkits import ToolkitCheck


def toolkit_line(check: ToolkitCheck) -> Text:
    """`nvcc 12.4 with g++ 12 for sm_89 on RTX 4090: passed`, and why where it did not."""
    gpu = check.gpu or check.device
    name = text("{name} on {gpu}", name=check.name, gpu=gpu) if gpu else check.name
    verdict = VERDICT_WORDS[check.verdict]
    if check.reason is None:
        return text("{name}: {verdict}", name=name, verdict=verdict)
    return text("{name}: {verdict}, {reason}", name=name, verdict=verdict, reason=check.reason)


def toolkits_document(checks: Sequence[ToolkitCheck], words: Words) -> list[Json]:
    """What stands as `toolkits` in what `verify --json` prints."""
    return [
        {
            "name": words(check.name),
            "verdict": check.verdict.value,
            "reason": words(check.reason) if check.reason is not None else None,
            "cause": check.cause.value if check.cause is not None else None,
            "device": check.device or None,
            "gpu": check.gpu or None,
            "nvcc": check.nvcc,
            "in_new_terminals": check.first,
            "command": list(check.command),
            "said": check.said,
            "seconds": round(check.seconds, 3),
        }
        for check in checks
    ]
