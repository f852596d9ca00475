"""Every machine that ships with gpuassist, through every command that can show it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gpuassist.system.resources import Resources
from tests.e2e.command import Done, gpuassist, gpuassist_here
from tests.e2e.contract import check_diagnosis, check_facts, status_of
from tests.rows import for_each

NAMES = Resources().names("machines", ".json")
PATHS = [str(Path(__file__).parents[2] / "resources/machines" / name) for name in NAMES]
SOUND = [path for path in PATHS if "healthy" in path or "asleep" in path]

each_machine = for_each("path", PATHS)


@cache
def recorded(path: str, *arguments: str) -> Done:
    """A recorded machine needs no home: one run serves every test that looks at it."""
    return gpuassist_here(Path("/nonexistent"), *arguments, "--machine", path)


def _doctor(path: str) -> Any:
    return recorded(path, "doctor", "--json").document()


@each_machine
def test_diagnosis_is_that_of_the_contract(path: str) -> None:
    check_diagnosis(_doctor(path))


@each_machine
def test_status_is_that_of_the_findings(path: str) -> None:
    assert recorded(path, "doctor", "--json").status == recorded(path, "doctor").status == status_of(_doctor(path))


@each_machine
def test_nothing_is_said_beside_the_document(path: str) -> None:
    assert (recorded(path, "doctor", "--json").err, recorded(path, "detect", "--json").err) == (b"", b"")


@each_machine
def test_terminal_tells_what_the_document_tells(path: str) -> None:
    shown = " ".join(recorded(path, "doctor").text.split())
    for finding in _doctor(path)["findings"]:
        assert finding["title"] in shown
        for remedy in finding["remedies"]:
            assert all(" ".join(line.split()) in shown for line in remedy["commands"])


@each_machine
def test_terminal_shows_evidence_with_its_source(path: str) -> None:
    shown = " ".join(recorded(path, "doctor").text.split())
    for finding in _doctor(path)["findings"]:
        for one in finding["evidence"]:
            assert " ".join(f"{one['fact']}: {one['value']}".split()) in shown
            assert one["source"] in shown


@each_machine
def test_worst_findings_stand_first(path: str) -> None:
    order = [["problem", "warning", "info"].index(finding["severity"]) for finding in _doctor(path)["findings"]]
    assert order == sorted(order)


@each_machine
def test_finding_is_told_once(path: str) -> None:
    told = [(finding["id"], finding["title"], json.dumps(finding["evidence"])) for finding in _doctor(path)["findings"]]
    assert len(told) == len(set(told))


@each_machine
def test_root_commands_are_marked_as_such(path: str) -> None:
    for finding in _doctor(path)["findings"]:
        for remedy in finding["remedies"]:
            assert remedy["needs_root"] == any("sudo " in line for line in remedy["commands"]) or not remedy["commands"]


@each_machine
def test_facts_are_those_of_the_file(path: str) -> None:
    document = recorded(path, "detect", "--json").document()
    check_facts(document)
    assert document == json.loads(Path(path).read_bytes())


@each_machine
def test_list_of_facts_shows_every_part(path: str) -> None:
    done = recorded(path, "detect")
    assert (done.status, done.err) == (0, b"")
    for heading in ("Host", "Driver", "Host compilers", "Shell", "GPU processes"):
        assert f"\n{heading}\n" in done.text


@each_machine
def test_recording_gives_its_title(path: str) -> None:
    title = json.loads(Path(path).read_bytes())["note"]
    assert recorded(path, "doctor").text.startswith("Recorded machine: ")
    assert title in " ".join(recorded(path, "doctor").text.split())


def test_order_of_options_does_not_matter() -> None:
    turned = gpuassist(Path("/nonexistent"), "--machine", PATHS[0], "--lang", "en", "doctor", "--json")
    assert turned.document() == _doctor(PATHS[0])


@for_each("path", SOUND)
def test_sound_machine_has_nothing_to_repair(path: str) -> None:
    assert [finding["id"] for finding in _doctor(path)["findings"] if finding["severity"] != "info"] == []


@pytest.mark.parametrize("verb", [("use", "cuda", "12.4", "--yes"), ("undo",), ("verify",), ("monitor", "--headless")])
def test_recording_cannot_be_changed_orrecorded(verb: tuple[str, ...]) -> None:
    done = recorded(PATHS[0], *verb)
    assert (done.status, done.out) == (64, b"")
    assert "recorded machine" in done.said
