"""Names by number."""

from __future__ import annotations

from pathlib import Path

from gpuassist.detect.accounts import Accounts
from tests.fakes import put, world_under


def test_names_come_from_the_machines_own_files(tmp_path: Path) -> None:
    put(tmp_path, "/etc/passwd", "root:x:0:0:root:/root:/bin/bash\nada:x:1001:1001::/home/ada:/bin/sh\n")
    put(tmp_path, "/etc/group", "root:x:0:\nvideo:x:44:ada\n")
    accounts = Accounts(world_under(tmp_path))
    assert (accounts.user(1001), accounts.group(44)) == ("ada", "video")


def test_number_without_a_name_stays_one(tmp_path: Path) -> None:
    accounts = Accounts(world_under(tmp_path))
    assert (accounts.user(4711), accounts.group(4711)) == ("4711", "4711")


def test_own_number_is_named_without_a_file(tmp_path: Path) -> None:
    assert Accounts(world_under(tmp_path)).user(1000) == "you"


def test_first_of_two_names_for_one_number_counts(tmp_path: Path) -> None:
    put(tmp_path, "/etc/passwd", "root:x:0:0::/root:/bin/bash\ntoor:x:0:0::/root:/bin/bash\n")
    assert Accounts(world_under(tmp_path)).user(0) == "root"


def test_damaged_lines_do_no_harm(tmp_path: Path) -> None:
    put(tmp_path, "/etc/passwd", b"\xff\xfe\n\n::\nada:x:7\n")
    assert Accounts(world_under(tmp_path)).user(7) == "ada"
