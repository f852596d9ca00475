"""The report of a traced step, which a child in the user's interpreter wrote: any number in it may be any."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from gpuassist.model.estimate import ModelShape, ShapeOrigin, TracedFigures
from gpuassist.model.json_reader import NotJsonError, read_json

LARGEST_BYTES = 64 << 10
_MOST = 1 << 50
_NUMBERS = (
    "batch",
    "parameters",
    "parameter_bytes",
    "trainable_bytes",
    "buffer_bytes",
    "kept_bytes",
    "fixed_bytes",
    "passing_bytes",
    "passing_fixed_bytes",
)


class TraceTrouble(Struct, frozen=True):
    """Why no step was counted: a word of ours, empty where there is no report, and what the other side says."""

    code: str
    detail: str


def read_traced_step(content: bytes) -> ModelShape | TraceTrouble:
    """The model that was traced, or what kept it from that."""
    try:
        report = read_json(content[-LARGEST_BYTES:].strip())
    except NotJsonError:
        return TraceTrouble("", "")
    if not isinstance(report, dict):
        return TraceTrouble("", "")
    if "error" in report:
        return TraceTrouble(_word(report.get("error"), 40), _word(report.get("detail"), 500))
    numbers = {name: report.get(name) for name in _NUMBERS}
    if any(isinstance(one, bool) or not isinstance(one, int) or not 0 <= one <= _MOST for one in numbers.values()):
        return TraceTrouble("", "")
    return _shape(report, {name: int(one) for name, one in numbers.items() if one is not None})


def _shape(report: dict[str, Any], numbers: dict[str, int]) -> ModelShape | TraceTrouble:
    if not numbers["parameters"] or not numbers["batch"] or numbers["fixed_bytes"] > numbers["kept_bytes"]:
        return TraceTrouble("", "")
    traced = TracedFigures(
        batch=numbers["batch"],
        kept_bytes=numbers["kept_bytes"],
        fixed_bytes=numbers["fixed_bytes"],
        passing_bytes=numbers["passing_bytes"],
        passing_fixed_bytes=min(numbers["passing_fixed_bytes"], numbers["passing_bytes"]),
        parameter_bytes=numbers["parameter_bytes"],
        trainable_bytes=numbers["trainable_bytes"],
        buffer_bytes=numbers["buffer_bytes"],
        torch=_word(report.get("torch"), 60),
        device=_word(report.get("device"), 20),
    )
    name = _word(report.get("name"), 100) or "model"
    return ModelShape(name, "", ShapeOrigin.TRACED, numbers["parameters"], writes=False, traced=traced)


def _word(value: object, most: int) -> str:
    return value[:most] if isinstance(value, str) else ""
