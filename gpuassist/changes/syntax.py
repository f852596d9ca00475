"""Whether a shell can parse a start-up file, asked of the shell that reads it, which then runs none of it."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.system.processes import Ending
from gpuassist.system.world import World

_SECONDS = 10.0
# fish may make directories below HOME, and takes that of the user database where none is set: here nothing can be made.
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "HOME": "/dev/null"}
_COMMANDS = {
    "bash": ("bash", "--noprofile", "--norc", "-n"),
    "zsh": ("zsh", "-f", "-n"),
    "fish": ("fish", "--no-config", "-n"),
}


class Syntax(Struct, frozen=True):
    """`broken` where `shell` cannot parse it; `words` are the shell's own, or say why it could not be asked."""

    broken: bool
    asked: bool
    words: str = ""
    shell: str = "bash"


def check(world: World, content: bytes, dialect: str = "bash") -> Syntax:
    """Asks the shell with `-n`, which reads and does not run; what no shell reads is right unless it is JSON that is not."""
    if dialect == "json":
        try:
            read_json(content)
        except NotJsonError as error:
            return Syntax(broken=True, asked=True, words=str(error), shell="json")
        return Syntax(broken=False, asked=True, shell="json")
    if dialect not in _COMMANDS:
        return Syntax(broken=False, asked=True, shell="")
    outcome = world.processes.run(_COMMANDS[dialect], seconds=_SECONDS, environment=_ENVIRONMENT, stdin=content)
    if outcome.ending is not Ending.EXITED:
        return Syntax(broken=False, asked=False, words=outcome.words or outcome.ending.value, shell=dialect)
    said = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    # bash only warns of a here-document that nothing ends, and swallows everything below it.
    swallowed = next((line for line in said if "here-document" in line and "delimited by end-of-file" in line), "")
    broken = outcome.status != 0 or bool(swallowed)
    return Syntax(broken=broken, asked=True, words=swallowed or (said[0] if said else ""), shell=dialect)


def breaks(before: Syntax, after: Syntax) -> bool:
    return after.broken and not before.broken
