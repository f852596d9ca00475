"""The small words of rules: evidence only from known facts, and the first unknown one as what is missing."""

from __future__ import annotations

from typing import Any

import pytest

from gpuassist.diagnose.verdicts import finding, listed, proof, undetermined
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.finding import Evidence, Undetermined
from gpuassist.model.text import text, verbatim
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH

LABEL = text("driver")
DRIVER = Known(Version.parse("580.95.05"), "/proc/driver/nvidia/version")
FIRST, SECOND = Unknown(text("permission denied")), Unknown(text("it hung"))


def test_known_fact_is_evidence_with_its_source() -> None:
    assert proof(LABEL, DRIVER) == Evidence(LABEL, verbatim("580.95.05"), "/proc/driver/nvidia/version")


def test_evidence_may_be_said_in_other_words() -> None:
    evidence = proof(LABEL, Known((), "/sys/module"), text("none"))
    assert evidence is not None
    assert ENGLISH(evidence.value) == "none"


@pytest.mark.parametrize("value", ["", 0, False, ()])
def test_known_absence_is_evidence_too(value: object) -> None:
    assert proof(LABEL, Known(value, "/sys")) == Evidence(LABEL, verbatim(str(value)), "/sys")


@pytest.mark.parametrize("fact", [FIRST, NOT_ASKED])
def test_unknown_fact_proves_nothing(fact: Unknown) -> None:
    assert proof(LABEL, fact, text("none")) is None


def test_finding_leaves_out_what_is_not_proved() -> None:
    made = finding("no-driver", None, proof(LABEL, DRIVER), proof(LABEL, FIRST), gpu="RTX 4090", branch=580)
    assert [evidence.source for evidence in made.evidence] == ["/proc/driver/nvidia/version"]
    assert made.parameters == (("gpu", "RTX 4090"), ("branch", 580))


def test_finding_can_stand_without_evidence() -> None:
    assert finding("no-driver").evidence == ()


@pytest.mark.parametrize(
    ("facts", "missing"),
    [
        ((), None),
        ((DRIVER,), None),
        ((DRIVER, DRIVER), None),
        ((FIRST,), FIRST),
        ((DRIVER, SECOND), SECOND),
        ((FIRST, SECOND), FIRST),
        ((SECOND, DRIVER, FIRST), SECOND),
    ],
)
def test_first_unknown_fact_is_named(facts: tuple[Fact[Any], ...], missing: Unknown | None) -> None:
    told = [Undetermined("no-driver", LABEL, missing.reason)] if missing else []
    assert list(undetermined("no-driver", LABEL, *facts)) == told


@pytest.mark.parametrize(("words", "row"), [((), ""), (("a",), "a"), (["a", "b"], "a, b")])
def test_names_stand_in_a_row(words: tuple[str, ...] | list[str], row: str) -> None:
    assert listed(words) == row
