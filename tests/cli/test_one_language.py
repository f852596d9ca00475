"""An answer in another language has no English left in it but names, sources and command lines."""

from __future__ import annotations

import contextlib
import gettext
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist import app
from gpuassist.cli import main as cli
from gpuassist.context import Session
from gpuassist.model.words import Words
from tests.translations import RESOURCES
from tools.frozen import PASTED

MACHINES = sorted((RESOURCES / "machines").glob("*.json"))
_ENGLISH = re.compile(r"(?:[a-z]{2,}[,;:]? +)+[a-z]{2,}")
_SOURCE = re.compile(r"\[[^\]]*\]")  # the source of a fact


class _Marked(gettext.NullTranslations):
    """A language whose sentences are the English ones in «»."""

    def gettext(self, message: str) -> str:
        return f"«{message}»"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"«{msgid1 if n == 1 else msgid2}»"


def _compose(language: str) -> Session:
    return replace(app.compose("en"), words=Words("xx", _Marked()))


def _left(out: str) -> list[str]:
    """What stands outside of all «»."""
    out = _SOURCE.sub("", out)
    while out != (out := re.sub(r"«[^«»]*»", "", out)):
        pass
    return [line for line in out.splitlines() if _ENGLISH.search(line) and not line.lstrip().startswith("gpuassist")]


COMMANDS = ("doctor", "detect", "plan driver", "plan torch cuda", "plan gpu=RTX5090", "holders", "shell")
ASKED = ("know xid 79", "know nvml 3", "know pair torch-numpy2", "know wheel nvidia-cublas-cu12", "--help", "plan --help")


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
