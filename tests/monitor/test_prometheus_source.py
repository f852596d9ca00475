"""GPUs that a server watches: what it has kept first, then what it knows now, and what is said where it answers otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gpuassist.formats.dcgm import XID_ERRORS
from gpuassist.formats.prometheus import LabelledSeries
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.sample import EventKind, Sample
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.labels import label_among, label_of
from gpuassist.monitor.prometheus_gpus import GPUS_AT_MOST, RemoteGpus, by_gpu, remote_gpu
from gpuassist.monitor.prometheus_source import PAST_SECONDS, PrometheusServer, PrometheusSource, hosts_of
from gpuassist.monitor.sample_block import packed, unpacked
from gpuassist.monitor.sources import PastSample
from gpuassist.present.gpu_line import gpu_name
from gpuassist.present.sample_document import sample_document
from gpuassist.present.samples import gpu_title, row_label
from gpuassist.system.clock import Clock
from gpuassist.system.web import read_address
from tests.monitor.scripted_prometheus import MIB, NOW, ScriptedPrometheus, card, card_since_4_9
from tests.rows import for_each
from tests.scripted_http import Reply, ScriptedServer, document, page, serving

AXIS = 100_000.0  # since the boot, so that a day before has its place


class SetClock(Clock):
    """Ours, which is an hour behind the server's."""

    def __init__(self) -> None:
        self.passed = 0.0

    def epoch(self) -> float:
        return NOW - 3600.0 + self.passed

    def since_boot(self) -> float:
        return AXIS + self.passed


class Asking:
    """A source and the server that it asks."""

    def __init__(self, script: ScriptedPrometheus, http: ScriptedServer, hosts: tuple[str, ...], past_seconds: float) -> None:
        self.script, self.clock = script, SetClock()
        self.server = PrometheusServer(read_address(http.address)[0], hosts)
        self.source = PrometheusSource(self.server, self.clock, past_seconds=past_seconds)

    def step(self, seconds: float = 5.0) -> tuple[list[PastSample], Sample]:
        """What is taken at once, and so many seconds later the next."""
        past, now = list(self.source.past()), self.source.read()
        self.clock.passed += seconds
        self.script.now += seconds
        return past, now


@pytest.fixture
def asking(request: pytest.FixtureRequest) -> Iterator[Asking]:
    yield from _asking(ScriptedPrometheus([card("n1", 0), card("n1", 1, 2000)]))


def _asking(script: ScriptedPrometheus, hosts: tuple[str, ...] = (), past_seconds: float = PAST_SECONDS) -> Iterator[Asking]:
    with serving(script) as http:
        yield Asking(script, http, hosts, past_seconds)


def trouble(sample: Sample) -> str:
    assert sample.gpus == ()
    return " ".join(map(ENGLISH, sample.trouble))


