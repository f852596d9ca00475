"""Names of users and groups by number, from the files of the machine that is looked at, and whether this user may become root."""

from __future__ import annotations

from gpuassist.detect.small_files import made, read
from gpuassist.model.fact import Fact, Known
from gpuassist.system.files import Files
from gpuassist.system.process_names import user_name
from gpuassist.system.world import World

_STATUS = "/proc/self/status"
# The groups that distributions' own sudoers let become root: Debian's and Ubuntu's, that of the others, Ubuntu's before 12.04.
_ADMINISTRATORS = frozenset({"sudo", "wheel", "admin", "root"})


class Accounts:
    """Reads /etc/passwd and /etc/group once; a number without a name there (LDAP) is asked for where the machine is this one, and
    stays a number where nobody knows it, but for our own.
    """

    def __init__(self, world: World) -> None:
        self._live = world.files.live
        self._users = {str(world.surroundings.uid): world.surroundings.user, **_names(world.files, "/etc/passwd")}
        self._groups = _names(world.files, "/etc/group")

    def user(self, number: int) -> str:
        if self._live and str(number) not in self._users:
            self._users[str(number)] = user_name(number)
        return self._users.get(str(number), str(number))

    def group(self, number: int) -> str:
        return self._groups.get(str(number), str(number))


def administrator(world: World) -> Fact[bool]:
    """Whether this user is root, or of a group that may become root; a rule of sudoers for him alone can be read by root only."""
    if world.surroundings.uid == 0:
        return Known(value=True, source="uid 0")
    accounts = Accounts(world)

    def may(status: str) -> bool:
        lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        numbers = [int(word) for name in ("Gid", "Groups") for word in lines.get(name, "").split()]
        return any(accounts.group(one) in _ADMINISTRATORS for one in numbers)

    return made(read(world.files, _STATUS), may)


def _names(files: Files, path: str) -> dict[str, str]:
    rows = [line.split(":") for line in files.text(path).splitlines()]
    return {row[2]: row[0] for row in reversed(rows) if len(row) > 2}
