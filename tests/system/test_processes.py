"""Real programs, bounded in time and output."""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path

import pytest

from gpuassist.system import child
from gpuassist.system.own_child import clean
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import RealProcesses
from tests.fakes import TimeThatRunsOut

PATH = {"PATH": "/usr/bin:/bin"}


def _python(code: str, *, seconds: float = 100, stdin: bytes = b"") -> ProcessResult:
    return RealProcesses().run([sys.executable, "-I", "-c", code], seconds=seconds, environment=PATH, stdin=stdin)


def test_output_and_status_come_back() -> None:
    outcome = _python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (outcome.ending, outcome.status, outcome.stdout, outcome.stderr) == (Ending.EXITED, 3, b"out\n", b"err\n")
    assert not outcome.succeeded


def test_success_is_status_zero() -> None:
    assert _python("pass").succeeded


def test_input_is_handed_over() -> None:
    assert _python("print(input())", stdin=b"hello\n").text == "hello\n"


def test_signal_is_named_by_number() -> None:
    outcome = _python("import os; os.abort()")
    assert (outcome.ending, outcome.status) == (Ending.KILLED, 6)


@pytest.fixture
def ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that a program makes to have its time over."""
    made = tmp_path / "ready"
    monkeypatch.setattr(child, "time", TimeThatRunsOut(made.exists))
    return made


def test_hanging_program_is_killed(ready: Path) -> None:
    outcome = RealProcesses().run(["/bin/sh", "-c", f"echo first; : > {ready}; exec sleep 600"], seconds=600, environment=PATH)
    assert (outcome.ending, outcome.stdout) == (Ending.TIMED_OUT, b"first\n")


def test_grandchild_that_keeps_pipe_does_not_hold() -> None:
    code = "import subprocess,sys; subprocess.Popen([sys.executable,'-c','import time; time.sleep(60)'], start_new_session=True)"
    outcome = _python(f"{code}; import time; time.sleep(60)", seconds=0.5)
    assert outcome.ending is Ending.TIMED_OUT
    assert outcome.seconds < 30


def test_child_that_nothing_ends_does_not_hold(ready: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck: list[int] = []
    monkeypatch.setattr(child, "end_group", stuck.append)  # as with a child stuck in the kernel
    command = ["/bin/sh", "-c", f"echo said; : > {ready}; exec sleep 600"]
    outcome = RealProcesses().run(command, seconds=600, environment=PATH)
    assert (outcome.ending, outcome.stdout) == (Ending.TIMED_OUT, b"said\n")
    os.killpg(stuck[0], signal.SIGKILL)  # it is still there, its parent waits for it in the background


def test_background_job_does_not_delay_the_end() -> None:
    outcome = RealProcesses().run(["/bin/sh", "-c", "sleep 60 & echo done"], seconds=100, environment=PATH)
    assert (outcome.ending, outcome.stdout) == (Ending.EXITED, b"done\n")
    assert outcome.seconds < 30


def test_large_input_survives_a_slow_start() -> None:
    outcome = _python("import sys, time; time.sleep(0.3); print(len(sys.stdin.read()))", stdin=b"x" * 300_000)
    assert outcome.text == "300000\n"


def test_missing_program_is_a_value(tmp_path: Path) -> None:
    outcome = RealProcesses().run([str(tmp_path / "nvcc")], seconds=1, environment=PATH)
    assert outcome.ending is Ending.NOT_FOUND


def test_program_without_permission_is_a_value(tmp_path: Path) -> None:
    (tmp_path / "nvcc").write_text("#!/bin/sh\n")
    outcome = RealProcesses().run([str(tmp_path / "nvcc")], seconds=1, environment=PATH)
    assert outcome.ending is Ending.NOT_STARTED
    assert "ermission" in outcome.words


def test_junk_that_is_no_program_is_a_value(tmp_path: Path) -> None:
    (tmp_path / "nvcc").write_bytes(b"\x00\x01junk")
    (tmp_path / "nvcc").chmod(0o755)
    assert RealProcesses().run([str(tmp_path / "nvcc")], seconds=1, environment=PATH).ending is Ending.NOT_STARTED


def test_nul_in_argument_is_a_value() -> None:
    assert RealProcesses().run(["true", "a\0b"], seconds=1, environment=PATH).ending is Ending.NOT_STARTED


def test_output_is_bounded() -> None:
    assert len(_python("print('x' * (5 << 20))").stdout) == 4 << 20


def test_flood_is_not_kept(ready: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = f"yes | head -c 256M; : > {ready}; exec yes"
    outcome = RealProcesses().run(["/bin/sh", "-c", line], seconds=600, environment=PATH)
    assert (outcome.ending, len(outcome.stdout)) == (Ending.TIMED_OUT, 4 << 20)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # of 256 MiB and more


def test_flood_in_the_background_does_not_hold() -> None:
    outcome = RealProcesses().run(["/bin/sh", "-c", "yes & echo done"], seconds=100, environment=PATH)
    assert outcome.ending is Ending.EXITED
    assert outcome.seconds < 30


def test_program_that_closes_its_output_is_waited_for() -> None:
    outcome = _python("import os, time; os.closerange(0, 3); time.sleep(0.3); os._exit(4)")
    assert (outcome.ending, outcome.status) == (Ending.EXITED, 4)


def test_program_that_closes_its_output_and_hangs_is_killed() -> None:
    outcome = _python("import os, time; os.closerange(0, 3); time.sleep(60)", seconds=0.5)
    assert outcome.ending is Ending.TIMED_OUT
    assert outcome.seconds < 30


def test_input_that_is_not_wanted_is_no_fault() -> None:
    assert _python("import sys; sys.exit(5)", stdin=b"x" * 300_000).status == 5


def test_input_and_output_can_both_be_large() -> None:
    code = "import sys; data = sys.stdin.read(); sys.stderr.write(data); sys.stdout.write(data)"
    outcome = _python(code, stdin=b"x" * 1_000_000)
    assert (len(outcome.stdout), len(outcome.stderr)) == (1_000_000, 1_000_000)


ASK_AND_GO = """
import os, sys, threading, time
from gpuassist.system import groups
from gpuassist.system.world import RealProcesses
from tests.fakes import TimeThatRunsOut
ask = lambda: RealProcesses().run(["/bin/sh", "-c", f"echo $$ > {sys.argv[1]}; exec sleep 60"], seconds=60, environment={})
threading.Thread(target=ask, daemon=True).start()
while not (os.path.exists(sys.argv[1]) and os.path.getsize(sys.argv[1])):
    time.sleep(0.01)
