"""All rules over one machine: each verdict once, in the rules' order, and a rule that fails is told of."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.judge import RULES, judge
from gpuassist.diagnose.verdicts import Verdict, finding, proof, undetermined
from gpuassist.model.fact import NOT_ASKED, Known, Unknown
from gpuassist.model.finding import Passed, Undetermined
from gpuassist.model.machine import Machine
from gpuassist.model.text import text, verbatim
from gpuassist.model.words import ENGLISH
from tests.values import knowledge, machine

UNREADABLE = Unknown(text("the file could not be read"))


def first(case: RuleInput) -> Iterator[Verdict]:
    yield finding("no-driver", gpu="RTX 4090")
    yield Passed(text("driver"))


def second(case: RuleInput) -> Iterator[Verdict]:
    yield from undetermined("torch-lacks-sm", text("what torch holds"), UNREADABLE)
    yield finding("torch-cpu-only")
    yield Passed(text("driver"))


def third(case: RuleInput) -> Iterator[Verdict]:
    yield from undetermined("no-driver", text("the driver"), UNREADABLE)
    yield from undetermined("driver-too-old-for-cuda", text("the driver's version"), UNREADABLE)


def failing(case: RuleInput) -> Iterator[Verdict]:
    yield Passed(text("before it failed"))
    raise ZeroDivisionError("no such GPU")


def test_findings_stand_in_the_order_of_the_rules() -> None:
    told = judge(Machine(), knowledge(), (first, second))
    assert [one.problem for one in told.findings] == ["no-driver", "torch-cpu-only"]


def test_same_check_is_told_once() -> None:
    told = judge(Machine(), knowledge(), (first, second))
    assert [ENGLISH(one.check) for one in told.passed] == ["driver"]


def test_what_was_found_is_not_open_as_well() -> None:
    told = judge(Machine(), knowledge(), (first, second, third))
    assert [one.problem for one in told.undetermined] == ["torch-lacks-sm"]


def test_question_about_a_driver_stays_open_while_there_may_be_one() -> None:
    told = judge(Machine(), knowledge(), (third,))
    assert [one.problem for one in told.undetermined] == ["no-driver", "driver-too-old-for-cuda"]


def test_rule_that_fails_does_not_stop_the_next(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        told = judge(Machine(), knowledge(), (failing, first))
    assert [one.problem for one in told.findings] == ["no-driver"]
    assert "the rule failing failed" in caplog.text


def test_rule_that_fails_is_told_with_its_error() -> None:
    (told,) = judge(Machine(), knowledge(), (failing,)).undetermined
    assert (told.problem, ENGLISH(told.fact)) == ("own-check-failed", "failing")
    assert "ZeroDivisionError: no such GPU" in ENGLISH(told.reason)


def test_what_a_rule_said_before_it_failed_is_kept() -> None:
    assert len(judge(Machine(), knowledge(), (failing,)).passed) == 1


def test_judging_twice_says_the_same() -> None:
    one = machine(toolkits=("11.7.99", "12.4.131"), nvcc="11.7")
    assert judge(one, knowledge()) == judge(one, knowledge())


def test_rules_have_names_of_their_own() -> None:
    names = [rule.__name__ for rule in RULES]
    assert len(set(names)) == len(names)


def test_every_rule_is_silent_or_open_on_an_empty_machine() -> None:
    case = RuleInput(Machine(), knowledge())
    assert all(isinstance(verdict, Undetermined) for rule in RULES for verdict in rule(case))


def test_finding_leaves_out_evidence_that_is_unknown() -> None:
    known = Known(550, "/proc")
    found = finding("x", proof(text("driver"), NOT_ASKED), proof(text("driver"), known), name="y")
    assert [(ENGLISH(one.value), one.source) for one in found.evidence] == [("550", "/proc")]
    assert (found.parameter("name"), found.parameter("other")) == ("y", "")


def test_evidence_may_be_in_words() -> None:
    told = proof(text("module"), Known((), "/sys/module"), verbatim("none"))
    assert told is not None
    assert ENGLISH(told.value) == "none"


def test_first_unknown_fact_gives_the_reason() -> None:
    told = list(undetermined("x", text("a version"), Known(1, "/proc"), UNREADABLE, NOT_ASKED))
    assert [ENGLISH(one.reason) for one in told] == ["the file could not be read"]


def test_nothing_is_open_where_all_facts_are_known() -> None:
    assert list(undetermined("x", text("a version"), Known(1, "/proc"))) == []
