"""The command line as a whole: options, exit statuses, and faults."""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuassist import __version__, app
from gpuassist.cli import main as cli
from gpuassist.cli.context import Context, UsageError
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH, Words
from gpuassist.present.marks import Exit, worst
from gpuassist.session.navigation import Destination
from gpuassist.system.resources import Resources
from gpuassist.system.world import World
from tests.fakes import world_under
from tests.translations import KNOWN_CHINESE, RESOURCES, knowing_little_chinese

EXAMPLE = RESOURCES / "machines/08-healthy.json"


class _Verb(types.ModuleType):
    """A subcommand that does what the test says."""

    HELP = text("does a thing")

    def __init__(self, name: str, outcome: Exit | BaseException = Exit.HEALTHY) -> None:
        super().__init__(name)
        self.NAME = name
        self.outcome = outcome
        self.seen: list[tuple[argparse.Namespace, Context]] = []

    def arguments(self, parser: argparse.ArgumentParser, words: Words) -> None:
        parser.add_argument("--json", action="store_true", help=words(text("as JSON")))

    def run(self, options: argparse.Namespace, context: Context) -> Exit:
        self.seen.append((options, context))
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


def _main(
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    outcome: Exit | BaseException = Exit.HEALTHY,
    window: Exit | UsageError = Exit.HEALTHY,
) -> tuple[int, dict[str, _Verb]]:
    verbs = {name: _Verb(f"gpuassist.cli.{name}", outcome) for name in cli.COMMANDS}
    for name, verb in verbs.items():
        monkeypatch.setitem(sys.modules, f"gpuassist.cli.{name}", verb)
    session = Session(world_under(tmp_path), Knowledge(lambda name: b"[]"), ENGLISH)
    return cli.main(arguments, compose=lambda language: session, open_window=_window(window)), verbs


def _window(outcome: Exit | UsageError) -> cli.OpenWindow:
    def open_window(session: Session, machine_file: str, wanted: Destination | None) -> Exit:
        if isinstance(outcome, UsageError):
            raise outcome
        return outcome

    return open_window


