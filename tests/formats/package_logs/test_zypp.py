"""zypper's history."""

from __future__ import annotations

from gpuassist.formats.package_logs.entries import Moments
from gpuassist.formats.package_logs.zypp import read_zypp
from gpuassist.model.past import PackageEvent
from tests.formats.package_logs.reading import BERLIN, of, short

LOG = """\
2026-10-01 08:00:00|command|root@desk|'zypper' 'install' 'nvidia-open-driver-G06-signed-kmp-default'|
2026-10-01 08:00:01|install|nvidia-compute-G06|570.86.15-1.1|x86_64||NVIDIA|99de28|
# 2026-10-01 08:00:02 nvidia-compute-G06 installed ok
# 2026-10-01 08:00:02|install|nvidia-gl-G06|1|x86_64||NVIDIA|99de28|
2026-10-01 08:00:03|install|kernel-default|6.4.0-1.1|x86_64||repo-update|12|
2026-11-14 06:12:03|command|root@desk|'zypper' 'dup' '--from' 'a\\|b'|
2026-11-14 06:12:10|install|nvidia-compute-G06|580.95.05-1.1|x86_64|root@desk|NVIDIA|d99de2|
2026-11-14 06:12:11|install|kernel-default|6.4.0-2.1|x86_64||repo-update|12|
2026-11-14 06:12:11|install|emacs|30|x86_64||repo-update|12|
2026-11-14 06:12:12|remove |kernel-default|6.4.0-1.1|x86_64|root@desk|
2026-11-14 06:12:12|radd   |NVIDIA|https://download.nvidia.com|
2026-11-15 06:12:12|install|nvidia-compute-G06|570.86.15-1.1|x86_64|2848:y2base|NVIDIA|99de28|trans\\|ID
"""


def read(log: str | bytes, block: int = 1 << 20) -> list[PackageEvent]:
    return list(read_zypp(of(log, block=block), Moments(BERLIN), "history"))


def test_what_was_installed_in_the_place_of_what() -> None:
    events = read(LOG)
    assert [(short(event), event.by, event.user, event.source) for event in events] == [
        (
            ("installed", "nvidia-compute-G06", "", "570.86.15-1.1"),
            "zypper install nvidia-open-driver-G06-signed-kmp-default",
            "",
            "history:2",
        ),
        (
            ("installed", "kernel-default", "", "6.4.0-1.1"),
            "zypper install nvidia-open-driver-G06-signed-kmp-default",
            "",
            "history:5",
        ),
        (("upgraded", "nvidia-compute-G06", "570.86.15-1.1", "580.95.05-1.1"), "zypper dup --from a|b", "root", "history:7"),
        (("installed", "kernel-default", "", "6.4.0-2.1"), "zypper dup --from a|b", "", "history:8"),
        (("removed", "kernel-default", "6.4.0-1.1", ""), "zypper dup --from a|b", "root", "history:10"),
        (("downgraded", "nvidia-compute-G06", "580.95.05-1.1", "570.86.15-1.1"), "y2base", "", "history:12"),
    ]
    assert events[2].at == "2026-11-14T06:12:10+01:00"


def test_however_it_is_cut_and_what_is_none() -> None:
    for block in (1, 50, 333):
        assert read(LOG, block) == read(LOG), block
    for place in range(0, len(LOG), 7):
        read(LOG[place:])
        read(LOG[:place])
    assert read("2026-11-14 06:12:10|install|nvidia-compute-G06\n2026-11-14 06:12:10|install|\n|||||\n") == []
