"""The single steps of writing, on the real disk."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import threading
from pathlib import Path

import pytest

from gpuassist.system.disk import Disk

DISK = Disk()


def test_creates_a_private_file(tmp_path: Path) -> None:
    DISK.create(str(tmp_path / "new"))
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_does_not_create_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("x")
    with pytest.raises(FileExistsError):
        DISK.create(str(tmp_path / "there"))
    assert (tmp_path / "there").read_text() == "x"


def test_does_not_create_through_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        DISK.create(str(tmp_path / "link"))
    assert not (tmp_path / "elsewhere").exists()


def test_writes_and_reads_bytes(tmp_path: Path) -> None:
    DISK.write(str(tmp_path / "f"), b"\0\xff\r\n")
    assert DISK.read(str(tmp_path / "f")) == b"\0\xff\r\n"


def test_flushes_files_and_directories(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    DISK.flush(str(tmp_path / "f"))
    DISK.flush(str(tmp_path))


def test_copies_the_mode(tmp_path: Path) -> None:
    for name, mode in (("from", 0o751), ("to", 0o600)):
        (tmp_path / name).write_bytes(b"")
        (tmp_path / name).chmod(mode)
    DISK.copy_attributes(str(tmp_path / "from"), str(tmp_path / "to"))
    assert stat.S_IMODE((tmp_path / "to").stat().st_mode) == 0o751


def test_replaces_in_one_step(tmp_path: Path) -> None:
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "old").write_bytes(b"old")
    DISK.replace(str(tmp_path / "new"), str(tmp_path / "old"))
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_bytes() == b"new"


def test_places_a_new_file(tmp_path: Path) -> None:
    (tmp_path / "beside").write_bytes(b"x")
    DISK.place_new(str(tmp_path / "beside"), str(tmp_path / "target"))
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_never_places_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "beside").write_bytes(b"x")
    (tmp_path / "target").write_bytes(b"y")
    with pytest.raises(FileExistsError):
        DISK.place_new(str(tmp_path / "beside"), str(tmp_path / "target"))
    assert (tmp_path / "target").read_bytes() == b"y"


@pytest.mark.parametrize("taken", [False, True])
def test_places_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: bool) -> None:
    def no_links(source: str, target: str) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    (tmp_path / "beside").write_bytes(b"x")
    if taken:
        (tmp_path / "target").write_bytes(b"y")
        with pytest.raises(FileExistsError):
            DISK.place_new(str(tmp_path / "beside"), str(tmp_path / "target"))
    else:
        DISK.place_new(str(tmp_path / "beside"), str(tmp_path / "target"))
    assert (tmp_path / "target").read_bytes() == (b"y" if taken else b"x")


def test_removing_what_is_gone_is_fine(tmp_path: Path) -> None:
    DISK.remove(str(tmp_path / "nothing"))


def test_makes_a_private_directory(tmp_path: Path) -> None:
    DISK.make_directory(str(tmp_path / "a/b"))
    DISK.make_directory(str(tmp_path / "a/b"))
    assert stat.S_IMODE((tmp_path / "a/b").stat().st_mode) == 0o700


def test_lists_names(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / "a").write_bytes(b"")
    assert DISK.names(str(tmp_path)) == ("a", "b")
    assert DISK.names(str(tmp_path / "none")) == ()


def test_a_dangling_symlink_exists(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    assert DISK.exists(str(tmp_path / "link"))
    assert not DISK.exists(str(tmp_path / "none"))


@pytest.mark.parametrize("path", ["f", "none", "."])
def test_ordinary_files_are_not_flagged(tmp_path: Path, path: str) -> None:
    (tmp_path / "f").write_bytes(b"")
    assert not DISK.is_locked_by_flag(str(tmp_path / path))


def test_flags_of_a_device_are_none() -> None:
    assert not DISK.is_locked_by_flag("/dev/null")


def test_reading_a_pipe_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert DISK.read(str(tmp_path / "pipe")) == b""


def test_a_lock_waits_for_its_turn(tmp_path: Path) -> None:
    entered = threading.Event()
    holding = DISK.lock(str(tmp_path / "lock"), 0)
    holding.__enter__()
    waiting = threading.Thread(target=_take_and_say, args=(str(tmp_path / "lock"), entered))
    waiting.start()
    assert not entered.wait(0.1)
    holding.__exit__(None, None, None)
    waiting.join(100)
    assert entered.is_set()


def _take_and_say(path: str, entered: threading.Event) -> None:
    with Disk().lock(path, 10):
        entered.set()


def test_a_lock_gives_up_in_time(tmp_path: Path) -> None:
    with DISK.lock(str(tmp_path / "lock"), 0), pytest.raises(BlockingIOError), DISK.lock(str(tmp_path / "lock"), 0.1):
        pass


def test_whether_a_lock_is_held_is_told_to_any_number_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    assert not DISK.is_locked(path)
    with DISK.lock(path, 0):
        assert DISK.is_locked(path)
    asking = os.open(path, os.O_RDONLY)
    fcntl.flock(asking, fcntl.LOCK_SH)  # another who asks at this moment
    assert not DISK.is_locked(path)
    os.close(asking)
    (tmp_path / "link").symlink_to("lock")
    with pytest.raises(OSError, match="symbolic"):
        DISK.is_locked(str(tmp_path / "link"))


def test_a_lock_goes_also_where_a_program_being_started_has_a_copy_of_it(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with DISK.lock(path, 0):
        held = [int(one) for one in os.listdir("/proc/self/fd") if os.path.realpath(f"/proc/self/fd/{one}") == path]
        copy = os.dup(held[0])
    assert not DISK.is_locked(path)
    os.close(copy)


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o775])
def test_adds_one_directory_with_its_mode(tmp_path: Path, mode: int) -> None:
    DISK.add_directory(str(tmp_path / "new"), mode)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == mode
    with pytest.raises(FileExistsError):
        DISK.add_directory(str(tmp_path / "new"), 0o700)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == mode


def test_removes_only_an_empty_directory(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    assert [DISK.remove_directory(str(tmp_path / name)) for name in ("full", "empty", "gone")] == [False, True, True]
    assert [path.name for path in tmp_path.iterdir()] == ["full"]


def test_never_removes_a_file_as_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        DISK.remove_directory(str(tmp_path / "file"))
    assert (tmp_path / "file").exists()


def test_a_name_that_is_ours_already_is_placed(tmp_path: Path) -> None:
    (tmp_path / "beside").write_bytes(b"x")
    os.link(tmp_path / "beside", tmp_path / "target")
    DISK.place_new(str(tmp_path / "beside"), str(tmp_path / "target"))
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_more_goes_to_the_end(tmp_path: Path) -> None:
    path = str(tmp_path / "log")
    Disk().create(path)
    for content in (b"one\n", b"", b"two\n"):
        Disk().append(path, content)
    assert (tmp_path / "log").read_bytes() == b"one\ntwo\n"


def test_a_tree_goes_and_what_it_links_to_stays(tmp_path: Path) -> None:
    made, mine = tmp_path / "made", tmp_path / "mine"
    (made / "deep/deeper").mkdir(parents=True)
    mine.mkdir()
    (made / "deep/link").symlink_to(mine)
    (made / "deep/file").write_text("x")
    Disk().remove_tree(str(made))
    Disk().remove_tree(str(made))
    assert (made.exists(), mine.exists()) == (False, True)


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_no_directory_is_not_taken_for_a_tree(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    if kind == "file":
        place.write_text("mine")
    else:
        (tmp_path / "mine").mkdir()
        place.symlink_to(tmp_path / "mine")
    with pytest.raises(OSError):
        Disk().remove_tree(str(place))
    assert place.exists()
