"""The name of another machine as a user gives it to ssh: an alias of the configuration, a host, `user@host`, `ssh://user@host:port`.

ssh takes a word that begins with a dash for an option (and options run commands), and its configuration may hand a name on to a
shell, so that nothing but what can be in a name comes through.
"""

from __future__ import annotations

from gpuassist.model.lazy_regex import lazy_regex

LONGEST = 255
_SCHEME = "ssh://"
# As OpenSSH has it since 9.6 for a user's name on the command line, and narrower for a host's.
_USER = lazy_regex(r"[\w.+=~@%/-]*", flags=0)
_HOST = lazy_regex(r"[\w.:%\[\]-]+|", flags=0)


def is_ssh_host(words: str) -> bool:
    """Whether this can be given to ssh as the name of a machine."""
    if not 0 < len(words) <= LONGEST or words.startswith("-"):
        return False
    rest = words.removeprefix(_SCHEME)
    if rest != words and not _has_sound_port(rest.removesuffix("/")):
        return False
    user, at, host = rest.rpartition("@")
    if user.startswith("-") or host.startswith("-") or (at and not user):
        return False
    return bool(host) and bool(_USER.fullmatch(user)) and bool(_HOST.fullmatch(host.removesuffix("/") if rest != words else host))


def _has_sound_port(address: str) -> bool:
    """For another one ssh prints all that it understands, and not what is wrong."""
    host, colon, port = address.rpartition(":")
    if not colon or port.endswith("]"):
        return True
    return port.isascii() and port.isdigit() and len(port) <= len("65535") and 0 < int(port) < 1 << 16 and bool(host)
