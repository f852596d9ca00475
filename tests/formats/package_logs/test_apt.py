"""apt's history and dpkg's log."""

from __future__ import annotations

from gpuassist.formats.package_logs.apt import APT_ENTRY, AptEvent, joined, read_apt, read_dpkg
from gpuassist.formats.package_logs.entries import Moments
from gpuassist.model.past import PackageAction, PackageEvent
from tests.formats.package_logs.reading import BERLIN, UTC, of, short

HISTORY = """
Start-Date: 2026-11-14  06:12:03
Commandline: /usr/bin/unattended-upgrade
Install: linux-image-6.8.0-48-generic:amd64 (6.8.0-48.48, automatic), bash-doc:amd64 (5.2, automatic)
Upgrade: bash:amd64 (5.1, 5.2), nvidia-driver-570:amd64 (570.86.15-0ubuntu1, 570.95.05-0ubuntu1), \
libnvidia-gl-570:i386 (570.86.15-0ubuntu1, 570.95.05-0ubuntu1)
End-Date: 2026-11-14  06:12:40

Start-Date: 2026-11-15  10:00:00
Commandline: apt install nvidia-driver-580
Requested-By: jörg (1000)
Install: nvidia-driver-580:amd64 (580.95.05-0ubuntu1)
Reinstall: nvidia-prime:amd64 (0.8.17)
Downgrade: libcudnn9-cuda-12:amd64 (9.5.1-1, 9.1.0-1)
Remove: nvidia-driver-570:amd64 (570.95.05-0ubuntu1)
Purge: nvidia-dkms-570:amd64 (570.95.05-0ubuntu1), nvidia-utils-550:amd64 ()
Disappeared: nvidia-kernel-common-570:amd64 (570.95.05-0ubuntu1), gone
End-Date: 2026-11-15  10:01:00
"""
DPKG = """\
2026-11-14 06:12:10 startup archives unpack
2026-11-14 06:12:11 upgrade nvidia-driver-570:amd64 570.86.15-0ubuntu1 570.95.05-0ubuntu1
2026-11-14 06:12:11 status half-configured nvidia-driver-570:amd64 570.86.15-0ubuntu1
2026-11-14 06:12:12 upgrade libnvidia-gl-570:i386 570.86.15-0ubuntu1 570.95.05-0ubuntu1
2026-11-14 06:12:13 install linux-image-6.8.0-48-generic:amd64 <none> 6.8.0-48.48
2026-11-14 06:12:14 upgrade bash:amd64 5.1 5.2
2026-11-15 10:00:07 install nvidia-driver-580:amd64 570.86.15-0ubuntu1 580.95.05-0ubuntu1
2026-11-15 10:00:08 upgrade nvidia-prime:all 0.8.17 0.8.17
2026-11-15 10:00:08 upgrade libcudnn9-cuda-12:amd64 9.5.1-1 9.1.0-1
2026-11-15 10:00:09 remove nvidia-driver-570:amd64 570.95.05-0ubuntu1 <none>
2026-11-15 10:00:09 remove nvidia-dkms-570:amd64 570.95.05-0ubuntu1 <none>
2026-11-15 10:00:10 purge nvidia-dkms-570:amd64 570.95.05-0ubuntu1 <none>
2026-11-15 10:00:11 disappear nvidia-kernel-common-570:amd64 570.95.05-0ubuntu1 <none>
"""


def apt(log: str | bytes, block: int = 1 << 20) -> list[AptEvent]:
    return list(read_apt(of(log, APT_ENTRY, block), Moments(BERLIN), "history.log"))


def dpkg(log: str | bytes, block: int = 1 << 20) -> list[PackageEvent]:
    return list(read_dpkg(of(log, block=block), Moments(BERLIN), "dpkg.log"))


def test_an_entry_of_apt() -> None:
    events = [one.event for one in apt(HISTORY)]
    assert [short(event) for event in events] == [
        ("installed", "linux-image-6.8.0-48-generic", "", "6.8.0-48.48"),
        ("upgraded", "nvidia-driver-570", "570.86.15-0ubuntu1", "570.95.05-0ubuntu1"),
        ("upgraded", "libnvidia-gl-570:i386", "570.86.15-0ubuntu1", "570.95.05-0ubuntu1"),
        ("installed", "nvidia-driver-580", "", "580.95.05-0ubuntu1"),
        ("reinstalled", "nvidia-prime", "0.8.17", "0.8.17"),
        ("downgraded", "libcudnn9-cuda-12", "9.5.1-1", "9.1.0-1"),
        ("removed", "nvidia-driver-570", "570.95.05-0ubuntu1", ""),
        ("removed", "nvidia-dkms-570", "570.95.05-0ubuntu1", ""),
        ("removed", "nvidia-kernel-common-570", "570.95.05-0ubuntu1", ""),
    ]
    assert {(event.at, event.by, event.user) for event in events} == {
        ("2026-11-14T06:12:03+01:00", "unattended-upgrade", ""),
        ("2026-11-15T10:00:00+01:00", "apt install nvidia-driver-580", "jörg"),
    }
    assert [event.source for event in events][:4] == [f"history.log:{line}" for line in (4, 5, 5, 11)]


def test_it_is_the_same_however_it_is_cut() -> None:
    for block in (1, 13, 100, 900):
        assert apt(HISTORY, block) == apt(HISTORY), block
        assert dpkg(DPKG, block) == dpkg(DPKG), block


