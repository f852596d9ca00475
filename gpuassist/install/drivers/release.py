"""How each hold is let go of, by the tool whose setting it is."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.model.holds import HoldKind, PackageHold

_BY_NAME = (HoldKind.DPKG, HoldKind.VERSION_LOCK, HoldKind.ZYPPER)
_LISTS = (HoldKind.PACMAN, HoldKind.PACMAN_GROUP, HoldKind.EXCLUDE)


def release_uses(holds: Iterable[PackageHold]) -> tuple[UsedCommand, ...]:
    """The commands for all of them; those of one kind in one command, as far as that can be."""
    every = tuple(holds)
    uses: list[UsedCommand] = []
    for kind in _BY_NAME:
        names = sorted({one.pattern for one in every if one.kind is kind})
        if names:
            yum = kind is HoldKind.VERSION_LOCK and any("/yum/" in one.source for one in every if one.kind is kind)
            uses.append(use(f"packages-release{'-yum' if yum else ''}", packages=" ".join(names)))
    owners = dict.fromkeys(one.owner for one in every if one.owner)
    uses += (use("preferences-package-remove", package=owner) for owner in owners)
    uses += (_edited(path, edits) for path, edits in _edits(every).items())
    if any(one.kind is HoldKind.MODULE_STREAM for one in every):
        uses.append(use("driver-stream-reset"))
    overridden = tuple(dict.fromkeys(one.pattern for one in every if one.kind is HoldKind.OSTREE_OVERRIDE))
    if overridden:
        uses.append(use("override-release", packages=" ".join(overridden)))
    if any(one.kind is HoldKind.OSTREE_PIN for one in every):
        uses.append(use("deployment-release"))
    return tuple(uses)


def _edits(holds: Iterable[PackageHold]) -> dict[str, dict[str, None]]:
    """What is changed in each file, in the order of its lines."""
    found: dict[str, dict[str, None]] = {}
    for one in holds:
        path, _, number = one.source.rpartition(":")
        if one.kind in _LISTS:
            found.setdefault(path, {})[_without(number, one.pattern)] = None
        elif one.kind is HoldKind.APT_PIN and not one.owner:
            # A record ends with its priority, mostly; as comments its lines can be taken back by hand.
            found.setdefault(path, {})[f"{number},/^Pin-Priority/s/^/# /"] = None
    return found


def _without(number: str, pattern: str) -> str:
    """sed's words that take a name out of a list on one line: names are separated by commas or white space (sed(1), -E)."""
    escaped = re.sub(r"([^\w@-])", r"\\\1", pattern)
    return f"{number}s/(=|,|[[:space:]]){escaped}(,|[[:space:]]|$)/\\1/"


def _edited(path: str, edits: dict[str, None]) -> UsedCommand:
    return use("settings-line-edit", value="; ".join(edits), path=path)
