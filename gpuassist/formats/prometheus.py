"""What Prometheus answers to `/api/v1/query` and `/api/v1/query_range`, and in words what is no such answer.

An answer is a stranger's: it is as long as whoever fetched it allows, and nothing in it is believed but its form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Union

import msgspec
from msgspec import Struct, field

from gpuassist.model.text import Text, text, verbatim

_YEAR_9999 = 253_000_000_000.0  # in seconds since 1970: later ones cannot be written as a date
_WORDS_AT_MOST = 300  # of what a server says of its own trouble


class PrometheusError(ValueError):
    """A server did not answer what was asked, for this reason."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason.message)
        self.reason = reason


class LabelledSeries(Struct, frozen=True):
    """The name of a metric and its labels, and its values over time: seconds since the epoch, and the figure."""

    name: str
    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]


class _Row(Struct):
    metric: dict[str, str] = field(default_factory=dict)
    value: Union[tuple[float, str], None] = None
    values: list[tuple[float, str]] = field(default_factory=list)


class _Data(Struct):
    result_type: str = field(name="resultType")
    result: list[_Row]


class _Answer(Struct):
    status: str
    data: Union[_Data, None] = None
    error: str = ""


_ANSWER = msgspec.json.Decoder(_Answer)


def read_answer(content: bytes) -> tuple[LabelledSeries, ...]:
    """The series of an answer; raises `PrometheusError`. A figure that is no number (NaN, infinite), or of no time, is left out."""
    try:
        answer = _ANSWER.decode(content)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise PrometheusError(_what_it_is(content)) from None
    if answer.status != "success" or answer.data is None:
        raise PrometheusError(_refusal(answer.error))
    return tuple(map(_series, answer.data.result))


def refusal_in(content: bytes) -> Text | None:
    """Why the server refuses, in its own words; none where it says nothing that is Prometheus's."""
    try:
        answer = _ANSWER.decode(content)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
    return _refusal(answer.error) if answer.status == "error" else None


def is_page(content: bytes) -> bool:
    """Whether it is a page for people."""
    return content.lstrip()[:1] == b"<"


def quoted(words: str) -> str:
    """A string as PromQL writes it."""
    return msgspec.json.encode(words).decode()


def pattern_of(words: str) -> str:
    """A regular expression of Prometheus's that matches these words alone."""
    return "".join(f"\\{one}" if one in "\\.+*?()|[]{}^$" else one for one in words)


def _series(row: _Row) -> LabelledSeries:
    told = [row.value] if row.value is not None else row.values
    points = ((time, number) for time, words in told if 0.0 <= time < _YEAR_9999 and (number := _number(words)) is not None)
    return LabelledSeries(row.metric.get("__name__", ""), row.metric, tuple(points))


def _number(words: str) -> float | None:
    try:
        number = float(words)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _refusal(words: str) -> Text:
    return text("Prometheus refuses the question: {words}", words=verbatim(words[:_WORDS_AT_MOST]))


def _what_it_is(content: bytes) -> Text:
    if is_page(content):
        if b"grafana" in content[: 1 << 16].lower():
            return text("this is Grafana, and not Prometheus: name the server that Grafana asks")
        return text("it answers with a web page, and not as Prometheus does: is the address right, and a path behind it missing?")
    return text("what it answers is not what Prometheus answers")
