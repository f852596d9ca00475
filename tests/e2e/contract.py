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


def check_record(document: Any) -> None:
    """`know KIND NAME --json`, for a name that is known or newer than what is."""
    assert document["schema"] == 1
    _check_words(document["kind"], document["source"])
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", document["checked"])
    assert document["standing"] in {"known", "newer", "older"}
    _check_words(*document["notes"])
    _check_record_of_kind(document)


def _check_record_of_kind(record: Any) -> None:
    assert set(record) >= RECORDS.get(record["kind"], set()), record["kind"]
    assert all(value != [] or name in EMPTY_IS_NONE for name, value in record.items()), record
    for variant in record.get("variants") or ():
        assert set(variant) >= {"tag", "cuda", "platform", "default_index", "architectures", "ptx", "pins"}
        assert variant["platform"] in {"x86_64", "aarch64"}
        assert isinstance(variant["default_index"], bool)
        assert variant["pins"] is None or all(isinstance(version, str) for version in variant["pins"].values())
    if record["kind"] == "driver":
        assert set((record["kernel_module"] or {}).values()) <= {"proprietary", "open", "either"}
        assert list(record["kernel_module"] or ()) == (record["architectures"] or [])


def check_unknown(document: Any) -> None:
    """The same for a name that is not known: the nearest ones, and no record."""
    assert set(document) == {"schema", "kind", "standing", "asked", "reason", "nearest", "notes"}
    assert (document["schema"], document["standing"]) == (1, "unknown")
    _check_words(document["asked"], document["reason"], *document["nearest"])
    assert len(document["nearest"]) <= 5


def check_base(document: Any) -> None:
    """`know --all --json`."""
    assert document["schema"] == 1
    assert set(document) >= {"schema", *RECORDS}
    for kind, records in document.items():
        if kind != "schema":
            assert records, kind
            for record in records:
                assert record["kind"] == kind
                check_record({**record, "standing": "known", "notes": []})


RECORDS = {
    "gpu": {"name", "architecture", "compute_capability", "pci_ids", "memory_bytes", "integrated"},
    "cuda": {"version", "architectures", "deprecated", "driver_min_linux", "driver_floor_linux", "gcc_max", "clang_max"},
    "torch": {"version", "python", "variants", "companions"},
    "driver": {"branch", "cuda_max", "architectures", "kernel_module", "end_of_life"},
    "arch": {"compute_capability", "architecture", "first_cuda", "last_cuda", "first_driver", "last_driver", "runs_on"},
    "xid": {"number", "name", "meaning", "action", "causes"},
}
# Lists that may be known to hold nothing: what is not known is null. A system on a chip has no PCI id.
EMPTY_IS_NONE = {
    "torch_builds",
    "notes",
    "pci_ids",
    "deprecated",
    "causes",
    "libraries",
    "compilers",
    "cuda_majors",
    "nearest",
    "versions",
    "asks_for_torch",
}
