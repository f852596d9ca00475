"""What a desktop session adds to the login environment: environment.d, merged as systemd --user does (environment.d(5))."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from gpuassist.system.files import Files

# A file of the same name hides those in later directories; the files are read in the order of their names, whichever directory.
_DIRECTORIES = ("/etc/environment.d", "/run/environment.d", "/usr/local/lib/environment.d", "/usr/lib/environment.d")
_LARGEST = 1 << 20
_ASSIGNMENT = re.compile(r"[ \t]*([A-Za-z_]\w*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_]\w*)(?::([-+])((?:[^{}]|\{[^{}]*\})*))?\}|\$([A-Za-z_]\w*)")


def with_environment_d(files: Files, given: Mapping[str, str], *, home: str) -> dict[str, str]:
    """`given` with what the files set besides.

    A 99-environment.conf that leads to /etc/environment, as distributions ship it, says what the login was given already.
    """
    found: dict[str, str] = {}
    for directory in (f"{given.get('XDG_CONFIG_HOME') or f'{home}/.config'}/environment.d", *_DIRECTORIES):
        for path in files.glob(f"{directory}/*.conf"):
            found.setdefault(PurePosixPath(path).name, path)
    merged = dict(given)
    for name in sorted(found):
        if files.real(found[name]) != "/etc/environment":
            merge(_text_of(files, found[name]), merged)
    return merged


def merge(words: str, into: dict[str, str]) -> None:
    """Takes over what a file says, in which earlier variables may be named."""
    for line in words.replace("\\\n", "").splitlines():
        found = _ASSIGNMENT.fullmatch(line.rstrip())
        if found and not line.lstrip().startswith(("#", ";")):
            value = found[2].strip()
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
            into[found[1]] = _expanded(value[1:-1] if quoted else value, into)


def _expanded(value: str, known: Mapping[str, str]) -> str:
    def replaced(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        held = known.get(found[1] or found[4], "")
        if found[2] == "-":
            return held or _expanded(found[3], known)
        if found[2] == "+":
            return _expanded(found[3], known) if held else ""
        return held

    return _VARIABLE.sub(replaced, value)


def _text_of(files: Files, path: str) -> str:
    try:
        return files.read_text(path, _LARGEST)
    except OSError:
        return ""
