"""`gpuassist detect` as a person and as a program reads it."""

from __future__ import annotations

import argparse
import gettext
import io
import json
import sys
from pathlib import Path

import pytest

from gpuassist import app
from gpuassist.cli import detect
from gpuassist.cli.context import Context, TerminalStreams, UsageError
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.text import Text
from gpuassist.model.words import ENGLISH, Words
from gpuassist.present.marks import Exit
from gpuassist.system.resources import Resources
from tests.detect.made_toolkit import make_toolkit
from tests.fakes import ScriptedProcesses, put, world_under


class _Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def _context(root: Path, *, machine_file: str = "", colour: bool = False, words: Words = ENGLISH) -> Context:
    answers = make_toolkit(root, "/usr/local/cuda-12.4", "12.4.131", json="12.4.1")
    world = world_under(root, processes=ScriptedProcesses({**answers}))
    session = Session(world, Knowledge(Resources().read), words)
    return Context(session, TerminalStreams(io.StringIO(), _Screen() if colour else io.StringIO(), colour, False), machine_file)


def _run(context: Context, *, as_json: bool = False, lang: str = "") -> str:
    assert detect.run(argparse.Namespace(json=as_json, lang=lang), context) is Exit.HEALTHY
    assert isinstance(context.terminal.out, io.StringIO)
    return context.terminal.out.getvalue()


def test_list_shows_facts_with_their_sources(tmp_path: Path) -> None:
    shown = _run(_context(tmp_path))
    assert "CUDA toolkit /usr/local/cuda-12.4\n" in shown
    assert "  version                       12.4.1  [/usr/local/cuda-12.4/version.json]\n" in shown


def test_list_says_why_a_fact_is_not_known(tmp_path: Path) -> None:
    said = f"  new terminal                  not known: /bin/bash could not be asked: not found: {sys.executable}\n"
    assert said in _run(_context(tmp_path))


def test_plain_list_has_no_colours(tmp_path: Path) -> None:
    context = _context(tmp_path)
    assert "\x1b" not in _run(context)
    assert isinstance(context.terminal.err, io.StringIO)
    assert context.terminal.err.getvalue() == ""


def test_terminal_gets_colours_and_progress(tmp_path: Path) -> None:
    context = _context(tmp_path, colour=True)
    assert "\x1b[1mHost\x1b[0m" in _run(context)
    assert isinstance(context.terminal.err, io.StringIO)
    assert "looked at host (1 of 8)" in context.terminal.err.getvalue()
    assert context.terminal.err.getvalue().endswith("\r\x1b[K")


def test_json_is_one_document_of_facts(tmp_path: Path) -> None:
    document = json.loads(_run(_context(tmp_path), as_json=True))
    assert document["schema"] == 1
    (toolkit,) = document["toolkits"]["value"]
    assert toolkit["version"] == {"value": "12.4.1", "source": "/usr/local/cuda-12.4/version.json"}
    assert document["shell"]["new_terminal"] == {
        "value": None,
        "reason": f"/bin/bash could not be asked: not found: {sys.executable}",
        "asked": True,
    }


def test_json_can_be_fed_back(tmp_path: Path) -> None:
    document = _run(_context(tmp_path), as_json=True)
    put(tmp_path, "/recording.json", document)
    assert _run(_context(tmp_path, machine_file="/recording.json"), as_json=True) == document


def test_recording_is_listed_like_a_live_machine(tmp_path: Path) -> None:
    put(tmp_path, "/recording.json", _run(_context(tmp_path), as_json=True))
    live, recorded = _run(_context(tmp_path)), _run(_context(tmp_path, machine_file="/recording.json"))
    assert live == recorded


def test_file_that_is_no_recording_is_wrong_usage(tmp_path: Path) -> None:
    put(tmp_path, "/recording.json", "{}")
    with pytest.raises(UsageError) as caught:
        _run(_context(tmp_path, machine_file="/recording.json"))
    assert "is not a recorded machine" in ENGLISH(caught.value.reason)


class _Shouting(Words, frozen=True):
    """A language in which everything is loud."""

    def __call__(self, text: Text) -> str:
        return super().__call__(text).replace("could not", "COULD NOT")


_SHOUTING = _Shouting("xx", gettext.NullTranslations())


def test_json_is_english_unless_a_language_is_asked_for(tmp_path: Path) -> None:
    assert "could not be asked" in _run(_context(tmp_path, words=_SHOUTING), as_json=True)
    assert "COULD NOT be asked" in _run(_context(tmp_path, words=_SHOUTING), as_json=True, lang="zh_CN")


def test_real_command_prints_json_alone(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert app.main(["detect", "--json"]) == Exit.HEALTHY
    out, err = capfd.readouterr()
    assert json.loads(out)["shell"]["new_terminal"]["value"]["shell"]
    assert err == ""
