"""The documents that the command line prints, key by key, as scripts may rely on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

ACTIONS = {"none", "edit", "command", "new-shell", "reboot", "hardware"}
SEVERITIES = ("problem", "warning", "info")
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def check_diagnosis(document: Any) -> None:
    """`doctor --json`."""
    assert set(document) == {"schema", "findings", "undetermined"}
    assert document["schema"] == 1
    for finding in document["findings"]:
        _check_finding(finding)
    for one in document["undetermined"]:
        assert set(one) == {"id", "fact", "reason"}
        assert KEBAB.fullmatch(one["id"])
        _check_words(one["fact"], one["reason"])


def _check_finding(finding: Any) -> None:
    assert set(finding) == {"id", "severity", "title", "explanation", "evidence", "remedies", "links"}
    assert KEBAB.fullmatch(finding["id"])
    assert finding["severity"] in SEVERITIES
    _check_words(finding["title"], finding["explanation"])
    assert finding["evidence"], finding["id"]
    for one in finding["evidence"]:
        assert set(one) == {"fact", "value", "source"}
        _check_words(one["fact"], one["value"], one["source"])
    for remedy in finding["remedies"]:
        _check_remedy(remedy)
    assert all(link.startswith("https://") for link in finding["links"])


def _check_remedy(remedy: Any) -> None:
    assert set(remedy) == {"text", "commands", "needs_root", "action", "check"}
    _check_words(remedy["text"], *remedy["commands"])
    assert isinstance(remedy["needs_root"], bool)
    assert isinstance(remedy["check"], str)
    assert remedy["action"] in ACTIONS


def _check_words(*words: Any) -> None:
    for one in words:
        assert isinstance(one, str)
        assert one.strip(), words


def status_of(document: Any) -> int:
    """The exit status that belongs to a `doctor --json` document."""
    severities = {finding["severity"] for finding in document["findings"]}
    if "problem" in severities:
        return 2
    if "warning" in severities:
        return 1
    return 3 if document["undetermined"] else 0


def check_facts(document: Any) -> None:
    """`detect --json`: every fact is a value with its source, or a null with its reason."""
    assert document["schema"] == 1
    found = list(facts(document))
    assert found
    for fact in found:
        if fact["value"] is None:
            assert set(fact) == {"value", "reason", "asked"}
            assert isinstance(fact["asked"], bool)
            assert fact["reason"]
        else:
            assert set(fact) == {"value", "source"}
            assert isinstance(fact["source"], str)


def facts(value: Any) -> Iterator[Any]:
    """Every fact in a document, those inside of others too."""
    if isinstance(value, dict):
        if "value" in value and ("source" in value or "reason" in value):
            yield value
        for inner in value.values():
            yield from facts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from facts(inner)


def check_sample(document: Any) -> None:
    """A line of `monitor --headless`; what is unknown is null beside its reason."""
    assert {"schema", "time", "gpus"} <= set(document) <= {"schema", "time", "gpus", "trouble"}
    assert document["schema"] == 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", document["time"])
    for gpu in document["gpus"]:
        assert isinstance(gpu["index"], int)
        for name in SAMPLED:
            assert gpu[name] is not None or gpu[f"{name}_reason"]
        for process in gpu["processes"] or ():
            assert {"pid", "user", "command", "memory_used_bytes"} <= set(process)


SAMPLED = (
    *("uuid", "name", "memory_total_bytes", "memory_used_bytes", "memory_free_bytes"),
    *("utilization_percent", "temperature_celsius", "power_watts", "processes"),
)