def used(sample: Sample) -> dict[int, int]:
    return {gpu.index: value_or(gpu.memory_used_bytes, -1) // MIB for gpu in sample.gpus}


def test_the_past_comes_first_and_then_what_is_now(asking: Asking) -> None:
    asking.script.past = {NOW - 7200.0: 10, NOW - 60.0: 20, NOW: 30}
    past, now = asking.step()
    assert [(one.sample.monotonic, used(one.sample)) for one in past] == [
        (AXIS - 7200.0, {0: 10, 1: 10}),
        (AXIS - 60.0, {0: 20, 1: 20}),
        (AXIS, {0: 30, 1: 30}),
    ]
    assert [one.gap_seconds for one in past] == [300.0, 37.5, 37.5]
    assert (used(now), now.time, now.monotonic) == ({0: 1000, 1: 2000}, NOW - 3600.0, AXIS)
    assert asking.step()[0] == []
    (far, near) = asking.script.ranges
    assert NOW - PAST_SECONDS <= far[0] < NOW - PAST_SECONDS + far[2]
    assert (near[1], near[0] - far[1]) == (NOW, near[2])


def test_a_gpu_has_its_figures_its_names_and_reasons(asking: Asking) -> None:
    asking.script.cards = [card("n1", 0, exported_pod="train-0", exported_namespace="ml")]
    (gpu,) = asking.step()[1].gpus
    assert (gpu.uuid, gpu.host) == (Known("GPU-n1-0", "UUID"), Known("n1", "Hostname"))
    assert value_or(gpu.workload, "") == "ml/train-0"
    assert value_or(gpu.memory_total_bytes, 0) == 80_500 * MIB
    for fact in (gpu.utilization_percent, gpu.processes, gpu.fan_percent):
        assert isinstance(fact, Unknown)


@for_each(
    "instead, words",
    (
        (page("<title>Grafana</title>"), "Grafana"),
        (page("<title>Sign in</title>"), "web page"),
        (page("404 page not found", 404), "not as Prometheus does"),
        (Reply(b"", 401), ".netrc"),
        (page("Client sent an HTTP request to an HTTPS server.", 400), "https://"),
        (Reply(b"Service Unavailable", 503), "status 503"),
        (Reply(b"", 418), "status 418"),
        (Reply(status=302, headers={"Location": "http://elsewhere.example/"}), "elsewhere.example"),
        (document({"status": "error", "error": "too many samples"}, 422), "too many samples"),
        (document({"status": "success", "data": {"resultType": "vector", "result": []}}), "not what Prometheus answers"),
        (document([]), "not what Prometheus answers"),
    ),
)
def test_what_is_no_answer_is_said_and_it_goes_on_with_what_was_kept_meanwhile(instead: Reply, words: str) -> None:
    script = ScriptedPrometheus([card("n1", 0)])
    for asking in _asking(script):
        assert asking.step()[1].gpus
        script.instead = instead
        sample = Sample(0.0, 0.0, ())
        for _ in range(3):
            past, sample = asking.step(20.0)
            assert not past
            assert asking.server.address.shown in trouble(sample)
        if script.instead.status != 200 or b"success" not in script.instead.body:
            assert words in trouble(sample)
        script.instead, script.past = None, {NOW + 30.0: 7}
        past, sample = asking.step()
        assert [used(one.sample) for one in past] == [{0: 7}]
        assert used(sample) == {0: 1000}


def test_a_server_that_cannot_be_asked_at_first_is_asked_for_the_past_later(asking: Asking) -> None:
    asking.script.instead, asking.script.past = Reply(b"", 503), {NOW - 600.0: 5}
    past, sample = asking.step()
    assert not past
    assert "503" in trouble(sample)
    asking.script.instead = None
    assert len(asking.step()[0]) == 1


def test_a_million_gpus_are_refused_with_the_figure(asking: Asking) -> None:
    asking.script.count = 1_000_000
    said = trouble(asking.step()[1])
    assert "1000000 GPUs" in said
    assert "name the one to look at" in said  # nor are as many machines listed
    assert not asking.script.ranges


def test_too_many_gpus_lead_to_a_choice_of_machines() -> None:
    script = ScriptedPrometheus([card(f"n{host}", number) for host in range(10) for number in range(8)])
    for asking in _asking(script):
        said = trouble(asking.step()[1])
        assert "80 GPUs" in said
        assert "--host" in said
        assert "n0, n1" in said
        assert [(one.name, one.gpus) for one in hosts_of(asking.server)][:2] == [("n0", 8), ("n1", 8)]
    for asking in _asking(script, ("n7",)):
        assert [gpu.index for gpu in asking.step()[1].gpus] == list(range(8))
    for asking in _asking(script, ("m7",)):
        assert "only of n0" in trouble(asking.step()[1])


def test_no_gpu_at_all_is_said(asking: Asking) -> None:
    asking.script.cards = []
    assert "DCGM_FI_DEV_FB_USED" in trouble(asking.step()[1])
    assert hosts_of(asking.server) == ()


def test_gpus_of_several_machines_are_counted_through_and_stay(asking: Asking) -> None:
    asking.script.cards = [card("n2", 0), card("n1", 1), card("n1", 0)]
    first = asking.step()[1]
    assert [(gpu.index, value_or(gpu.host, "")) for gpu in first.gpus] == [(0, "n1"), (1, "n1"), (2, "n2")]
    assert [label_of(gpu) for gpu in first.gpus] == ["0 (n1)", "1 (n1)", "0 (n2)"]
    assert label_among(first.gpus, 2) == "0 (n2)"
    assert [row_label(gpu) for gpu in first.gpus] == ["n1 0", "n1 1", "n2 0"]
    assert not any("n2" in ENGLISH(gpu_name(gpu)) for gpu in first.gpus)
    assert [ENGLISH(gpu_title(gpu)).partition(" · ")[0] for gpu in first.gpus] == ["GPU 0 on n1", "GPU 1 on n1", "GPU 0 on n2"]
    assert [(one.get("index"), one.get("number")) for one in documents(first)] == [(0, "0"), (1, "1"), (2, "0")]
    assert unpacked(packed([first])) == [first]
    asking.script.cards = [card("n0", 0), card("n2", 0), card("n1", 1)]
    second = asking.step()[1]
    assert [(gpu.index, value_or(gpu.host, "")) for gpu in second.gpus] == [(0, "n1"), (1, "n1"), (2, "n2"), (3, "n0")]
    assert isinstance(second.gpus[0].memory_used_bytes, Unknown)  # its exporter is gone


def test_dcgm_exporter_since_4_9_tells_the_same_under_other_names_and_units() -> None:
    both = ScriptedPrometheus([card("n1", 0, 2000), card_since_4_9("n2", 0, 3000)], past={NOW: 5 * MIB})
    for asking in _asking(both, hosts=("n2",)):
        past, now = asking.step()
        assert [used(one.sample) for one in past] == [{0: 5}]
        (gpu,) = now.gpus
        assert (value_or(gpu.host, ""), used(now), value_or(gpu.memory_total_bytes, 0)) == ("n2", {0: 3000}, 80_500 * MIB)
    for asking in _asking(both):
        assert used(asking.step()[1]) == {0: 2000, 1: 3000}


def test_an_xid_is_told_when_it_comes_and_not_again(asking: Asking) -> None:
    def told(number: float | None) -> list[tuple[EventKind, str]]:
        labels = {"Hostname": "n1", "gpu": "0", "UUID": "GPU-a"}
        rows = [LabelledSeries("DCGM_FI_DEV_FB_USED", labels, ((0.0, 1.0),))]
        rows += [LabelledSeries(XID_ERRORS, labels, ((0.0, number),))] if number is not None else []
        gpus.meet(rows[:1])
        return [(event.kind, event.code) for event in gpus.sample(by_gpu(rows), 0.0, 0.0).events]

    xid = EventKind.XID
    for first, then in ((79.0, []), (0.0, [(xid, "79")]), (None, [(xid, "79")])):  # what is so at first did not happen
        gpus = RemoteGpus()
        assert told(first) == []
        assert [*told(79.0), *told(79.0)] == then
        assert told(float(9223372036854775794)) == []


def documents(sample: Sample) -> list[dict[str, Any]]:
    return sample_document(sample, ENGLISH)["gpus"]  # type: ignore[return-value]


def test_the_gpus_of_one_machine_are_counted_as_it_counts_until_another_comes(asking: Asking) -> None:
    asking.script.cards = [card("n1", 3)]
    (alone,) = asking.step()[1].gpus
    assert (alone.index, alone.number, "number" in documents(asking.step()[1])[0]) == (3, "", False)
    asking.script.cards = [card("n1", 3), card("n2", 3)]
    assert [(gpu.number, value_or(gpu.host, "")) for gpu in asking.step()[1].gpus if gpu.number] == [("3", "n2"), ("3", "n1")]


def test_instances_of_one_gpu_are_told_apart_and_a_pod_that_changes_is_no_other_gpu() -> None:
    gpus = RemoteGpus()
    common = {"Hostname": "n1", "gpu": "1", "UUID": "GPU-a"}
    rows = [
        LabelledSeries("DCGM_FI_DEV_FB_USED", {**common, "GPU_I_ID": one, "GPU_I_PROFILE": "1g.10gb", "pod": pod}, ((0.0, 1.0),))
        for one, pod in (("10", "a"), ("7", "b"), ("10", "c"))
    ]
    gpus.meet(rows)
    sample = gpus.sample(by_gpu(rows), 0.0, 0.0)
    assert [gpu.index for gpu in sample.gpus] == [2007, 2010]
    assert remote_gpu({"gpu": "9" * 5000}).number == 0


def test_no_more_gpus_than_can_be_looked_at(asking: Asking) -> None:
    asking.script.cards = [card(f"n{number}", 0) for number in range(GPUS_AT_MOST + 9)]
    asking.script.count = GPUS_AT_MOST
    assert len(asking.step()[1].gpus) == GPUS_AT_MOST
