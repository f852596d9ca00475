"""A command typed into a terminal and not executed: which terminal, and that nothing runs before Enter is pressed."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.install.user_terminal import type_into_terminal, typing_command
from tests.fakes import put
from tests.install.installs_made import session_at
from tests.waiting import until

_PATIENCE_SECONDS = 100.0


def desktop(tmp_path: Path, *emulators: str, display: str = ":0", bash: bool = True) -> Session:
    """A session on a desktop with these terminal emulators."""
    for name in emulators:
        put(tmp_path, f"/bin/{name}", "#!/bin/sh\n", mode=0o755)
    if bash:
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin/bash").symlink_to("/bin/bash")
    session = session_at(tmp_path / "home")
    around = replace(session.world.surroundings, variables={"PATH": str(tmp_path / "bin"), "DISPLAY": display})
    return replace(session, world=replace(session.world, surroundings=around))


@pytest.mark.parametrize(
    ("emulators", "chosen"),
    [
        (("xterm",), ("xterm", "-e")),
        (("konsole", "xterm"), ("konsole", "-e")),
        (("gnome-terminal", "xterm"), ("gnome-terminal", "--")),
        (("xterm", "x-terminal-emulator"), ("x-terminal-emulator", "-e")),
    ],
)
def test_the_desktops_own_terminal_is_opened(tmp_path: Path, emulators: tuple[str, ...], chosen: tuple[str, str]) -> None:
    command = typing_command(desktop(tmp_path, *emulators), ("sudo apt install x",))
    assert command[:2] == (f"{tmp_path}/bin/{chosen[0]}", chosen[1])
    assert command[-1] == "sudo apt install x"


@pytest.mark.parametrize("case", ["no emulator", "no display", "no bash", "no lines"])
def test_else_the_lines_are_copied(tmp_path: Path, case: str) -> None:
    emulators = () if case == "no emulator" else ("xterm",)
    session = desktop(tmp_path, *emulators, display="" if case == "no display" else ":0", bash=case != "no bash")
    assert typing_command(session, () if case == "no lines" else ("true",)) == ()
    assert not type_into_terminal(session, ())


def test_it_is_started_and_let_go_of(tmp_path: Path) -> None:
    session = desktop(tmp_path)
    put(
        tmp_path,
        "/bin/xterm",
        f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/asked.new\nmv {tmp_path}/asked.new {tmp_path}/asked\n',
        mode=0o755,
    )
    (tmp_path / "bin/mv").symlink_to("/bin/mv")
    assert type_into_terminal(session, ("sudo 'a b' \"$HOME\"",))
    assert until((tmp_path / "asked").exists)
    assert (tmp_path / "asked").read_text().splitlines()[-1] == "sudo 'a b' \"$HOME\""


@dataclass
class Typing:
    """What is on the screen of a terminal, and the keys."""

    descriptor: int
    screen: bytes = b""

    def shows(self, words: bytes) -> bool:
        """Whether that comes to be shown."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while words not in self.screen and time.monotonic() < deadline:
            if select.select([self.descriptor], [], [], 0.1)[0]:
                self.screen += os.read(self.descriptor, 4096)
        return words in self.screen

    def press(self, keys: bytes) -> None:
        os.write(self.descriptor, keys)


@pytest.fixture
def typing(tmp_path: Path) -> Iterator[Typing]:
    """Two lines that leave a trace, in a real terminal."""
    lines = (f"touch {tmp_path}/'first one'; echo made-$((1+1))", f"touch {tmp_path}/second")
    command = typing_command(desktop(tmp_path, "xterm"), lines)[2:]
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "dumb", "SHELL": "/bin/false"}
    ours, theirs = os.openpty()
    child = subprocess.Popen(command, env=variables, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    yield Typing(ours)
    os.close(ours)
    child.kill()
    child.wait()


def test_nothing_runs_before_enter_is_pressed(typing: Typing, tmp_path: Path) -> None:
    assert typing.shows(b"first one")
    assert not (tmp_path / "first one").exists()
    typing.press(b"\r")
    assert typing.shows(b"made-2")
    assert (tmp_path / "first one").exists()
    assert typing.shows(b"second")
    assert not (tmp_path / "second").exists()


def test_the_line_can_be_cleared(typing: Typing, tmp_path: Path) -> None:
    assert typing.shows(b"first one")
    typing.press(b"\x15echo other-$((2+3))\r")
    assert typing.shows(b"other-5")
    assert not (tmp_path / "first one").exists()
