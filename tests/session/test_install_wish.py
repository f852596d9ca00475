"""A wish for the install page as words, from a what-if, and from a finding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.install.what_if import NONE, Wish
from gpuassist.model.finding import Action, Answer, CommandUse, Remedy, Severity
from gpuassist.model.plan import Step, StepKind, Tool
from gpuassist.model.text import verbatim
from gpuassist.session.install_wish import ANY, InstallWish, toolkit_to_use, wish_for_answer, wish_for_parts, wish_in_words, wish_of
from gpuassist.session.plan import parse_goal
from tests.values import knowledge

VERSIONS = st.sampled_from(["", ANY, "2.7.1+cu128", "12.8", "580"])
WISHES = st.builds(
    InstallWish, VERSIONS, VERSIONS, VERSIONS, st.sampled_from(["", *(one.value for one in Tool)]), no_root=st.booleans()
)


def answer(*remedies: tuple[str, ...]) -> Answer:
    """A finding with these remedies, each by the keys of its commands."""
    made = tuple(Remedy("do it", tuple(CommandUse(key, (), ()) for key in keys), False, Action.COMMAND, "") for keys in remedies)
    return Answer("made-up", Severity.PROBLEM, "title", "", (), made, ())


@given(WISHES)
def test_what_was_said_comes_back(wish: InstallWish) -> None:
    assert wish_of(wish_in_words(wish)) == wish


@given(WISHES)
def test_every_goal_is_one_of_the_terminal(wish: InstallWish) -> None:
    for goal in wish.goals:
        parse_goal(goal, knowledge())


@given(st.text())
def test_any_words_are_some_wish(words: str) -> None:
    assert isinstance(wish_of(words), InstallWish)


def test_a_kind_alone_means_any_version() -> None:
    assert wish_of("torch; cuda") == InstallWish(toolkit=ANY, torch=ANY)


@pytest.mark.parametrize(
    ("words", "wish"),
    [
        (" torch == 2.7.1 ;driver ", InstallWish(driver=ANY, torch="2.7.1")),
        ("torch=2.7.1", InstallWish(torch="2.7.1")),
        ("torch==", InstallWish(torch=ANY)),
        ("torch==2.6; torch==2.7", InstallWish(torch="2.7")),
        ("as=pip;as=uv", InstallWish(tool="uv")),
        ("as=", InstallWish()),
        ("toolkit==13.0", InstallWish()),
        ("gpu==RTX 5090; torch", InstallWish(torch=ANY)),
        ("no-root=yes", InstallWish()),
        ("No-Root", InstallWish()),
        (";;;", InstallWish()),
    ],
)
def test_odd_words_are_read_as_far_as_they_go(words: str, wish: InstallWish) -> None:
    assert wish_of(words) == wish


def test_goals_are_spelled_as_in_the_terminal() -> None:
    assert InstallWish(driver="580", torch=ANY).goals == ("driver==580", "torch")


def test_what_torch_comes_by() -> None:
    assert (wish_of("torch; as=uv").as_tool, wish_of("torch").as_tool) == (Tool.UV, None)


def test_a_tool_that_is_none_is_passed_over() -> None:
    assert wish_of("torch; as=magic") == InstallWish(torch=ANY)


def test_a_what_if_leads_with_its_parts() -> None:
    assert wish_for_parts(Wish(driver="595", torch="2.9.1+cu128", python="3.13")) == "driver==595; torch==2.9.1+cu128"


def test_what_shall_not_be_there_is_not_installed() -> None:
    assert wish_for_parts(Wish(driver=NONE, toolkit="12.8")) == "cuda==12.8"


@pytest.mark.parametrize(
    ("keys", "wish"),
    [
        (("torch-remove", "torch-install"), "torch"),
        (("driver-install-open", "reboot"), "driver"),
        (("cuda-repository-add", "toolkit-install"), "cuda"),
        (("toolkit-install-conda",), "cuda"),
        (("reboot",), ""),
        (("driver-install-proprietary", "torch-install-uv"), "driver; torch"),
    ],
)
def test_a_finding_that_an_install_mends_leads_there(keys: tuple[str, ...], wish: str) -> None:
    assert wish_for_answer(answer(keys)) == wish


def test_another_way_to_mend_it_leads_nowhere() -> None:
    assert wish_for_answer(answer(("unset-variable",), ("torch-install",))) == ""


@pytest.mark.parametrize(
    ("commands", "version"),
    [(("gpuassist use cuda 12.8",), "12.8"), (("gpuassist use cuda 12.8 --yes",), "12.8"), (("sudo reboot",), ""), ((), "")],
)
def test_which_toolkit_a_step_uses(commands: tuple[str, ...], version: str) -> None:
    assert toolkit_to_use(Step(StepKind.EDIT, verbatim("use"), commands)) == version
