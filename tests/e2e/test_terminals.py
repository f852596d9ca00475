"""What the command prints to terminals, pipes and files of every kind, and how it ends when it is cut short."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e.command import COMMAND, bashrc, environment, gpuassist, in_shell
from tests.e2e.contract import check_diagnosis
from tests.e2e.test_examples import PATHS, recorded

PROBLEM = next(path for path in PATHS if "cuda-11-7-first" in path)
HEALTHY = next(path for path in PATHS if "08-healthy" in path)
SHOW = ("doctor", "--machine", PROBLEM)
COMMANDS = (
    SHOW,
    (*SHOW, "--json"),
    ("know", "gpu", "RTX 4090"),
    ("detect", "--machine", PROBLEM),
    ("undo", "--list"),
    ("--version",),
    ("--help",),
)

each_command = pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)

PLAIN_ENCODINGS = (
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C"},
    {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LANG": "", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)


@each_command
def test_reader_that_has_gone_is_no_fault(home: Path, arguments: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([*COMMAND, *arguments], stdout=writer, stderr=subprocess.PIPE, env=environment(home), check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_first_line_can_be_had(home: Path) -> None:
    done = in_shell(home, f"$gpuassist detect --machine '{PROBLEM}' | head -1")
    assert (done.text.count("\n"), done.err) == (1, b"")


@each_command
def test_full_disk_is_said_in_a_sentence(home: Path, arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, env=environment(home), check=False)
    assert done.returncode == 70
    assert done.stderr == b"gpuassist: the output could not be written: No space left on device\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("command", "status"), [(f"doctor --machine '{PROBLEM}'", 2), ("undo --list", 0)])
def test_closed_stream_changes_nothing(home: Path, command: str, status: int, closed: str) -> None:
    assert in_shell(home, f"$gpuassist {command} {closed}").status == status


@pytest.mark.parametrize("variables", PLAIN_ENCODINGS, ids=str)
def test_terminal_without_our_glyphs_gets_others(home: Path, variables: dict[str, str]) -> None:
    done = gpuassist(home, *SHOW, **variables)
    assert done.status == 2
    assert b"problem: " in done.out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_plain_glyphs_stand_for_ours(home: Path, encoding: str) -> None:
    done = gpuassist(home, *SHOW, PYTHONIOENCODING=encoding)
    assert b"\nx problem: " in done.out
    assert b"\n+ Checked and fine: " in done.out
    assert b"\\u" not in done.out


@pytest.mark.parametrize("variables", PLAIN_ENCODINGS, ids=str)
def test_json_is_json_in_any_encoding(home: Path, variables: dict[str, str]) -> None:
    document = json.loads(gpuassist(home, *SHOW, "--json", **variables).out)
    assert document == recorded(PROBLEM, "doctor", "--json").document()


def test_json_shows_what_it_can_unescaped(home: Path, tmp_path: Path) -> None:
    document = json.loads(Path(HEALTHY).read_bytes())
    saved = tmp_path / "machine.json"
    saved.write_text(json.dumps({**document, "note": "健康"}))
    assert "健康" in gpuassist(home, "detect", "--json", "--machine", str(saved)).text
    escaped = gpuassist(home, "detect", "--json", "--machine", str(saved), PYTHONIOENCODING="ascii")
    assert (escaped.out.isascii(), json.loads(escaped.out)["note"]) == (True, "健康")


def _on_terminal(home: Path, *arguments: str, **variables: str) -> bytes:
    """What a terminal shows of it."""
    ours, theirs = pty.openpty()
    try:
        child = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment(home, {"TERM": "xterm-256color", **variables}),
        )
        os.close(theirs)
        return _all_of(ours)
    finally:
        child.wait(60)
        os.close(ours)


def _all_of(terminal: int) -> bytes:
    shown = b""
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # how a terminal says that nobody writes to it any more
            return shown
        if not chunk:
            return shown
        shown += chunk


def test_terminal_gets_colour(home: Path) -> None:
    assert b"\x1b[" in _on_terminal(home, *SHOW)


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colour_can_be_declined(home: Path, variables: dict[str, str]) -> None:
    shown = _on_terminal(home, *SHOW, **variables)
    assert b"problem: " in shown
    assert b"\x1b" not in shown


def test_pipe_gets_no_colour(home: Path) -> None:
    assert b"\x1b" not in gpuassist(home, *SHOW, TERM="xterm-256color").out


def test_colour_adds_nothing_but_colour(home: Path) -> None:
    coloured = re.sub(rb"\x1b\[[0-9;]*m", b"", _on_terminal(home, *SHOW, COLUMNS="80")).replace(b"\r\n", b"\n")
    assert coloured == gpuassist(home, *SHOW, COLUMNS="80").out


def test_json_on_a_terminal_has_no_colour(home: Path) -> None:
    check_diagnosis(json.loads(_on_terminal(home, *SHOW, "--json")))


@pytest.mark.parametrize("columns", ["1", "20", "80", "100000", "0", "wide"])
def test_any_width_is_borne(home: Path, columns: str) -> None:
    done = gpuassist(home, *SHOW, COLUMNS=columns)
    assert (done.status, done.err) == (2, b"")


@pytest.mark.parametrize("variables", [{"LANG": "zh_CN.UTF-8"}, {"LC_ALL": "zh_CN.UTF-8"}, {"LANG": "xx_YY"}, {"LC_ALL": "\x7f"}])
def test_json_is_english_in_any_locale(home: Path, variables: dict[str, str]) -> None:
    assert gpuassist(home, *SHOW, "--json", **variables).document() == recorded(PROBLEM, "doctor", "--json").document()


@pytest.mark.parametrize("arguments", [("--lang", "zh_CN", *SHOW), (*SHOW, "--lang=zh_CN"), (*SHOW, "--json", "--lang", "zh_CN")])
def test_chinese_can_be_asked_for(home: Path, arguments: tuple[str, ...]) -> None:
    done = gpuassist(home, *arguments)
    assert (done.status, done.err.count(b"\n")) == (2, done.err.count(b"so this is in English.\n"))
    assert "CUDA 11.7" in done.text


def _slow(home: Path) -> Path:
    """A home whose start-up file tells that it runs, and then never returns; gives the file with its process id."""
    bashrc(home, f"echo $$ > {home}/began.new; mv {home}/began.new {home}/began", "sleep 600")
    return home / "began"


def _interrupted(home: Path, began: Path, number: signal.Signals, *arguments: str) -> tuple[int, bytes]:
    child = subprocess.Popen([*COMMAND, *arguments], env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        while not began.exists():
            assert child.poll() is None, child.communicate()
            _pause()
        child.send_signal(number)
        _, said = child.communicate(timeout=100)
    finally:
        child.kill()
    return child.returncode, said


def _pause() -> None:
    signal.sigtimedwait((), 0.02)


def _alive(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and " Z " not in state.read_text()  # a container may have nobody who collects the dead


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("doctor",), ("detect", "--json"), ("use", "cuda", "99.9", "--yes")], ids=" ".join)
def test_interrupt_ends_at_once_and_leaves_nothing(home: Path, arguments: tuple[str, ...]) -> None:
    began = _slow(home)
    assert _interrupted(home, began, signal.SIGINT, *arguments) == (130, b"")
    _pause()
    assert not _alive(int(began.read_text()))
