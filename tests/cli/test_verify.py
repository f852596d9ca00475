"""`gpuassist verify` as a person and as a program reads it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpuassist.cli import verify
from gpuassist.cli.context import UsageError
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.cli.made_session import live_session, run_live
from tests.torch_environment import interpreter_that_runs, torch_python
from tests.verify.lines import BEGIN, DONE, END, FAIL, PASS, REFUSAL, SKIP, START
from tests.verify.test_runner import says

FIGURES = ("max_abs_error", "tolerance", "seconds", "rate", "rate_unit")
ON_CPU = {
    **START,
    "torch": "2.5.1+cpu",
    "cuda": "",
    "accelerators": 0,
    "no_accelerator": "this torch is built for the CPU only",
    "devices": [{**START["devices"][0], "device": "cpu", "name": "x86_64"}],
}
CPU = {"device": "cpu"}
CPU_RUN = (ON_CPU, {**BEGIN, **CPU}, {**PASS, **CPU}, {**DONE, **CPU}, END)
GPU_RUN = (START, BEGIN, PASS, DONE, END)


def python(folder: Path, *documents: object) -> str:
    folder.mkdir(exist_ok=True)
    return interpreter_that_runs(folder, sys.executable, says(*documents))


def document(*arguments: str) -> dict[str, Any]:
    found = json.loads(run_live(verify, "--json", *arguments).out)
    assert isinstance(found, dict)
    return found


def refused(*arguments: str, machine_file: str = "") -> str:
    with pytest.raises(UsageError) as caught:
        run_live(verify, *arguments, machine_file=machine_file)
    return ENGLISH(caught.value.reason)


@pytest.mark.parametrize(
    ("documents", "status"),
    [
        (GPU_RUN, Exit.HEALTHY),
        (CPU_RUN, Exit.HEALTHY),
        ((START, BEGIN, FAIL, DONE, END), Exit.PROBLEMS),
        ((START, BEGIN), Exit.PROBLEMS),
        ((REFUSAL,), Exit.UNDETERMINED),
        (({**REFUSAL, "error": "ImportError: libcudart.so.12"},), Exit.PROBLEMS),
        ((START, BEGIN, SKIP, DONE, END), Exit.UNDETERMINED),
    ],
)
def test_the_status_follows_the_verdict(tmp_path: Path, documents: tuple[object, ...], status: Exit) -> None:
    assert run_live(verify, "--python", python(tmp_path, *documents)).exit is status


def test_each_check_has_a_line(tmp_path: Path) -> None:
    lines = run_live(verify, "--python", python(tmp_path, *GPU_RUN)).out.splitlines()
    assert "cuda:0 · NVIDIA GeForce RTX 4090" in lines
    (check,) = [line for line in lines if line.startswith("  matrix product")]
    assert check.split() == ["matrix", "product", "fp32", "✓", "passed", "1e-06", "/", "1e-05", "58.2", "TFLOP/s"]


def test_the_environment_stands_above(tmp_path: Path) -> None:
    out = run_live(verify, "--python", python(tmp_path, *GPU_RUN)).out
    assert "python 3.11.7 · torch 2.5.1+cu124 · cuda 12.4 · cudnn 9.1.0" in out


def test_a_passed_gpu_is_said(tmp_path: Path) -> None:
    out = run_live(verify, "--python", python(tmp_path, *GPU_RUN)).out
    assert "cuda:0 (NVIDIA GeForce RTX 4090): 1 check passed." in out
    assert "Every GPU that this torch sees computed the right results." in out


def test_the_cpu_alone_is_said_plainly(tmp_path: Path) -> None:
    out = run_live(verify, "--python", python(tmp_path, *CPU_RUN)).out
    assert "No GPU was tested: torch says “this torch is built for the CPU only”" in out


def test_a_failure_has_torchs_words(tmp_path: Path) -> None:
    out = run_live(verify, "--python", python(tmp_path, START, BEGIN, FAIL, DONE, END)).out
    assert "✗ failed" in out
    assert "RuntimeError: no kernel image is available" in out
    assert "cuda:0 (NVIDIA GeForce RTX 4090): the one check that ran gave a wrong result." in out


def test_a_crash_is_said_after_the_table(tmp_path: Path) -> None:
    out = run_live(verify, "--python", python(tmp_path, START, BEGIN)).out
    assert "The run did not finish: the process ended with status 0 before it was done" in out


def test_colour_stands_beside_glyph_and_word(tmp_path: Path) -> None:
    out = run_live(verify, "--python", python(tmp_path, *GPU_RUN), screen=True).out
    assert "\x1b[32m✓ passed" in out


def test_a_terminal_sees_which_check_runs(tmp_path: Path) -> None:
    err = run_live(verify, "--python", python(tmp_path, *GPU_RUN), "--json", screen=True).err
    assert "matrix product fp32…" in err


def test_no_colour_and_no_progress_in_a_pipe(tmp_path: Path) -> None:
    found = run_live(verify, "--python", python(tmp_path, *GPU_RUN))
    assert "\x1b" not in found.out + found.err


def test_json_is_the_contract(tmp_path: Path) -> None:
    found = document("--python", python(tmp_path, *GPU_RUN))
    assert (found["schema"], found["accelerator_verified"]) == (1, True)
    assert found["environment"]["torch"] == "2.5.1+cu124"
    (device,) = found["devices"]
    assert (device["device"], device["name"], device["verdict"]) == ("cuda:0", "NVIDIA GeForce RTX 4090", "pass")
    (check,) = device["checks"]
    assert (check["reason"], check["cause"], check["remedies"], check["notes"]) == (None, None, [], {})
    assert {name: check[name] for name in ("name", "dtype", "verdict", "error", *FIGURES)} == {
        "name": "matmul",
        "dtype": "fp32",
        "verdict": "pass",
        "error": None,
        "max_abs_error": 1e-06,
        "tolerance": 1e-05,
        "seconds": 0.5,
        "rate": 58.2,
        "rate_unit": "TFLOP/s",
    }
    assert {"libraries", "toolkits", "collectives", "rates", "differences"} <= set(found)


def test_json_has_null_beside_a_reason(tmp_path: Path) -> None:
    (check,) = document("--python", python(tmp_path, START, BEGIN, SKIP, DONE, END))["devices"][0]["checks"]
    assert (check["max_abs_error"], check["max_abs_error_reason"]) == (None, "the check was skipped")
    assert check["error"] == "no bf16"


def test_json_of_the_cpu_says_that_no_accelerator_was_verified(tmp_path: Path) -> None:
    found = document("--python", python(tmp_path, *CPU_RUN))
    assert found["accelerator_verified"] is False
    assert found["environment"]["no_accelerator"] == "this torch is built for the CPU only"


def test_json_of_a_missing_torch_has_the_reason(tmp_path: Path) -> None:
    found = run_live(verify, "--json", "--python", python(tmp_path, REFUSAL))
    environment = json.loads(found.out)["environment"]
    assert environment["error"] == "ModuleNotFoundError: No module named 'torch'"
    assert [environment[name] for name in ("torch", "cuda", "cudnn")] == [None] * 3
    assert all(environment[f"{name}_reason"] for name in ("torch", "cuda", "cudnn"))
    assert "No module named 'torch'" in found.err


def test_a_run_that_nobody_reads_proves_nothing(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "gpuassist", "verify", "--python", python(tmp_path, *GPU_RUN)]
    try:
        home = {**os.environ, "HOME": str(tmp_path)}
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=home, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (Exit.UNREAD, b"")


def test_one_of_two_gpus_is_not_all(tmp_path: Path) -> None:
    found = document("--python", python(tmp_path, {**START, "accelerators": 2}, *GPU_RUN[1:]), "--device", "0")
    assert found["accelerator_verified"] is False
    assert found["environment"]["summary"] == "1 of the 2 GPUs that this torch sees is verified."


def test_several_environments_are_one_document(tmp_path: Path) -> None:
    first, second = python(tmp_path / "a", *GPU_RUN), python(tmp_path / "b", *CPU_RUN)
    found = document("--python", first, "--python", second)
    assert [device["interpreter"] for device in found["devices"]] == [first, second]
    assert [one["torch"] for one in found["environments"]] == ["2.5.1+cu124", "2.5.1+cpu"]
    assert found["accelerator_verified"] is False


def test_the_worst_environment_decides(tmp_path: Path) -> None:
    good, bad = python(tmp_path / "a", *GPU_RUN), python(tmp_path / "b", START, BEGIN, FAIL, DONE, END)
    assert run_live(verify, "--python", good, "--python", bad).exit is Exit.PROBLEMS


def test_an_environments_directory_will_do(tmp_path: Path) -> None:
    (tmp_path / "env" / "bin").mkdir(parents=True)
    os.symlink(python(tmp_path / "a", *GPU_RUN), tmp_path / "env" / "bin" / "python3")
    found = run_live(verify, "--python", str(tmp_path / "env"))
    assert (found.exit, f"Verifying in {tmp_path}/env/bin/python3" in found.out) == (Exit.HEALTHY, True)


def test_devices_and_level_reach_the_child(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    code = f"""\
request = json.loads(sys.argv[2])
if "devices" in request:
    open({str(seen)!r}, 'w').write(sys.argv[2])
