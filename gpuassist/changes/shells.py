"""What shells hold that are started in different ways, and what a repair changed in each of them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version
from gpuassist.system.ask_shell import LeftBehind
from gpuassist.system.terminal import SECONDS, Opening, ask_ways
from gpuassist.system.world import World

SLOW_SECONDS = 1.5  # what people notice as a terminal that hangs
_LISTS = frozenset({"PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH"})

NAMES = {
    Opening.TERMINAL: text("new terminal"),
    Opening.BARE_TERMINAL: text("new terminal without a session"),
    Opening.LOGIN: text("login shell (SSH, console)"),
    Opening.SSH_COMMAND: text("command over SSH"),
    Opening.DESKTOP: text("programs of the desktop"),
    Opening.LOGIN_COMMAND: text("login command (IDE)"),
    Opening.TERMINAL_COMMAND: text("script, make in a terminal"),
    Opening.COMMAND: text("script, cron without a terminal"),
}


class ShellSeen(Struct, frozen=True):
    """A shell that was started in one way: what it holds, the seconds until its start-up files were done, what it complained of
    meanwhile, and the processes that these files left running.
    """

    opening: Opening
    terminal: Fact[Terminal]
    seconds: float
    complaints: tuple[str, ...] = ()
    left_behind: tuple[LeftBehind, ...] = ()

    def nvcc(self) -> str:
        """The nvcc that it finds; empty where it finds none, or could not be asked."""
        command = self.terminal.value.command("nvcc") if isinstance(self.terminal, Known) else None
        return command.path if command is not None else ""


class Winner(Struct, frozen=True):
    """The nvcc that a new terminal finds: where, which file that is after symlinks and wrappers, and what it says of itself."""

    path: str
    real_path: str
    version: Fact[Version]


class ShellChange(Struct, frozen=True):
    """One way of starting a shell before and after a change; `differences` is empty where nothing that matters changed."""

    before: ShellSeen
    after: ShellSeen
    differences: tuple[Text, ...]


def ask_shells(world: World, *, seconds: float = SECONDS) -> tuple[ShellSeen, ...]:
    """Starts the user's shell in every way, side by side."""
    return tuple(
        ShellSeen(opening, asked.terminal, asked.seconds, asked.complaints, asked.left_behind)
        for opening, asked in ask_ways(world, seconds=seconds).items()
    )


def compare(before: tuple[ShellSeen, ...], after: tuple[ShellSeen, ...], chosen: str = "") -> tuple[ShellChange, ...]:
    """What changed, way by way, in the order of `after`; where nothing did, which nvcc is still found where it is not the `chosen`
    one: that of the system stands where every shell looks, also those that read no file of the user's.
    """
    earlier = {one.opening: one for one in before}
    changes = []
    for one in after:
        if one.opening in earlier:
            differences = tuple(_differences(earlier[one.opening], one))
            command = one.terminal.value.command("nvcc") if isinstance(one.terminal, Known) else None
            if chosen and not differences and command is not None and command.real_path != chosen:
                differences = (text("nvcc: {nvcc}, as before", nvcc=command.path),)
            changes.append(ShellChange(earlier[one.opening], one, differences))
    return tuple(changes)


def slow(shells: tuple[ShellSeen, ...]) -> ShellSeen | None:
    """The slowest of them, where it is slow enough to be worth a word."""
    slowest = max(shells, key=lambda one: one.seconds, default=None)
    return slowest if slowest is not None and slowest.seconds >= SLOW_SECONDS else None


def _differences(before: ShellSeen, after: ShellSeen) -> Iterator[Text]:
    if isinstance(after.terminal, Unknown):
        yield text("could not be asked: {reason}", reason=after.terminal.reason)
        return
    if isinstance(before.terminal, Unknown):
        return
    if before.nvcc() != after.nvcc():
        if not before.nvcc():
            yield text("nvcc: none before, now {after}", after=after.nvcc())
        elif not after.nvcc():
            yield text("nvcc: {before} before, now none", before=before.nvcc())
        else:
            yield text("nvcc: {before} before, now {after}", before=before.nvcc(), after=after.nvcc())
    names = [one.name for terminal in (before.terminal.value, after.terminal.value) for one in terminal.variables]
    for name in dict.fromkeys(names):
        yield from _of_variable(name, before.terminal.value, after.terminal.value)


def _of_variable(name: str, before: Terminal, after: Terminal) -> Iterator[Text]:
    if (before.is_set(name), before.variable(name)) == (after.is_set(name), after.variable(name)):
        return
    if name in _LISTS and before.is_set(name) and after.is_set(name):
        yield from _of_list(name, before.variable(name).split(":"), after.variable(name).split(":"))
    elif not after.is_set(name):
        yield text("{name}: {before} before, now not set", name=name, before=before.variable(name) or "''")
    elif not before.is_set(name):
        yield text("{name}: not set before, now {after}", name=name, after=after.variable(name) or "''")
    else:
        yield text("{name}: {before} before, now {after}", name=name, before=before.variable(name), after=after.variable(name))


def _of_list(name: str, before: list[str], after: list[str]) -> Iterator[Text]:
    for element in dict.fromkeys(after):
        if element not in before:
            yield text(
                "{name}: {element} is new, at place {place}", name=name, element=_shown(element), place=after.index(element) + 1
            )
        elif after.index(element) == 0 and any(one in after for one in before[: before.index(element)]):
            # The main case: the toolkit was there all along, behind an older one.
            place = before.index(element) + 1
            yield text("{name}: {element} moved from place {place} to the first", name=name, element=_shown(element), place=place)
    for element in dict.fromkeys(before):
        if element not in after:
            yield text("{name}: {element} is gone", name=name, element=_shown(element))
        elif before.count(element) > after.count(element):
            yield text("{name}: {element} is named less often", name=name, element=_shown(element))


def _shown(element: str) -> str:
    return element.replace("\r", "\\r") or "''"
