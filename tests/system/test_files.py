"""Files under another root behave as chroot would."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuassist.system.files import Files
from tests.fakes import link, put


def test_absolute_link_stays_inside_root(tmp_path: Path) -> None:
    put(tmp_path, "/usr/local/cuda-12.4/version.json", "inside")
    link(tmp_path, "/usr/local/cuda", "/usr/local/cuda-12.4")
    assert Files(str(tmp_path)).read_text("/usr/local/cuda/version.json") == "inside"


def test_real_path_follows_chain_of_links(tmp_path: Path) -> None:
    put(tmp_path, "/usr/local/cuda-12.4/bin/nvcc")
    link(tmp_path, "/etc/alternatives/cuda", "/usr/local/cuda-12.4")
    link(tmp_path, "/usr/local/cuda", "/etc/alternatives/cuda")
    assert Files(str(tmp_path)).real("/usr/local/cuda/bin/nvcc") == "/usr/local/cuda-12.4/bin/nvcc"


def test_relative_link_climbs_no_higher_than_root(tmp_path: Path) -> None:
    link(tmp_path, "/a/b", "../../../../etc/x")
    assert Files(str(tmp_path)).real("/a/b") == "/etc/x"


def test_link_that_leads_outside_does_not(tmp_path: Path) -> None:
    outside = put(tmp_path, "/secret", "outside")
    root = tmp_path / "root"
    link(root, "/leak", str(outside))
    assert not Files(str(root)).exists("/leak")


def test_circle_of_links_ends(tmp_path: Path) -> None:
    link(tmp_path, "/a", "/b")
    link(tmp_path, "/b", "/a")
    files = Files(str(tmp_path))
    assert not files.exists("/a")
    assert files.is_link("/a")


def test_dangling_link_exists_as_link_only(tmp_path: Path) -> None:
    link(tmp_path, "/usr/local/cuda", "/usr/local/cuda-9.0")
    files = Files(str(tmp_path))
    assert (files.exists("/usr/local/cuda"), files.is_link("/usr/local/cuda")) == (False, True)
    assert files.readlink("/usr/local/cuda") == "/usr/local/cuda-9.0"


def test_missing_file_raises_as_kernel_does(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Files(str(tmp_path)).read_bytes("/proc/driver/nvidia/version")


def test_read_stops_at_the_limit(tmp_path: Path) -> None:
    put(tmp_path, "/big", b"x" * 100)
    assert len(Files(str(tmp_path)).read_bytes("/big", 10)) == 10


def test_text_that_is_not_utf8_is_marked(tmp_path: Path) -> None:
    put(tmp_path, "/latin", b"caf\xe9")
    assert Files(str(tmp_path)).read_text("/latin") == "caf�"


def test_names_of_missing_directory_are_none(tmp_path: Path) -> None:
    assert Files(str(tmp_path)).names("/usr/local") == ()


def test_names_are_sorted(tmp_path: Path) -> None:
    put(tmp_path, "/d/b")
    put(tmp_path, "/d/a")
    assert Files(str(tmp_path)).names("/d") == ("a", "b")


def test_glob_matches_in_any_part(tmp_path: Path) -> None:
    put(tmp_path, "/usr/local/cuda-11.7/bin/nvcc")
    put(tmp_path, "/usr/local/cuda-12.4/bin/nvcc")
    put(tmp_path, "/usr/local/share/bin/nvcc")
    found = Files(str(tmp_path)).glob("/usr/local/cuda*/bin/nvcc")
    assert found == ("/usr/local/cuda-11.7/bin/nvcc", "/usr/local/cuda-12.4/bin/nvcc")


def test_glob_leaves_hidden_names_out(tmp_path: Path) -> None:
    put(tmp_path, "/home/.venv/pyvenv.cfg")
    put(tmp_path, "/home/venv/pyvenv.cfg")
    files = Files(str(tmp_path))
    assert files.glob("/home/*/pyvenv.cfg") == ("/home/venv/pyvenv.cfg",)
    assert files.glob("/home/.v*/pyvenv.cfg") == ("/home/.venv/pyvenv.cfg",)


def test_glob_finds_dangling_links(tmp_path: Path) -> None:
    link(tmp_path, "/usr/local/cuda", "/nowhere")
    assert Files(str(tmp_path)).glob("/usr/local/cuda") == ("/usr/local/cuda",)


def test_kinds_are_told_apart(tmp_path: Path) -> None:
    put(tmp_path, "/d/f")
    files = Files(str(tmp_path))
    assert (files.is_directory("/d"), files.is_file("/d"), files.is_file("/d/f")) == (True, False, True)


def test_status_and_access_look_inside(tmp_path: Path) -> None:
    put(tmp_path, "/run", mode=0o700)
    files = Files(str(tmp_path))
    assert files.status("/run").st_mode & 0o777 == 0o700
    assert files.may("/run", os.X_OK)


def test_live_root_is_the_machine_itself(tmp_path: Path) -> None:
    place = put(tmp_path, "/f", "live")
    files = Files()
    assert files.live
    assert files.read_text(str(place)) == "live"


def test_root_may_itself_be_a_link(tmp_path: Path) -> None:
    put(tmp_path / "real", "/f", "x")
    (tmp_path / "alias").symlink_to("real")
    assert Files(str(tmp_path / "alias")).read_text("/f") == "x"


def test_part_of_a_file_is_read(tmp_path: Path) -> None:
    put(tmp_path, "/a", b"0123456789")
    files = Files(str(tmp_path))
    assert (files.read_part("/a", 3, 4), files.read_part("/a", 8, 9)) == (b"3456", b"89")


def test_pieces_are_the_whole_file_in_order(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"abcdefg")
    assert list(Files().pieces(str(tmp_path / "log"), 3)) == [b"abc", b"def", b"g"]


def test_pieces_are_looked_for_under_another_root(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"here")
    assert list(Files(str(tmp_path)).pieces("/log", 100)) == [b"here"]
