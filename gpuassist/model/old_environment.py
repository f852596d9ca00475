"""Programs that run with the environment of before: what processes were started with, and who holds what new terminals do not."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.fact import Fact, Known
from gpuassist.model.shell import Variable
from gpuassist.model.text import Text


class ProgramFamily(str, Enum):
    """What a program is as far as its environment is concerned, in the order in which they are told: others come from the first."""

    CONTAINER = "container"  # the first process of a container, whose environment is the container's own
    MANAGER = "session-manager"
    DESKTOP = "desktop"
    MULTIPLEXER = "multiplexer"
    NOTEBOOK = "notebook"
    EDITOR_SERVER = "editor-server"
    EDITOR = "editor"
    SERVER = "server"
    TERMINAL = "terminal"
    SESSION = "session"
    SHELL = "shell"
    KERNEL = "kernel"
    PROGRAM = "program"
    BACKGROUND = "background"  # hands nothing on that anybody compiles or computes with


class RunningProgram(Struct, frozen=True):
    """A process of this user's: `name` is its comm, `words` its command line, `script` what it is known by where an interpreter
    runs one, `started` seconds since boot, `on_terminal` whether it has a terminal, `variables` what it was started with, as far
    as that matters here.
    """

    pid: int
    parent: int
    name: str
    words: tuple[str, ...]
    script: str
    started: float
    on_terminal: bool
    variables: Fact[tuple[Variable, ...]]

    @property
    def held(self) -> tuple[Variable, ...]:
        """The variables; none where they are not known."""
        return self.variables.value if isinstance(self.variables, Known) else ()

    def variable(self, name: str) -> str:
        """Its value as the process was started with; empty where it was not set, or that is not known."""
        return next((one.value for one in self.held if one.name == name), "")


class RunningPrograms(Struct, frozen=True):
    """This user's processes; `own` is gpuassist's, 0 where it is none of them, `notes` what could not be looked at."""

    programs: tuple[RunningProgram, ...]
    own: int = 0
    notes: tuple[Text, ...] = ()


class OldProgram(Struct, frozen=True):
    """One that is restarted, or left, so that nothing lives in the old environment any more.

    `key` names the record of the program, empty of none; `pids` are its processes, the one that others come from first. `itself`
    whether it holds the old itself, `holds` what, each variable with what is old of it; else it is what runs in it alone, of which
    `shells`, `kernels` and `programs` are counted. `shells_before` are those of the shells of which only their start tells: they
    came up before the change. `here` whether gpuassist runs in it. `how` says what to do, `commands` do a part of it and end
    nothing.
    """

    family: ProgramFamily
    key: str
    name: str
    pids: tuple[int, ...]
    itself: bool
    holds: tuple[Variable, ...] = ()
    shells: int = 0
    shells_before: int = 0
    kernels: int = 0
    programs: int = 0
    here: bool = False
    how: Text | None = None
    commands: tuple[str, ...] = ()


class OldEnvironments(Struct, frozen=True):
    """All of them, what others are started from first; `notes` what could not be looked at."""

    programs: tuple[OldProgram, ...]
    notes: tuple[Text, ...] = ()
