"""The logs of lines of dnf and yum."""

from __future__ import annotations

from datetime import datetime

from gpuassist.formats.package_logs.entries import Moments
from gpuassist.formats.package_logs.rpm_logs import nevra, read_dnf_log, read_yum_log
from tests.formats.package_logs.reading import BERLIN, UTC, of, short

DNF = """\
2026-11-14T06:12:00+0100 INFO --- logging initialized ---
2026-11-14T06:12:10+0100 SUBDEBUG Upgrade: nvidia-driver-3:580.95.05-1.fc42.x86_64
2026-11-14T06:12:11+0100 SUBDEBUG Installed: kernel-core-6.17.5-300.fc42.x86_64
2026-11-14T06:12:11+0100 SUBDEBUG Upgrade: glibc-2.41-5.fc42.i686
2026-11-14T06:12:11+0100 SUBDEBUG Upgrade: glibc-2.41-5.fc42.x86_64
2026-11-14T06:12:12+0100 SUBDEBUG Reinstall: gcc-15.2.1-1.fc42.x86_64
2026-11-14T06:12:12+0100 SUBDEBUG Downgrade: libcudnn9-cuda-12-9.1.0-1.x86_64
2026-11-14T06:12:13+0100 SUBDEBUG Upgraded: nvidia-driver-3:570.86.15-1.fc42.x86_64
2026-11-14T06:12:13+0100 SUBDEBUG Upgraded: glibc-2.41-4.fc42.x86_64
2026-11-14T06:12:13+0100 SUBDEBUG Upgraded: glibc-2.41-3.fc42.i686
2026-11-14T06:12:13+0100 SUBDEBUG Downgraded: libcudnn9-cuda-12-9.5.1-1.x86_64
2026-11-14T06:12:14+0100 SUBDEBUG Erase: kernel-core-6.16.1-300.fc42.x86_64
2021-01-14T05:12:14Z SUBDEBUG Obsoleted: akmod-nvidia-3:460.1-1.fc33.x86_64
2026-11-14T06:12:14+0100 INFO dracut: Upgrade: nothing-1-1.noarch
"""
YUM = """\
Dec 30 10:00:00 Installed: kernel-3.10.0-1127.el7.x86_64
Jan 02 10:00:00 Installed: 1:nvidia-driver-440.1-1.el7.x86_64
Feb  3 10:00:00 Updated: 1:nvidia-driver-450.1-1.el7.x86_64
Feb 03 10:00:01 Updated: dkms-2.8-1.el7.noarch
Feb 03 10:00:02 Erased: dkms
"""


def test_dnf() -> None:
    events = list(read_dnf_log(of(DNF), Moments(BERLIN), "dnf.rpm.log"))
    assert [(short(event), event.source[-2:].strip(":")) for event in events] == [
        (("upgraded", "nvidia-driver", "3:570.86.15-1.fc42", "3:580.95.05-1.fc42"), "2"),
        (("installed", "kernel-core", "", "6.17.5-300.fc42"), "3"),
        (("upgraded", "glibc.i686", "2.41-3.fc42", "2.41-5.fc42"), "4"),
        (("upgraded", "glibc", "2.41-4.fc42", "2.41-5.fc42"), "5"),
        (("reinstalled", "gcc", "15.2.1-1.fc42", "15.2.1-1.fc42"), "6"),
        (("downgraded", "libcudnn9-cuda-12", "9.5.1-1", "9.1.0-1"), "7"),
        (("removed", "kernel-core", "6.16.1-300.fc42", ""), "12"),
        (("removed", "akmod-nvidia", "3:460.1-1.fc33", ""), "13"),
    ]
    assert events[-1].at == "2021-01-14T05:12:14+00:00"


def test_years_of_yum_are_counted_back_from_when_its_log_was_written() -> None:
    events = list(read_yum_log(of(YUM), UTC, "yum.log", datetime(2021, 2, 4)))
    assert [(event.at[:10], *short(event)) for event in events] == [
        ("2020-12-30", "installed", "kernel", "", "3.10.0-1127.el7"),
        ("2021-01-02", "installed", "nvidia-driver", "", "1:440.1-1.el7"),
        ("2021-02-03", "upgraded", "nvidia-driver", "1:440.1-1.el7", "1:450.1-1.el7"),
        ("2021-02-03", "upgraded", "dkms", "", "2.8-1.el7"),
    ]


def test_what_is_no_package_of_rpm() -> None:
    for words in ("", ":", "-", "a-1", "a.b", "1:a", "--.", "a--.b", "3:"):
        assert nevra(words) is None, words
