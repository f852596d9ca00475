"""Which version is the newer one."""

from __future__ import annotations

from gpuassist.formats.package_logs.order import exchange
from gpuassist.model.past import PackageAction

# Each older than the one behind it, by dpkg --compare-versions.
ASCENDING = (
    *("0~", "0", "1.0~rc1-1", "1.0-1", "1.0-1ubuntu1", "1.0-1.1", "1.0a-1", "1.0+dfsg-1", "1.0.1-1", "1.9", "1.10"),
    *("570.86.15-1", "570.195-1", "1:0.1", "3:1"),
)


def test_every_pair_of_a_row() -> None:
    for place, older in enumerate(ASCENDING):
        assert exchange(older, older) is PackageAction.REINSTALLED
        for newer in ASCENDING[place + 1 :]:
            assert exchange(older, newer) is PackageAction.UPGRADED, (older, newer)
            assert exchange(newer, older) is PackageAction.DOWNGRADED, (older, newer)


def test_no_version_is_too_strange() -> None:
    for strange in ("", ":", "::", "-", "9" * 5000, "\u0664", "²", "x" * 5000, "\0", "1:²-1", "²:1"):
        assert exchange(strange, "1.0-1") in PackageAction
        assert exchange("1.0-1", strange) in PackageAction
