"""Who is the one window: two processes that meet, and what one that hangs, was killed or is somebody else's makes of it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.system.one_window import OneWindow, SecondStart
from gpuassist.system.surroundings import Surroundings

_FIRST = """
import sys
from gpuassist.system.one_window import OneWindow
from gpuassist.system.surroundings import Surroundings

one = OneWindow(Surroundings.current())
assert not one.ask_first(__import__("gpuassist.system.one_window").system.one_window.SecondStart())
def asked(what, answer):
    print(what.place, what.token, flush=True)
    answer()
one.listen(asked)
print("listens", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    return Surroundings(str(tmp_path), "you", os.geteuid(), {"XDG_RUNTIME_DIR": str(runtime), "DISPLAY": ":7"})


@pytest.fixture
def first(around: Surroundings) -> Iterator[subprocess.Popen[str]]:
    environment = {**around.variables, "PATH": "/usr/bin:/bin", "HOME": around.home, "PYTHONPATH": str(Path(__file__).parents[2])}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", _FIRST], stdin=pipe, stdout=pipe, text=True, env=environment) as one:
        assert one.stdout is not None
        assert one.stdout.readline() == "listens\n"
        yield one
        one.kill()


def test_the_first_is_asked_and_answers(first: subprocess.Popen[str], around: Surroundings) -> None:
    assert OneWindow(around).ask_first(SecondStart("live", "sign\u2028"))
    assert first.stdout is not None
    assert first.stdout.readline() == "live sign\u2028\n"


def test_another_display_is_apart(first: subprocess.Popen[str], around: Surroundings) -> None:
    other = OneWindow(replace(around, variables={**around.variables, "DISPLAY": ":8"}))
    assert not other.ask_first(SecondStart())
    other.close()


def test_one_that_hangs_is_waited_for_no_longer_than_it_may_take(first: subprocess.Popen[str], around: Surroundings) -> None:
    first.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, first.pid, os.WSTOPPED | os.WNOWAIT)
    second = OneWindow(around)
    assert not second.ask_first(SecondStart(), seconds=0.1)
    second.listen(_nobody)
    assert not second.ask_first(SecondStart(), seconds=0.1)  # and it has not taken its place


def test_one_that_was_killed_leaves_its_place(first: subprocess.Popen[str], around: Surroundings) -> None:
    first.kill()
    first.wait()
    second = OneWindow(around)
    assert not second.ask_first(SecondStart())
    asked: list[SecondStart] = []

    def answer_it(what: SecondStart, answer: Callable[[], None]) -> None:
        asked.append(what)
        answer()

    second.listen(answer_it)
    assert OneWindow(around).ask_first(SecondStart("found"))
    second.close()
    assert asked == [SecondStart("found")]


def test_a_strangers_words_are_not_obeyed(around: Surroundings) -> None:
    one = OneWindow(around)
    assert not one.ask_first(SecondStart())
    one.listen(_nobody)
    place = next(path for path in Path(around.variables["XDG_RUNTIME_DIR"]).iterdir() if path.is_socket())
    for words in (
        b"\n",
        b"[]\n",
        b'{"place": 7, "token": ""}\n',
        b'{"place": "", "token": "a\\u0000b"}\n',
        b"x" * 5000,
        b"[" * 3000 + b"\n",
    ):
        with socket.socket(socket.AF_UNIX) as asker:
            asker.connect(str(place))
            asker.sendall(words)
            try:
                assert asker.recv(16) == b""
            except ConnectionResetError:
                pass
    one.close()


def _nobody(what: SecondStart, answer: Callable[[], None]) -> None:
    raise AssertionError(what)


@pytest.mark.parametrize("mode", [0o770, 0o755])
def test_a_runtime_directory_that_others_may_enter_is_no_place_to_meet(around: Surroundings, mode: int) -> None:
    Path(around.variables["XDG_RUNTIME_DIR"]).chmod(mode)
    assert not OneWindow(around).ask_first(SecondStart())
    assert not OneWindow(around).ask_first(SecondStart())


def test_another_users_runtime_directory_is_not_entered(around: Surroundings) -> None:
    other = replace(around, uid=around.uid + 1)
    assert not OneWindow(other).ask_first(SecondStart())
    assert list(Path(around.variables["XDG_RUNTIME_DIR"]).iterdir()) == []
