"""Who runs gpuassist and in which environment: read once at the start, passed on as a value."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping

from msgspec import Struct, field

from gpuassist.system.own_child import inherited


class Surroundings(Struct, frozen=True):
    """The user and the environment variables. `home` is what HOME says, `account_home` what the user database says of `uid`."""

    home: str
    user: str
    uid: int
    variables: Mapping[str, str] = field(default_factory=dict)
    account_home: str = ""
    login_shell: str = "/bin/bash"

    @classmethod
    def current(cls) -> Surroundings:
        uid = os.geteuid()
        home, user, shell = _account(uid)
        variables = inherited()
        return cls(variables.get("HOME") or home, user, uid, variables, home, variables.get("SHELL") or shell)

    def state(self) -> str:
        """Where gpuassist keeps the journal and its logs (XDG base directory specification)."""
        return self._xdg("XDG_STATE_HOME", ".local/state")

    def configuration(self) -> str:
        """Where the user's programs keep their settings, as fish and systemd take the variable: whatever it says."""
        return self.variables.get("XDG_CONFIG_HOME") or f"{self.home}/.config"

    def settings(self) -> str:
        return self._xdg("XDG_CONFIG_HOME", ".config")

    def cache(self) -> str:
        """Where gpuassist keeps what it can find out again."""
        return self._xdg("XDG_CACHE_HOME", ".cache")

    def _xdg(self, name: str, default: str) -> str:
        base = self.variables.get(name, "")
        # The specification: a relative path in these variables is to be ignored.
        return os.path.join(base if base.startswith("/") else os.path.join(self.home, default), "gpuassist")


def _account(uid: int) -> tuple[str, str, str]:
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:  # a container's user that has no entry
        return "/", str(uid), "/bin/sh"
    return entry.pw_dir, entry.pw_name, entry.pw_shell or "/bin/sh"
