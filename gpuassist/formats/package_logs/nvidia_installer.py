"""What NVIDIA's own installer did last, from `/var/log/nvidia-installer.log`, or `nvidia-uninstall.log`: each run begins it anew.

nvidia-installer, log.c, install-from-cwd.c and backup.c; not translated, the time is ctime's, local and without its zone:

    creation time: Sat Nov 14 06:12:03 2026
    installer version: 580.95.05
    nvidia-installer command line:
        ./nvidia-installer
        --silent
    -> Uninstallation of existing driver: NVIDIA Accelerated Graphics Driver for Linux-x86_64 (570.86.15) is complete.
    -> Installation of the NVIDIA Accelerated Graphics Driver for Linux-x86_64 (version: 580.95.05) is now complete.
"""

from __future__ import annotations

import re

from gpuassist.formats.package_logs.entries import Moments, doer
from gpuassist.formats.package_logs.order import exchange
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import PackageAction, PackageEvent

RUNFILE = "NVIDIA-Linux"  # as its file is called, without architecture and version
_CREATED = lazy_regex(r"^creation time: [A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d\d:\d\d:\d\d) (\d{4})$", re.MULTILINE)
_COMMAND = lazy_regex(r"^nvidia-installer command line:\n((?:    .{0,200}\n){1,60})", re.MULTILINE)
_INSTALLED = lazy_regex(r"Installation of the .{3,120} \(version: ([\d.]{3,30})\) is now complete\.")
_UNINSTALLED = lazy_regex(r"Uninstallation of existing driver: .{3,120} \(([\d.]{3,30})\) is complete\.")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def read_nvidia_installer(words: str, moments: Moments, path: str) -> PackageEvent | None:
    """What the run did; None where it did nothing, or its log is none."""
    created, installed, uninstalled = (one.search(words) for one in (_CREATED, _INSTALLED, _UNINSTALLED))
    if created is None or created[1] not in _MONTHS or not (installed or uninstalled):
        return None
    at = moments.at(f"{created[4]}-{_MONTHS.index(created[1]) + 1:02}-{int(created[2]):02} {created[3]}")
    before, after = uninstalled[1] if uninstalled else "", installed[1] if installed else ""
    action = PackageAction.REMOVED if not after else exchange(before, after) if before else PackageAction.INSTALLED
    command = _COMMAND.search(words)
    by = doer(" ".join(line.strip() for line in command[1].splitlines()).removeprefix("./")) if command else "nvidia-installer"
    return PackageEvent(at, action, RUNFILE, before, after, path, by) if at else None
