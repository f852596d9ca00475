"""The glossary for users: every entry is whole, and what it names is there."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from gpuassist.cli.main import COMMANDS
from gpuassist.knowledge.terms import Term, TermsError, read_terms
from gpuassist.verify.child import collectives, families
from tests.rows import for_each

ROOT = Path(__file__).resolve().parents[2]
RESOURCES = ROOT / "resources"
TERMS = read_terms((RESOURCES / "terms.json").read_bytes())
KEYS = {one.key for one in TERMS}
SHORT_AT_MOST = 160  # letters that a tool tip shows at one look
GUIDES = {path.name.partition(".")[0] for path in (RESOURCES / "guides").glob("*.en.md")}
# Packages that no wheel of the knowledge is: of others, or of libraries that torch does not bring.
OTHERS = ("rmm-", "cutensor-", "nvidia-cudss-", "nvidia-cutlass", "triton")


@cache
def wheels() -> frozenset[str]:
    rows = json.loads((RESOURCES / "knowledge" / "wheels.json").read_bytes())
    return frozenset(row["distribution"] for row in rows if "distribution" in row)


@cache
def checks() -> frozenset[str]:
    """What `verify` runs on a device, on two, and in ranks."""
    alone = {one.name for device in ("cuda", "cpu") for one in families.checks_of("full", device)}
    return frozenset({*alone, *(one[0] for one in collectives.COLLECTIVES), "peer-copy", "peer-copy-back"})


@cache
def sources() -> str:
    rooms = (ROOT / "gpuassist" / room for room in ("present", "session", "ui"))
    return "\n".join(path.read_text("utf-8") for room in rooms for path in sorted(room.rglob("*.py")))


@for_each("term", TERMS)
def test_an_entry_is_whole(term: Term) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", term.key)
    assert all(term.messages())
    assert len(term.short) <= SHORT_AT_MOST, len(term.short)
    assert term.short.endswith(".")
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", term.checked)
    assert term.links
    assert all(link.startswith("https://") for link in term.links)
    assert all(len(name) > 2 for name in term.names), term.names


def test_no_two_are_called_the_same() -> None:
    called = Counter(name for term in TERMS for name in (term.title, *term.names))
    assert [name for name, count in called.items() if count > 1 and name not in {one.title for one in TERMS}] == []
    assert len(TERMS) > 100
    assert len(KEYS) == len(TERMS) == len({term.title for term in TERMS})


@for_each("term", TERMS)
def test_what_an_entry_names_is_there(term: Term) -> None:
    assert set(term.see) <= KEYS - {term.key}
    assert term.guide in GUIDES or not term.guide
    assert set(term.checks) <= checks()
    assert [one for one in term.pip if one not in wheels() and not one.startswith(OTHERS)] == []
    assert [one for one in term.labels if f'"{one}"' not in sources()] == [], "labels that no part of the window has"
    assert set(re.findall(r"`gpuassist (\w+)", " ".join(term.messages()))) <= set(COMMANDS)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[1]", b'[{"key": 1}]', b"[" * 5000, b'[{"key": "a", "colour": "red"}]'])
def test_a_file_that_is_no_glossary_is_refused(content: bytes) -> None:
    with pytest.raises(TermsError):
        read_terms(content)
