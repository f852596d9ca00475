"""Recordings of samples: written, read while they are written, cut, of others, and whatever stands in the way of one."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuassist.model.sample import Sample
from gpuassist.monitor import sample_writer
from gpuassist.monitor.sample_file import SCHEMA, SampleFileError, SampleReader
from gpuassist.monitor.sample_writer import BLOCK_SAMPLES, SampleWriter
from tests.monitor.samples import gpu, process, sample
from tests.rows import for_each


def made(count: int, since: int = 0) -> list[Sample]:
    return [
        sample(float(second), gpu(1000 + second % 7, process(7, second % 5, "train.py"))) for second in range(since, since + count)
    ]


def wide(count: int) -> list[Sample]:
    """Samples that no packing makes small."""
    chance = random.Random(1)
    return [sample(float(second), gpu(5, *(process(pid, chance.getrandbits(40)) for pid in range(40)))) for second in range(count)]


def recorded(path: Path, samples: list[Sample], *, step: int = 1, rotate_bytes: int = 1 << 30) -> Path:
    writer = SampleWriter(str(path), 1.0, rotate_bytes=rotate_bytes)
    for first in range(0, len(samples), step):
        writer.write(samples[first : first + step])
    writer.close(2.0)
    return path


def read(path: Path) -> list[Sample]:
    reader = SampleReader(str(path))
    samples = list(reader.samples())
    assert reader.damage == ()
    return samples


def refused(path: Path, *, write: bool = False) -> str:
    with pytest.raises(SampleFileError) as caught:
        SampleWriter(str(path), 1.0) if write else list(SampleReader(str(path)).samples())
    return caught.value.reason.message


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Sample]]:
    samples = made(3 * BLOCK_SAMPLES + 5)
    return recorded(tmp_path_factory.mktemp("long") / "run.db", samples, step=16), samples


def test_what_was_recorded_is_read(long: tuple[Path, list[Sample]]) -> None:
    assert read(long[0]) == long[1]


def test_one_file_is_left_and_only_its_owner_may_read_it(long: tuple[Path, list[Sample]]) -> None:
    read(long[0])
    assert os.listdir(long[0].parent) == ["run.db"]
    assert long[0].stat().st_mode & 0o777 == 0o600


def test_a_great_block_takes_the_place_of_the_small_ones(long: tuple[Path, list[Sample]]) -> None:
    with sqlite3.connect(long[0]) as connection:
        counts = [count for (count,) in connection.execute("SELECT count FROM blocks ORDER BY id")]
    connection.close()
    assert counts == [BLOCK_SAMPLES] * 3 + [5]


def test_it_is_read_while_it_is_written(tmp_path: Path) -> None:
    path, samples = tmp_path / "run.db", made(BLOCK_SAMPLES + 10)
    writer = SampleWriter(str(path), 1.0)
    writer.write(samples[:5])
    reading = SampleReader(str(path)).samples()
    seen = [next(reading) for _ in range(3)]
    for one in samples[5:]:
        writer.write([one])  # by now a great block has taken the place of the small ones
    assert seen + list(reading) == samples
    writer.close(2.0)


def test_every_run_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    recorded(path, made(3))
    recorded(path, made(2, since=50))
    reader = SampleReader(str(path))
    runs = reader.runs()
    assert [(run.number, run.started, run.ended) for run in runs] == [(1, 1.0, 2.0), (2, 1.0, 2.0)]
    assert list(reader.samples(runs[1])) == made(2, since=50)
    assert read(path) == [*made(3), *made(2, since=50)]


def test_a_long_recording_goes_on_in_further_files(tmp_path: Path) -> None:
    path, samples = tmp_path / "run.db", made(4 * BLOCK_SAMPLES)
    (tmp_path / "run.2.db").write_text("somebody's own")
    recorded(path, samples, step=BLOCK_SAMPLES, rotate_bytes=1)
    assert sorted(os.listdir(tmp_path)) == ["run.2.db", "run.3.db", "run.4.db", "run.5.db", "run.6.db", "run.db"]
    assert read(path) == samples
    assert len(SampleReader(str(path)).runs()) == 1
    recorded(path, made(2, since=9999))
    assert read(path) == [*samples, *made(2, since=9999)]


def test_the_second_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    writer = SampleWriter(str(path), 1.0)
    assert "another gpuassist" in refused(path, write=True)
    writer.write(made(2))
    writer.close(2.0)
    assert read(path) == made(2)


def test_a_link_leads_to_the_same_file(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run.db", made(2))
    (tmp_path / "link.db").symlink_to(path)
    writer = SampleWriter(str(path), 1.0)
    assert "another gpuassist" in refused(tmp_path / "link.db", write=True)
    writer.close(2.0)
    assert read(tmp_path / "link.db") == made(2)


def _of_another_program(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE runs (id)")
    connection.commit()
    connection.close()


def _newer(path: Path) -> None:
    recorded(path, made(1))
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    connection.close()


def _text(path: Path) -> None:
    path.write_text("time,used\n" * 1000)


OTHERS = (("another program", _of_another_program), ("newer", _newer), ("not a recording", _text), ("not a file", Path.mkdir))


@for_each("words, make", OTHERS)
def test_what_is_not_ours_is_refused_and_left_as_it_is(tmp_path: Path, words: str, make: Callable[[Path], None]) -> None:
    path = tmp_path / words
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    for write in (False, True):
        assert words in refused(path, write=write)
    assert (path.read_bytes() if path.is_file() else b"") == before
    assert not list(tmp_path.glob("*-lock"))


def test_a_place_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "no directory" in refused(tmp_path / "none" / "run.db", write=True)
    assert "cannot be read" in refused(tmp_path / "none.db")


def test_an_empty_file_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    path.touch()
    assert "empty" in refused(path)
    assert read(recorded(path, made(2))) == made(2)


def test_a_removed_file_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    writer = SampleWriter(str(path), 1.0)
    writer.write(made(3))
    path.unlink()
    writer.write(made(2, since=3))
    assert writer.damage is not None
    writer.close(2.0)
    assert read(path) == made(5)  # those of the block that was not full yet were still at hand


def test_a_log_that_was_left_behind_is_not_played_into_a_new_file(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run.db", made(3))
    writer = SampleWriter(str(path), 1.0)
    writer.write(made(3, since=10))
    shutil.copy(tmp_path / "run.db-wal", tmp_path / "kept")
    writer.close(2.0)
    path.unlink()
    shutil.move(tmp_path / "kept", tmp_path / "run.db-wal")
    assert read(recorded(path, made(2, since=70))) == made(2, since=70)


def test_a_recording_cut_anywhere_gives_what_is_there(long: tuple[Path, list[Sample]], tmp_path: Path) -> None:
    whole, path = long[0].read_bytes(), tmp_path / "cut.db"
    found = []
    for size in range(1, len(whole), 1997):
        path.write_bytes(whole[:size])
        try:
            reader = SampleReader(str(path))
            samples = list(reader.samples())
        except SampleFileError:
            continue
        assert all(one in long[1] for one in samples)
        assert reader.damage or samples == long[1]
        found.append(len(samples))
        assert "damaged" in refused(path, write=True)
        assert path.read_bytes() == whole[:size]
    assert any(found)


def test_a_spoiled_block_costs_its_own_samples_alone(long: tuple[Path, list[Sample]], tmp_path: Path) -> None:
    path = Path(shutil.copy(long[0], tmp_path / "run.db"))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE blocks SET data = x'00' WHERE id = ?", (BLOCK_SAMPLES + 1,))
    connection.close()
    reader = SampleReader(str(path))
    assert list(reader.samples()) == [*long[1][:BLOCK_SAMPLES], *long[1][2 * BLOCK_SAMPLES :]]
    assert dict(reader.damage[0].parameters)["count"] == BLOCK_SAMPLES


def test_a_full_disk_loses_nothing_that_fits_in_memory(tmp_path: Path) -> None:
    path, samples = tmp_path / "run.db", wide(2 * BLOCK_SAMPLES)
    writer = SampleWriter(str(path), 1.0)
    writer.write(samples[:10])
    writer._connection.execute("PRAGMA max_page_count = 1")  # SQLite's own full disk
    for first in range(10, len(samples), 82):
        with pytest.raises(SampleFileError, match="full"):
            writer.write(samples[first : first + 82])
    assert writer.waiting == len(samples) - 10
    writer._connection.execute("PRAGMA max_page_count = 1000000")
    writer.write([])
    assert (writer.waiting, writer.lost) == (0, 0)
    writer.close(2.0)
    assert read(path) == samples


def test_what_waits_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_writer, "WAITING_BYTES", 30_000)
    path, samples = tmp_path / "run.db", wide(4 * BLOCK_SAMPLES)
    writer = SampleWriter(str(path), 1.0)
    writer._connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(SampleFileError):
        writer.write(samples)
    assert writer.lost % BLOCK_SAMPLES == 0
    assert 0 < writer.lost < len(samples)
    writer._connection.execute("PRAGMA max_page_count = 1000000")
    writer.close(2.0)
    assert read(path) == samples[writer.lost :]


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """What a writer leaves that is killed between two commits, with all files that SQLite had beside it."""
    path = tmp_path / "run.db"
    script = f"""
