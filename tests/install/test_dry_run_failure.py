"""Why nothing can be told of a step, tool by tool: how it ended, what it said, and what helps."""

from __future__ import annotations

import pytest

from gpuassist.install.dry_run_process import CLOSED, DryRunCommand, failed, impossible, unreadable
from gpuassist.model.plan import Tool
from gpuassist.model.words import ENGLISH
from gpuassist.system.processes import Ending, ProcessResult
from tests.cli.made_session import live_session

PIP = DryRunCommand(Tool.PIP, ("/v/bin/python", "-m", "pip"), 120.0, "/v/bin/python")
MADE = DryRunCommand(Tool.PIP, ("/usr/bin/python3", "-m", "pip"), 120.0, "/v/bin/python", maker="/usr/bin/python3")
CONDA = DryRunCommand(Tool.CONDA, ("conda", "install"), 600.4)
OLD_PIP = "no such option: --report"


def ended(ending: Ending, *, status: int = 1, out: str = "", err: str = "", words: str = "") -> ProcessResult:
    return ProcessResult(ending, status, out.encode(), err.encode(), 1.0, words)


def told(asked: DryRunCommand, outcome: ProcessResult) -> str:
    return ENGLISH(failed(live_session({}), asked, outcome))


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (ended(Ending.CANCELLED), "Looking was cancelled; nothing was changed"),
        (ended(Ending.TIMED_OUT), "conda did not say what it would do within 600 seconds; nothing was changed"),
        (ended(Ending.NOT_FOUND, words="not found: conda"), "conda could not be started: not found: conda"),
        (ended(Ending.NOT_STARTED, words="no permission"), "conda could not be started: no permission"),
        (ended(Ending.KILLED, status=9), "conda was ended by another before it could say what it would do"),
        (ended(Ending.EXITED, status=3), "conda ended with status 3 and did not say why"),
        (ended(Ending.EXITED, status=2, err="  \n\n"), "conda ended with status 2 and did not say why"),
    ],
)
def test_ending_says_why(outcome: ProcessResult, words: str) -> None:
    assert told(CONDA, outcome) == words


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("ERROR: No matching distribution found for torch==9", "pip finds no set of packages that fits together"),
        ("NewConnectionError: Temporary failure in name resolution", "pip could not reach where it gets packages from"),
        ("error: externally-managed-environment", "the distribution keeps this Python for itself"),
        ("/v/bin/python: No module named pip", "/v/bin/python has no pip; `/v/bin/python -m ensurepip"),
        (OLD_PIP, "this pip is too old to say what it would do (that takes 22.2); `/v/bin/python -m pip install"),
        ("Traceback: something new", "pip would do nothing. It says: Traceback: something new"),
    ],
)
def test_reason_of_pip_is_told_with_what_helps(error: str, words: str) -> None:
    assert told(PIP, ended(Ending.EXITED, err=error)).startswith(words)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OLD_PIP, "the pip that /usr/bin/python3 brings is too old"),
        ("No module named pip", "/usr/bin/python3 has no pip itself"),
    ],
)
def test_pip_of_an_environment_to_come_is_its_makers(error: str, words: str) -> None:
    assert told(MADE, ended(Ending.EXITED, err=error)).startswith(words)


def test_unreachable_index_is_not_an_impossible_wish() -> None:
    error = "WARNING: Retrying after NewConnectionError\nERROR: No matching distribution found for torch"
    assert "could not reach" in told(PIP, ended(Ending.EXITED, err=error))


def test_login_of_an_index_is_not_repeated() -> None:
    error = "ERROR: something at https://me:secret@index.example/simple"
    words = told(PIP, ended(Ending.EXITED, err=error))
    assert "index.example" in words
    assert "secret" not in words


def test_what_is_printed_counts_where_nothing_else_is_said() -> None:
    assert "solver_problems" in told(CONDA, ended(Ending.EXITED, out='{"solver_problems": ["nothing provides x"]}'))


@pytest.mark.parametrize("length", [10_000, 1_000_000])
def test_long_explanation_is_shortened(length: int) -> None:
    assert len(told(PIP, ended(Ending.EXITED, err="ERROR: " + "x " * length))) < 800


def test_colours_of_a_tool_are_left_out() -> None:
    assert "\x1b" not in told(PIP, ended(Ending.EXITED, err="\x1b[31mERROR\x1b[0m: odd"))


def test_bytes_that_are_no_text_are_survived() -> None:
    assert told(PIP, ProcessResult(Ending.EXITED, 1, b"\xff\xfe\x00", b"\x80\x81", 1.0))


def test_other_reasons_are_plain_sentences() -> None:
    assert ENGLISH(CLOSED).startswith("the distribution keeps this Python for itself")
    assert ENGLISH(unreadable(CONDA)).startswith("What conda would do cannot be told")
    assert ENGLISH(impossible(PIP, "ERROR: Cannot install a and b")).endswith("It says: Cannot install a and b")
