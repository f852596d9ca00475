"""Names of users and groups by number, from the files of the machine that is looked at."""

from __future__ import annotations

from gpuassist.system.files import Files
from gpuassist.system.world import World


class Accounts:
    """Reads /etc/passwd and /etc/group once; a number without a name there (LDAP, a container) stays a number, but for our own."""

    def __init__(self, world: World) -> None:
        self._users = {str(world.surroundings.uid): world.surroundings.user, **_names(world.files, "/etc/passwd")}
        self._groups = _names(world.files, "/etc/group")

    def user(self, number: int) -> str:
        """The user's name."""
        return self._users.get(str(number), str(number))

    def group(self, number: int) -> str:
        """The group's name."""
        return self._groups.get(str(number), str(number))


def _names(files: Files, path: str) -> dict[str, str]:
    try:
        lines = files.read_text(path).splitlines()
    except OSError:
        return {}
    rows = [line.split(":") for line in lines]
    return {row[2]: row[0] for row in reversed(rows) if len(row) > 2}
