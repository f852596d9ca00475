"""The runner with throw-away programs in the child's place: every way in which it can end."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from gpuassist.model.verdict import Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.verify.protocol import CheckBegun, CheckDone, DeviceDone, Event, Finished, Imported, Started
from gpuassist.verify.runner import CHILD, Level, Limits
from tests.torch_environment import interpreter_that_runs, program
from tests.verify.conftest import Run
from tests.verify.lines import BEGIN, DONE, END, FAIL, IMPORTED, PASS, REFUSAL, START

SOON = Limits(start=0.1, gpu=0.1, cpu=0.1, compiling=0.1, ending=0.1)


def says(*documents: object) -> str:
    return "".join(f"say({document!r})\n" for document in documents)


def child(folder: Path, code: str) -> str:
    return interpreter_that_runs(folder, sys.executable, code)


def error_of(result: Verification) -> str:
    assert result.error is not None
    return ENGLISH(result.error)


def test_a_run_to_the_end_passes(verified: Run, tmp_path: Path) -> None:
    result = verified(child(tmp_path, says(START, BEGIN, PASS, DONE, END)))
    assert (result.verdict, result.error) == (Verdict.PASS, None)
    assert result.accelerator_verified
    assert dict(result.environment)["torch"] == "2.5.1+cu124"


def test_a_failed_check_fails_the_run(verified: Run, tmp_path: Path) -> None:
    result = verified(child(tmp_path, says(START, BEGIN, FAIL, DONE, END)))
    assert (result.verdict, result.accelerator_verified) == (Verdict.FAIL, False)


def test_events_come_while_it_runs(verified: Run, tmp_path: Path) -> None:
    heard: list[Event] = []
    verified(child(tmp_path, says(IMPORTED, START, BEGIN, PASS, DONE, END)), heard=heard)
    assert [type(event) for event in heard] == [Imported, Started, CheckBegun, CheckDone, DeviceDone, Finished]


def test_it_is_told_what_to_do(verified: Run, tmp_path: Path) -> None:
    code = "print(sys.argv[0], sys.argv[2], flush=True)"
    result = verified(child(tmp_path, code), devices=("0", "cpu"), level=Level.FULL)
    place, told = result.output.split(" ", 1)
    assert place == CHILD
    request = json.loads(told)
    assert (request["devices"], request["level"], request["limits"]["all"]) == (["0", "cpu"], "full", 0)


def test_what_torch_prints_is_kept_apart(verified: Run, tmp_path: Path) -> None:
    code = "print('{\"type\": \"end\"}', flush=True); print('UserWarning: old driver', file=sys.stderr)\n"
    result = verified(child(tmp_path, code + says(START, BEGIN, PASS, DONE, END)))
    assert result.verdict is Verdict.PASS
    assert "old driver" in result.output


def test_a_flood_of_output_is_bounded(verified: Run, tmp_path: Path) -> None:
    code = "for _ in range(20_000): print('x' * 1000)\n"
    result = verified(child(tmp_path, code + says(START, BEGIN, PASS, DONE, END)))
    assert result.verdict is Verdict.PASS
    assert len(result.output) < 1 << 20


def test_a_missing_torch_is_nothing_to_verify(verified: Run, tmp_path: Path) -> None:
    result = verified(child(tmp_path, says(REFUSAL) + "sys.exit(1)"))
    assert (result.verdict, result.devices) == (Verdict.SKIPPED, ())
    assert error_of(result) == "ModuleNotFoundError: No module named 'torch'"


def test_a_broken_torch_is_an_error(verified: Run, tmp_path: Path) -> None:
    broken = {**REFUSAL, "error": "ImportError: libcudart.so.12: cannot open shared object file"}
    result = verified(child(tmp_path, says(broken) + "sys.exit(1)"))
    assert result.verdict is Verdict.ERROR
    assert "libcudart" in error_of(result)


def test_a_hang_in_a_check_is_named(verified: Run, tmp_path: Path) -> None:
    result = verified(child(tmp_path, says(START, BEGIN) + "time.sleep(60)"), limits=SOON)
    assert result.verdict is Verdict.HUNG
    assert [check.verdict for check in result.devices[0].checks] == [Verdict.HUNG]
    assert "hung" in error_of(result)


def test_a_hang_before_the_start_is_one_too(verified: Run, tmp_path: Path) -> None:
    result = verified(child(tmp_path, "time.sleep(60)"), limits=Limits(importing=0.5))
    assert (result.verdict, result.devices) == (Verdict.HUNG, ())


def test_what_never_ends_is_ended(verified: Run, tmp_path: Path) -> None:
    endless = says(START) + f"while True:\n    say({BEGIN!r}); say({PASS!r}); time.sleep(0.1)"
    result = verified(child(tmp_path, endless), limits=Limits(overall=1))
    assert result.verdict is Verdict.HUNG


def test_a_hang_leaves_no_process(verified: Run, tmp_path: Path) -> None:
    code = "import subprocess; child = subprocess.Popen(['sleep', '60']); print(child.pid, flush=True)\n"
    result = verified(child(tmp_path, code + says(START, BEGIN) + "time.sleep(60)"), limits=SOON)
    pid = result.output.strip()
    _wait_until_gone(pid)


LEFT_BEHIND = {
    "holds the report": "(sleep 300 & echo $!)",
    "left its group": f"""'{sys.executable}' -c 'import os, sys; os.setsid(); os.execvp("sleep", ["sleep", "300"])' & echo $!""",
    "ignores the wish to end": "(trap '' TERM HUP; sleep 300) & echo $!",
}


@pytest.mark.parametrize("left", LEFT_BEHIND.values(), ids=LEFT_BEHIND)
def test_what_holds_the_report_is_not_waited_for(verified: Run, tmp_path: Path, left: str) -> None:
    result = verified(program(tmp_path / "python", f"{left}\nexit 0"))
    assert (result.verdict, result.devices) == (Verdict.ERROR, ())
    assert error_of(result).startswith("the process ended with status 0 without a report")
    _wait_until_gone(result.output.strip())


def test_its_status_is_told_though_its_report_is_held(verified: Run, tmp_path: Path) -> None:
    code = (
        says(START, BEGIN)
        + "import subprocess; subprocess.Popen(['sleep', '300'], close_fds=False); sys.stdout.flush(); os._exit(7)"
    )
    result = verified(child(tmp_path, code))
    assert error_of(result) == "the process ended with status 7 before it was done"


def test_one_that_does_not_wait_for_its_python_is_heard(verified: Run, tmp_path: Path) -> None:
    child(tmp_path, says(START, BEGIN, PASS, DONE, END))
    result = verified(program(tmp_path / "wrapper", f"'{tmp_path}/python' \"$@\" & exit 0"))
    assert (result.verdict, result.error) == (Verdict.PASS, None)


def _wait_until_gone(pid: str) -> None:
    while _runs(pid):  # which it does no more as soon as the signal has reached it
        os.sched_yield()


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(("code", "signal"), [("os.abort()", "SIGABRT"), ("os.kill(os.getpid(), 11)", "SIGSEGV")])
def test_a_crash_in_a_check_has_its_signal(verified: Run, tmp_path: Path, code: str, signal: str) -> None:
    result = verified(child(tmp_path, says(START, BEGIN) + code))
    assert result.verdict is Verdict.ERROR
    assert signal in error_of(result)
    check = result.devices[0].checks[0]
    assert (check.verdict, check.error) == (Verdict.ERROR, result.error)


def test_a_crash_says_its_last_words(verified: Run, tmp_path: Path) -> None:
    code = "print('terminate called after throwing an instance of c10::Error', file=sys.stderr, flush=True); os.abort()"
    result = verified(child(tmp_path, code))
    assert (result.verdict, result.devices) == (Verdict.ERROR, ())
    assert "c10::Error" in error_of(result)


def test_a_crash_after_the_end_does_not_count(verified: Run, tmp_path: Path) -> None:
    result = verified(child(tmp_path, says(START, BEGIN, PASS, DONE, END) + "os.abort()"))
    assert (result.verdict, result.error) == (Verdict.PASS, None)


def test_an_end_without_its_line_is_an_error(verified: Run, tmp_path: Path) -> None:
    result = verified(child(tmp_path, says(START, BEGIN, PASS)))
    assert result.verdict is Verdict.ERROR
    assert "status 0 before it was done" in error_of(result)


def test_silence_is_an_error(verified: Run) -> None:
    result = verified("/bin/true")
    assert (result.verdict, result.devices) == (Verdict.ERROR, ())


def test_garbage_in_the_report_is_an_error(verified: Run, tmp_path: Path) -> None:
    result = verified(child(tmp_path, says(START, BEGIN) + "say(b'Warning: hello\\n'); time.sleep(60)"))
    assert result.verdict is Verdict.ERROR
    assert "Warning: hello" in error_of(result)
    assert result.devices[0].checks[0].verdict is Verdict.ERROR


def test_lines_in_no_order_are_an_error(verified: Run, tmp_path: Path) -> None:
    result = verified(child(tmp_path, says(START, PASS, DONE, END)))
    assert result.verdict is Verdict.ERROR
    assert "order" in error_of(result)


def test_a_closed_report_of_a_program_that_goes_on_is_an_error(verified: Run, tmp_path: Path) -> None:
    code = says(START) + "os.close(int(sys.argv[1])); time.sleep(60)"
    result = verified(child(tmp_path, code), limits=Limits(ending=0.2))
    assert result.verdict is Verdict.ERROR
    assert "had to be ended" in error_of(result)


def test_a_user_may_stop_it(verified: Run, tmp_path: Path) -> None:
    heard: list[Event] = []
    code = says(START, BEGIN) + "time.sleep(60)"
    result = verified(child(tmp_path, code), heard=heard, cancelled=lambda: len(heard) == 2)
    assert result.verdict is Verdict.SKIPPED
    assert error_of(result) == "it was stopped"
    assert [check.verdict for check in result.devices[0].checks] == [Verdict.SKIPPED]


def test_an_event_that_raises_leaves_no_process(verified: Run, tmp_path: Path) -> None:
    class Interrupting(list[Event]):
        def append(self, event: Event) -> None:
            raise KeyboardInterrupt

    marker = tmp_path / "pid"
    code = f"open({str(marker)!r}, 'w').write(str(os.getpid()))\n" + says(START, BEGIN) + "time.sleep(60)"
    with pytest.raises(KeyboardInterrupt):
        verified(child(tmp_path, code), heard=Interrupting())
    assert not _runs(marker.read_text())


def test_a_missing_interpreter_is_said(verified: Run) -> None:
    result = verified("/nowhere/bin/python")
    assert result.verdict is Verdict.SKIPPED
    assert error_of(result) == "there is no interpreter at /nowhere/bin/python"


def test_what_is_not_executable_is_said(verified: Run, tmp_path: Path) -> None:
    place = tmp_path / "python"
    place.mkdir()
    assert "could not be started" in error_of(verified(str(place)))


def test_an_interpreter_that_is_too_old_is_an_error(verified: Run, tmp_path: Path) -> None:
    result = verified(program(tmp_path / "python", "echo 'SyntaxError: invalid syntax' >&2; exit 1"))
    assert result.verdict is Verdict.ERROR
    assert "SyntaxError" in error_of(result)


def environment_of(verified: Run, folder: Path, variables: dict[str, str], *devices: str) -> dict[str, str]:
    result = verified(child(folder, "print(json.dumps(dict(os.environ)))"), variables=variables, devices=devices or ("all",))
    found: dict[str, str] = json.loads(result.output)
    return found


def test_a_bundles_own_variables_do_not_reach_it(verified: Run, tmp_path: Path) -> None:
    ours = {
        "PATH": "/usr/bin:/bin",
        "_PYI_ARCHIVE_FILE": "x",
        "LD_LIBRARY_PATH": "/bundle",
        "LD_LIBRARY_PATH_ORIG": "/opt/cuda/lib64",
    }
    found = environment_of(verified, tmp_path, {**ours, "QT_QPA_PLATFORM": "offscreen"})
    assert found["LD_LIBRARY_PATH"] == "/opt/cuda/lib64"
    assert "_PYI_ARCHIVE_FILE" not in found
    assert found["QT_QPA_PLATFORM"] == "offscreen"  # the user's own


def test_gpus_are_counted_as_nvml_counts_them(verified: Run, tmp_path: Path) -> None:
    assert environment_of(verified, tmp_path, {"PATH": "/usr/bin:/bin"})["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"


def test_the_users_own_order_of_gpus_stays(verified: Run, tmp_path: Path) -> None:
    found = environment_of(verified, tmp_path, {"PATH": "/usr/bin:/bin", "CUDA_DEVICE_ORDER": "FASTEST_FIRST"})
    assert found["CUDA_DEVICE_ORDER"] == "FASTEST_FIRST"


def test_uuids_are_left_to_the_driver(verified: Run, tmp_path: Path) -> None:
    found = environment_of(verified, tmp_path, {"PATH": "/usr/bin:/bin", "CUDA_VISIBLE_DEVICES": "3"}, "GPU-aa", "MIG-bb")
    assert found["CUDA_VISIBLE_DEVICES"] == "GPU-aa,MIG-bb"


def test_numbers_leave_the_visible_devices_alone(verified: Run, tmp_path: Path) -> None:
    found = environment_of(verified, tmp_path, {"PATH": "/usr/bin:/bin", "CUDA_VISIBLE_DEVICES": "3"}, "0")
    assert found["CUDA_VISIBLE_DEVICES"] == "3"
