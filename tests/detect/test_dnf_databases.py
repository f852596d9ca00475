"""dnf's databases: made by the statements that libdnf and libdnf5 make them with."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuassist.detect.package_history import read_history
from gpuassist.formats.package_logs.dnf_history import DNF_LAYOUTS
from gpuassist.model.machine import Machine
from gpuassist.model.past import PackageHistory
from gpuassist.model.words import ENGLISH
from tests.fakes import put, world_under

PATH4, PATH5 = DNF_LAYOUTS
DNF4 = """
CREATE TABLE trans (id INTEGER PRIMARY KEY AUTOINCREMENT, dt_begin INTEGER NOT NULL, dt_end INTEGER, rpmdb_version_begin TEXT,
    rpmdb_version_end TEXT, releasever TEXT NOT NULL, user_id INTEGER NOT NULL, cmdline TEXT, state INTEGER NOT NULL);
CREATE TABLE item (id INTEGER PRIMARY KEY, item_type INTEGER NOT NULL);
CREATE TABLE trans_item (id INTEGER PRIMARY KEY AUTOINCREMENT, trans_id INTEGER REFERENCES trans(id),
    item_id INTEGER REFERENCES item(id), repo_id INTEGER, action INTEGER NOT NULL, reason INTEGER NOT NULL, state INTEGER NOT NULL);
CREATE TABLE rpm (item_id INTEGER UNIQUE NOT NULL, name TEXT NOT NULL, epoch INTEGER NOT NULL, version TEXT NOT NULL,
    release TEXT NOT NULL, arch TEXT NOT NULL, FOREIGN KEY(item_id) REFERENCES item(id));
CREATE INDEX rpm_name ON rpm(name);
CREATE INDEX trans_item_trans_id ON trans_item(trans_id);
CREATE INDEX trans_item_item_id ON trans_item(item_id);
"""
DNF5 = """
CREATE TABLE "trans" ("id" INTEGER, "dt_begin" INTEGER NOT NULL, "dt_end" INTEGER, "rpmdb_version_begin" TEXT,
    "rpmdb_version_end" TEXT, "releasever" TEXT NOT NULL, "user_id" INTEGER NOT NULL, "description" TEXT, "comment" TEXT,
    "state_id" INTEGER, PRIMARY KEY("id" AUTOINCREMENT));
CREATE TABLE "pkg_name" ("id" INTEGER, "name" TEXT NOT NULL UNIQUE, PRIMARY KEY("id"));
CREATE TABLE "arch" ("id" INTEGER, "name" TEXT NOT NULL UNIQUE, PRIMARY KEY("id"));
CREATE TABLE "trans_item" ("id" INTEGER, "trans_id" INTEGER, "item_id" INTEGER, "repo_id" INTEGER, "action_id" INTEGER NOT NULL,
    "reason_id" INTEGER NOT NULL, "state_id" INTEGER NOT NULL, PRIMARY KEY("id" AUTOINCREMENT));
CREATE TABLE "rpm" ("item_id" INTEGER NOT NULL UNIQUE, "name_id" INTEGER NOT NULL, "epoch" INTEGER NOT NULL,
    "version" TEXT NOT NULL, "release" TEXT NOT NULL, "arch_id" INTEGER NOT NULL);