groups.end_all()
"""


def test_no_program_outlives_us(tmp_path: Path) -> None:
    outcome = RealProcesses().run([sys.executable, "-c", ASK_AND_GO, str(tmp_path / "pid")], seconds=100, environment=PATH)
    assert outcome.succeeded, outcome.stderr
    state = Path(f"/proc/{int((tmp_path / 'pid').read_text())}/stat")
    assert not state.exists() or " Z " in state.read_text()  # a container may have nobody who collects the dead


def test_environment_is_exactly_what_was_given() -> None:
    outcome = RealProcesses().run(["/usr/bin/env"], seconds=5, environment={"ONLY": "this"})
    assert outcome.stdout == b"ONLY=this\n"


def test_program_leads_its_own_group() -> None:
    assert _python("import os; print(os.getpgrp() == os.getpid())").text == "True\n"
    assert os.getpgrp() != 0


def test_users_environment_is_kept_as_it_is() -> None:
    variables = {
        "LD_LIBRARY_PATH": "/usr/local/cuda/lib64",
        "LD_LIBRARY_PATH_ORIG": "theirs",
        "PYTHONPATH": "/home/you/lib",
        "QT_QPA_PLATFORMTHEME": "qt5ct",
        "QT_PLUGIN_PATH": "/opt/qt/plugins",
    }
    assert clean(variables) == variables


BUNDLE = {"_PYI_ARCHIVE_FILE": "x", "_PYI_APPLICATION_HOME_DIR": "/opt/gpuassist/_internal", "HOME": "/home/you"}


@pytest.mark.parametrize("name", ["LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "QML2_IMPORT_PATH", "PYSIDE6_OPTION_PYTHON_ENUM"])
def test_children_of_a_bundle_have_what_the_user_had(name: str) -> None:
    bundles = {**BUNDLE, name: "/opt/gpuassist/_internal", "PYTHONPATH": "/home/you/lib", "PYTHONHOME": "/opt/python"}
    rest = {"HOME": "/home/you", "PYTHONPATH": "/home/you/lib", "PYTHONHOME": "/opt/python"}
    assert clean(bundles) == rest
    assert clean({**bundles, f"{name}_ORIG": "/opt/lib"}) == {**rest, name: "/opt/lib"}
    assert clean(clean({**bundles, f"{name}_ORIG": "/opt/lib"})) == {**rest, name: "/opt/lib"}


def test_a_bundle_judges_what_the_user_had(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**BUNDLE, "LD_LIBRARY_PATH": "/opt/gpuassist", "LD_LIBRARY_PATH_ORIG": "/opt/cuda"}.items():
        monkeypatch.setenv(name, value)
    variables = Surroundings.current().variables
    assert variables["LD_LIBRARY_PATH"] == "/opt/cuda"
    assert not [name for name in variables if name.startswith("_PYI_") or name.endswith("_ORIG")]


def test_what_an_appimage_says_of_itself_goes_to_no_child() -> None:
    image = {"APPIMAGE": "/home/you/gpuassist.AppImage", "APPDIR": "/tmp/.mount_x", "ARGV0": "./gpuassist", "OWD": "/home/you"}
    assert clean({**image, "HOME": "/home/you"}) == {"HOME": "/home/you"}
    assert clean({"OWD": "theirs"}) == {"OWD": "theirs"}
