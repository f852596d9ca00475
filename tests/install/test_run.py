"""Steps run for real: well-behaved programs, and those that flood, ask, fork away, fail half-way or do not want to end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpuassist.formats.terminal_output import Printed
from gpuassist.install import run as running
from gpuassist.install.run import RunContext, StepEnding, StepOutcome, run_step
from gpuassist.model.plan import Proves, Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.text import verbatim
from gpuassist.system.stop_process import marked
from tests.cli.made_session import live_session


@dataclass
class Bench:
    """Runs scripts as the programs of a step."""

    root: Path
    lines: list[Printed] = field(default_factory=list)
    cancelled: Callable[[], bool] = lambda: False
    listen: Callable[[Printed], None] | None = None

    @property
    def mark(self) -> str:
        return f"test-{self.root.name}-{os.getpid()}"

    def run(self, *scripts: str, proof: StepProof | None = None, creates: str = "") -> StepOutcome:
        programs = tuple((sys.executable, "-c", script) for script in scripts)
        return self.programs(programs, proof, creates)

    def programs(self, programs: tuple[tuple[str, ...], ...], proof: StepProof | None = None, creates: str = "") -> StepOutcome:
        step = Step(StepKind.COMMAND, verbatim("a step"), run=StepRun(programs, Tool.PIP, creates=creates), proof=proof)
        around = RunContext(str(self.root), str(self.root / "log.txt"), self.mark)
        return run_step(
            live_session(), step, around=around, on_line=self.listen or self.lines.append, cancelled=lambda: self.cancelled()
        )

    def cancel_when(self, condition: Callable[[], bool]) -> None:
        self.cancelled = condition

    def cancel_at(self, words: str) -> None:
        self.cancelled = lambda: any(words in line.text for line in self.lines)

    @property
    def log(self) -> str:
        return (self.root / "log.txt").read_text()

    def nothing_runs(self) -> bool:
        return not marked(self.mark)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def words(done: StepOutcome) -> str:
    return live_session().words(done.words)


def test_lines_come_and_are_kept(bench: Bench) -> None:
    done = bench.run("print('one')", "print('two')")
    assert done.ending is StepEnding.DONE
    assert [line.text for line in bench.lines if line.ended] == ["one", "two"]
    assert "\none\n" in bench.log
    assert "\ntwo\n" in bench.log


def test_both_outputs_are_read(bench: Bench) -> None:
    bench.run("import sys; print('out', flush=True); print('err', file=sys.stderr)")
    assert {line.text for line in bench.lines if line.ended} == {"out", "err"}


def test_it_believes_to_be_on_a_terminal_with_nothing_to_read(bench: Bench) -> None:
    bench.run("import sys; print(sys.stdout.isatty(), sys.stdin.isatty(), repr(sys.stdin.read()))")
    assert bench.lines[-1].text == "True False ''"


def test_the_terminal_has_a_width(bench: Bench) -> None:
    bench.run("import os; print(os.get_terminal_size(1).columns)")
    assert bench.lines[-1].text == "100"


def test_a_status_ends_the_step_with_what_was_said(bench: Bench) -> None:
    done = bench.run("print('ERROR: no space left'); print('see the log'); raise SystemExit(7)", "print('never')")
    assert done.ending is StepEnding.FAILED
    assert "status 7: ERROR: no space left" in words(done)
    assert "never" not in bench.log


def test_a_signal_is_named(bench: Bench) -> None:
    done = bench.run("import os; print('going', flush=True); os.kill(os.getpid(), 11)")
    assert (done.ending, "SIGSEGV" in words(done)) == (StepEnding.FAILED, True)


def test_a_program_that_is_not_there_is_named(bench: Bench) -> None:
    done = bench.programs((("no-such-program-at-all", "x"),))
    assert done.ending is StepEnding.NOT_STARTED
    assert "no-such-program-at-all" in words(done)


def test_half_done_is_a_failure_even_where_the_second_is_missing(bench: Bench) -> None:
    done = bench.programs(((sys.executable, "-c", "print('half')"), ("no-such-program-at-all",)))
    assert done.ending is StepEnding.FAILED


def test_a_directory_that_is_there_is_not_made(bench: Bench) -> None:
    (bench.root / "torch-gpu").mkdir()
    done = bench.run("print('x')", creates="torch-gpu")
    assert (done.ending, bench.lines) == (StepEnding.NOT_STARTED, [])


def test_a_question_ends_with_a_clear_word(bench: Bench) -> None:
    done = bench.run("print('Working'); input('Go on? [y/N] ')")
    assert done.ending is StepEnding.FAILED
    assert "“Go on? [y/N]”" in words(done)


def test_a_question_past_its_input_finds_no_terminal(bench: Bench) -> None:
    done = bench.run("open('/dev/tty').readline()")
    assert done.ending is StepEnding.FAILED


def test_megabytes_are_read_and_not_kept_in_memory(bench: Bench) -> None:
    done = bench.run("import sys\nfor n in range(60): sys.stdout.write(('x' * 99 + chr(10)) * 1000)")
    assert done.ending is StepEnding.DONE
    assert sum(line.ended for line in bench.lines) == 60_000


def test_progress_becomes_one_line_of_the_log(bench: Bench) -> None:
    bench.run("import sys\nfor n in range(5000): sys.stdout.write('%d%%\\r' % n)\nprint()\nprint('done')")
    assert bench.log.splitlines()[-3:-1] == ["4999%", "done"]


def test_cancel_ends_it_as_ctrl_c_does(bench: Bench) -> None:
    bench.cancel_at("ready")
    done = bench.run("try:\n  import time; print('ready', flush=True); time.sleep(60)\nexcept KeyboardInterrupt: print('put back')")
    assert done.ending is StepEnding.CANCELLED
    assert done.proved is None
    assert "put back" in bench.log


def test_cancel_before_it_begins_starts_nothing(bench: Bench) -> None:
    bench.cancel_when(lambda: True)
    done = bench.run("print('never')")
    assert (done.ending, bench.lines) == (StepEnding.CANCELLED, [])


def test_cancel_reaches_its_children(bench: Bench) -> None:
    bench.cancel_at("ready")
    done = bench.run("import subprocess\nprint('ready', flush=True)\nsubprocess.run(['sleep', '60'])")
    assert (done.ending, bench.nothing_runs()) == (StepEnding.CANCELLED, True)


def test_cancel_ends_one_that_does_not_want_to(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_PATIENCE_SECONDS", (0.2, 0.2))
    ignore = "import signal, time\nfor n in (2, 15): signal.signal(n, signal.SIG_IGN)\nprint('ready', flush=True)\ntime.sleep(60)"
    bench.cancel_at("ready")
    done = bench.run(ignore)
    assert (done.ending, bench.nothing_runs()) == (StepEnding.CANCELLED, True)


def test_cancel_in_a_flood_is_heard(bench: Bench) -> None:
    bench.cancel_when(lambda: len(bench.lines) > 1000)
    done = bench.run("while True: print('x' * 80)")
    assert (done.ending, bench.nothing_runs()) == (StepEnding.CANCELLED, True)


LEAVES_ONE = """
import os, subprocess, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(1, b'daemon\\n')
        {closes}
        time.sleep(60)
    os._exit(0)
