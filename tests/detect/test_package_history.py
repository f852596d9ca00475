"""What was done to a machine's packages, from all logs of a made-up machine."""

from __future__ import annotations

import gzip
import lzma
import os
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO

import pytest
from msgspec.structs import replace

from gpuassist.detect import log_files
from gpuassist.detect.package_history import read_history, zone_of
from gpuassist.model.machine import Machine
from gpuassist.model.past import PackageHistory
from gpuassist.model.words import ENGLISH
from gpuassist.system.files import Files
from tests.fakes import link, put, world_under

APT = """
Start-Date: 2026-{date}  06:12:03
Commandline: /usr/bin/unattended-upgrade
Upgrade: nvidia-driver-570:amd64 ({before}, {after})
End-Date: 2026-{date}  06:12:40
"""
DPKG = """\
2026-{date} 06:12:10 startup archives unpack
2026-{date} 06:12:11 upgrade nvidia-driver-570:amd64 {before} {after}
2026-{date} 06:12:11 status half-configured nvidia-driver-570:amd64 {before}
"""
BERLIN = "/usr/share/zoneinfo/Europe/Berlin"


def history(root: Path, since: str = "", machine: Machine | None = None) -> PackageHistory:
    return read_history(world_under(root), machine or Machine(), since)


def upgrades(told: PackageHistory) -> list[tuple[str, str, str]]:
    return [(event.at[:10], event.before, event.after) for event in told.events]


def reasons(told: PackageHistory) -> str:
    return "\n".join(map(ENGLISH, told.unread))


def log(form: str, *dates: str) -> str:
    return "".join(form.format(date=date, before=f"{date}-1", after=f"{date}-2") for date in dates)


def written(path: Path, date: str) -> None:
    moment = datetime.fromisoformat(f"{date}T12:00:00+00:00").timestamp()
    os.utime(path, (moment, moment))


def rotated(root: Path) -> None:
    """apt's and dpkg's logs of four months, as logrotate leaves them."""
    for form, path in ((APT, "/var/log/apt/history.log"), (DPKG, "/var/log/dpkg.log")):
        files = (
            (path, log(form, "11-02", "11-14").encode(), "2026-11-14"),
            (f"{path}.1", log(form, "10-05").encode(), "2026-10-30"),
            (f"{path}.2.gz", gzip.compress(log(form, "09-05").encode()), "2026-09-30"),
            (f"{path}.3.xz", lzma.compress(log(form, "08-05").encode()), "2026-08-30"),
        )
        for name, content, date in files:
            written(put(root, name, content), date)


def test_rotated_and_packed_logs_are_one_history(tmp_path: Path) -> None:
    rotated(tmp_path)
    told = history(tmp_path)
    assert upgrades(told) == [(f"2026-{date}", f"{date}-1", f"{date}-2") for date in ("08-05", "09-05", "10-05", "11-02", "11-14")]
    assert {event.by for event in told.events} == {"unattended-upgrade"}
    assert told.events[-1].source == "/var/log/apt/history.log:9; /var/log/dpkg.log:5"
    assert told.covers == "2026-08-05T06:12:10+00:00"
    assert told.unread == ()


def test_since_leaves_older_files_alone(tmp_path: Path) -> None:
    rotated(tmp_path)
    put(tmp_path, "/var/log/dpkg.log.2.gz", b"damaged, and nobody looks")
    written(tmp_path / "var/log/dpkg.log.2.gz", "2026-09-30")
    told = history(tmp_path, "2026-10-20")
    assert upgrades(told) == [("2026-11-02", "11-02-1", "11-02-2"), ("2026-11-14", "11-14-1", "11-14-2")]
    assert told.covers == "2026-10-20T00:00:00+00:00"
    assert told.unread == ()
    assert upgrades(history(tmp_path, "2026-11-14T06:12:03+00:00"))[0][0] == "2026-11-14"
    assert upgrades(history(tmp_path, "2026-11-14T06:12:04Z")) == []
    assert len(upgrades(history(tmp_path, "whenever"))) == 5


def test_a_log_both_packed_and_not_is_told_once(tmp_path: Path) -> None:
    rotated(tmp_path)
    for path in ("/var/log/apt/history.log", "/var/log/dpkg.log"):
        put(tmp_path, f"{path}.1.gz", gzip.compress((tmp_path / f"{path}.1".lstrip("/")).read_bytes()))
    assert len(history(tmp_path).events) == 5


def test_local_times_have_the_zone_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    put(tmp_path, "/var/log/dpkg.log", log(DPKG, "07-14", "11-14"))
    assert [event.at for event in history(tmp_path).events] == ["2026-07-14T06:12:11+00:00", "2026-11-14T06:12:11+00:00"]
    put(tmp_path, BERLIN, Path(BERLIN).read_bytes())
    link(tmp_path, "/etc/localtime", f"..{BERLIN}")
    assert [event.at for event in history(tmp_path).events] == ["2026-07-14T06:12:11+02:00", "2026-11-14T06:12:11+01:00"]


