"""Disks and neighbours as they really are: network file systems, editors, links, other file systems, limits, attributes."""

from __future__ import annotations

import errno
import os
import resource
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.apply import apply
from gpuassist.changes.journal import Journal
from gpuassist.changes.plan import ChangeOutcome
from gpuassist.changes.undo import undo
from gpuassist.model.plan import Result
from gpuassist.model.words import ENGLISH
from gpuassist.system.disk import Disk
from gpuassist.system.world import World
from tests.changes.homes import change_of, world_at
from tests.fakes import ScriptedProcesses

BEFORE, AFTER = b"# mine\nexport A=1\n", b"# mine\nexport A=1\nexport B=2\n"


@pytest.fixture
def bashrc(home: Path) -> Path:
    path = home / ".bashrc"
    path.write_bytes(BEFORE)
    return path


def _world(home: Path, disk: Disk | None = None) -> World:
    return world_at(home, disk=disk, processes=ScriptedProcesses())


def _apply(home: Path, disk: Disk | None = None) -> ChangeOutcome:
    return apply(_world(home, disk), change_of(home / ".bashrc", AFTER, "one"))


def _names(home: Path) -> list[str]:
    return sorted(path.name for path in home.iterdir() if path.name != ".local")


class _Forgetful(Disk):
    """A network file system: it renames, loses the answer, asks again, and says what came of the second time."""

    def __init__(self, number: int) -> None:
        self.number = number

    def replace(self, path: str, target: str) -> None:
        super().replace(path, target)
        if target.endswith(".bashrc"):
            raise OSError(self.number, os.strerror(self.number), path)


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EIO, errno.ESTALE, errno.ETIMEDOUT])
def test_a_rename_that_took_place_counts_whatever_is_said_of_it(bashrc: Path, home: Path, number: int) -> None:
    assert _apply(home, _Forgetful(number)).outcome.result is Result.MODIFIED
    assert bashrc.read_bytes() == AFTER
    undo(_world(home, _Forgetful(number)), "one")
    assert bashrc.read_bytes() == BEFORE
    assert _names(home) == [".bashrc"]


class _LinkedTwice(Disk):
    """The same for a new file: the link is there, and the second call says that the name is taken."""

    def place_new(self, path: str, target: str) -> None:
        os.link(path, target)
        super().place_new(path, target)


def test_a_link_that_took_place_counts(home: Path) -> None:
    assert _apply(home, _LinkedTwice()).outcome.result is Result.MODIFIED
    assert (home / ".bashrc").read_bytes() == AFTER
    assert _names(home) == [".bashrc"]


class _Stale(Disk):
    """The server has forgotten the file when it is looked at the last time, or while it is cleaned up."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.stale = False

    def flush(self, path: str) -> None:
        super().flush(path)
        self.stale = self.stale or "gpuassist-one" in path

    def read(self, path: str) -> bytes:
        self._fail("read", path)
        return super().read(path)

    def remove(self, path: str) -> None:
        self._fail("remove", path)
        super().remove(path)

    def replace(self, path: str, target: str) -> None:
        if self.stale:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), path)
        super().replace(path, target)

    def _fail(self, method: str, path: str) -> None:
        if self.stale and method == self.method:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), path)


@pytest.mark.parametrize("method", ["read", "remove", "replace"])
def test_a_server_that_forgets_the_file_changes_nothing(bashrc: Path, home: Path, method: str) -> None:
    assert _apply(home, _Stale(method)).outcome.result is Result.FAILED
    assert bashrc.read_bytes() == BEFORE
    (home / "other").write_bytes(b"")
    apply(_world(home), change_of(home / "other", b"x\n", "two"))
    assert _names(home) == [".bashrc", "other"]


def test_an_editor_that_has_the_file_open_keeps_what_it_reads(bashrc: Path, home: Path) -> None:
    with bashrc.open("rb") as editor:
        _apply(home)
        assert editor.read() == BEFORE
    assert bashrc.read_bytes() == AFTER


def test_an_editor_that_writes_its_old_file_harms_nothing_but_that(bashrc: Path, home: Path) -> None:
    with bashrc.open("ab") as editor:
        _apply(home)
        editor.write(b"# late\n")
    assert bashrc.read_bytes() == AFTER


def _saved_by_vim(path: Path, content: bytes) -> None:
    """A new file, renamed into the old one's place, which is kept as a backup with a tilde."""
    os.replace(path, f"{path}~")
    path.write_bytes(content)


@pytest.mark.parametrize(("content", "result"), [(BEFORE, Result.MODIFIED), (BEFORE + b"# saved\n", Result.REFUSED)])
def test_an_editor_that_saves_by_renaming(bashrc: Path, home: Path, content: bytes, result: Result) -> None:
    change = change_of(bashrc, AFTER)
    _saved_by_vim(bashrc, content)
    assert apply(_world(home), change).outcome.result is result
    assert bashrc.read_bytes() == (AFTER if result is Result.MODIFIED else content)


def test_an_editor_that_saves_after_the_change_is_merged_with(bashrc: Path, home: Path) -> None:
    _apply(home)
    _saved_by_vim(bashrc, b"# head\n" + AFTER)
    undo(_world(home), "one")
    assert bashrc.read_bytes() == b"# head\n" + BEFORE


def test_other_names_of_the_file_keep_the_old_content(bashrc: Path, home: Path) -> None:
    os.link(bashrc, home / "other-name")
    _apply(home)
    assert bashrc.read_bytes() == AFTER
    assert (home / "other-name").read_bytes() == BEFORE


