"""What tells who somebody is, taken out of words that are handed on: names of users and computers, home directories, and what looks
like a key or an identity.

A pasted text can hold anything and is read by people for what it says, so that here the known is looked for and taken out. What
gpuassist itself tells of a machine goes the other way round: `session/harmless/` lets pass what is known to be harmless alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.system.world import World

USER, HOST, SECRET = "USER", "HOST", "***"

# Keys by the beginnings that their makers give them, so that scanners of secrets find them; what is set for a name that says that
# it is one; addresses of mail and of network cards; identities of GPUs, of which the first letters still tell two apart.
_KEYS = lazy_regex(
    r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}|glpat-[\w-]{16,64}|hf_[A-Za-z0-9]{16,64}|sk-[\w-]{12,200}"
    r"|xox[abprs]-[\w-]{8,200}|(?:AKIA|ASIA)[A-Z0-9]{12,20}|nvapi-[\w-]{20,200}|pypi-[\w-]{20,255}|eyJ[\w-]{8,2000}\.[\w-]{4,2000}(?:\.[\w-]{0,2000})?)"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,8000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)"
)
_SET = lazy_regex(
    r"(?i)(?P<name>\b[\w-]{0,40}(?:password|passwd|secret|token(?!s|i)|api[_-]?key|access[_-]?key)[\w-]{0,20}"
    r"[\"']?[ \t]?[=:][ \t]?[\"']?|--[\w-]{0,30}(?:key|token|password)[ =])"
    r"(?!(?:\d+|true|false|none|null)\b)(?P<value>[^\s\"'&,;<>()\[\]{}]{4,500})"
)
_LOGIN = lazy_regex(r"(?<=://)(?!git@)[^/@\s]{1,300}@")
_IN_PATH = lazy_regex(r"(?<=/t/)[^/\s]{1,300}(?=/)")  # as anaconda.org and its like take a token
_MAIL = lazy_regex(
    r"(?<![\w.+-])(?!git@)[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z]{2,12}(?![\w-])(?!:)"
)
_CARD = lazy_regex(r"(?<![0-9A-Fa-f:])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![0-9A-Fa-f:])")
_UUID = lazy_regex(r"(?P<kind>(?:GPU|MIG)-[0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

# A home directory of any system: `/home/anna/x`, `/Users/anna`, `C:\Users\anna`, `/mnt/c/Users/anna`.
_HOME = lazy_regex(r"(?P<start>/(?:home|Users)/|\\{1,2}Users\\{1,2})(?P<name>[^/\\\s:;,'\"`<>|()\[\]{}*$]{1,64})")
# `anna@workstation:~/x$ `, `(base) [anna@workstation x]$ `.
_PROMPT = lazy_regex(
    r"^(?:[> \t]{0,8}(?:\([^()\n]{1,40}\) ?){0,3}\[?)"
    r"(?P<user>[A-Za-z_][\w.-]{0,31})@(?P<host>[\w-][\w.-]{0,63})(?=[: ][^\n]{0,200}?[$#%])",
    re.MULTILINE,
)
# Where a log, uname and hostnamectl name the computer.
_COMPUTER = lazy_regex(
    r"^(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:.+-]{8,24}) (?P<log>[\w.-]{1,64}) \w[\w./-]{0,40}(?:\[\d+\])?:"
    r"|\bLinux (?P<uname>[\w.-]{1,64}) \d{1,2}\.\d{1,3}\.\d|^\s*Static hostname: (?P<named>[\w.-]{1,64})",
    re.MULTILINE,
)
_MOST = 100  # names that are looked for; in its home directory and its prompt every one is taken out
_SHORTEST = 3  # letters of a name that is looked for elsewhere as well
# Names that many have, so that they tell nobody, and words that such a text needs.
_ORDINARY = frozenset(
    {
        *("root", "user", "users", "you", "home", "host", "localhost", "admin", "administrator", "public", "shared", "default"),
        *("ubuntu", "debian", "fedora", "centos", "arch", "linuxbrew", "runner", "vscode", "jovyan", "opc", "ec2-user", "test"),
        *("nvidia", "cuda", "torch", "pytorch", "python", "conda", "docker", "linux", "windows", "kernel", "gpu", "driver"),
        *("dev", "usr", "lib", "lib64", "bin", "tmp", "opt", "proc", "sys", "var", "etc", "mnt", "run", "local", "boot", "snap"),
        *("data", "model", "models", "work", "train", "memory", "error", "file", "line", "from", "import", "none", "true", "false"),
    }
)


class Person(Struct, frozen=True):
    """Who works at this machine, as far as it is known."""

    user: str = ""
    host: str = ""
    home: str = ""


NOBODY = Person()


def person_of(world: World) -> Person:
    """The user of this machine, and its name."""
    try:
        host = world.files.read_bytes("/proc/sys/kernel/hostname").decode("utf-8", "replace").strip()
    except OSError:
        host = ""
    return Person(world.surroundings.user, host, world.surroundings.home)


def redacted(words: str, person: Person = NOBODY) -> str:
    """The words with USER and HOST in place of such names, and `***` in that of keys, wherever they stand in them."""
    words = _without_keys(words)
    prompts = list(_PROMPT.finditer(words))
    users = {person.user, *(one["user"] for one in prompts), *(one["name"] for one in _HOME.finditer(words))}
    told = (one[group] for one in _COMPUTER.finditer(words) for group in ("log", "uname", "named"))
    hosts = {person.host, *(one["host"] for one in prompts), *(name for name in told if name)}
    if len(person.home) > len("/root"):
        words = _whole(words, (person.home,), f"/home/{USER}")
    words = _PROMPT.sub(lambda one: one[0].replace(f"{one['user']}@{one['host']}", _at(one["user"], one["host"]), 1), words)
    words = _HOME.sub(lambda one: one["start"] + (USER if _tells(one["name"]) else one["name"]), words)
    return _whole(_whole(words, _telling(hosts), HOST), _telling(users), USER)


def _without_keys(words: str) -> str:
    if "://" in words:
        words = _IN_PATH.sub(SECRET, _LOGIN.sub(f"{SECRET}@", words))
    words = _SET.sub(rf"\g<name>{SECRET}", _KEYS.sub(SECRET, words))
    return _UUID.sub(rf"\g<kind>-{SECRET}", _CARD.sub(SECRET, _MAIL.sub(SECRET, words)))


def _at(user: str, host: str) -> str:
    return f"{USER if _tells(user) else user}@{HOST if _tells(host) else host}"


def _tells(name: str) -> bool:
    return name.lower() not in _ORDINARY


def _telling(names: Iterable[str]) -> tuple[str, ...]:
    """Those that tell who somebody is, the longest first: `anna-pc` holds `anna`."""
    kept = (name for name in names if len(name) >= _SHORTEST and _tells(name) and not name.isdecimal())
    return tuple(sorted(kept, key=lambda name: (-len(name), name)))[:_MOST]


def _whole(words: str, names: Iterable[str], instead: str) -> str:
    """Each name replaced where it is no part of a longer word."""
    for name in names:
        words = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", instead, words)
    return words