def test_a_zone_that_cannot_be_read_leaves_times_without_one(tmp_path: Path) -> None:
    put(tmp_path, "/var/log/dpkg.log", log(DPKG, "11-14"))
    whole = Path(BERLIN).read_bytes()
    for content in (
        b"",
        b"TZif",
        b"TZif2" + b"\xff" * 100,
        whole[:60],
        whole[:-3],
        whole[:-1],
        whole.rpartition(b"\n")[0].rpartition(b"\n")[0],
        whole[:-3] + b"\xff\xff\n",
        bytes(1000),
    ):
        put(tmp_path, "/etc/localtime", content)
        assert history(tmp_path).events[0].at.startswith("2026-11-14T06:12:11"), content[:20]
    (tmp_path / "etc/localtime").unlink()
    os.mkfifo(tmp_path / "etc/localtime")
    assert history(tmp_path).events[0].at == "2026-11-14T06:12:11"


def test_what_lies_in_the_place_of_a_log_is_named_and_never_waited_for(tmp_path: Path) -> None:
    makers: tuple[Callable[[Path], object], ...] = (
        os.mkfifo,
        os.mkdir,
        lambda path: path.symlink_to(path.name),
        lambda path: path.symlink_to("/dev/zero"),
    )
    places = ("dpkg.log", "pacman.log", "apt/history.log", "zypp/history", "dnf.rpm.log", "nvidia-installer.log")
    for number, make in enumerate(makers):
        root = tmp_path / str(number)
        put(root, "/var/log/apt/empty")
        put(root, "/var/log/zypp/empty")
        put(root, "/dev/zero", mode=0o600)
        for place in places:
            make(root / "var/log" / place)
        databases = ("/var/lib/dnf/history.sqlite", "/usr/lib/sysimage/libdnf5/transaction_history.sqlite")
        for place in databases:
            put(root, f"{place}.d")
            make(root / place.lstrip("/"))
        told = history(root)
        assert told.events == ()
        if number < 2:
            for place in (*(f"/var/log/{one}" for one in places), *databases):
                assert place in reasons(told), (number, place)


class _Locked(Files):
    """What root alone, or a group, may read; root runs these tests too."""

    def __init__(self, root: str, locked: str) -> None:
        super().__init__(root)
        self._locked = locked

    def may(self, path: str, mode: int) -> bool:
        return path != self._locked and super().may(path, mode)

    def opened(self, path: str) -> BinaryIO:
        if path == self._locked:
            raise PermissionError(13, "Permission denied", path)
        return super().opened(path)


def test_what_this_user_may_not_read_is_named_with_who_may(tmp_path: Path) -> None:
    put(tmp_path, "/etc/group", f"adm:x:{os.getgid() or 4}:you\n")
    put(tmp_path, "/var/log/zypp/history", "", mode=0o600)
    put(tmp_path, "/var/log/pacman.log", "", mode=0o640)
    if os.getuid() == 0:
        os.chown(tmp_path / "var/log/pacman.log", 0, 4)
    for locked, words in (
        ("/var/log/zypp/history", "alone may"),
        ("/var/log/pacman.log", "members of the group adm"),
        ("/var/log/zypp", "/var/log/zypp was not read"),
    ):
        world = replace(world_under(tmp_path), files=_Locked(str(tmp_path), locked))
        told = read_history(world, Machine(), "")
        assert any(locked in ENGLISH(one) and words in ENGLISH(one) for one in told.unread), (locked, reasons(told))


def test_damaged_and_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = gzip.compress(log(DPKG, *(f"10-{day:02}" for day in range(1, 29))).encode())
    put(tmp_path, "/var/log/dpkg.log.1.gz", whole[: len(whole) - 20])
    told = history(tmp_path)
    assert told.events
    assert "/var/log/dpkg.log.1.gz is damaged" in reasons(told)
    monkeypatch.setattr(log_files, "FILE_AT_MOST", 3 << 20)
    put(tmp_path, "/var/log/dpkg.log.1.gz", gzip.compress(bytes(20 << 20), 1))
    put(tmp_path, "/var/log/dpkg.log.2.zst", b"\x28\xb5\x2f\xfd")
    told = history(tmp_path)
    assert "/var/log/dpkg.log.1.gz is longer" in reasons(told)
    assert "/var/log/dpkg.log.2.zst was not read" in reasons(told)


