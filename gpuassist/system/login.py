"""What a login starts its session with: /etc/environment as pam_env reads it, and the PATH of login.defs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from gpuassist.system.files import Files
from gpuassist.system.surroundings import Surroundings

_QUOTES = "\"'"
_LARGEST_LOGIN = 1 << 16
_PATH = "/usr/local/bin:/usr/bin:/bin"


def login_environment(files: Files, around: Surroundings, *, shell: str, home: str) -> dict[str, str]:
    """What a login gives its shell before any start-up file runs, to which a terminal adds `terminal_variables`."""
    given = parse_environment(files.text("/etc/environment", _LARGEST_LOGIN))
    path = parse_login_path(files.text("/etc/login.defs", _LARGEST_LOGIN), root=around.uid == 0) or _PATH
    session = {name: value for name, value in around.variables.items() if name == "LANG" or name.startswith("XDG_")}
    if home != around.home:
        session = {name: value for name, value in session.items() if not value.startswith(around.home)}
    who = {"HOME": home, "USER": around.user, "LOGNAME": around.user, "SHELL": shell}
    return {"PATH": path, **session, **given, **who}


def terminal_variables(files: Files, around: Surroundings) -> dict[str, str]:
    """What a terminal window says of itself: the user's own TERM where a new window could have it, else the commonest.

    Start-up files leave early where TERM is `dumb`, and start other programs where it is not.
    """
    own = around.variables.get("TERM", "")
    # Of the window that we were started in: a new one is not in the tmux or screen that runs there.
    inside = own.startswith(("tmux", "screen")) or "TMUX" in around.variables
    name = own if not inside and own not in {"", "dumb", "unknown"} and _is_described(files, around, own) else "xterm-256color"
    colours = around.variables.get("COLORTERM", "")
    return {"TERM": name, **({"COLORTERM": colours} if colours and name == own else {})}


def _is_described(files: Files, around: Surroundings, name: str) -> bool:
    # The places of terminfo(5): a name lies under its first letter, or the letter's number on file systems that know no case.
    homes = (f"{around.home}/.terminfo", "/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/lib/terminfo")
    folders = (name[:1], f"{ord(name[:1]):x}")
    return "/" not in name and any(files.is_file(f"{home}/{folder}/{name}") for home in homes for folder in folders)


def parse_environment(words: str) -> dict[str, str]:
    """The variables of an /etc/environment: nothing is expanded, one pair of quotes is taken off (pam_env(8))."""
    found: dict[str, str] = {}
    for line in words.splitlines():
        # pam_env cuts comments off first, wherever they stand, and refuses names that are no names.
        name, sign, value = line.partition("#")[0].strip().removeprefix("export ").partition("=")
        if sign and name.replace("_", "").isalnum():
            found[name] = value[1:].rstrip(_QUOTES) if value[:1] in _QUOTES and value else value
    return found


def parse_login_path(words: str, *, root: bool) -> str:
    """The PATH that login.defs gives to root or to others; empty where it does not say (login.defs(5))."""
    wanted = "ENV_SUPATH" if root else "ENV_PATH"
    for line in words.splitlines():
        name, *value = line.split(maxsplit=1)[:2] or [""]
        if name == wanted and value:
            return value[0].strip().removeprefix("PATH=")
    return ""


# What a desktop session adds to the login environment: environment.d, merged as systemd --user does (environment.d(5)).


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
            merge(files.text(found[name], _LARGEST), merged)
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