INSERT INTO arch VALUES (1, 'x86_64'), (2, 'i686');
"""
NAMES = ("nvidia-driver", "kernel-core", "bash", "akmod-nvidia", "nvidia-driver-libs")
# (name, epoch, version, architecture, what happened, its state), as dnf 5 numbers them
ITEMS = (
    ("nvidia-driver", 3, "580.95.05", "x86_64", "upgrade", "ok"),
    ("nvidia-driver", 3, "570.86.15", "x86_64", "replaced", "ok"),
    ("nvidia-driver-libs", 3, "580.95.05", "i686", "upgrade", "ok"),
    ("nvidia-driver-libs", 3, "570.86.15", "i686", "replaced", "ok"),
    ("kernel-core", 0, "6.17.5", "x86_64", "install", "ok"),
    ("kernel-core", 0, "6.16.1", "x86_64", "remove", "ok"),
    ("bash", 0, "5.3", "x86_64", "upgrade", "ok"),
    ("akmod-nvidia", 3, "580.95.05", "x86_64", "install", "failed"),
)
ACTIONS4 = {"install": 1, "downgrade": 2, "replaced": 7, "upgrade": 6, "remove": 8, "ok": 1, "failed": 2}
ACTIONS5 = {"install": 1, "downgrade": 3, "replaced": 6, "upgrade": 2, "remove": 5, "ok": 2, "failed": 3}
BEGUN = 1794636723  # 2026-11-14 06:12:03 UTC
EXPECTED = [
    ("upgraded", "nvidia-driver", "3:570.86.15-1.fc42", "3:580.95.05-1.fc42"),
    ("upgraded", "nvidia-driver-libs.i686", "3:570.86.15-1.fc42", "3:580.95.05-1.fc42"),
    ("installed", "kernel-core", "", "6.17.5-1.fc42"),
    ("removed", "kernel-core", "6.16.1-1.fc42", ""),
]


def made(root: Path, path: str, script: str = "") -> sqlite3.Connection:
    place = put(root, path)
    place.unlink()
    connection = sqlite3.connect(place)
    connection.executescript(script)
    return connection


def dnf4(root: Path, user: int = 1000) -> None:
    connection = made(root, PATH4, DNF4)
    connection.execute("INSERT INTO trans VALUES (41, ?, 0, '', '', '42', 0, 'first', 1)", (BEGUN - 1000,))
    connection.execute("INSERT INTO trans VALUES (42, ?, 0, '', '', '42', ?, 'upgrade --refresh', 1)", (BEGUN, user))
    for number, (name, epoch, version, architecture, action, state) in enumerate(ITEMS, 1):
        connection.execute("INSERT INTO rpm VALUES (?, ?, ?, ?, '1.fc42', ?)", (number, name, epoch, version, architecture))
        connection.execute(
            "INSERT INTO trans_item (trans_id, item_id, action, reason, state) VALUES (42, ?, ?, 1, ?)",
            (number, ACTIONS4[action], ACTIONS4[state]),
        )
    connection.commit()
    connection.close()


def dnf5(root: Path, user: int = 1000) -> None:
    connection = made(root, PATH5, DNF5)
    connection.executemany("INSERT INTO pkg_name VALUES (?, ?)", enumerate(NAMES, 1))
    connection.execute("INSERT INTO trans VALUES (42, ?, 0, '', '', '42', ?, 'dnf5 upgrade --refresh', '', 2)", (BEGUN, user))
    for number, (name, epoch, version, architecture, action, state) in enumerate(ITEMS, 1):
        row = (number, NAMES.index(name) + 1, epoch, version, 1 + (architecture == "i686"))
        connection.execute("INSERT INTO rpm VALUES (?, ?, ?, ?, '1.fc42', ?)", row)
        connection.execute(
            "INSERT INTO trans_item (trans_id, item_id, action_id, reason_id, state_id) VALUES (42, ?, ?, 1, ?)",
            (number, ACTIONS5[action], ACTIONS5[state]),
        )
    connection.commit()
    connection.close()


def history(root: Path, since: str = "") -> PackageHistory:
    return read_history(world_under(root), Machine(), since)


def reasons(told: PackageHistory) -> str:
    return "\n".join(map(ENGLISH, told.unread))


@pytest.mark.parametrize(("make", "path", "by"), [(dnf4, PATH4, "dnf upgrade --refresh"), (dnf5, PATH5, "dnf5 upgrade --refresh")])
def test_a_transaction(make: Callable[[Path], None], path: str, by: str, tmp_path: Path) -> None:
    make(tmp_path)
    put(tmp_path, "/etc/passwd", "jo:x:1000:1000::/home/jo:/bin/bash\n")
    told = history(tmp_path)
    assert [(event.action.value, event.package, event.before, event.after) for event in told.events] == EXPECTED
    assert {(event.at, event.by, event.user, event.source) for event in told.events} == {
        ("2026-11-14T06:12:03+00:00", by, "jo", f"{path}#42")
    }
    assert told.unread == ()
    assert history(tmp_path, "2026-11-14T06:12:04+00:00").events == ()
    assert sorted(os.listdir((tmp_path / path.lstrip("/")).parent)) == [path.rpartition("/")[2]]  # and left no trace


def test_from_when_on_it_tells(tmp_path: Path) -> None:
    dnf4(tmp_path)
    assert history(tmp_path).covers == "2026-11-14T05:55:23+00:00"


def test_a_timer_is_no_user(tmp_path: Path) -> None:
    dnf5(tmp_path, 0xFFFFFFFF)
    assert {event.user for event in history(tmp_path).events} == {""}


def test_both_databases_of_a_system_that_was_upgraded(tmp_path: Path) -> None:
    dnf4(tmp_path)
    dnf5(tmp_path)
    assert {event.source.partition("#")[0] for event in history(tmp_path).events} == {PATH4}  # the same acts, told once
    connection = sqlite3.connect(tmp_path / PATH5.lstrip("/"))
    connection.execute("UPDATE trans SET dt_begin = dt_begin + 60")
    connection.commit()
    connection.close()
    assert len(history(tmp_path).events) == 2 * len(EXPECTED)


def test_the_log_of_lines_stands_in_for_a_database_that_cannot_be_read(tmp_path: Path) -> None:
    put(tmp_path, PATH4, b"SQLite format 3\0" + b"\xff" * 5000)
    put(tmp_path, "/var/log/dnf.rpm.log", "2026-11-14T06:12:11+0100 SUBDEBUG Installed: kernel-core-6.17.5-300.fc42.x86_64\n")
    told = history(tmp_path)
    assert [event.package for event in told.events] == ["kernel-core"]
    assert PATH4 in reasons(told)


def test_damage_anywhere_raises_nothing(tmp_path: Path) -> None:
    dnf4(tmp_path)
    place = tmp_path / PATH4.lstrip("/")
    whole = place.read_bytes()
    for number in range(0, len(whole), len(whole) // 20):
        place.write_bytes(whole[:number] + b"\xa5" * 37 + whole[number + 37 :])
        history(tmp_path)
        place.write_bytes(whole[:number])
        history(tmp_path)


def test_what_its_maker_wrote_as_a_program_is_not_run(tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT {columns} FROM n"
    no_index = DNF4.partition("CREATE INDEX")[0]
    scripts = (
        DNF4.replace("CREATE TABLE rpm (", "CREATE TABLE rpm0 (").replace("ON rpm(", "ON rpm0(")
        + f"CREATE VIEW rpm AS {endless.format(columns='x AS item_id, hex(zeroblob(900000000)) AS name')};",
        no_index.replace("name TEXT NOT NULL", "name TEXT GENERATED ALWAYS AS (hex(zeroblob(900000))) VIRTUAL"),
        no_index.replace("name TEXT NOT NULL", "name TEXT AS(hex(zeroblob(900000)))"),
        "CREATE TABLE trans (id INTEGER);",
        "",
    )
    for number, script in enumerate(scripts):
        root = tmp_path / str(number)
        connection = made(root, PATH4, script or "CREATE TABLE other (id)")
        if number in {1, 2}:
            connection.execute("INSERT INTO rpm (item_id, epoch, version, release, arch) VALUES (1, 0, '', '', '')")
        connection.commit()
        connection.close()
        told = history(root)
        assert told.events == ()
        assert PATH4 in reasons(told), number


def test_cells_of_any_type(tmp_path: Path) -> None:
    dnf4(tmp_path)
    connection = sqlite3.connect(tmp_path / PATH4.lstrip("/"))
    for number, cell in enumerate((b"\xff\xfe", 3.5, None, 1 << 62, "x" * 2_000_000, "\x1b[2J\u202e"), 100):
        connection.execute("INSERT INTO trans VALUES (?, ?, 0, '', '', '42', 0, ?, 1)", (number, BEGUN, cell))
        connection.execute("INSERT INTO rpm VALUES (?, 'nvidia-open', 0, ?, '1', 'x86_64')", (number, str(cell)[:9]))
        connection.execute(
            "INSERT INTO trans_item (trans_id, item_id, action, reason, state) VALUES (?, ?, ?, 1, 1)",
            (number, number, cell if isinstance(cell, (int, float)) else 1),
        )
    connection.execute("INSERT INTO trans VALUES (200, ?, 0, '', '', '42', -7, 'x', 1)", (1 << 62,))
    connection.execute("UPDATE rpm SET name = CAST(x'6e7669646961ff' AS TEXT) WHERE item_id = 101")
    connection.commit()
    connection.close()
    told = history(tmp_path)
    assert {event.package for event in told.events} >= {"nvidia-driver", "kernel-core"} or reasons(told)


def test_what_dnf_has_not_taken_over_yet_is_told_of(tmp_path: Path) -> None:
    dnf5(tmp_path)
    log = put(tmp_path, f"{PATH5}-wal", b"x" * 100)
    changed = (tmp_path / PATH5.lstrip("/")).stat().st_mtime
    os.utime(log, (changed - 5, changed - 5))
    assert history(tmp_path).unread == ()
    os.utime(log, (changed + 5, changed + 5))
    assert f"{PATH5}-wal" in reasons(history(tmp_path))
