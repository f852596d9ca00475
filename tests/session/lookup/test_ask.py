"""Answers as documents: the fields that scripts rely on, the same records in the whole base, each with its source."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gpuassist.context import Session
from gpuassist.model.words import ENGLISH
from gpuassist.present.lookup import lines, source_line
from gpuassist.session.lookup.answer import LookupStatus
from gpuassist.session.lookup.ask import (
    KINDS,
    answer_document,
    ask,
    everything,
    names,
    names_document,
    nearest_kinds,
)
from tests.fakes import world_under
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

DAY = re.compile(r"20\d\d-\d\d-\d\d")
FIELDS = {
    "gpu": {"name", "architecture", "compute_capability", "pci_ids", "memory_bytes", "integrated"},
    "cuda": {"version", "architectures", "deprecated", "driver_min_linux", "driver_floor_linux", "gcc_max", "clang_max"},
    "torch": {"version", "python", "variants", "companions"},
    "engine": {"name", "version", "package", "asks_for_torch", "cuda_majors", "python", "platforms", "releases", "page"},
    "driver": {"branch", "cuda_max", "architectures", "kernel_module", "end_of_life"},
    "arch": {"compute_capability", "architecture", "first_cuda", "last_cuda", "first_driver", "last_driver", "runs_on"},
    "image": {"image", "cuda", "torch", "tensorrt", "python", "nvcc_inside", "driver_min_linux", "driver_floor_linux"},
    "wheel": {"name", "role", "libraries", "cuda_majors"},
    "conda": {"version", "builds"},
    "pair": {"key", "libraries", "symptom", "why", "remedy"},
    "xid": {"number", "name", "meaning", "action", "causes", "ended"},
    "nvml": {"code", "name", "meaning", "action"},
    "error": {"enum", "number", "name", "words", "problem", "why_none", "until"},
}
QUESTIONS = {
    "gpu": "RTX 4090",
    "cuda": "12.4",
    "torch": "2.6",
    "engine": "vllm",
    "driver": "550",
    "arch": "sm_89",
    "image": "pytorch:25.01-py3",
    "wheel": "nvidia-cudnn-cu12",
    "conda": "2.5.1",
    "pair": KNOWLEDGE.bad_pairs()[0].key,
    "xid": "79",
    "nvml": "18",
    "error": "cudaErrorNoDevice",
}
NEWER = {"gpu": "RTX 9090", "cuda": "99.0", "torch": "9.9", "driver": "9999", "arch": "sm_200", "xid": "99999", "conda": "99.0"}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(world_under(tmp_path), KNOWLEDGE, ENGLISH)


def document(session: Session, kind: str, words: str) -> Any:
    return answer_document(kind, words, ask(session, kind, words), ENGLISH)


def test_every_kind_is_asked_here() -> None:
    assert set(KINDS) == set(FIELDS) == set(QUESTIONS)


@pytest.mark.parametrize("kind", KINDS)
def test_document_has_its_fields(session: Session, kind: str) -> None:
    found = document(session, kind, QUESTIONS[kind])
    assert (found["schema"], found["kind"], found["standing"]) == (1, kind, "known")
    assert FIELDS[kind] <= set(found)
    assert found["source"]
    assert DAY.fullmatch(found["checked"])


@pytest.mark.parametrize("kind", NEWER)
def test_newer_document_has_the_same_fields(session: Session, kind: str) -> None:
    found = document(session, kind, NEWER[kind])
    assert set(found) == set(document(session, kind, QUESTIONS[kind]))
    assert found["standing"] == "newer"
    assert "newer than what I know" in found["source"]
    assert DAY.fullmatch(found["checked"])


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_document_has_the_nearest_and_no_record(session: Session, kind: str) -> None:
    found = document(session, kind, "no such thing")
    assert set(found) == {"schema", "kind", "standing", "asked", "reason", "nearest", "notes"}
    assert (found["standing"], found["asked"]) == ("unknown", "no such thing")
    assert found["reason"]
    assert len(found["nearest"]) <= 5


@for_each("kind", KINDS)
@for_each("words", ["", "   ", "x" * 301, "x" * 100_000, "\n"])
def test_what_is_no_name_is_told_at_once(session: Session, kind: str, words: str) -> None:
    assert ask(session, kind, words).standing is LookupStatus.UNKNOWN


@pytest.mark.parametrize("kind", KINDS)
def test_whole_base_holds_the_same_records(session: Session, kind: str) -> None:
    answer = document(session, kind, QUESTIONS[kind])
    of_kind = everything(session)[kind]
    assert isinstance(of_kind, list)
    record = {name: value for name, value in answer.items() if name not in {"standing", "notes"}}
    assert record in of_kind


def test_every_record_of_the_whole_base_has_source_and_day(session: Session) -> None:
    whole = everything(session)
    assert set(whole) == {"schema", *KINDS}
    for kind in KINDS:
        of_kind = whole[kind]
        assert isinstance(of_kind, list)
        assert of_kind
        for record in of_kind:
            assert isinstance(record, dict)
            assert str(record["source"]).strip(), record
            assert DAY.fullmatch(str(record["checked"])), record
            assert set(record) >= {"schema", "kind", *FIELDS[kind]}


def test_whole_base_is_json(session: Session) -> None:
    shelves = everything(session)
    assert json.loads(json.dumps(shelves, allow_nan=False)) == shelves


def test_records_of_a_kind_share_their_fields(session: Session) -> None:
    shelves = everything(session)
    for kind in KINDS:
        of_kind = shelves[kind]
        assert isinstance(of_kind, list)
        assert len({frozenset(one) for one in of_kind if isinstance(one, dict)}) == 1, kind


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_listed_once(session: Session, kind: str) -> None:
    listed = names(session, kind)
    assert listed
    assert len(listed) == len(set(listed))
    assert names_document(session, kind) == {"schema": 1, "kind": kind, "names": list(listed)}


@pytest.mark.parametrize(
    ("kind", "meant"), [("gpuu", "gpu"), ("GPU", "gpu"), ("drivers", "driver"), ("archs", "arch"), ("pytorch", "torch")]
)
def test_misspelt_kind_is_understood(kind: str, meant: str) -> None:
    assert nearest_kinds(kind) == (meant,)


def test_kind_of_nothing_is_nothing() -> None:
    assert nearest_kinds("bananas") == ()


@pytest.mark.parametrize("kind", KINDS)
def test_record_reads_as_lines_with_its_source(session: Session, kind: str) -> None:
    answered = ask(session, kind, QUESTIONS[kind])
    shown = [f"{ENGLISH(line.label)}: {ENGLISH(line.value)}" for line in lines(answered)]
    assert shown
    assert not any("None" in line or "[" in line or "{" in line for line in shown)
    assert str(answered.record["checked"]) in ENGLISH(source_line(answered.record).value)


def test_null_reads_as_none_yet_only_of_what_is_known(session: Session) -> None:
    words = {kind: [ENGLISH(line.value) for line in lines(ask(session, "arch", kind))] for kind in ("sm_89", "sm_200")}
    assert "none: the newest still does" in words["sm_89"]
    assert "none: the newest still does" not in words["sm_200"]


def test_builds_read_one_a_line(session: Session) -> None:
    shown = {ENGLISH(line.label).strip(): ENGLISH(line.value) for line in lines(ask(session, "torch", "2.6"))}
    assert shown["cu124, x86_64"].startswith("sm_50 ")
    assert shown["cu124, x86_64"].endswith("; pip's own")
    assert shown["cpu, x86_64"] == "for the CPU"