"""
    code += says(*GPU_RUN)
    stand_in = interpreter_that_runs(tmp_path, sys.executable, code)
    run_live(verify, "--python", stand_in, "--device", "1", "--device", "cpu", "--level", "full")
    request = json.loads(seen.read_text("utf-8"))
    assert (request["devices"], request["level"]) == (["1", "cpu"], "full")


@pytest.mark.parametrize("device", ["", "-1", "cuda", "gpu0", "all", "1,2", "²"])
def test_what_is_no_device_is_wrong_usage(device: str) -> None:
    assert "is no device" in refused(f"--device={device}")


def test_a_missing_interpreter_is_wrong_usage() -> None:
    assert refused("--python", "/nowhere/env") == "there is no Python interpreter at /nowhere/env"


def test_a_recorded_machine_is_wrong_usage() -> None:
    assert "recorded machine" in refused(machine_file="m.json")


def test_no_environment_with_torch_cannot_be_determined(home: Path) -> None:
    session = live_session({"PATH": "/nonexistent", "HOME": str(home)})
    found = run_live(verify, "--json", session=session)
    if found.exit is not Exit.UNDETERMINED:
        pytest.skip("NOT RUN: this machine has a torch in a system directory")
    assert json.loads(found.out)["devices"] == []
    assert "no Python environment with torch was found" in found.err


@pytest.mark.slow
def test_the_real_torch_passes_from_the_command_line() -> None:
    command = [sys.executable, "-m", "gpuassist", "verify", "--python", torch_python(), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {check["verdict"] for check in found["devices"][0]["checks"]} <= {"pass", "skipped"}
    assert found["accelerator_verified"] is False


def test_an_interrupt_ends_the_child(tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    code = f"open({str(marker)!r}, 'w').write(str(os.getpid()))\n{says(START, BEGIN)}time.sleep(60)"
    stand_in = interpreter_that_runs(tmp_path, sys.executable, code)
    command = [sys.executable, "-m", "gpuassist", "verify", "--python", stand_in]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as ours:
        assert ours.stdout is not None
        while not ours.stdout.readline().startswith("python"):
            pass
        ours.send_signal(signal.SIGINT)
        ours.stdout.read()
        assert ours.wait(timeout=100) == Exit.INTERRUPTED
    while Path(f"/proc/{marker.read_text()}").exists():  # which it does no more as soon as the signal has reached it
        os.sched_yield()


def left(device: str, *, name: str = "matmul", dtype: str = "fp32", cause: str = "busy") -> dict[str, Any]:
    return {**SKIP, "device": device, "name": name, "dtype": dtype, "cause": cause, "error": "not run"}


TOGETHER = [{"name": "two-processes", "dtype": "fp32"}]
FORMATS = [{"name": "matmul", "dtype": dtype} for dtype in ("fp32", "fp16", "bf16")]
SEVERAL = {
    **START,
    "accelerators": 2,
    "devices": [
        {"device": "cuda:0", "name": "RTX 4090", "checks": FORMATS},
        {"device": "cuda:1", "name": "RTX 4090", "checks": FORMATS},
        {"device": "cuda:0 twice", "name": "twice", "checks": TOGETHER, "members": ["cuda:0", "cuda:0"]},
        {
            "device": "2 ranks",
            "name": "group",
            "checks": [{"name": "all-reduce", "dtype": "fp32"}],
            "members": ["cuda:0", "cuda:1"],
        },
    ],
}


def of(document: dict[str, Any], device: str, **changes: Any) -> dict[str, Any]:
    return {**document, "device": device, **changes}


def test_rows_of_many_gpus_stand_together(tmp_path: Path) -> None:
    names = [f"cuda:{place}" for place in range(3)]
    start = {**START, "accelerators": 3, "devices": [{"device": one, "name": "RTX", "checks": FORMATS[:2]} for one in names]}
    lines: list[dict[str, Any]] = [start]
    for kind in ("fp32", "fp16"):
        lines += [of(one, name, dtype=kind) for one in (BEGIN, PASS) for name in names]
    out = run_live(verify, "--python", python(tmp_path, *lines, *(of(DONE, name) for name in names[::-1]), END)).out.splitlines()
    rows = [line.split()[0] for line in out if line.startswith("  cuda:")]
    assert rows == [name for name in names[::-1] for _ in range(2)]
    cut = run_live(verify, "--python", python(tmp_path / "cut", *lines)).out.splitlines()
    assert sum(line.startswith("  cuda:") for line in cut) == 6


def test_what_never_began_stands_in_one_line_with_its_reason(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [SEVERAL]
    for place, device in enumerate(("cuda:0", "cuda:1")):
        lines += [of(BEGIN, device), of(PASS, device) if place else left(device)]
        lines += [left(device, dtype=dtype) for dtype in ("fp16", "bf16")] + [of(DONE, device)]
    twice = {"name": "two-processes"}
    lines += [of(BEGIN, "cuda:0 twice", **twice), of(PASS, "cuda:0 twice", **twice), of(DONE, "cuda:0 twice")]
    reduced = {"name": "all-reduce"}
    lines += [of(BEGIN, "2 ranks", **reduced), of(PASS, "2 ranks", **reduced), of(DONE, "2 ranks"), END]
    out = run_live(verify, "--python", python(tmp_path, *lines)).out.splitlines()
    assert sum("another program holds this GPU" in line and "2 checks" in line for line in out) == 2
    rows = [line for line in out if line.startswith("  ") and ("fp32" in line or "2 checks" in line)]
    (column,) = {
        line.index(word) for line in rows for word in ("matrix", "2 checks", "two processes", "all-reduce") if word in line
    }
    assert {line[:column].strip() for line in rows} == {"cuda:0", "cuda:1", "together"}
    assert "two processes at once on cuda:0" in out
    assert "cuda:0 and cuda:1 together" in out
    assert "  gpuassist holders" in out
