"""pacman's log."""

from __future__ import annotations

from gpuassist.formats.package_logs.entries import Moments
from gpuassist.formats.package_logs.pacman import read_pacman
from gpuassist.model.past import PackageEvent
from tests.formats.package_logs.reading import BERLIN, of, short

LOG = """\
[2012-11-05 10:30] Running 'pacman -Syu'
[2012-11-05 10:31] upgraded linux (3.6.5-1 -> 3.6.6-1)
[2019-06-01 06:12] [PACMAN] Running 'pacman -S cuda'
[2019-06-01 06:13] [ALPM] installed cuda (10.1.168-1)
[2026-11-14T06:12:03+0100] [PACMAN] Running 'pacman -Syu'
[2026-11-14T06:12:03+0100] [PACMAN] synchronizing package lists
[2026-11-14T06:12:09+0100] [ALPM] transaction started
[2026-11-14T06:12:10+0100] [ALPM] upgraded nvidia-open (580.95.05-1 -> 580.105.08-1)
[2026-11-14T06:12:10+0100] [ALPM] upgraded firefox (145-1 -> 146-1)
[2026-11-14T06:12:10+0100] [ALPM] reinstalled gcc (15.2.1-1)
[2026-11-14T06:12:11+0100] [ALPM] downgraded cudnn (9.5.1-1 -> 9.1.0-1)
[2026-11-14T06:12:11+0100] [ALPM-SCRIPTLET] upgraded nvidia-dkms (1 -> 2)
[2026-11-14T06:12:11+0100] [ALPM] removed linux-lts (6.12.1-1)
[2026-11-14T06:12:12+0100] [ALPM] transaction completed
[2026-11-15T06:12:12+0100] [ALPM] upgraded nvidia-utils (580.95.05-1 -> 580.105.08-1)
"""


def read(log: str | bytes, block: int = 1 << 20) -> list[PackageEvent]:
    return list(read_pacman(of(log, block=block), Moments(BERLIN), "pacman.log"))


def test_both_forms_of_dates_and_what_was_run() -> None:
    assert [(event.at, *short(event), event.by, event.source) for event in read(LOG)] == [
        ("2012-11-05T10:31:00+01:00", "upgraded", "linux", "3.6.5-1", "3.6.6-1", "pacman -Syu", "pacman.log:2"),
        ("2019-06-01T06:13:00+02:00", "installed", "cuda", "", "10.1.168-1", "pacman -S cuda", "pacman.log:4"),
        ("2026-11-14T06:12:10+01:00", "upgraded", "nvidia-open", "580.95.05-1", "580.105.08-1", "pacman -Syu", "pacman.log:8"),
        ("2026-11-14T06:12:10+01:00", "reinstalled", "gcc", "15.2.1-1", "15.2.1-1", "pacman -Syu", "pacman.log:10"),
        ("2026-11-14T06:12:11+01:00", "downgraded", "cudnn", "9.5.1-1", "9.1.0-1", "pacman -Syu", "pacman.log:11"),
        ("2026-11-14T06:12:11+01:00", "removed", "linux-lts", "6.12.1-1", "", "pacman -Syu", "pacman.log:13"),
        ("2026-11-15T06:12:12+01:00", "upgraded", "nvidia-utils", "580.95.05-1", "580.105.08-1", "", "pacman.log:15"),
    ]


def test_it_is_the_same_however_it_is_cut() -> None:
    for block in (1, 10, 77, 300):
        assert read(LOG, block) == read(LOG), block


def test_a_cut_line_and_strange_ones() -> None:
    whole = {short(event) for event in read(LOG)}
    for place in range(0, len(LOG), 5):
        assert {short(event) for event in read(LOG[:place])} <= whole
    assert len(read(b"[" * 100_000 + b"\n\xff\x1b[2J\n" + LOG.encode())) == 7
    assert read("[2026-99-99T06:12:12+0100] [ALPM] upgraded nvidia (1 -> 2)\n") == []
    # Who may write the log may write anything: it stays data.
    (event,) = read("[2026-11-15T06:12:12+0100] [ALPM] upgraded nvidia (1\x1b[2J -> 2\u202e)\n")
    assert (event.before, event.after) == ("1\x1b[2J", "2\u202e")
