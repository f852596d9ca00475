"""`gpuassist monitor` as a program reads it."""

from __future__ import annotations

import json
import os
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from gpuassist.cli import monitor
from gpuassist.cli.context import UsageError
from gpuassist.model.sample import Sample
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.monitor import remote
from gpuassist.monitor.sampler import STOP_SECONDS
from gpuassist.present.marks import Exit
from gpuassist.session.navigation import Destination, GoTo, WizardStep
from tests.cli.made_session import no_window, run_live
from tests.hostile import obeyed
from tests.nvml_fixture import FakeNvml

Load = Callable[..., FakeNvml]
HOSTILE_NAME = "RTX\x1b[2J\x1b]0;PWN\x07\u202e4090"
TWO = "[gpu]\nname = A\nused = 900\nmemory = 24564\n[gpu]\nname = B\npower = -\n"
COMMAND = [sys.executable, "-m", "gpuassist", "monitor", "--headless"]


def lines(*arguments: str) -> list[dict[str, Any]]:
    found = run_live(monitor, "--headless", *arguments)
    assert found.exit is Exit.HEALTHY
    return [json.loads(line) for line in found.out.splitlines()]


def refused(*arguments: str, machine_file: str = "", open_window: Callable[[Destination | None], Exit] = no_window) -> str:
    with pytest.raises(UsageError) as caught:
        run_live(monitor, *arguments, machine_file=machine_file, open_window=open_window)
    return ENGLISH(caught.value.reason)


def test_a_sample_is_the_contract(load_nvml: Load) -> None:
    load_nvml(f"{TWO}process = {os.getpid()} c 512\n")
    (sample,) = lines("--count", "1")
    assert set(sample) == {"schema", "time", "gpus"}
    assert sample["schema"] == 1
    first, second = sample["gpus"]
    assert list(first)[:10] == [
        *("index", "uuid", "name", "memory_total_bytes", "memory_used_bytes", "memory_free_bytes"),
        *("utilization_percent", "temperature_celsius", "power_watts", "processes"),
    ]
    assert (first["index"], first["name"], first["memory_used_bytes"]) == (0, "A", 900 << 20)
    assert second["processes"][0]["pid"] == os.getpid()


def test_a_process_is_the_contract(load_nvml: Load, on_a_gpu: int) -> None:
    load_nvml(f"[gpu]\nprocess = {on_a_gpu} c 512\n")
    (process,) = lines("--count", "1")[0]["gpus"][0]["processes"]
    assert list(process)[:4] == ["pid", "user", "command", "memory_used_bytes"]
    assert (process["kind"], process["resident_bytes"] > 0, process["cpu_percent"]) == ("compute", True, None)
    assert process["memory_used_bytes"] == 512 << 20


def test_unknown_is_null_beside_a_reason(load_nvml: Load) -> None:
    load_nvml("fault = nvmlDeviceGetComputeRunningProcesses* 4\n" + TWO)
    gpu = lines("--count", "1")[0]["gpus"][1]
    assert (gpu["power_watts"], gpu["power_watts_reason"]) == (None, "this GPU does not tell it")
    assert (gpu["processes"], gpu["processes_reason"]) == (None, "this user may not read it")


def test_a_process_of_unknown_size_is_null_too(load_nvml: Load) -> None:
    load_nvml("[gpu]\nprocess = 4194000 c -\n")
    (process,) = lines("--count", "1")[0]["gpus"][0]["processes"]
    assert process["memory_used_bytes"] is None
    assert process["command"] is None
    assert "container" in process["command_reason"]


def test_the_time_is_iso_with_its_zone(load_nvml: Load) -> None:
    load_nvml(TWO)
    moment = datetime.fromisoformat(lines("--count", "1")[0]["time"])
    assert moment.tzinfo is not None
    assert abs(moment.timestamp() - time.time()) < 60


def test_as_many_lines_as_asked_for(load_nvml: Load) -> None:
    load_nvml(TWO)
    samples = lines("--count", "4", "--hz", "50")
    assert len(samples) == 4
    assert sorted(sample["time"] for sample in samples) == [sample["time"] for sample in samples]


def test_samples_come_as_often_as_asked_for(load_nvml: Load) -> None:
    load_nvml(TWO)
    began = time.monotonic()
    lines("--count", "5", "--hz", "10")
    assert time.monotonic() - began > 0.35


