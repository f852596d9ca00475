"""`gpuassist monitor --record`, and recordings in the place of the GPUs."""

from __future__ import annotations

import csv
import json
import random
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.cli import monitor
from gpuassist.cli.context import UsageError
from gpuassist.model.fact import Known
from gpuassist.model.sample import Event, EventKind, Sample, TorchMemory
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.sample_file import SampleFileError
from gpuassist.monitor.sample_writer import BLOCK_SAMPLES, SampleWriter
from gpuassist.present.marks import Exit
from gpuassist.present.sample_rows import columns
from gpuassist.session.navigation import Destination, ToRecording
from tests.cli.made_session import run_live
from tests.hostile import obeyed
from tests.monitor.samples import gpu, process, sample
from tests.nvml_fixture import FakeNvml
from tests.rows import for_each

Load = Callable[..., FakeNvml]
HOSTILE = "=cmd|'/c calc'!A1\n\x1b[2J\u202e"


def made(count: int = 5) -> list[Sample]:
    return [sample(100.0 + second, gpu(1 << 30, process(7, second << 20, "python train.py"))) for second in range(count)]


def recorded(path: Path, *runs: list[Sample]) -> str:
    for samples in runs:
        writer = SampleWriter(str(path), samples[0].time)
        writer.write(samples)
        writer.close(samples[-1].time)
    return f"file:{path}"


def refused(*arguments: str) -> str:
    with pytest.raises(UsageError) as caught:
        run_live(monitor, *arguments)
    return ENGLISH(caught.value.reason)


def saved(tmp_path: Path, name: str, *runs: list[Sample]) -> str:
    source = recorded(tmp_path / "run.db", *runs)
    found = run_live(monitor, "--source", source, "--save", str(tmp_path / name))
    assert (found.exit, found.out, found.err) == (Exit.HEALTHY, "", "")
    return (tmp_path / name).read_bytes().decode()


def test_a_recording_prints_what_was_printed_while_it_was_made(load_nvml: Load, tmp_path: Path) -> None:
    load_nvml("[gpu]\nname = A\nused = 900\nprocess = 4194000 c -\n[gpu]\npower = -\n")
    path = tmp_path / "run.db"
    live = run_live(monitor, "--headless", "--count", "3", "--hz", "100", "--record", str(path))
    again = run_live(monitor, "--headless", "--source", f"file:{path}")
    assert len(live.out.splitlines()) == 3
    assert (again.exit, again.out, again.err) == (Exit.HEALTHY, live.out, "")
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("run")] == ["run.db"]


