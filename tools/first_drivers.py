"""The first driver that lists a GPU by its PCI id: the products in the README of each tag of NVIDIA/open-gpu-kernel-modules."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tools.tables import Row

TAG = re.compile(r"\d+\.\d+(?:\.\d+)?")
PRODUCT = re.compile(r"^\|[^|]+\|\s*([0-9A-F]{4})\s*\|", re.MULTILINE)  # one with a subsystem's ids behind is a maker's own card
# Series of developer betas (developer.nvidia.com/vulkan-driver): they go on beside the releases, under numbers that look older.
BETAS = re.compile(r"515\.49|525\.47|535\.43\.(?!02)|550\.40\.(?!07)|570\.123|580\.94|595\.44")


def first_listed(repository: Path) -> dict[str, str]:
    """By PCI id (`2684`) the oldest release that lists it; none of those that the first table listed, whose beginning is older."""
    tags = [tag for tag in _git(repository, "tag").split() if TAG.fullmatch(tag) and not BETAS.match(tag)]
    return _first((tag, PRODUCT.findall(_git(repository, "show", f"{tag}:README.md"))) for tag in sorted(tags, key=_numbers))


def note_later_products(rows: Iterable[Row], listed: dict[str, str], generations: dict[str, str]) -> None:
    """Puts it into the rows of products that came after their generation's first (`generations` by chip): of that itself the
    architectures' table tells more, for the list was behind at times (525.60.11 serves the RTX 4090, 525.78.01 lists it first).
    """
    of_generation: dict[str, list[Row]] = {}
    for row in rows:
        if row["pci_id"][5:] in listed:
            of_generation.setdefault(generations.get(row["chip"], ""), []).append(row)
    for own in of_generation.values():
        oldest = min(_numbers(listed[row["pci_id"][5:]]) for row in own)
        for row in own:
            first = listed[row["pci_id"][5:]]
            if _numbers(first) > oldest:
                row["first_driver"] = first


def _first(listed: Iterable[tuple[str, list[str]]]) -> dict[str, str]:
    found: dict[str, str] = {}
    older: set[str] = set()
    for tag, ids in listed:
        if not older:
            older.update(ids)
        for device in set(ids) - older:
            found.setdefault(device.lower(), tag)
    return found


def _numbers(tag: str) -> tuple[int, ...]:
    return tuple(map(int, tag.split(".")))


def _git(repository: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=True).stdout