def test_no_driver_is_a_line_a_reason_and_three(load_nvml: Load) -> None:
    load_nvml("fault = nvmlInit* 9\n")
    found = run_live(monitor, "--headless")
    assert found.exit is Exit.UNDETERMINED
    assert json.loads(found.out)["gpus"] == []
    assert json.loads(found.out)["trouble"] == ["NVIDIA's driver is not loaded, so there is nothing to watch"]
    assert found.err == "NVIDIA's driver is not loaded, so there is nothing to watch\n"


def test_a_driver_without_a_gpu_is_three_too(load_nvml: Load) -> None:
    load_nvml("driver = 580.95.05\n")
    found = run_live(monitor, "--headless", "--count", "1")
    assert found.exit is Exit.UNDETERMINED
    assert "drives no GPU" in found.err


def test_a_gpu_that_is_lost_on_the_way_is_no_end(load_nvml: Load) -> None:
    load_nvml("[gpu]\nfault = nvmlDevice* 15 after=12\n")
    samples = lines("--count", "4", "--hz", "50")
    assert samples[0]["gpus"][0]["memory_used_bytes"] is not None
    assert "lost" in samples[-1]["gpus"][0]["memory_used_bytes_reason"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--headless", "--count", "0"),
        ("--headless", "--count", "-3"),
        ("--headless", "--hz", "0"),
        ("--headless", "--hz", "-1"),
        ("--headless", "--hz", "nan"),
        ("--headless", "--hz", "1000"),
        ("--headless", "--window"),
        ("--window", "--count", "1"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert "--" in refused(*arguments)


def test_a_recorded_machine_is_wrong_usage() -> None:
    assert "recorded machine" in refused("--headless", machine_file="m.json")


@pytest.mark.parametrize("screen", [False, True])
def test_the_window_opens_on_its_live_page_where_it_is_asked_for(screen: bool) -> None:
    wanted: list[Destination | None] = []

    def open_window(destination: Destination | None) -> Exit:
        wanted.append(destination)
        return Exit.HEALTHY

    assert run_live(monitor, "--window", screen=screen, open_window=open_window).exit is Exit.HEALTHY
    assert wanted == [GoTo(WizardStep.LIVE)]


def test_without_a_display_it_says_what_to_do() -> None:
    def open_window(_wanted: Destination | None) -> Exit:
        raise UsageError(text("No display was found."))

    assert refused("--window", open_window=open_window) == "No display was found. Without a window: gpuassist monitor --headless"


def test_in_a_pipe_it_prints_lines_without_being_asked_to(monkeypatch: pytest.MonkeyPatch, fake_nvml: FakeNvml) -> None:
    for name, value in fake_nvml("[gpu]").items():
        monkeypatch.setenv(name, value)
    command = [sys.executable, "-m", "gpuassist", "monitor", "--hz", "20"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert json.loads(running.stdout.readline())["gpus"]
        running.terminate()


def environment(fake: FakeNvml, scenario: str) -> dict[str, str]:
    return {**os.environ, **fake(scenario)}


def test_from_the_command_line(fake_nvml: FakeNvml) -> None:
    done = subprocess.run([*COMMAND, "--count", "1"], env=environment(fake_nvml, TWO), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert [gpu["name"] for gpu in json.loads(done.stdout)["gpus"]] == ["A", "B"]


def test_it_lets_go_of_the_driver(fake_nvml: FakeNvml) -> None:
    subprocess.run([*COMMAND, "--count", "1"], env=environment(fake_nvml, TWO), capture_output=True, check=True)
    assert fake_nvml.calls()[-1].function == "nvmlShutdown"


def test_a_reader_that_goes_away_is_no_error(fake_nvml: FakeNvml) -> None:
    variables = environment(fake_nvml, TWO)
    with subprocess.Popen([*COMMAND, "--hz", "50"], env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ours:
        assert ours.stdout is not None
        assert ours.stderr is not None
        ours.stdout.readline()
        ours.stdout.close()
        assert (ours.wait(timeout=100), ours.stderr.read()) == (0, b"")


@pytest.mark.parametrize("scenario", [TWO, "fault = nvmlDeviceGetPowerUsage 0 delay=600000\n[gpu]\n"])
def test_an_interrupt_is_heard_at_once(fake_nvml: FakeNvml, scenario: str) -> None:
    with subprocess.Popen(
        [*COMMAND, "--hz", "10"], env=environment(fake_nvml, scenario), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as ours:
        assert ours.stderr is not None
        while not any(call.function == "nvmlDeviceGetPowerUsage" for call in fake_nvml.calls()) and ours.poll() is None:
            os.sched_yield()
        ours.send_signal(signal.SIGINT)
        assert ours.wait(timeout=100) == Exit.INTERRUPTED
        assert b"Traceback" not in ours.stderr.read()


def test_a_name_that_a_terminal_would_obey_is_kept_as_an_escape(load_nvml: Load) -> None:
    load_nvml(f"[gpu]\nname = {HOSTILE_NAME}\n")
    printed = run_live(monitor, "--headless", "--count", "1").out
    assert obeyed(printed) == []
    assert json.loads(printed)["gpus"][0]["name"] == HOSTILE_NAME


def test_a_library_that_crashes_is_a_sentence_and_three(fake_nvml: FakeNvml) -> None:
    variables = environment(fake_nvml, "fault = nvmlDeviceGetCount* 0 crash=11\n[gpu]\n")
    done = subprocess.run([*COMMAND, "--count", "1"], env=variables, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == Exit.UNDETERMINED
    assert done.stderr.startswith("NVML, the driver's own library, crashed (SIGSEGV)")
    assert done.stderr.count("\n") == 1
    assert json.loads(done.stdout)["gpus"] == []


def test_a_driver_that_hangs_for_ever_is_a_sentence_and_three(load_nvml: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    assert remote.FIRST_ANSWER_SECONDS + STOP_SECONDS < 12  # and what is started and imported before
    monkeypatch.setattr(remote, "FIRST_ANSWER_SECONDS", 0.2)
    load_nvml("fault = nvmlDevice* 0 hangs=1\n[gpu]\n")
    done = run_live(monitor, "--headless", "--count", "1")
    assert (done.exit, done.err) == (Exit.UNDETERMINED, "NVIDIA's driver has not answered for 0 s, so it may hang\n")


def test_a_call_that_hangs_costs_its_own_figure_alone(load_nvml: Load) -> None:
    load_nvml("[gpu]\nused = 900\nfault = nvmlDeviceGetPowerUsage 0 hangs=1\n[gpu]\n")
    (first, second), *_ = (sample["gpus"] for sample in lines("--count", "2", "--hz", "50"))
    assert (first["memory_used_bytes"], first["power_watts"], first["power_watts_reason"][-4:]) == (900 << 20, None, " 0 s")
    assert second["power_watts"] == 50.0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_no_process_is_left_behind(fake_nvml: FakeNvml, number: signal.Signals) -> None:
    scenario = "fault = nvmlDeviceGetPowerUsage 0 hangs=1\n[gpu]\n"
    with subprocess.Popen(
        COMMAND, env=environment(fake_nvml, scenario), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as ours:
        while not any(call.function == "nvmlDeviceGetPowerUsage" for call in fake_nvml.calls()):
            assert ours.poll() is None
            os.sched_yield()
        child = os.pidfd_open(fake_nvml.calls()[0].thread)  # its first thread opens the library
        ours.send_signal(number)
        ours.wait(timeout=20)
        assert select.select([child], [], [], 20)[0], "the process that asks NVML outlived the one that started it"
        os.close(child)


@pytest.mark.parametrize("redirected", ["2>/dev/full", "2>&-"])
def test_what_standard_error_does_not_take_changes_no_status(fake_nvml: FakeNvml, redirected: str) -> None:
    line = " ".join(map(shlex.quote, [*COMMAND, "--count", "1"]))
    variables = environment(fake_nvml, "fault = nvmlInit* 9\n")
    done = subprocess.run(["/bin/sh", "-c", f"{line} {redirected}"], env=variables, stdout=subprocess.PIPE, check=False)
    assert done.returncode == Exit.UNDETERMINED
    assert json.loads(done.stdout)["gpus"] == []


def test_a_reader_who_does_not_read_holds_up_no_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "WAITING_AT_MOST", 2)
    recorded: list[Sample] = []
    taken = monitor._Taken(lambda sample: sample, recorded.append, 5)
    samples = [Sample(float(second), float(second), ()) for second in range(7)]
    for sample in samples:
        taken.add(sample)
    assert recorded == samples[:5]
    assert taken.dropped == 3
    assert [taken.samples.get_nowait() for _ in range(2)] == samples[3:5]