@pytest.mark.parametrize("links", [1, 3, 9])
def test_a_chain_of_links_is_followed_and_left(home: Path, links: int) -> None:
    (home / "real").mkdir()
    (home / "real/bashrc").write_bytes(BEFORE)
    target = "real/bashrc"
    for number in range(links):
        name = ".bashrc" if number == links - 1 else f"link-{number}"
        (home / name).symlink_to(target)
        target = name
    _apply(home)
    assert (home / "real/bashrc").read_bytes() == AFTER
    undo(_world(home), "one")
    assert (home / "real/bashrc").read_bytes() == BEFORE
    assert (home / ".bashrc").is_symlink()


def test_a_link_that_was_turned_elsewhere_since_is_not_followed(home: Path) -> None:
    for name in ("one", "two"):
        (home / name).write_bytes(BEFORE)
    (home / ".bashrc").symlink_to("one")
    change = change_of(home / ".bashrc", AFTER)
    (home / ".bashrc").unlink()
    (home / ".bashrc").symlink_to("two")
    assert apply(_world(home), change).outcome.result is Result.REFUSED
    assert (home / "one").read_bytes() == (home / "two").read_bytes() == BEFORE


def _acl(*entries: tuple[int, int, int]) -> bytes:
    """An access control list as the kernel takes it (linux/posix_acl_xattr.h): tag, permissions, id."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


ACL = _acl((0x01, 6, 0xFFFFFFFF), (0x02, 4, 1234), (0x04, 4, 0xFFFFFFFF), (0x10, 4, 0xFFFFFFFF), (0x20, 0, 0xFFFFFFFF))


@pytest.mark.parametrize(("name", "value"), [("system.posix_acl_access", ACL), ("user.origin", b"dotfiles"), ("user.empty", b"")])
def test_access_lists_and_attributes_stay(bashrc: Path, home: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(bashrc, name, value)
    except OSError:
        pytest.skip(f"NOT RUN: this file system has no {name}")
    before = os.getxattr(bashrc, name), bashrc.stat().st_mode
    _apply(home)
    assert (os.getxattr(bashrc, name), bashrc.stat().st_mode) == before
    undo(_world(home), "one")
    assert (os.getxattr(bashrc, name), bashrc.stat().st_mode) == before


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """A directory on another file system."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK) or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("NOT RUN: there is no second file system")
    directory = shared / f"gpuassist-test-{os.getpid()}"
    directory.mkdir()
    yield directory
    subprocess.run(["rm", "-r", str(directory)], check=True, timeout=100)


def test_the_journal_may_lie_on_another_file_system(bashrc: Path, home: Path, elsewhere: Path) -> None:
    world = _world(home)
    world = replace(world, surroundings=replace(world.surroundings, variables={"XDG_STATE_HOME": str(elsewhere)}))
    apply(world, change_of(bashrc, AFTER, "one"))
    assert bashrc.read_bytes() == AFTER
    assert Journal.of(world).backup("one").startswith(str(elsewhere))
    undo(world, "one")
    assert bashrc.read_bytes() == BEFORE


def test_the_file_may_lie_on_another_file_system(home: Path, elsewhere: Path) -> None:
    (elsewhere / "bashrc").write_bytes(BEFORE)
    (home / ".bashrc").symlink_to(elsewhere / "bashrc")
    _apply(home)
    assert (elsewhere / "bashrc").read_bytes() == AFTER
    undo(_world(home), "one")
    assert [path.name for path in elsewhere.iterdir()] == ["bashrc"]


def test_a_limit_on_file_sizes_changes_nothing(bashrc: Path, home: Path) -> None:
    change = change_of(bashrc, BEFORE + b"# more\n" * 30_000)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        applied = apply(_world(home), change)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert applied.outcome.result is Result.FAILED
    assert bashrc.read_bytes() == BEFORE
    assert [path.name for path in Path(Journal.of(_world(home)).directory).iterdir()] == ["lock"]


def _mounted(*command: str) -> bool:
    return subprocess.run(["mount", *command], capture_output=True, timeout=100).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT RUN: only root may mount a disk to write-protect")
def test_a_read_only_file_system_is_refused(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if not _mounted("-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)):
        pytest.skip("NOT RUN: no small disk can be mounted here")
    try:
        (small / ".bashrc").write_bytes(BEFORE)
        assert _mounted("-o", "remount,ro", str(small))
        applied = _apply(small)
        assert applied.outcome.result is Result.REFUSED
        assert "read-only file system" in ENGLISH(applied.outcome.text)
    finally:
        subprocess.run(["umount", str(small)], check=True, timeout=100)


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT RUN: only root may set the immutable flag")
@pytest.mark.needs("chattr")
@pytest.mark.parametrize("flag", ["i", "a"])
def test_an_immutable_directory_is_refused(bashrc: Path, home: Path, flag: str) -> None:
    if subprocess.run(["chattr", f"+{flag}", str(home)], capture_output=True, timeout=100).returncode:
        pytest.skip("NOT RUN: this file system has no immutable flag")
    try:
        applied = _apply(home)
    finally:
        subprocess.run(["chattr", f"-{flag}", str(home)], check=True, timeout=100)
    assert applied.outcome.result is Result.REFUSED
    assert bashrc.read_bytes() == BEFORE


def _made_read_only(path: Path) -> None:
    path.chmod(0o444)


def _made_a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _made_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("spoil", [_made_read_only, _made_a_directory, _made_a_pipe])
def test_what_became_of_the_file_since_the_preview_is_noticed(bashrc: Path, home: Path, spoil: Callable[[Path], None]) -> None:
    change = change_of(bashrc, AFTER)
    spoil(bashrc)
    assert apply(_world(home), change).outcome.result is Result.REFUSED
    assert not (home / ".local").exists()