@pytest.mark.parametrize("outcome", [Exit.HEALTHY, Exit.WARNINGS, Exit.PROBLEMS, Exit.UNDETERMINED])
def test_subcommand_decides_the_status(outcome: Exit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert _main(["doctor"], monkeypatch, tmp_path, outcome)[0] == outcome


@pytest.mark.parametrize(
    "arguments", [["--machine", "m.json", "doctor"], ["doctor", "--machine", "m.json"], ["doctor", "--machine=m.json"]]
)
def test_machine_option_stands_anywhere(arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _, verbs = _main(arguments, monkeypatch, tmp_path)
    assert verbs["doctor"].seen[0][1].machine_file == "m.json"


@pytest.mark.parametrize("arguments", [["frobnicate"], ["doctor", "--frobnicate"], ["--lang", "xx", "doctor"], ["doctor", "extra"]])
def test_wrong_usage_is_64(arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        _main(arguments, monkeypatch, tmp_path)
    assert caught.value.code == Exit.USAGE


@pytest.mark.parametrize("verb", ["use", "undo"])
def test_recorded_machine_is_not_changed(
    verb: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, verbs = _main([verb, "--machine", "m.json"], monkeypatch, tmp_path)
    assert (status, verbs[verb].seen) == (Exit.USAGE, [])
    assert "recorded machine" in capsys.readouterr().err


def test_usage_error_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _ = _main(["verify"], monkeypatch, tmp_path, UsageError(text("no device {name}", name="9")))
    assert (status, capsys.readouterr().err) == (Exit.USAGE, "gpuassist: no device 9\n")


def test_interrupt_is_130(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert _main(["verify"], monkeypatch, tmp_path, KeyboardInterrupt())[0] == Exit.INTERRUPTED


def test_own_fault_is_70_with_traceback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _ = _main(["doctor"], monkeypatch, tmp_path, ZeroDivisionError("ours"))
    assert status == Exit.OUR_FAULT
    assert "ZeroDivisionError: ours" in capsys.readouterr().err


def test_no_command_opens_the_window(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    status, verbs = _main([], monkeypatch, tmp_path)
    assert (status, verbs["doctor"].seen) == (Exit.HEALTHY, [])


def test_no_display_prints_the_doctor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, verbs = _main([], monkeypatch, tmp_path, Exit.WARNINGS, UsageError(text("no display here")))
    assert (status, len(verbs["doctor"].seen)) == (Exit.WARNINGS, 1)
    assert "no display here" in capsys.readouterr().err


def test_help_lists_every_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        _main(["--help"], monkeypatch, tmp_path)
    shown = capsys.readouterr().out
    assert caught.value.code == 0
    assert [name for name in cli.COMMANDS if name not in shown] == []


@pytest.mark.parametrize("arguments", [["--lang", "zh_CN"], ["--lang=zh_CN"], ["doctor", "--lang", "zh_CN"]])
def test_language_is_known_before_parsing(arguments: list[str]) -> None:
    assert cli._language(arguments) == "zh_CN"


@pytest.mark.parametrize(
    ("exits", "expected"),
    [
        ([], Exit.HEALTHY),
        ([Exit.UNDETERMINED, Exit.HEALTHY], Exit.UNDETERMINED),
        ([Exit.UNDETERMINED, Exit.WARNINGS], Exit.WARNINGS),
        ([Exit.WARNINGS, Exit.PROBLEMS], Exit.PROBLEMS),
        ([Exit.PROBLEMS, Exit.USAGE], Exit.USAGE),
        ([Exit.OUR_FAULT, Exit.USAGE], Exit.OUR_FAULT),
    ],
)
def test_worst_exit_wins(exits: list[Exit], expected: Exit) -> None:
    assert worst(exits) == expected


def test_window_without_display_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError):
        app.open_window(app.compose(""), "", None)


@pytest.fixture
def speaking(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Makes the resources those of a copy that knows a little Chinese."""

    def speak(**options: bool) -> None:
        knowing_little_chinese(tmp_path / "copy", **options)
        monkeypatch.setattr(app, "World", lambda around: World(around, resources=Resources(tmp_path / "copy")))

    return speak


def test_locale_chooses_language_of_session(speaking: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    speaking()
    assert app.compose("").words.language == "en"
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert app.compose("").words.language == "zh_CN"
    assert app.compose("en").words.language == "en"


def _said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    with contextlib.suppress(SystemExit):
        cli.main(arguments, compose=app.compose, open_window=app.open_window)
    said = capsys.readouterr()
    return said.out, said.err


NOTICE = "The Chinese translation is not complete yet (1 of 2 sentences), so this is in English.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help", "--lang", "zh_CN"],
        ["know", "--lang=zh_CN", "gpu"],
        ["--lang", "zh_CN", "know", "xid", "79", "--json"],
        ["doctor", "--lang", "zh_CN", "--machine", str(EXAMPLE)],
    ],
)
def test_language_that_is_not_complete_is_told_of_once_beside_the_answer(
    speaking: Callable[..., None], arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    speaking(complete=False)
    english = _said([word.replace("zh_CN", "en") for word in arguments], capsys)
    assert english[1] == ""
    assert _said(arguments, capsys) == (english[0], NOTICE)


def test_locale_whose_translation_is_not_complete_is_told_of_where_people_read(
    speaking: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    speaking(complete=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert _said(["know", "xid", "79"], capsys)[1] == NOTICE
    assert _said(["know", "xid", "79", "--json"], capsys)[1] == ""
    assert _said(["know", "xid", "79", "--json", "--lang", "en"], capsys)[1] == ""


def test_complete_language_is_spoken_without_a_word_about_it(
    speaking: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    speaking()
    out, err = _said(["--help", "--lang", "zh_CN"], capsys)
    assert (KNOWN_CHINESE["print the version"] in out, err) == (True, "")


def _gpuassist(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gpuassist", *arguments], capture_output=True, text=True, timeout=100, check=False)


def test_installed_command_tells_its_version() -> None:
    assert _gpuassist("--version").stdout == f"gpuassist {__version__}\n"


def test_installed_command_refuses_unknown_words() -> None:
    outcome = _gpuassist("frobnicate")
    assert (outcome.returncode, outcome.stdout) == (64, "")
    assert "frobnicate" in outcome.stderr