import os, signal
from gpuassist.monitor.sample_writer import SampleWriter
from tests.monitor.test_sample_file import made
writer = SampleWriter({str(path)!r}, 1.0)
for one in made({BLOCK_SAMPLES + 30}):
    writer.write([one])
os.kill(os.getpid(), signal.SIGKILL)
"""
    root = Path(__file__).resolve().parent.parent.parent
    subprocess.run([sys.executable, "-c", script], cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, check=False, timeout=60)
    return path


def test_a_kill_loses_nothing_that_was_committed(killed: Path) -> None:
    assert (killed.parent / "run.db-wal").exists()
    assert read(killed) == made(BLOCK_SAMPLES + 30)
    runs = SampleReader(str(killed)).runs()
    assert [run.ended for run in runs] == [None]
    log = (killed.parent / "run.db-wal").read_bytes()
    for size in range(0, len(log), len(log) // 7):  # a log cut anywhere ends with a commit, too
        (killed.parent / "run.db-wal").write_bytes(log[:size])
        (killed.parent / "run.db-shm").unlink(missing_ok=True)
        try:
            samples = read(killed)
        except SampleFileError:
            continue
        assert samples == made(len(samples))
    (killed.parent / "run.db-wal").write_bytes(log)
    recorded(killed, made(2, since=500))
    assert read(killed) == [*made(BLOCK_SAMPLES + 30), *made(2, since=500)]
