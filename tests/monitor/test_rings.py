"""Files of programs' torch: those that count, those that are somebody else's, cut or garbage, and those that are left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple

from gpuassist.model.sample import TorchMemory
from gpuassist.monitor.inside import gpuassist_memory as inside
from gpuassist.monitor.rings import LOOK_AGAIN_SECONDS, OTHERS_SECONDS, Rings
from gpuassist.system.files import Files
from gpuassist.system.surroundings import Surroundings
from tests.fakes import put
from tests.monitor.made_rings import FIGURES, MY_BASE, UUID, head, living, note, ring, state
from tests.rows import for_each

PID, STARTED = 4242, 777
ME = os.geteuid()


def rings(root: Path) -> Rings:
    found = Rings(Files(str(root)), Surroundings("/home/you", "you", ME, {}))
    found.look_around(0.0)
    for one in found.all():
        one.refresh()
    return found


def is_read(root: Path) -> bool:
    found = rings(root)
    one = found.of(PID)
    told = one is not None and one.state is not None
    found.close()
    return told


def test_what_a_living_process_says(tmp_path: Path) -> None:
    living(tmp_path, PID, STARTED)
    ring(tmp_path, PID, STARTED, note(0, "out"), note(1, "epoch 1", kind=inside.MARK))
    found = rings(tmp_path)
    one = found.of(PID)
    assert one is not None
    assert one.state is not None
    assert one.state.devices[0].memory == TorchMemory(*FIGURES)
    assert one.state.devices[0].uuid == UUID.hex()
    assert [(note.is_out_of_memory, note.words) for note in one.notes(0)] == [(True, "out"), (False, "epoch 1")]
    found.close()


@for_each(
    "begin, said",
    [
        (head(PID, STARTED), b""),
        (head(PID + 1, STARTED), None),
        (head(PID, STARTED + 1), None),
        (head(PID, STARTED, namespace=5), None),
        (b"other" + head(PID, STARTED)[5:], None),
        (b"x", None),
        (head(PID, STARTED), b"short"),
        (head(PID, STARTED), state(figures=(1 << 60, *FIGURES[1:]))),
        (head(PID, STARTED), state(beat=float("nan"))),
    ],
)
def test_only_what_its_name_says_and_can_be_is_read(tmp_path: Path, begin: bytes, said: bytes | None) -> None:
    root = tmp_path / str(len(os.listdir(tmp_path)))
    living(root, PID, STARTED)
    ring(root, PID, STARTED, begin=begin, said=said or b"")
    assert is_read(root) is (said == b"")


def test_of_a_program_between_two_looks_all_is_told_once(tmp_path: Path) -> None:
    ring(tmp_path, PID - 1, STARTED, note(0, "before anybody looked"))
    found = rings(tmp_path)
    assert found.all() == ()
    place = ring(tmp_path, PID, STARTED, note(0, "out"))
    said = []
    for look in range(1, 4):
        found.look_around(look * LOOK_AGAIN_SECONDS)
        assert found.of(PID) is None
        for one in found.all():
            one.refresh()
            said += [note.words for note in one.notes(0)]
    assert said == ["out"]
    assert not place.exists()
    found.close()


def test_neither_a_link_nor_a_pipe_nor_an_empty_file_is_read(tmp_path: Path) -> None:
    for number, name in enumerate(("link", "pipe", "empty", "text")):
        root = tmp_path / name
        living(root, PID, STARTED)
        place = ring(root, PID, STARTED)
        if number == 0:
            place.rename(root / "elsewhere")
            place.symlink_to(root / "elsewhere")
        else:
            place.unlink()
        if name == "pipe":
            os.mkfifo(place)
        elif number:
            place.write_text("" if name == "empty" else "GPUMEM01" * 999, "utf-8")
        assert not is_read(root), name


def test_a_file_that_is_not_its_processes_users_is_not_read(tmp_path: Path) -> None:
    if ME != 0:
        pytest.skip("NOT RUN: needs root")
    living(tmp_path, PID, STARTED)
    place = ring(tmp_path, PID, STARTED)
    os.chown(place, 12345, -1)
    assert not is_read(tmp_path)


def test_root_sees_those_of_all_users(tmp_path: Path) -> None:
    living(tmp_path, PID, STARTED)
    ring(tmp_path, PID, STARTED, folder="/run/user/12345/gpuassist")
    files = Files(str(tmp_path))
    for uid, seen in ((0, True), (54321, False)):
        found = Rings(files, Surroundings("/home/you", "you", uid, {}))
        found.look_around(0.0)
        assert (found.of(PID) is not None) is seen
        found.close()


def test_root_looks_for_those_of_others_now_and_then(tmp_path: Path) -> None:
    found = Rings(Files(str(tmp_path)), Surroundings("/home/you", "you", 0, {}))
    found.look_around(0.0)
    living(tmp_path, PID, STARTED)
    ring(tmp_path, PID, STARTED, folder="/tmp/gpuassist-12345")
    ring(tmp_path, PID, STARTED, folder="/tmp/gpuassist-fonts-12x")
    found.look_around(OTHERS_SECONDS)
    assert found.of(PID) is not None
    found.close()


def test_one_that_is_cut_anywhere_keeps_what_it_said(tmp_path: Path) -> None:
    living(tmp_path, PID, STARTED)
    place = ring(tmp_path, PID, STARTED, note(0, "words"))
    found = rings(tmp_path)
    one = found.of(PID)
    assert one is not None
    before = one.state
    assert len(one.notes(0)) == 1
    for size in (inside.NOTES_AT + 3, inside.STATE_AT + 20, inside.HEAD_AT + 3, 0):
        os.truncate(place, size)
        assert one.refresh() == before
        assert one.notes(0) == ()
        assert one.records() == ()
    found.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 20_000), st.binary(min_size=1, max_size=300))
def test_garbage_anywhere_is_survived(tmp_path: Path, place: int, garbage: bytes) -> None:
    living(tmp_path, PID, STARTED)
    path = ring(tmp_path, PID, STARTED, note(0, "words"))
    with path.open("r+b") as file:
        file.seek(place)
        file.write(garbage)
    found = rings(tmp_path)
    for one in found.all():
        one.notes(0)
        one.records()
    found.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from((inside.STATE_AT, inside.NOTES_AT, inside.RECORDS_AT)), st.binary(max_size=400))
def test_garbage_with_a_right_checksum_is_survived(tmp_path: Path, place: int, garbage: bytes) -> None:
    living(tmp_path, PID, STARTED)
    ring(tmp_path, PID, STARTED, note(0, "words"), (place, inside.sealed(garbage)))
    found = rings(tmp_path)
    for one in found.all():
        one.notes(0)
        assert all(figure < 1 << 48 for record in one.records() for figure in astuple(record.memory))
    found.close()


def test_what_a_process_said_last_is_told_once_more(tmp_path: Path) -> None:
    living(tmp_path, PID, STARTED)
    ring(tmp_path, PID, STARTED)
    found = rings(tmp_path)
    put(tmp_path, f"/proc/{PID}/stat", "")
    found.look_around(LOOK_AGAIN_SECONDS)
    assert (found.of(PID), len(found.all())) == (None, 1)
    found.look_around(2 * LOOK_AGAIN_SECONDS)
    assert found.all() == ()


def test_files_of_the_dead_are_taken_away(tmp_path: Path) -> None:
    living(tmp_path, PID, STARTED)
    living(tmp_path, 1000, 50)  # a run that goes on
    kept = [
        ring(tmp_path, PID, STARTED),
        ring(tmp_path, 11, 22, folder=f"{MY_BASE}/run-1000-50"),
        ring(tmp_path, 12, 22, begin=head(12, 22, namespace=5)),  # of a container that shares the directory
        put(tmp_path, f"{MY_BASE}/notes.txt"),
        put(tmp_path, f"{MY_BASE}/run-1001-51/mine.txt"),
    ]
    gone = [
        ring(tmp_path, PID, STARTED + 1),
        ring(tmp_path, 9, 22, folder=f"{MY_BASE}/run-1000-51"),
        put(tmp_path, f"{MY_BASE}/run-1000-51/python/sitecustomize.py"),
        put(tmp_path, f"{MY_BASE}/run-1000-51/python/__pycache__/sitecustomize.cpython-311.pyc"),
        put(tmp_path, f"{MY_BASE}/7-7.ring", "garbage"),
    ]
    rings(tmp_path).close()
    assert [place for place in kept if not place.exists()] == []
    assert [place for place in gone if place.exists()] == []
    assert not (tmp_path / MY_BASE.lstrip("/") / "run-1000-51").exists()


def test_nothing_is_taken_away_through_a_link(tmp_path: Path) -> None:
    victim = put(tmp_path, "/elsewhere/python/mine.py")
    base = tmp_path / MY_BASE.lstrip("/")
    base.mkdir(parents=True)
    (base / "run-1000-51").symlink_to(tmp_path / "elsewhere")
    put(tmp_path, "/elsewhere/9-9.ring")
    rings(tmp_path).close()
    assert victim.exists()
