"""Another machine by ssh: what ssh is asked, what is copied and removed, and what is said where it cannot be had."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpuassist import __version__
from gpuassist.model.text import Text
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.streamed_samples import LinesEndedError
from gpuassist.session import other_connection
from gpuassist.session.other_connection import NotWantedHereError, OtherMachineError, RemoteRun
from gpuassist.session.other_machine import OtherMachine, source_of, watch_of
from gpuassist.system import ssh_link
from tests.fakes import put
from tests.session.made_ssh import MadeHost
from tests.waiting import until


@pytest.fixture
def host(tmp_path: Path) -> MadeHost:
    return MadeHost(tmp_path)


def reached(host: MadeHost, name: str = "box", *, half: bool = True) -> OtherMachine:
    return OtherMachine(host.session(), name, half=str(host.half) if half else "")


def why_not(host: MadeHost, *, half: bool = True) -> tuple[str, bool]:
    other = reached(host, half=half)
    with pytest.raises(OtherMachineError) as caught:
        other.machine()
    other.close()
    return ENGLISH(caught.value.reason), caught.value.waits


def test_a_machine_is_read_by_a_copy_that_is_gone_afterwards(host: MadeHost) -> None:
    other = reached(host)
    assert other.machine() == host.machine
    assert other.machine() == host.machine
    (first, words), (second, _) = host.ran()
    assert words == ["--read-only", "detect", "--json"]
    assert first == second
    assert os.path.dirname(first) == str(host.there)
    assert os.stat(first).st_mode & 0o077 == 0
    other.close()
    assert until(lambda: not host.left())
    asked = host.asked.read_text().splitlines()
    assert asked.count("box") == 1, "one connection serves all"
    assert asked[asked.index("--") + 1] == "box"
    assert "BatchMode=yes" in asked


def test_ssh_may_ask_until_it_was_let_in_once(host: MadeHost) -> None:
    other = OtherMachine(host.session(), "box", half=str(host.half), may_ask=True)
    other.connect()
    assert "BatchMode=yes" not in host.asked.read_text()
    assert not other.may_ask
    other.close()


def test_start_up_files_may_print_what_they_like(tmp_path: Path) -> None:
    host = MadeHost(tmp_path, before="cat /proc/self/status; echo 'Welcome!'; echo banner >&2; (sleep 0.05; echo late) &")
    other = reached(host)
    assert other.machine() == host.machine
    other.close()


@pytest.mark.needs("bash", "dash", "zsh", "fish")
def test_every_login_shell_takes_the_command(host: MadeHost) -> None:
    python = host.programs / "python3"
    python.unlink()
    command = ssh_link.ssh_command("box", "token", may_ask=False)[-1]
    for shell in filter(None, map(shutil.which, ("bash", "dash", "zsh", "fish", "tcsh"))):
        told = [shell, "-c", command], {"PATH": str(host.programs), "HOME": str(host.there)}
        put(host.programs, "python3", "#!/bin/sh\nexit 127\n", mode=0o755)  # as a shim of pyenv
        assert subprocess.run(told[0], env=told[1], capture_output=True, check=False).stdout == b"\ntoken none\n", shell
        put(host.programs, "python3", '#!/bin/sh\necho "$2 $3"\n', mode=0o755)
        answer = subprocess.run(told[0], env=told[1], capture_output=True, check=True).stdout.decode()
        assert answer == f"-c {ssh_link.READ_AGENT}\n", shell


def test_a_gpuassist_of_this_version_is_used_where_it_is(host: MadeHost) -> None:
    program = put(host.programs, "gpuassist", mode=0o755)
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo gpuassist {__version__} || cat {host.folder}/machine.json\n')
    other = reached(host, half=False)
    assert other.machine() == host.machine
    assert not host.left()
    other.close()


def test_another_version_there_is_named_where_nothing_can_be_copied(host: MadeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    put(host.programs, "gpuassist", "#!/bin/sh\necho gpuassist 0.0.1\n", mode=0o755)
    monkeypatch.setattr(other_connection, "file_near", lambda _: "")
    monkeypatch.setattr(other_connection, "half_of_this", lambda _: None)
    said, waits = why_not(host, half=False)
    assert "0.0.1" in said
    assert "pipx install gpuassist" in said
    assert waits


def test_a_half_for_other_machines_is_not_copied(host: MadeHost) -> None:
    host.write_half(machine="aarch64" if os.uname().machine != "aarch64" else "x86_64")
    assert "is not for box" in why_not(host)[0]
    host.half.write_bytes(b"no archive")
    assert "is no gpuassist-" in why_not(host)[0]
    assert not host.left()


def test_without_python_there_it_says_so(host: MadeHost) -> None:
    (host.programs / "python3").unlink()
    assert "no Python on box" in why_not(host)[0]


def test_without_ssh_here_it_says_so(host: MadeHost) -> None:
    (host.programs / "ssh").unlink()
    assert "ssh is not installed" in why_not(host)[0]


def test_a_refusal_is_told_and_not_tried_again_where_that_would_not_help(host: MadeHost) -> None:
    host.answer(says="root@box: Permission denied (publickey).")
    said, waits = why_not(host)
    assert waits
    assert all(words in said for words in ("ssh-add", "ssh-copy-id box", "gpuassist --ssh box"))
    host.answer(says="ssh: connect to host box port 22: No route to host")
    assert not why_not(host)[1]


def test_what_it_says_where_a_shell_should_be_is_quoted(host: MadeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    host.answer("echo Hello; printf 'Accept the rules? '; exit 1")
    assert "Accept the rules?" in why_not(host)[0]
    monkeypatch.setattr(other_connection, "BANNER_AT_MOST_BYTES", 1000)
    host.answer("while :; do echo all work and no play; done")
    assert "more than any gpuassist" in why_not(host)[0]


def test_a_name_that_ssh_would_take_for_an_option_never_reaches_it(host: MadeHost) -> None:
    for name in ("-oProxyCommand=touch x", "", "a b", "a;b", "$(x)", "user@-x", "ssh://-x", "x" * 300, "a\nb"):
        with pytest.raises(OtherMachineError):
            OtherMachine(host.session(), name)
    assert not host.asked.exists()


def test_who_does_not_want_it_any_more_need_not_wait(host: MadeHost) -> None:
    host.answer("sleep 600")
    other = reached(host)
    with pytest.raises(NotWantedHereError):
        other.machine(ends=host.asked.exists)
    other.close()


def test_what_is_no_machine_is_told(host: MadeHost) -> None:
    (host.folder / "machine.json").write_text('{"schema": 1, "findings": []}')
    assert "is no machine" in why_not(host)[0]


def agents(host: MadeHost, words: bytes = b"sys.stdin.buffer.read") -> list[int]:
    """The processes on the other side that keep the copy; or those with these words in their command."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            variables, command = Path("/proc", name, "environ").read_bytes(), Path("/proc", name, "cmdline").read_bytes()
        except OSError:
            continue
        if f"TMPDIR={host.there}".encode() in variables and words in command:
            found.append(int(name))
    return found


