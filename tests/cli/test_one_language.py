"""An answer in another language has no English left in it but names, sources and command lines."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist import app
from gpuassist.cli import main as cli
from gpuassist.cli import verify
from gpuassist.context import Session
from gpuassist.model.words import Words
from tests.cli.made_session import live_session, run_live
from tests.pseudo import Pseudo, strangers, unmarked
from tests.torch_environment import interpreter_that_runs
from tests.translations import RESOURCES
from tests.verify.lines import BEGIN, DONE, END, FAIL, PASS, REFUSAL, SKIP, START
from tests.verify.test_runner import says
from tools.frozen import PASTED

MACHINES = sorted((RESOURCES / "machines").glob("*.json"))
_ENGLISH = re.compile(r"(?:[a-z]{2,}[,;:]? +)+[a-z]{2,}")
_SOURCE = re.compile(r"\[[^\]]*\]")  # of a fact; what may be left out of a command line


PSEUDO = Pseudo(marks_data=True)


def _compose(language: str) -> Session:
    return replace(app.compose("en"), words=Words("xx", PSEUDO))


@pytest.fixture(autouse=True)
def every_message_can_be_translated() -> Iterator[None]:
    """Whatever a test has the program say."""
    PSEUDO.seen.clear()
    yield
    assert strangers(PSEUDO.seen) == set()


def _left(out: str) -> list[str]:
    """What stands outside of all «» and is no command line, no option and nothing that is typed for one."""
    return [
        line
        for line in unmarked(_SOURCE.sub("", out)).splitlines()
        if _ENGLISH.search(line) and not line.lstrip().startswith(("gpuassist", "--"))
    ]


COMMANDS = ("doctor", "detect", "plan driver", "plan torch cuda", "plan gpu=RTX5090", "holders", "shell")
ASKED = (
    "know xid 79",
    "know nvml 3",
    "know pair torch-numpy2",
    "know wheel nvidia-cublas-cu12",
    "--help",
    *(f"{verb} --help" for verb in cli.COMMANDS),
)


def _said(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with contextlib.suppress(SystemExit):
        cli.main(words, compose=_compose, open_window=app.open_window)
    return capsys.readouterr().out


@pytest.mark.parametrize("machine", MACHINES, ids=lambda path: path.stem)
def test_no_sentence_about_a_machine_is_left_in_english(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = {command: _said([*command.split(), "--machine", str(machine)], capsys) for command in COMMANDS}
    assert all("«" in words for words in said.values())
    assert {command: left for command, words in said.items() if (left := _left(words))} == {}


@pytest.mark.parametrize("asked", ASKED)
def test_no_sentence_of_knowledge_or_help_is_left_in_english(asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = _said(asked.split(), capsys)
    assert "«" in said
    assert _left(said) == []


@pytest.mark.parametrize("pasted", PASTED)
def test_no_sentence_about_a_text_is_left_in_english(pasted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text(pasted, "utf-8")
    said = _said(["explain", str(tmp_path / "text"), "--machine", "none"], capsys)
    assert "«" in said
    assert [line for line in _left(said) if line.strip() not in pasted] == []


@pytest.mark.parametrize(
    "printed",
    [(START, BEGIN, PASS, DONE, END), (START, BEGIN, FAIL, DONE, END), (START, BEGIN, SKIP, DONE, END), (REFUSAL,), (START, BEGIN)],
    ids=["passed", "failed", "skipped", "refused", "cut off"],
)
def test_no_sentence_of_a_verification_is_left_in_english(printed: tuple[object, ...], tmp_path: Path) -> None:
    python = interpreter_that_runs(tmp_path, sys.executable, says(*printed))
    told = run_live(verify, "--python", python, session=live_session(words=Words("xx", PSEUDO)))
    assert "«" in told.out
    theirs = [str(one["error"]) for one in (FAIL, SKIP, REFUSAL)]
    assert [line for line in _left(told.out + told.err) if not any(words in line for words in theirs)] == []