def test_all_logs_together_are_bounded_and_the_newest_read_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_files, "ALL_AT_MOST", 1000)
    for number in range(9):
        suffix = f".{number}" if number else ""
        put(tmp_path, f"/var/log/dpkg.log{suffix}", log(DPKG, f"{11 - number:02}-14"))
    told = history(tmp_path)
    dates = [date for date, _before, _after in upgrades(told)]
    assert dates == [f"2026-{month:02}-14" for month in range(12 - len(dates), 12)]
    assert 2 <= len(dates) < 9
    assert "older logs were not read" in reasons(told)


def test_time_is_bounded(tmp_path: Path) -> None:
    rotated(tmp_path)
    world = world_under(tmp_path)
    monotonic = iter(range(0, 10_000, 2)).__next__
    world.clock.monotonic = monotonic  # type: ignore[method-assign]
    told = read_history(world, Machine(), "")
    assert "not read" in reasons(told)


def test_a_long_log_is_read_from_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_files, "BLOCK", 1 << 12)
    monkeypatch.setattr(log_files, "_HEAD", 1 << 9)
    filler = "".join(
        f"2026-{month:02}-10 06:12:11 status unpacked bash:amd64 5.{number}\n" for month in range(1, 11) for number in range(500)
    )
    lines = (filler + log(DPKG, "11-14")).splitlines(keepends=True)
    put(tmp_path, "/var/log/dpkg.log", log(DPKG, "01-01") + filler + log(DPKG, "11-14"))
    (event,) = history(tmp_path, "2026-11-01").events
    assert event.source == f"/var/log/dpkg.log:{len(lines) + 2}"
    assert len(history(tmp_path).events) == 2
    monkeypatch.setattr(log_files, "FILE_AT_MOST", 1 << 14)
    told = history(tmp_path)
    assert upgrades(told)[0][0] == "2026-11-14"
    assert told.covers.startswith("2026-10")
    assert "its older part was left out" in reasons(told)


def test_a_clock_that_jumped_for_a_while_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_files, "BLOCK", 1 << 12)
    status = "{year}-11-10 06:12:11 status unpacked bash:amd64 5.1\n"
    jump = log(DPKG, "11-05") + status.format(year=2026) * 200 + status.format(year=1970) * 30
    put(tmp_path, "/var/log/dpkg.log", jump + status.format(year=2026) * 200 + log(DPKG, "11-14"))
    assert [date for date, _b, _a in upgrades(history(tmp_path, "2026-11-01"))] == ["2026-11-05", "2026-11-14"]


def test_logs_of_the_others(tmp_path: Path) -> None:
    put(tmp_path, "/var/log/pacman.log", "[2026-11-14T06:12:10+0100] [ALPM] upgraded nvidia-open (1-1 -> 2-1)\n")
    put(tmp_path, "/var/log/zypp/history", "2026-11-14 06:12:10|install|nvidia-compute-G06|580-1|x86_64|root@desk|NVIDIA|d9|\n")
    put(tmp_path, "/var/log/dnf.rpm.log", "2026-11-14T06:12:11+0100 SUBDEBUG Installed: kernel-core-6.17.5-300.fc42.x86_64\n")
    put(
        tmp_path,
        "/var/log/nvidia-installer.log",
        "creation time: Sat Nov 14 06:12:03 2026\n"
        "-> Installation of the NVIDIA Accelerated Graphics Driver for Linux-x86_64 (version: 580.95.05) is now complete.\n",
    )
    told = history(tmp_path)
    assert {event.package for event in told.events} == {"nvidia-open", "nvidia-compute-G06", "kernel-core", "NVIDIA-Linux"}
    assert told.unread == ()
    instants = [datetime.fromisoformat(event.at) for event in told.events]
    assert instants == sorted(instants)
    yum = put(tmp_path, "/var/log/yum.log", "Nov 14 06:12:10 Updated: kernel-3.10.0-1.el7.x86_64\n")
    written(yum, "2026-11-15")
    (tmp_path / "var/log/dnf.rpm.log").unlink()
    assert "kernel" in {event.package for event in history(tmp_path).events}


def test_what_tells_least_far_back_says_from_when_all_tell(tmp_path: Path) -> None:
    put(tmp_path, "/var/log/pacman.log", "[2026-01-14T06:12:10+0000] [PACMAN] x\n[2026-11-14T06:12:10+0000] [PACMAN] y\n")
    assert history(tmp_path).covers == "2026-01-14T06:12:10+00:00"
    put(tmp_path, "/var/log/zypp/history", "2026-05-14 06:12:10|install|bash|5-1|x86_64||x|d9|\n")
    assert history(tmp_path).covers == "2026-05-14T06:12:10+00:00"


def test_an_empty_machine_has_no_history(tmp_path: Path) -> None:
    assert history(tmp_path) == PackageHistory()
    assert zone_of(Files(str(tmp_path))) is timezone.utc