def test_what_was_copied_is_gone_however_it_ends(host: MadeHost) -> None:
    for end in (signal.SIGKILL, signal.SIGHUP):
        other = reached(host)
        other.connect()
        assert host.left()
        (agent,) = agents(host)
        os.kill(agent, end)
        assert until(lambda: not host.left())
        other.close()


def test_what_was_copied_is_gone_where_we_are_killed(host: MadeHost) -> None:
    script = (
        "import sys; from tests.session.made_ssh import *; from gpuassist.session.other_machine import *\n"
        "host = MadeHost.__new__(MadeHost); host.folder = Path(sys.argv[1]); host.programs = host.folder / 'bin'\n"
        "other = OtherMachine(host.session(), 'box', half=str(host.folder / 'half.pyz'))\n"
        "run = other.connect(); print('there', flush=True); sys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(host.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ)
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"there\n"
        assert host.left()
        child.kill()
    assert until(lambda: not host.left())


def test_live_goes_on_where_the_connection_was_lost(host: MadeHost) -> None:
    host.answer("echo '*** Authorized use only ***' >&2")
    other = reached(host)
    source = source_of(other, host.session())
    assert source.read().gpus[0].index == 0
    (agent,) = agents(host)
    host.answer(says="ssh: connect to host box port 22: Connection refused")
    assert agents(host, b"--headless")
    os.kill(agent, signal.SIGKILL)
    assert until(lambda: source.read().trouble)
    assert [ENGLISH(one) for one in source.read().trouble] == ["The connection to box was lost."]  # a banner says nothing of it
    assert until(lambda: not agents(host, b"--headless"))
    source._again_at = 0.0
    assert until(lambda: any("no SSH server answers" in ENGLISH(one) for one in source.read().trouble))
    host.answer()
    source._again_at = 0.0
    found = source.read()
    assert [gpu.memory_total_bytes.value for gpu in found.gpus] == [100]  # type: ignore[union-attr]
    assert not found.trouble
    source.close()
    other.close()


def end_of(run: RemoteRun) -> Text:
    try:
        while True:
            run.line(1.0)
    except LinesEndedError as error:
        return error.reason


def test_the_end_of_what_runs_there_is_told_in_its_own_words(tmp_path: Path) -> None:
    host = MadeHost(tmp_path, samples=0, status=3)
    host.goes.touch()
    other = reached(host)
    run = other.lines(1.0)
    assert ENGLISH(end_of(run)).startswith("gpuassist failed on box")
    other.close()


def test_a_watch_of_another_machine_is_named_by_it(host: MadeHost) -> None:
    other = reached(host)
    watch = watch_of(other, host.session())
    heard: list[object] = []
    watch.start(heard.append)
    assert until(lambda: watch.peaks.gpus)
    watch.stop()
    other.close()
    assert watch.server == "box"
    assert watch.peaks.gpus.keys() == {0}


def test_a_flood_ends_the_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_connection, "OUTSTANDING_AT_MOST", 1000)
    host = MadeHost(tmp_path, samples=100)
    other = reached(host)
    run = other.lines(1.0)
    assert until(lambda: run.outstanding > 1000)
    assert "more than any gpuassist" in ENGLISH(end_of(run))
    other.close()
