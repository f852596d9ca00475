"""A server that answers the questions of `PrometheusSource` as Prometheus does: the series that it was given, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpuassist.formats.dcgm import FB_FREE, FB_RESERVED, FB_USED, RENAMED, USED_NAMES, XID_ERRORS, host_of
from tests.scripted_http import Asked, Reply, document

NOW = 1_800_000_000.0
MIB = 1 << 20


def card(host: str, number: int, used: int = 1000, **labels: str) -> dict[str, dict[str, str]]:
    """The series of one GPU, by the value that each has."""
    who = {"gpu": str(number), "UUID": f"GPU-{host}-{number}", "modelName": "NVIDIA H100", "Hostname": host, **labels}
    figures = {FB_USED: used, FB_FREE: 80_000 - used, FB_RESERVED: 500, XID_ERRORS: 0}
    return {json.dumps({"__name__": name, **who}): {"value": str(figure)} for name, figure in figures.items()}


def card_since_4_9(host: str, number: int, used: int = 1000) -> dict[str, dict[str, str]]:
    """The same as dcgm-exporter 4.9 tells it."""
    names, found = {old: (name, times) for name, (old, times) in RENAMED.items()}, {}
    for words, value in card(host, number, used).items():
        labels = json.loads(words)
        name, times = names[labels.pop("__name__")]
        labels["hostname"] = labels.pop("Hostname")
        found[json.dumps({"__name__": name, **labels})] = {"value": str(round(int(value["value"]) / times))}
    return found


@dataclass
class ScriptedPrometheus:
    """`cards` are what it knows now; `past` are moments before, and what every GPU had in use then."""

    cards: Sequence[Mapping[str, Mapping[str, str]]]
    now: float = NOW
    past: Mapping[float, int] = field(default_factory=dict)
    count: int | None = None
    instead: Reply | None = None
    ranges: list[tuple[float, float, float]] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Reply:
        if self.instead is not None:
            return self.instead
        query, chosen = asked.question["query"], self._chosen(asked.question["query"])
        if asked.path.endswith("/query_range"):
            begin, end = (float(asked.question[name]) for name in ("start", "end"))
            self.ranges.append((begin, end, float(asked.question["step"])))
            return _answer([(labels, {"values": self._values(labels, value, begin, end)}) for labels, value in chosen])
        if query.startswith("count("):
            gpus = {(host_of(labels), labels["UUID"]) for labels, _ in chosen}
            number = len({host for host, _ in gpus}) if "count(count by" in query else len(gpus)
            return _answer([({}, {"value": [self.now, str(number if self.count is None else self.count)]})])
        if query.startswith("count by"):
            hosts = [host_of(labels) for labels, _ in chosen if labels["__name__"] in USED_NAMES]
            return _answer([({"Hostname": host}, {"value": [self.now, str(hosts.count(host))]}) for host in sorted(set(hosts))])
        return _answer([(labels, {"value": [self.now, value["value"]]}) for labels, value in chosen])

    def _chosen(self, query: str) -> list[tuple[dict[str, str], Mapping[str, str]]]:
        rows = [(json.loads(labels), value) for one in self.cards for labels, value in one.items()]
        wanted = re.search(r'\bHostname=~"([^"]+)"', query)
        return [(labels, value) for labels, value in rows if wanted is None or re.fullmatch(wanted[1], host_of(labels))]

    def _values(self, labels: Mapping[str, str], value: Mapping[str, str], begin: float, end: float) -> list[list[object]]:
        told = [(time, used) for time, used in self.past.items() if begin <= time <= end]
        return [[time, str(used) if labels["__name__"] in USED_NAMES else value["value"]] for time, used in told]


def _answer(rows: Sequence[tuple[Mapping[str, str], Mapping[str, object]]]) -> Reply:
    result = [{"metric": labels, **told} for labels, told in rows]
    return document({"status": "success", "data": {"resultType": "matrix", "result": result}})
