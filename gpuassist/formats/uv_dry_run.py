"""What `uv pip install --dry-run` prints: the packages that would come and go."""

from __future__ import annotations

import re

from gpuassist.formats.index_address import without_login
from gpuassist.formats.installed import normalised
from gpuassist.model.solve import PackageChange

_CHANGE = re.compile(
    r"^\s*(?P<sign>[-+~])\s(?P<name>[A-Za-z0-9][\w.-]{0,200})==(?P<version>\S+)(?:\s\(from (?P<source>\S+)\))?\s*$"
)
_COUNTED = re.compile(r"^Would (?P<does>install|uninstall) (?P<count>\d{1,6}) packages?$")
_NOTHING = re.compile(r"^Would make no changes$", re.MULTILINE)


def read_uv_dry_run(words: str) -> tuple[PackageChange, ...] | None:
    """The changes by name; None where it is no such text, or where some of it is missing."""
    gone: dict[str, str] = {}
    come: dict[str, tuple[str, str]] = {}
    counted = {"install": 0, "uninstall": 0}
    for line in words.splitlines():
        found = _COUNTED.match(line.strip())
        if found:
            counted[found["does"]] = int(found["count"])
        change = _CHANGE.match(line)
        if change is None:
            continue
        name, version = normalised(change["name"]), change["version"]
        if change["sign"] in "-~":
            gone[name] = version
        if change["sign"] in "+~":
            come[name] = (version, without_login(change["source"] or ""))
    told = any(counted.values()) or _NOTHING.search(words) is not None
    if not told or (len(come), len(gone)) != (counted["install"], counted["uninstall"]):
        return None
    return tuple(PackageChange(name, gone.get(name, ""), *_after(come.get(name))) for name in sorted({*gone, *come}))


def _after(come: tuple[str, str] | None) -> tuple[str, str, str, None, str]:
    version, source = come or ("", "")
    return version, "", "", None, source
