"""A recording in the live table."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from threading import Thread

import pytest
from msgspec.structs import replace

from gpuassist.cli import monitor
from gpuassist.cli.context import UsageError
from gpuassist.model.sample import Event, EventKind, Sample
from gpuassist.model.text import text, verbatim
from gpuassist.monitor.sample_file import SampleFileError, SampleReader
from gpuassist.monitor.sample_writer import SampleWriter
from gpuassist.present.marks import Exit
from gpuassist.session import replay as replay_module
from gpuassist.session.replay import Replay
from tests.cli.made_session import live_session, run_live
from tests.cli.test_live_table import COMMAND, on_terminal
from tests.monitor.samples import WALL, gpu, process
from tests.nvml_fixture import FakeNvml
from tests.rows import for_each
from tests.waiting import until

MIB = 1 << 20
LENGTH = 300


def moment(second: int) -> Sample:
    events = {
        90: (Event(189.5, EventKind.XID, text("Xid 79"), 0, code="79"),),
        200: (Event(300.0, EventKind.OUT_OF_MEMORY, verbatim("CUDA out of memory. Tried to allocate 2.00 GiB."), 0, 7),),
        201: (Event(301.0, EventKind.STARTED, text("starts"), 0, 8),),
    }.get(second, ())
    name = "before.py" if second < 200 else "after.py"
    return Sample(WALL + second, 100.0 + second, (gpu(second * MIB, process(7, second * MIB, f"python {name}")),), events=events)


def recording(path: Path, *runs: range) -> str:
    for seconds in runs or (range(LENGTH),):
        writer = SampleWriter(str(path), WALL)
        for place in range(0, len(seconds), 30):  # more than once, as a recorder does
            writer.write([moment(second) for second in seconds[place : place + 30]])
        writer.close(WALL + LENGTH)
    return str(path)


def replay(path: str, run: int = 0) -> Replay:
    reader = SampleReader(path)
    made = Replay(live_session(), reader, reader.runs()[run])
    made.load(lambda: None)
    return made


def test_the_sample_of_every_moment_is_found(tmp_path: Path) -> None:
    made = replay(recording(tmp_path / "run.db"))
    assert (made.since, made.until, made.loaded) == (100.0, 100.0 + LENGTH - 1, True)
    for second in (0, 1, 127, 128, 200, 298, 299):
        for later in (0.0, 0.99):
            assert made.sample_at(100.0 + second + later) == moment(second)
    assert made.sample_at(99.9) is None
    assert made.sample_at(1e9) == moment(LENGTH - 1)


def test_two_runs_are_not_mixed(tmp_path: Path) -> None:
    path = recording(tmp_path / "run.db", range(100), range(50, 150))
    first, second = replay(path, 0), replay(path, 1)
    assert (first.since, first.until, second.since, second.until) == (100.0, 199.0, 150.0, 249.0)
    assert first.sample_at(249.0) == moment(99)
    assert second.sample_at(120.0) is None


@for_each(
    ("at", "step", "expected"),
    ((100.0, 1, 190.0), (190.0, 1, 300.0), (300.0, 1, None), (399.0, -1, 300.0), (300.0, -1, 190.0), (190.0, -1, None)),
)
def test_what_happened_is_gone_to(tmp_path: Path, at: float, step: int, expected: float | None) -> None:
    made = replay(recording(tmp_path / f"{at}{step}.db"))
    assert made.next_mark(at, step) == expected


def test_steps_end_where_it_ends(tmp_path: Path) -> None:
    made = replay(recording(tmp_path / "run.db"))
    assert [made.step(150.5, count) for count in (-1, 0, 1, -1000, 1000)] == [149.0, 150.0, 151.0, 100.0, 399.0]


def test_a_part_that_has_gone_is_told_of(tmp_path: Path) -> None:
    path = recording(tmp_path / "run.db")
    reader = SampleReader(path)
    made = Replay(live_session(), reader, reader.runs()[0])
    os.unlink(path)
    made.load(lambda: None)
    assert made.trouble is not None
    assert made.loaded


def test_it_is_drawn_and_moved_in(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    path = recording(tmp_path / "run.db")
    with on_terminal(fake_nvml, "fault = nvmlInit* 9\n", *COMMAND, "--source", f"file:{path}") as terminal:
        terminal.until(b"after.py")
        terminal.until(b"before.py", terminal.type(b"b"))
        terminal.until(b"Xid 79", terminal.type(b"n"))
        terminal.until(b"out of memory", terminal.type(b"n"))
        terminal.until(b"playing", terminal.type(b"b "))
        terminal.until(b"one sample back", terminal.type(b"?"))
        terminal.type(b"q")
        assert terminal.ended() == Exit.HEALTHY


def test_a_terminal_without_a_cursor_gets_its_end(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    path = recording(tmp_path / "run.db")
    with on_terminal(fake_nvml, "", *COMMAND, "--source", f"file:{path}", term="dumb") as terminal:
        assert terminal.ended() == Exit.HEALTHY
        assert b"after.py" in terminal.printed
        assert b"\x1b" not in terminal.printed


def test_a_count_or_a_window_without_a_display_is_refused(tmp_path: Path) -> None:
    source = f"file:{recording(tmp_path / 'run.db')}"
    for words in (("--count", "1"), ("--window",)):
        with pytest.raises(UsageError):
            run_live(monitor, "--source", source, *words, screen=True)


def test_what_is_still_written_comes_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_module, "AGAIN_SECONDS", 0.01)
    writer = SampleWriter(str(tmp_path / "run.db"), WALL)
    writer.write([moment(second) for second in range(3)])
    reader = SampleReader(str(tmp_path / "run.db"))
    made = Replay(live_session(), reader, reader.runs()[0])
    loading = Thread(target=made.load, args=(lambda: None,))
    loading.start()
    assert until(lambda: made.loaded)
    for begin in range(3, 200, 50):
        writer.write([moment(second) for second in range(begin, min(200, begin + 50))])
    assert until(lambda: made.until == 299.0)
    assert made.sample_at(150.0) == moment(50)
    assert made.watch.history.until == 299.0
    writer.close(WALL + 200)
    loading.join(60)
    assert not loading.is_alive()
    assert not made.growing


def test_what_is_left_of_a_spoiled_recording_is_looked_at(tmp_path: Path) -> None:
    whole = Path(recording(tmp_path / "run.db")).read_bytes()
    random = Random(7)
    opened = 0
    for number in range(40):
        spoiled = bytearray(whole[: random.randrange(len(whole))] if number % 2 else whole)
        for _ in range(number % 2 or 40):
            if spoiled:
                spoiled[random.randrange(len(spoiled))] = random.randrange(256)
        path = tmp_path / f"{number}.db"
        path.write_bytes(bytes(spoiled))
        try:
            reader = SampleReader(str(path))
            runs = reader.runs()
        except SampleFileError:
            continue
        for run in runs:
            made = Replay(live_session(), reader, run)
            made.load(lambda made=made: made.close() if made.loaded else None)  # type: ignore[misc]  # not followed any further
            opened += made.since is not None
            for second in range(0, LENGTH, 10):
                made.sample_at(100.0 + second)
            assert made.next_mark(0.0, 1) is None or made.since is not None
    assert opened


def test_times_that_go_backwards_or_nowhere_are_left_out(tmp_path: Path) -> None:
    writer = SampleWriter(str(tmp_path / "run.db"), WALL)
    strange = (replace(moment(2), monotonic=50.0), replace(moment(3), monotonic=float("inf")), replace(moment(4), monotonic=1e300))
    writer.write([moment(1), *strange, moment(5)])
    writer.close(WALL)
    made = replay(str(tmp_path / "run.db"))
    assert (made.since, made.until) == (101.0, 105.0)
