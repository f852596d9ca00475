"""What modprobe's configuration and the kernel's command line forbid to load."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Configured to run a program instead of loading the module, or renamed to `off`, a module is as good as forbidden (modprobe.d(5)).
_LINE = re.compile(
    r"^\s*(?:blacklist\s+(?P<listed>[\w-]+)|install\s+(?P<replaced>[\w-]+)\s+\S*/(?:false|true)|alias\s+(?P<renamed>[\w-]+)\s+off)\s*(?:#.*)?$"
)
_ARGUMENT = re.compile(r"(?:^|\s)(?P<words>(?:modprobe\.blacklist|module_blacklist)=(?P<modules>[\w,-]+))")


def forbidden_by_file(words: str) -> Iterator[tuple[str, int, str]]:
    """Each module that a file of modprobe.d forbids, with the number of its line, and the line."""
    for number, line in enumerate(words.splitlines(), 1):
        found = _LINE.match(line)
        if found:
            yield _name(next(name for name in found.groups() if name)), number, line.strip()


def forbidden_by_command_line(words: str) -> Iterator[tuple[str, str]]:
    """Each module that the kernel's command line forbids, with the argument."""
    for found in _ARGUMENT.finditer(words):
        for module in found["modules"].split(","):
            yield _name(module), found["words"]


def _name(module: str) -> str:
    """modprobe makes no difference between the two dashes."""
    return module.replace("-", "_")