def test_a_wish_to_end_writes_what_is_left(load_nvml: Load, tmp_path: Path) -> None:
    load_nvml("[gpu]\nname = A\nused = 900\n")
    source = f"file:{tmp_path / 'run.db'}"
    command = [sys.executable, "-m", "gpuassist", "monitor", "--headless", "--hz", "50", "--record", str(tmp_path / "run.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        begun = [child.stdout.readline() for _ in range(3)]
        child.terminate()
        printed = "".join((*begun, child.stdout.read()))
    assert child.returncode == 128 + signal.SIGTERM
    kept = run_live(monitor, "--headless", "--source", source).out
    assert kept.startswith(printed)
    assert len(kept.splitlines()) <= len(printed.splitlines()) + 1


def test_the_clock_on_the_wall_may_jump(tmp_path: Path) -> None:
    jumping = [replace(one, time=one.time + jump) for one, jump in zip(made(4), (0, -86400, 10**7, 0), strict=True)]
    source = recorded(tmp_path / "run.db", jumping)
    times = [json.loads(line)["time"] for line in run_live(monitor, "--headless", "--source", source).out.splitlines()]
    assert [datetime.fromisoformat(one).timestamp() for one in times] == pytest.approx([one.time for one in jumping])


def test_the_table_is_recorded_too(load_nvml: Load, tmp_path: Path) -> None:
    load_nvml("[gpu]\nname = A\nused = 900\n")
    path = tmp_path / "run.db"
    assert run_live(monitor, "--count", "2", "--hz", "100", "--record", str(path)).exit is Exit.HEALTHY
    assert len(run_live(monitor, "--headless", "--source", f"file:{path}").out.splitlines()) >= 2
    assert "no directory" in refused("--count", "1", "--record", str(tmp_path / "none" / "run.db"))


def test_one_run_or_some_samples_of_a_recording(tmp_path: Path) -> None:
    source = recorded(tmp_path / "a#b.db", made(5), made(2))
    counts = {
        extra: len(run_live(monitor, "--headless", "--source", source + extra).out.splitlines()) for extra in ("", "#1", "#2")
    }
    assert counts == {"": 7, "#1": 5, "#2": 2}
    assert len(run_live(monitor, "--headless", "--source", source, "--count", "6").out.splitlines()) == 6
    assert "holds 2 runs" in refused("--headless", "--source", f"{source}#3")


def test_what_is_left_of_a_damaged_recording_is_printed_and_the_damage_told(tmp_path: Path) -> None:
    chance = random.Random(1)
    samples = [sample(float(second), *(gpu(chance.getrandbits(40), index=index) for index in range(8))) for second in range(600)]
    source = recorded(tmp_path / "run.db", samples)
    whole = (tmp_path / "run.db").read_bytes()
    (tmp_path / "run.db").write_bytes(whole[: len(whole) * 3 // 4])
    found = run_live(monitor, "--headless", "--source", source)
    assert found.exit is Exit.WARNINGS
    assert 0 < len(found.out.splitlines()) < 600
    assert "damaged" in found.err


@for_each(
    "arguments, words",
    (
        (("--source", "elsewhere:x"), "no source"),
        (("--source", "file:/nowhere", "--headless"), "cannot be read"),
        (("--source", "file:x", "--record", "y"), "not recorded again"),
        (("--save", "x.csv"), "--source file:PATH"),
        (("--source", "file:x", "--over", "file:y"), "--save"),
        (("--headless", "--record", "/nowhere/run.db"), "no directory"),
        (("--headless", "--record", "/dev/null"), "not a file"),
    ),
)
def test_what_does_not_go_together_is_told(arguments: tuple[str, ...], words: str) -> None:
    assert words in refused(*arguments)


def test_a_table_has_a_row_for_each_gpu_process_and_event(tmp_path: Path) -> None:
    torch = Known(TorchMemory(3, 4, 5, 6, 3, 0), "test")
    one = sample(9.0, gpu(90, replace(process(7, 80, "train.py"), torch=torch)))
    event = Event(8.5, EventKind.XID, text("Xid 79"), 0, 7, "79")
    rows = list(csv.DictReader(saved(tmp_path, "run.csv", [sample(8.0, gpu(80)), replace(one, events=(event,))]).splitlines()))
    assert list(rows[0]) == list(columns())
    assert [row["kind"] for row in rows] == ["gpu", "gpu", "process", "event"]
    assert (rows[1]["seconds"], rows[1]["memory_used_bytes"], rows[1]["power_watts"]) == ("1.0", "90", "")
    process_row = rows[2]
    assert (process_row["process_memory_used_bytes"], process_row["torch_reserved_bytes"]) == ("80", "5")
    assert (rows[3]["seconds"], rows[3]["event"], rows[3]["event_code"]) == ("0.5", "xid", "79")


def test_every_run_is_in_the_table(tmp_path: Path) -> None:
    rows = list(csv.DictReader(saved(tmp_path, "run.csv", made(2), made(1)).splitlines()))
    assert [(row["run"], row["seconds"]) for row in rows if row["kind"] == "gpu"] == [("1", "0.0"), ("1", "1.0"), ("2", "0.0")]


def test_no_name_is_carried_out_or_obeyed(tmp_path: Path) -> None:
    hostile = [sample(1.0, replace(gpu(1 << 30, process(7, 1 << 20, HOSTILE)), name=Known(HOSTILE, "NVML")))]
    table = saved(tmp_path, "run.csv", hostile)
    (row,) = (row for row in csv.DictReader(table.splitlines()) if row["kind"] == "process")
    assert row["process_command"].startswith("'=")
    assert not obeyed(table.replace("\r\n", "\n"))
    drawn = run_live(monitor, "--source", f"file:{tmp_path / 'run.db'}", "--save", str(tmp_path / "run.svg"))
    assert drawn.exit is Exit.HEALTHY
    ElementTree.parse(tmp_path / "run.svg")
    assert not obeyed((tmp_path / "run.svg").read_text("utf-8"))


def test_a_picture_shows_every_gpu(tmp_path: Path) -> None:
    drawn = saved(tmp_path, "run.svg", [sample(float(second), gpu(1 << 30), gpu(2 << 30, index=3)) for second in range(9)])
    words = [one.text for one in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert {"run.db", "GPU 0", "GPU 3"} <= set(words)


def test_two_runs_are_drawn_from_their_start(tmp_path: Path) -> None:
    recorded(tmp_path / "run.db", made(9))
    later = [replace(one, monotonic=one.monotonic + 5000, time=one.time + 10**6) for one in made(9)]
    other, out = recorded(tmp_path / "other.db", later), tmp_path / "both.svg"
    run_live(monitor, "--source", f"file:{tmp_path / 'run.db'}", "--over", other, "--save", str(out))
    lines = [one.get("points") for one in ElementTree.parse(out).iter("{http://www.w3.org/2000/svg}polyline")]
    assert len(lines) == 2
    assert lines[0] == lines[1]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    source = recorded(tmp_path / "run.db", made())
    (tmp_path / "run.csv").write_text("mine")
    assert "already" in refused("--source", source, "--save", str(tmp_path / "run.csv"))
    assert ".parquet" in refused("--source", source, "--save", str(tmp_path / "run.db"))
    assert (tmp_path / "run.csv").read_text() == "mine"


def test_parquet_names_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    source = recorded(tmp_path / "run.db", made())
    assert "gpuassist[parquet]" in refused("--source", source, "--save", str(tmp_path / "run.parquet"))
    assert [one.name for one in tmp_path.iterdir()] == ["run.db"]


def test_parquet_holds_the_table(tmp_path: Path) -> None:
    from pyarrow import parquet  # here, because importing it takes half a second

    hostile = [sample(1.0, gpu(1 << 40, process(7, 1 << 20, HOSTILE + "\udcff")))]
    source = recorded(tmp_path / "run.db", made(3), hostile)
    run_live(monitor, "--source", source, "--save", str(tmp_path / "run.parquet"))
    table = parquet.read_table(tmp_path / "run.parquet").to_pylist()
    assert [row["memory_used_bytes"] for row in table if row["kind"] == "gpu"] == [1 << 30] * 3 + [1 << 40]
    assert table[-1]["process_command"] == HOSTILE + "\\udcff"


def test_json_stays_the_contract(tmp_path: Path) -> None:
    source = recorded(tmp_path / "run.db", made(1))
    document = json.loads(run_live(monitor, "--headless", "--source", source).out)
    assert document["gpus"][0]["processes"][0]["command"] == "python train.py"


@for_each("options", [("--record", ""), ("--source", "file:"), ("--source", "file:run.db", "--save", "")])
def test_a_file_without_a_name_is_refused(options: tuple[str, ...]) -> None:
    assert "name of a file" in refused("--headless", "--count", "1", *options)


def test_a_file_may_be_named_as_a_run_is(tmp_path: Path) -> None:
    source = recorded(tmp_path / "try#2", made(3))
    assert len(run_live(monitor, "--headless", "--source", source).out.splitlines()) == 3


def test_samples_that_found_no_room_show_in_the_exit_status(
    load_nvml: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_writer: SampleWriter, _ended: float | None = None) -> None:
        raise SampleFileError(text("the disk is full"))

    load_nvml("[gpu]\nused = 900\n")
    monkeypatch.setattr(SampleWriter, "_commit", full)
    found = run_live(monitor, "--headless", "--count", "3", "--hz", "100", "--record", str(tmp_path / "run.db"))
    assert (found.exit, len(found.out.splitlines())) == (Exit.WARNINGS, 3)
    assert "3 samples could not be written" in found.err


def test_a_directory_where_no_file_can_be_made_is_there() -> None:
    assert "no directory" not in refused("--headless", "--count", "1", "--record", "/proc/run.db")


def test_a_recording_without_a_sample_says_so(tmp_path: Path) -> None:
    SampleWriter(str(tmp_path / "run.db"), 0.0).close(1.0)
    source, other = f"file:{tmp_path / 'run.db'}", recorded(tmp_path / "other.db", made())
    for options in ((), ("--save", str(tmp_path / "run.csv")), ("--save", str(tmp_path / "run.svg"))):
        assert "holds no sample" in refused("--headless", "--source", source, *options)
    assert "holds no sample" in refused("--source", other, "--over", source, "--save", str(tmp_path / "run.svg"))
    assert not list(tmp_path.glob("run.[cs]*"))


def test_a_part_that_was_taken_away_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    samples = made(4 * BLOCK_SAMPLES)
    writer = SampleWriter(str(tmp_path / "run.db"), 0.0, rotate_bytes=1)
    for first in range(0, len(samples), BLOCK_SAMPLES):
        writer.write(samples[first : first + BLOCK_SAMPLES])
    writer.close(1000.0)
    assert (tmp_path / "run.3.db").exists()
    (tmp_path / "run.2.db").unlink()
    found = run_live(monitor, "--headless", "--source", f"file:{tmp_path / 'run.db'}")
    assert (found.exit, found.err.count("run.2.db")) == (Exit.WARNINGS, 1)
    assert len(found.out.splitlines()) == 3 * BLOCK_SAMPLES
    last = json.loads(found.out.splitlines()[-1])["time"]
    assert datetime.fromisoformat(last).timestamp() == samples[-1].time


def test_in_a_pipe_a_recording_is_printed_without_being_asked_to(tmp_path: Path) -> None:
    source = recorded(tmp_path / "run.db", made(3))
    assert len(run_live(monitor, "--source", source).out.splitlines()) == 3
    assert len(run_live(monitor, "--source", source, "--count", "2").out.splitlines()) == 2
    with pytest.raises(UsageError, match="--count needs --headless"):
        run_live(monitor, "--source", source, "--count", "2", screen=True)


def test_a_recording_opens_in_the_window(tmp_path: Path) -> None:
    path = str(tmp_path / "night.db")
    source = recorded(tmp_path / "night.db", made(2))
    wanted: list[Destination | None] = []

    def open_window(destination: Destination | None) -> Exit:
        wanted.append(destination)
        return Exit.HEALTHY

    for one in (source, f"{source}#1"):
        assert run_live(monitor, "--window", "--source", one, open_window=open_window).exit is Exit.HEALTHY
    assert wanted == [ToRecording(path), ToRecording(path, 1)]
    assert "holds 1 run" in refused("--window", "--source", f"{source}#2")
    assert "--save" in refused("--window", "--source", source, "--save", "a.png")
    assert "cannot be read" in refused("--window", "--source", f"{source}.other")
