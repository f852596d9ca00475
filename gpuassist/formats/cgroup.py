"""Which systemd unit and which container a process belongs to, read from its /proc/PID/cgroup."""

from __future__ import annotations

import re

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex

# The last part of the path of a process in a container, as each engine names it (systemd and cgroupfs drivers).
_CONTAINER_PARTS = (
    ("docker", lazy_regex(r"docker-([0-9a-f]{12,64})\.scope")),
    ("podman", lazy_regex(r"libpod-([0-9a-f]{12,64})(?:\.scope)?")),
    ("containerd", lazy_regex(r"(?:cri-containerd-|nerdctl-)([0-9a-f]{12,64})\.scope")),
    ("cri-o", lazy_regex(r"crio-([0-9a-f]{12,64})(?:\.scope)?")),
    ("lxc", lazy_regex(r"lxc\.payload\.(.+)")),
    ("machine", lazy_regex(r"machine-(.+)\.scope")),
)
# cgroupfs: the engine is one directory, the identity the next one.
_ENGINES = {"docker": "docker", "libpod_parent": "podman", "lxc": "lxc", "lxc.payload": "lxc", "kubepods": "kubernetes"}
_SHOWN = 12  # signs of an identity that engines themselves print
_UNITS = (".service", ".scope")
_HEX = lazy_regex(r"[0-9a-f]{32,64}")


class Cgroup(Struct, frozen=True):
    """`unit` is the innermost systemd unit, `container` kind and identity; both are empty where there is none."""

    unit: str
    container: str

    @property
    def place(self) -> str:
        """Where a process belongs: its container, else the service that it is of; empty of neither."""
        return self.container or (self.unit if is_service(self.unit) else "")


def is_service(unit: str) -> bool:
    """Whether a systemd unit is a service of the system."""
    # Without a session manager, what a user starts over SSH or from cron runs in the unit of that door.
    return unit.endswith(".service") and not unit.startswith(("user@", "ssh.", "sshd", "ssh@", "cron", "getty@", "atd"))


def read_cgroup(words: str) -> Cgroup:
    """Reads the file of version 2 (one line), of version 1 (one a controller) and of both beside each other."""
    # The path of the hierarchy that systemd manages.
    rows = [line.split(":", 2) for line in words.splitlines() if line.count(":") >= 2]
    named = [path for _, controllers, path in rows if controllers == "name=systemd"]
    unified = [path for number, controllers, path in rows if number == "0" and not controllers]
    anything = [path for _, _, path in rows if path != "/"]
    parts = [part for part in next((path for path in (*unified, *named, *anything) if path != "/"), "").split("/") if part]
    unit = next((_unescaped(part) for part in reversed(parts) if part.endswith(_UNITS)), "")
    return Cgroup(unit, _container(parts))


def _container(parts: list[str]) -> str:
    for part in reversed(parts):
        for kind, pattern in _CONTAINER_PARTS:
            if found := pattern.fullmatch(part):
                return f"{kind} {_short(_unescaped(found[1]))}"
    for place, part in enumerate(parts[:-1]):
        if part in _ENGINES:
            return f"{_ENGINES[part]} {_short(parts[-1] if part == 'kubepods' else parts[place + 1])}"
    return ""


def _short(identity: str) -> str:
    return identity[:_SHOWN] if _HEX.fullmatch(identity) else identity


def _unescaped(name: str) -> str:
    r"""systemd writes what a unit's name may not hold as `\x2d` (systemd.unit(5), "String escaping")."""
    return re.sub(r"\\x([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), name)