def test_lines_of_dpkg() -> None:
    events = dpkg(DPKG)
    assert [short(event) for event in events] == [
        ("upgraded", "nvidia-driver-570", "570.86.15-0ubuntu1", "570.95.05-0ubuntu1"),
        ("upgraded", "libnvidia-gl-570:i386", "570.86.15-0ubuntu1", "570.95.05-0ubuntu1"),
        ("installed", "linux-image-6.8.0-48-generic", "", "6.8.0-48.48"),
        ("installed", "nvidia-driver-580", "", "580.95.05-0ubuntu1"),
        ("reinstalled", "nvidia-prime", "0.8.17", "0.8.17"),
        ("downgraded", "libcudnn9-cuda-12", "9.5.1-1", "9.1.0-1"),
        ("removed", "nvidia-driver-570", "570.95.05-0ubuntu1", ""),
        ("removed", "nvidia-dkms-570", "570.95.05-0ubuntu1", ""),
        ("removed", "nvidia-kernel-common-570", "570.95.05-0ubuntu1", ""),
    ]
    assert events[0].source == "dpkg.log:2"
    assert {event.by for event in events} == {"dpkg"}


def test_one_act_is_told_once_with_both_sources() -> None:
    events = list(joined(apt(HISTORY), dpkg(DPKG), "2026-11-01T00:00:00+01:00"))
    assert len(events) == 9
    assert all("history.log:" in event.source and "; dpkg.log:" in event.source for event in events)
    assert {event.by for event in events} == {"unattended-upgrade", "apt install nvidia-driver-580"}


def test_what_dpkg_did_without_apt_stays_its_own() -> None:
    log = "2026-11-14 09:00:00 upgrade cuda-drivers:amd64 570.1-1 580.1-1\n"
    (event,) = joined(apt(HISTORY)[:0], dpkg(log), "")
    assert (event.by, event.source) == ("dpkg", "dpkg.log:1")


def test_the_same_step_taken_twice_is_two() -> None:
    entry = "\nStart-Date: 2026-11-{day}  06:00:00\nInstall: nvidia-open:amd64 (580.1-1)\nEnd-Date: 2026-11-{day}  06:01:00\n"
    line = "2026-11-{day} 06:00:30 install nvidia-open:amd64 <none> 580.1-1\n"
    events = list(
        joined(apt("".join(entry.format(day=day) for day in (10, 12))), dpkg("".join(line.format(day=day) for day in (10, 12))), "")
    )
    assert [(event.at[:10], event.source) for event in events] == [
        ("2026-11-10", "history.log:3; dpkg.log:1"),
        ("2026-11-12", "history.log:7; dpkg.log:2"),
    ]


def test_what_a_failed_run_only_meant_to_do_is_left_out() -> None:
    failed = HISTORY.replace(
        "End-Date: 2026-11-14", "Error: Sub-process /usr/bin/dpkg returned an error code (1)\nEnd-Date: 2026-11-14"
    )
    half = "".join(line for line in DPKG.splitlines(keepends=True) if "libnvidia-gl" not in line)
    for log in (failed, HISTORY.replace("End-Date: 2026-11-14  06:12:40\n", "")):
        told = {event.package for event in joined(apt(log), dpkg(half), "2026-11-01T00:00:00+01:00")}
        assert "nvidia-driver-570" in told
        assert "libnvidia-gl-570:i386" not in told
        # Of a time of which dpkg's log says nothing, apt's is all there is.
        assert "libnvidia-gl-570:i386" in {event.package for event in joined(apt(log), [], "2026-11-20T00:00:00+01:00")}
        assert "libnvidia-gl-570:i386" in {event.package for event in joined(apt(log), [], "")}


def test_a_log_that_is_cut_off_anywhere_is_told_as_far_as_it_goes() -> None:
    whole = {short(one.event) for one in apt(HISTORY)}
    lines = {short(event) for event in dpkg(DPKG)}
    for place in range(len(HISTORY)):
        assert {short(one.event) for one in apt(HISTORY[:place])} <= whole
    for place in range(0, len(DPKG), 3):
        assert {short(event)[:3] for event in dpkg(DPKG[place:])} <= {one[:3] for one in lines}


def test_entries_after_nul_and_among_lines_of_any_kind() -> None:
    nul = HISTORY.encode().replace(b"570.95.05-0ubuntu1)\nEnd", b"570.9" + b"\0" * 5000, 1)
    assert "nvidia-driver-580" in {one.event.package for one in apt(nul)}
    strange = b"\xff\xfe\x1b]0;x\x07" * 1000 + b"\n" + HISTORY.replace("jörg", "j\udcf6rg").encode("utf-8", "surrogateescape")
    assert {one.event.user for one in apt(strange)} == {"", "jörg"}
    huge = "\nStart-Date: 2026-11-14  06:12:03\nUpgrade: " + "x" * (10 << 20) + "\n" + HISTORY
    assert len(apt(huge)) == 9


def test_without_a_moment_nothing_is_told() -> None:
    assert apt("\nStart-Date: yesterday\nInstall: nvidia-open:amd64 (1)\n") == []
    assert dpkg("someday at whatever upgrade nvidia-open:amd64 1 2\n") == []
    assert list(read_dpkg(of("2026-11-14 06:12:11 upgrade nvidia-open:amd64\n"), UTC, "")) == []


def test_action_of_dpkg_by_its_order_of_versions() -> None:
    rows = (
        ("1.0~rc1-1", "1.0-1", PackageAction.UPGRADED),
        ("1:1.0-1", "2.0-1", PackageAction.DOWNGRADED),
        ("570.9-1", "570.10-1", PackageAction.UPGRADED),
        ("2.36-9+deb12u10", "2.36-9+deb12u9", PackageAction.DOWNGRADED),
    )
    for before, after, action in rows:
        (event,) = dpkg(f"2026-11-14 06:12:11 upgrade nvidia-open:amd64 {before} {after}\n")
        assert event.action is action, (before, after)
