"""A program in our place: its status, its signals, its terminal."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gpuassist.system.foreground import ForegroundEnd, NotRunError, run_here, signals_held
from tests.fakes import put
from tests.rows import for_each
from tests.waiting import until

# As a program of its own, because signals are a process's.
RUNS = (
    "import sys\nfrom gpuassist.system.foreground import run_here, signals_held\n"
    "with signals_held(): end = run_here(sys.argv[1:], {'PATH': '/usr/bin:/bin'})\nsys.exit(end.status)"
)


def ended(*command: str) -> ForegroundEnd:
    with signals_held():
        return run_here(command, os.environ)


@for_each(
    "command, status, number",
    [
        (("true",), 0, 0),
        (("sh", "-c", "exit 7"), 7, 0),
        (("sh", "-c", "kill -TERM $$"), 143, 15),
        (("sh", "-c", "kill -KILL $$"), 137, 9),
        (("sh", "-c", "sleep 100 & exit 3"), 3, 0),
    ],
)
def test_the_status_is_a_shells(command: Sequence[str], status: int, number: int) -> None:
    assert ended(*command) == ForegroundEnd(status, number)


def test_what_cannot_be_run_has_a_shells_status(tmp_path: Path) -> None:
    for name, text, mode in (("plain", "x", 0o644), ("no-interpreter", "#!/no/such\n", 0o755), ("no-program", "\x7fELF\0", 0o755)):
        (tmp_path / name).write_text(text, "utf-8")
        (tmp_path / name).chmod(mode)
    found = {}
    for name in ("plain", "no-interpreter", "no-program", "missing", ".", "plain/x", "a\0b"):
        with pytest.raises(NotRunError) as caught:
            ended(f"{tmp_path}/{name}")
        found[name] = caught.value.status
        assert caught.value.lacks_interpreter == (name == "no-interpreter")
    assert found == {"plain": 126, "no-interpreter": 127, "no-program": 126, "missing": 127, ".": 126, "plain/x": 127, "a\0b": 126}


def test_a_script_without_a_first_line_is_the_shells(tmp_path: Path) -> None:
    put(tmp_path, "/script", 'exit "$1"\n', mode=0o755)
    assert ended(f"{tmp_path}/script", "7") == ForegroundEnd(7)


def test_what_it_prints_may_go_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    with signals_held():
        run_here(("echo", "words"), os.environ, to_standard_error=True)
    assert capfd.readouterr() == ("", "words\n")


def test_signals_are_as_if_it_had_been_started_by_a_shell(tmp_path: Path) -> None:
    with signals_held():
        run_here(("sh", "-c", f"grep -E '^Sig(Blk|Ign)' /proc/self/status > {tmp_path}/signals"), os.environ)
    blocked, ignored = (int(line.split()[1], 16) for line in (tmp_path / "signals").read_text("utf-8").splitlines())
    assert blocked == 0
    assert not ignored & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGINT - 1)


@for_each("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_what_is_sent_to_us_is_passed_on(number: signal.Signals) -> None:
    hears = f"trap 'echo heard; exit 9' {number.value}; echo ready; while :; do sleep 0.01; done"
    with subprocess.Popen([sys.executable, "-c", RUNS, "sh", "-c", hears], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(number)
        assert child.stdout.read() == "heard\n"
    assert child.returncode == 9


def test_a_program_that_ignores_term_goes_on() -> None:
    ignores = "trap '' TERM; echo ready; read line; echo $line"
    with subprocess.Popen(
        [sys.executable, "-c", RUNS, "sh", "-c", ignores], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.terminate()
        assert child.communicate("it is here\n")[0] == "it is here\n"
    assert child.returncode == 0


def test_bytes_pass_untouched() -> None:
    data = bytes(range(256)) * 1000
    done = subprocess.run([sys.executable, "-c", RUNS, "cat"], input=data, capture_output=True, check=True, timeout=100)
    assert (done.stdout, done.stderr) == (data, b"")


class Terminal:
    """A shell with job control on a terminal of its own."""

    def __init__(self) -> None:
        pid, self.descriptor = pty.fork()
        if pid == 0:
            os.environ.update(PS1="$ ", PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self.pid, self.said = pid, ""

    def types(self, words: str) -> None:
        self.said = ""
        os.write(self.descriptor, words.encode())

    def says(self, words: str) -> bool:
        os.set_blocking(self.descriptor, False)

        def heard() -> bool:
            try:
                self.said += os.read(self.descriptor, 65536).decode("utf-8", "replace")
            except (BlockingIOError, OSError):
                pass
            return words in self.said

        return until(heard)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    one = Terminal()
    yield one
    os.kill(one.pid, signal.SIGKILL)
    os.close(one.descriptor)
    os.waitpid(one.pid, 0)


def test_the_terminals_job_control_is_as_without_us(terminal: Terminal, tmp_path: Path) -> None:
    program = tmp_path / "runs.py"
    program.write_text(RUNS, "utf-8")
    counts = "trap 'n=$((n + 1)); echo heard $n; [ $n = 2 ] && exit 5' INT; echo rea''dy; while :; do sleep 0.01; done"
    script = tmp_path / "counts.sh"
    script.write_text(counts, "utf-8")
    terminal.types(f"{sys.executable} {program} bash {script}\n")
    assert terminal.says("ready")
    terminal.types("\x03")
    assert terminal.says("heard 1")
    terminal.types("\x1a")
    assert terminal.says("Stopped")
    terminal.types("fg\n")
    assert terminal.says("runs.py")
    terminal.types("\x03")
    assert terminal.says("heard 2")  # each Ctrl+C once: the terminal's own, and none from us
    terminal.types("echo status $?\n")
    assert terminal.says("status 5")


def test_a_program_that_stops_itself_gives_the_terminal_back(terminal: Terminal, tmp_path: Path) -> None:
    program = put(tmp_path, "/runs.py", RUNS)
    script = put(tmp_path, "/stops.sh", "kill -STOP $$; exit 6")
    terminal.types(f"{sys.executable} {program} sh {script}\n")
    assert terminal.says("Stopped")
    terminal.types("fg\n")
    assert terminal.says("runs.py")
    terminal.types("echo status $?\n")
    assert terminal.says("status 6")
