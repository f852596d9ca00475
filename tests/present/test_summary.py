"""The answer in a sentence, for every number of problems and GPUs."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import Unknown
from gpuassist.model.finding import Answer, Diagnosis, Finding, Passed, Severity, Undetermined
from gpuassist.model.machine import Machine
from gpuassist.model.text import joined, text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.summary import found_figures, found_title, gpu_names, machine_figures
from tests.rows import for_each
from tests.values import GTX_1080_TI, RTX_5090, machine

ONE = machine()
TWO = machine(gpus=(GTX_1080_TI, RTX_5090))
NONE = machine(gpus=())
UNREAD = replace(machine(), gpus=Unknown(text("/sys is not there")))
OPEN = Diagnosis(undetermined=(Undetermined("x", text("fact"), text("reason")),))


def answers(*severities: Severity) -> tuple[Answer, ...]:
    """One answer of each severity."""
    return tuple(Answer("x", severity, "", "", (), (), ()) for severity in severities)


@for_each(
    ("machine_", "severities", "title"),
    [
        (ONE, (Severity.PROBLEM,), "One thing stands between you and your RTX 4090"),
        (ONE, (Severity.PROBLEM, Severity.PROBLEM), "2 things stand between you and your RTX 4090"),
        (TWO, (Severity.PROBLEM,), "One thing stands between you and your GPUs"),
        (TWO, (Severity.PROBLEM,) * 3, "3 things stand between you and your GPUs"),
        (NONE, (Severity.PROBLEM,), "One problem was found"),
        (UNREAD, (Severity.PROBLEM,) * 2, "2 problems were found"),
        (ONE, (Severity.WARNING,), "Nothing stands in the way; one thing may cause trouble later"),
        (ONE, (Severity.WARNING,) * 2, "Nothing stands in the way; 2 things may cause trouble later"),
        (ONE, (Severity.INFO,), "Your RTX 4090 is ready"),
        (ONE, (), "Your RTX 4090 is ready"),
        (TWO, (), "Your GPUs are ready"),
        (NONE, (), "There is no NVIDIA GPU in this machine"),
    ],
)
def test_the_title_is_the_answer(machine_: Machine, severities: tuple[Severity, ...], title: str) -> None:
    assert ENGLISH(found_title(machine_, Diagnosis(), answers(*severities))) == title


def test_what_could_hide_is_never_called_ready() -> None:
    assert ENGLISH(found_title(ONE, OPEN, ())) == "No problem found, but not everything could be checked"


def test_names_leave_out_the_maker() -> None:
    assert gpu_names(TWO) == ("GTX 1080 Ti", "RTX 5090")


def test_figures_count_what_was_found_and_checked() -> None:
    diagnosis = Diagnosis((Finding("a", (), ()),), OPEN.undetermined, (Passed(text("driver")), Passed(text("nvcc"))))
    figures = found_figures(diagnosis, answers(Severity.PROBLEM, Severity.WARNING, Severity.WARNING), 0.42)
    assert ENGLISH(joined(figures)) == "1 problem · 2 warnings · 4 checks in 0.4 s"


def test_figures_leave_out_what_there_is_none_of() -> None:
    assert ENGLISH(joined(found_figures(Diagnosis(), (), 1.0))) == "0 checks in 1.0 s"


def test_no_time_too_short_to_show() -> None:
    passed = Diagnosis(passed=(Passed(text("driver")),))
    assert ENGLISH(found_figures(passed, (), 0.001)[0]) == "1 check"


def test_notes_are_counted_too() -> None:
    assert ENGLISH(found_figures(Diagnosis(), answers(Severity.INFO), 0)[0]) == "1 note"


def test_a_live_machine_says_how_it_was_read() -> None:
    words = ENGLISH(machine_figures(0.42, recorded=False, title=""))
    assert words == "Read in 0.4 s (no root needed, sleeping GPUs untouched)"


@pytest.mark.parametrize(("title", "words"), [("A laptop", "Recorded machine: A laptop"), ("", "A recorded machine")])
def test_a_recorded_machine_says_so(title: str, words: str) -> None:
    assert ENGLISH(machine_figures(0.0, recorded=True, title=title)) == words


def test_joined_parts_may_hold_braces() -> None:
    assert ENGLISH(joined((verbatim("{a}"), verbatim("b")))) == "{a} · b"


def test_nothing_joined_is_empty() -> None:
    assert ENGLISH(joined(())) == ""
