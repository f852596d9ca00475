"""What a server answers, and what is no answer of Prometheus's."""

from __future__ import annotations

import json
import random

import pytest

from gpuassist.formats import dcgm
from gpuassist.formats.prometheus import PrometheusError, pattern_of, quoted, read_answer, refusal_in
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from tests.rows import for_each

VECTOR = {
    "status": "success",
    "data": {
        "resultType": "vector",
        "result": [{"metric": {"__name__": "DCGM_FI_DEV_FB_USED", "gpu": "0"}, "value": [1795485591.366, "24"]}],
    },
}


def refused(content: bytes) -> str:
    with pytest.raises(PrometheusError) as caught:
        read_answer(content)
    return ENGLISH(caught.value.reason)


def test_a_vector_and_a_matrix_are_series() -> None:
    (row,) = read_answer(json.dumps(VECTOR).encode())
    assert (row.name, row.labels["gpu"], row.points) == ("DCGM_FI_DEV_FB_USED", "0", ((1795485591.366, 24.0),))
    values = [[-1, "1"], [1e300, "1"], [1, "1"], [2, "NaN"], [3, "+Inf"], [4, "much"], [5, "2.5e3"]]
    matrix = {"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {}, "values": values}]}}
    assert read_answer(json.dumps(matrix).encode())[0].points == ((1.0, 1.0), (5.0, 2500.0))


@for_each(
    "content, words",
    (
        (b"<html><title>Grafana</title>", "this is Grafana"),
        (b"\n <!doctype html><p>Log in", "a web page"),
        (b"", "not what Prometheus answers"),
        (b"# HELP x\nx 1\n", "not what Prometheus answers"),
        (b'{"status": "success"}', "refuses"),
        (b'{"status": "error", "error": "parse error"}', "parse error"),
        (b'{"status": "success", "data": {"resultType": "scalar", "result": [1, "2"]}}', "not what Prometheus answers"),
        (b'{"status": "success", "data": {"result": ' + b"[" * 100_000, "not what Prometheus answers"),
        (b'{"status": "\xff"}', "not what Prometheus answers"),
        (json.dumps(VECTOR).encode()[:-3], "not what Prometheus answers"),
    ),
)
def test_what_is_no_answer_is_told_as_what_it_is(content: bytes, words: str) -> None:
    assert words in refused(content)


def test_a_refusal_is_told_in_the_servers_words_and_not_at_length() -> None:
    told = refusal_in(json.dumps({"status": "error", "error": "x" * 10_000}).encode())
    assert told is not None
    assert len(ENGLISH(told)) < 400
    assert refusal_in(b"<html>") is None


def test_nothing_that_is_mutated_does_more_than_be_refused() -> None:
    chance, whole = random.Random(24), bytearray(json.dumps(VECTOR).encode())
    for _ in range(2000):
        content = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        try:
            read_answer(bytes(content[: chance.randint(1, len(content))]))
        except PrometheusError:
            pass


def test_names_are_matched_as_they_are() -> None:
    assert pattern_of("node-1.a") == r"node-1\.a"
    assert quoted(pattern_of('a"b\\.')) == r'"a\"b\\\\\\."'


@for_each(
    "figure, blank",
    (
        (float(9223372036854775794), True),
        (9.223372036854776e18, True),
        (140737488355330.0, True),
        (2147483634.0, True),
        (0.0, False),
        (81559.0, False),
    ),
)
def test_what_stands_for_unknown_is_unknown(figure: float, *, blank: bool) -> None:
    assert dcgm.is_blank(figure) is blank
    assert isinstance(dcgm.mebibytes({dcgm.FB_USED: figure}, dcgm.FB_USED), Unknown) is blank


def test_figures_have_our_units() -> None:
    told = {dcgm.FB_USED: 1024.5, dcgm.GPU_UTIL: 99.6, dcgm.TENSOR_ACTIVE: 0.25, dcgm.POWER_USAGE: -1.0, dcgm.GPU_TEMP: 44.0}
    assert dcgm.mebibytes(told, dcgm.FB_USED) == Known((1 << 30) + (1 << 19), dcgm.FB_USED)
    assert dcgm.percent(told, dcgm.GPU_UTIL) == Known(100, dcgm.GPU_UTIL)
    assert dcgm.ratio(told, dcgm.TENSOR_ACTIVE) == Known(25.0, dcgm.TENSOR_ACTIVE)
    assert isinstance(dcgm.watts(told, dcgm.POWER_USAGE), Unknown)  # it cannot be
    assert isinstance(dcgm.megahertz(told, dcgm.SM_CLOCK), Unknown)
    used, free = Known(3, ""), Known(4, "")
    assert dcgm.total(used, free, Known(5, "")) == Known(12, dcgm.total(used, free, Known(5, "")).source)  # type: ignore[union-attr]
    assert isinstance(dcgm.total(used, Unknown(text("nothing")), Known(5, "")), Unknown)


@for_each(
    "labels, host, workload",
    (
        ({"Hostname": "n1", "instance": "10.0.0.1:9400"}, "n1", ""),
        ({"instance": "10.0.0.1:9400"}, "10.0.0.1", ""),
        ({"instance": "[fe80::1]:9400"}, "[fe80::1]", ""),
        ({"pod": "train-0", "namespace": "ml"}, "", "ml/train-0"),
        ({"pod": "dcgm-exporter-x2", "namespace": "gpu"}, "", ""),
        ({"pod": "dcgm-exporter-x2", "exported_pod": "train-0", "exported_namespace": "ml"}, "", "ml/train-0"),
        ({"hpc_job": "42"}, "", "job 42"),
    ),
)
def test_labels_say_where_it_is_and_who_has_it(labels: dict[str, str], host: str, workload: str) -> None:
    assert (dcgm.host_of(labels), dcgm.workload_of(labels)) == (host, workload)


def test_what_has_another_name_and_unit_since_4_9_is_known_by_the_one_before() -> None:
    figure = 9223372036854775794.0
    name, points = dcgm.as_known("DCGM_FI_DEV_SM_CLOCK_HERTZ", ((1.0, 1_980_000_000.0), (2.0, figure)))
    assert (name, list(points)) == (dcgm.SM_CLOCK, [(1.0, 1980.0), (2.0, figure)])  # "not known" stays it
    assert {old for old, _ in dcgm.RENAMED.values()} == set(dcgm.METRICS)
