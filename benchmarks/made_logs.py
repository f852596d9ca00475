"""Package logs as apt and dpkg write them, as many of them as a benchmark asks for: years of upgrades of everything."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

MEGABYTES = 50
DAYS = 300
_PACKAGES = tuple(
    f"lib{name}{number}" for name in ("gtk", "qt", "ssl", "xml", "boost", "perl", "avahi", "cups") for number in range(40)
)
_DRIVER = ("libnvidia-compute-570", "nvidia-dkms-570", "nvidia-driver-570", "libnvidia-gl-570")


def write_logs(root: Path, now: datetime | None = None) -> int:
    """Under `root`, in files as logrotate leaves them; gives how many bytes they have when they are unpacked."""
    end = now or datetime.now(timezone.utc)
    directory = root / "var" / "log"
    (directory / "apt").mkdir(parents=True)
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc" / "machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    written = 0
    wanted = MEGABYTES << 20
    # dpkg's own log is nine tenths of them; the newest two of each lie there plain, the others packed (logrotate, delaycompress).
    for place, share in enumerate((0.2, 0.2, 0.2, 0.2, 0.1)):
        first = end - timedelta(days=DAYS * (place + 1) / 5)
        content = b"".join(_dpkg(first, timedelta(days=DAYS / 5), int(wanted * share)))
        written += _put(directory / _name("dpkg.log", place), content, first + timedelta(days=DAYS / 5))
    for place in range(2):
        first = end - timedelta(days=DAYS * (place + 1) / 2)
        content = b"".join(_apt(first, timedelta(days=DAYS / 2), wanted // 20))
        written += _put(directory / "apt" / _name("history.log", place), content, first + timedelta(days=DAYS / 2))
    return written


def _name(log: str, place: int) -> str:
    return log if not place else f"{log}.{place}" + (".gz" if place > 1 else "")


def _put(path: Path, content: bytes, changed: datetime) -> int:
    path.write_bytes(gzip.compress(content, 6) if path.suffix == ".gz" else content)
    os.utime(path, (changed.timestamp(), changed.timestamp()))
    return len(content)


def _dpkg(first: datetime, span: timedelta, size: int) -> Iterator[bytes]:
    """Eight lines a package, of which one says from which version to which."""
    packages = [_PACKAGES[place % len(_PACKAGES)] for place in range(size // 560)]
    if packages:
        packages[len(packages) // 2 : len(packages) // 2] = _DRIVER
    step = span / max(1, len(packages))
    for place, package in enumerate(packages):
        at = f"{first + step * (len(packages) // 2 if package in _DRIVER else place):%Y-%m-%d %H:%M:%S}"
        name, old, new = f"{package}:amd64", f"1.{place % 900}-0ubuntu1", f"1.{place % 900 + 1}-0ubuntu1"
        if package in _DRIVER:
            old, new = "570.86.15-0ubuntu1", "570.124.04-0ubuntu1"
        lines = (
            f"{at} upgrade {name} {old} {new}",
            f"{at} status half-configured {name} {old}",
            f"{at} status unpacked {name} {old}",
            f"{at} status half-installed {name} {old}",
            f"{at} status unpacked {name} {new}",
            f"{at} configure {name} {new} <none>",
            f"{at} status half-configured {name} {new}",
            f"{at} status installed {name} {new}",
        )
        yield ("\n".join(lines) + "\n").encode()


def _apt(first: datetime, span: timedelta, size: int) -> Iterator[bytes]:
    """Runs of forty packages each."""
    entry = 40 * 55 + 140
    count = max(1, size // entry)
    for place in range(count):
        at = first + span / count * place
        names = (_PACKAGES[(place * 40 + number) % len(_PACKAGES)] for number in range(40))
        upgrades = ", ".join(f"{name}:amd64 (1.{place}-0ubuntu1, 1.{place + 1}-0ubuntu1)" for name in names)
        yield (
            f"\nStart-Date: {at:%Y-%m-%d  %H:%M:%S}\nCommandline: /usr/bin/unattended-upgrade\n"
            f"Upgrade: {upgrades}\nEnd-Date: {at:%Y-%m-%d  %H:%M:%S}\n"
        ).encode()