time.sleep(0.3)
print('done')
"""


@pytest.mark.parametrize("closes", ["pass", "os.closerange(0, 3)"])
def test_what_it_leaves_behind_is_ended_and_said(bench: Bench, closes: str) -> None:
    done = bench.run(LEAVES_ONE.format(closes=closes))
    assert (done.ending, done.left, bench.nothing_runs()) == (StepEnding.DONE, 1, True)


def test_one_left_behind_that_floods_keeps_nobody_waiting(bench: Bench) -> None:
    done = bench.run("import os\nif os.fork() == 0:\n  os.setsid()\n  while True: print('x' * 80)\nprint('done')")
    assert (done.ending, bench.nothing_runs()) == (StepEnding.DONE, True)


def test_one_that_closes_its_output_is_waited_for(bench: Bench) -> None:
    done = bench.run("import os, time; os.closerange(0, 3); time.sleep(0.5); open('made', 'w'); os._exit(3)")
    assert done.ending is StepEnding.FAILED
    assert (bench.root / "made").exists()


def test_it_runs_where_it_should_and_with_the_mark(bench: Bench) -> None:
    bench.run("import os; print(os.getcwd(), os.environ['GPUASSIST_RUN'])")
    assert bench.lines[-1].text == f"{bench.root} {bench.mark}"


def test_a_check_that_does_not_hold_is_a_failure(bench: Bench) -> None:
    proof = StepProof(Proves.ABSENT, str(bench.root))
    done = bench.run("print('all went well')", proof=proof)
    assert done.ending is StepEnding.FAILED
    assert "its check does not hold" in words(done)


def test_a_check_that_holds_is_told(bench: Bench) -> None:
    done = bench.run("print('x')", proof=StepProof(Proves.ABSENT, str(bench.root / "gone")))
    assert (done.ending, words(done).endswith("is gone")) == (StepEnding.DONE, True)


def test_a_fault_of_whoever_listens_leaves_nothing_running(bench: Bench) -> None:
    def listen(line: Printed) -> None:
        raise ZeroDivisionError

    bench.listen = listen
    with pytest.raises(ZeroDivisionError):
        bench.run("print('x'); import time; time.sleep(60)")
    assert bench.nothing_runs()
