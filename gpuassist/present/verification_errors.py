"""What went wrong in a verification as a text to explain: what torch and CUDA said, in their own words."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.model.verdict import Verdict, Verification
from gpuassist.model.words import ENGLISH

_WRONG = frozenset({Verdict.FAIL, Verdict.HUNG})


def errors_to_explain(result: Verification) -> str:
    """A line an error, each once, then what torch printed; empty where nothing failed."""
    if result.verdict not in _WRONG and not result.no_accelerator:
        return ""
    lines = dict.fromkeys(line for line in _errors(result) if line)
    return "\n".join([*lines, result.output.strip()]).strip()


def _errors(result: Verification) -> Iterator[str]:
    yield ENGLISH(result.error) if result.error is not None else ""
    yield result.no_accelerator
    for device in result.devices:
        yield ENGLISH(device.error) if device.error is not None and device.verdict in _WRONG else ""
        for check in device.checks:
            if check.verdict in _WRONG and check.error is not None:
                yield ENGLISH(check.error)
