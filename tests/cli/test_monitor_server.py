"""`gpuassist monitor --source prometheus:URL`, and `--export` for whoever scrapes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from gpuassist.cli import monitor
from gpuassist.cli.context import UsageError
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.session.navigation import Destination, ToServer
from tests.cli.made_session import run_live
from tests.monitor.scripted_prometheus import ScriptedPrometheus, card
from tests.nvml_fixture import FakeNvml
from tests.rows import for_each
from tests.scripted_http import Reply, ScriptedServer, serving

Load = Callable[..., FakeNvml]


@pytest.fixture
def http(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv("HOME", str(home))
    with serving(ScriptedPrometheus([card("n1", 0), card("n2", 0, 2000)])) as server:
        yield server


def refused(*arguments: str) -> str:
    with pytest.raises(UsageError) as caught:
        run_live(monitor, *arguments)
    return ENGLISH(caught.value.reason)


def test_a_servers_gpus_are_lines(http: ScriptedServer) -> None:
    found = run_live(monitor, "--headless", "--count", "1", "--source", f"prometheus:{http.address}", "--host", "n2")
    (document,) = map(json.loads, found.out.splitlines())
    (gpu,) = document["gpus"]
    assert (found.exit, found.err) == (Exit.HEALTHY, "")
    assert (gpu["index"], gpu["uuid"], gpu["host"], gpu["memory_used_bytes"]) == (0, "GPU-n2-0", "n2", 2000 << 20)
    assert (gpu["processes"], gpu["fan_percent"]) == (None, None)
    assert not any(asked.path.endswith("range") for asked in http.asked)  # nobody sees a past here


def test_a_servers_gpus_are_a_table_and_a_recording(http: ScriptedServer, tmp_path: Path) -> None:
    found = run_live(monitor, "--count", "1", "--source", f"prometheus:{http.address}", "--record", str(tmp_path / "run.db"))
    assert (found.exit, found.err) == (Exit.HEALTHY, "")
    assert all(word in found.out for word in (http.address, "n1", "n2", "H100", "78.6"))
    again = run_live(monitor, "--headless", "--source", f"file:{tmp_path / 'run.db'}")
    assert [gpu["host"] for gpu in json.loads(again.out.splitlines()[0])["gpus"]] == ["n1", "n2"]


def test_a_password_in_a_command_line_is_told_of_and_never_printed(http: ScriptedServer) -> None:
    named = http.address.replace("http://", "http://me:secret@")
    found = run_live(monitor, "--headless", "--count", "1", "--source", f"prometheus:{named}")
    assert ".netrc" in found.err
    http.answer = lambda _: Reply(b"", 401)
    failed = run_live(monitor, "--headless", "--count", "1", "--source", f"prometheus:{named}")
    assert failed.exit is Exit.UNDETERMINED
    assert "does not let you in" in failed.err
    assert "secret" not in found.out + found.err + failed.out + failed.err


def test_in_a_pipe_it_prints_lines_without_being_asked_to(http: ScriptedServer) -> None:
    http.answer = lambda _: Reply(b"", 401)
    found = run_live(monitor, "--source", f"prometheus:{http.address}")
    assert (found.exit, json.loads(found.out)["gpus"]) == (Exit.UNDETERMINED, [])
    assert "wants to know who asks" in found.err


def test_the_window_is_sent_there(http: ScriptedServer) -> None:
    opened: list[Destination | None] = []

    def open_window(wanted: Destination | None) -> Exit:
        opened.append(wanted)
        return Exit.HEALTHY

    run_live(monitor, "--window", "--source", f"prometheus:{http.address}", "--host", "n1", open_window=open_window)
    assert opened == [ToServer(http.address, ("n1",))]
    assert not http.asked


@for_each(
    "arguments, words",
    (
        (("--source", "prometheus:", "--headless"), "no address"),
        (("--source", "prometheus:ftp://x", "--headless"), "no address"),
        (("--source", "prometheus:x", "--token-file", "/nowhere", "--headless"), "/nowhere"),
        (("--host", "n1"), "--source prometheus:URL"),
        (("--token-file", "x"), "--source prometheus:URL"),
        (("--source", "prometheus:x", "--export", "9400", "--headless"), "leave --source out"),
        (("--source", "file:x", "--export", "9400", "--headless"), "leave --source out"),
        (("--export", "9400", "--window"), "the window answers nobody"),
        (("--export", "here", "--headless"), "127.0.0.1:9400"),
        (("--export", "", "--headless"), "127.0.0.1:9400"),  # of a variable that is not set
        (("--export", "203.0.113.7:0", "--headless"), "no address of this machine"),
    ),
)
def test_what_does_not_go_together_is_told(arguments: tuple[str, ...], words: str) -> None:
    assert words in refused(*arguments)


def test_whoever_scrapes_is_answered_until_it_is_told_to_end(fake_nvml: FakeNvml, home: Path) -> None:
    command = [sys.executable, "-m", "gpuassist", "--lang", "en", "monitor", "--headless", "--hz", "20", "--export", "127.0.0.1:0"]
    variables = {**fake_nvml("[gpu]\nused = 1000\nname = A\n"), "HOME": str(home), "SLURM_JOB_ID": "42", "NODE_NAME": "n7"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        address = re.search(r"http://\S+", running.stderr.readline())
        assert address is not None
        assert json.loads(running.stdout.readline())["gpus"][0]["name"] == "A"
        with urlopen(address[0], timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        running.send_signal(signal.SIGTERM)
        _, told = running.communicate(timeout=20)
    (used,) = (line for line in lines if line.startswith("DCGM_FI_DEV_FB_USED{"))
    assert all(label in used for label in ('hpc_job="42"', 'Hostname="n7"', 'modelName="A"'))
    assert used.endswith(" 1000.0")
    assert (running.returncode, told) == (143, "")


def test_whoever_scrapes_is_told_that_there_is_no_driver(fake_nvml: FakeNvml) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in fake_nvml("fault = nvmlInit* 9\n").items():
            patch.setenv(name, value)
        found = run_live(monitor, "--headless", "--count", "2", "--hz", "100", "--export", "127.0.0.1:0")
    assert (found.exit, len(found.out.splitlines())) == (Exit.HEALTHY, 2)
    assert "not loaded" in found.err
