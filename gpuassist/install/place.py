"""Where something is to be installed: whose command lines serve there, and which Python environment is meant."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from gpuassist.install.around import Around
from gpuassist.install.system import System
from gpuassist.knowledge.commands import Commands
from gpuassist.knowledge.records import Family
from gpuassist.model.finding import Action
from gpuassist.model.plan import Run, Step, StepKind, StepProof
from gpuassist.model.text import Text

_KINDS = {
    Action.NONE: StepKind.COMMAND,
    Action.EDIT: StepKind.EDIT,
    Action.COMMAND: StepKind.COMMAND,
    Action.NEW_SHELL: StepKind.NEW_SHELL,
    Action.REBOOT: StepKind.REBOOT,
    Action.HARDWARE: StepKind.HARDWARE,
}


@dataclass(frozen=True, slots=True)
class Place:
    """`families` are those whose lines serve, the most special first; `repository` is NVIDIA's name for this distribution, empty
    where it has no packages for it. `tool` can change the environment of `python` (`pip`, `uv`), empty where it is to be left as
    it is; `compilers` are the installed g++ by their majors.
    """

    families: tuple[Family, ...] = (Family.ANY,)
    repository: str = ""
    repository_architecture: str = ""
    python: str = "python3"
    tool: str = ""
    torch_there: bool = False
    driver_there: bool = True
    compilers: tuple[tuple[int, str], ...] = ()
    around: Around = field(default_factory=Around)
    system: System = field(default_factory=System)

    @property
    def family(self) -> Family:
        """The one that says whose the driver is."""
        return self.families[0]

    @property
    def packages(self) -> Family:
        """The one whose packages are installed here: under WSL2 the distribution's, though the driver is not."""
        return next((one for one in self.families if one not in {Family.WSL, Family.CONTAINER}), Family.ANY)


@dataclass(frozen=True, slots=True)
class Use:
    """A command by its key, and what it is used with."""

    key: str
    parameters: Mapping[str, object]


def use(key: str, **parameters: object) -> Use:
    """A command to render."""
    return Use(key, parameters)


def step(
    uses: tuple[Use, ...],
    place: Place,
    commands: Commands,
    words: tuple[Text, Text | None],
    *,
    run: Run | None = None,
    proof: StepProof | None = None,
) -> Step:
    """A step of these commands, as far as they are known for the place; `words` say what it does, and how to see that it worked.
    `run` says who takes it and where, and gets its programs from the lines.
    """
    records = [commands.record(one.key, place.families) for one in uses]
    known = [record for record in records if record is not None]
    lines = tuple(line for one in uses for line in commands.render(one.key, place.families, one.parameters))
    root = any(record.needs_root for record in known)
    acts = [_KINDS[record.action] for record in known if record.action is not Action.COMMAND]
    kind = acts[0] if acts else StepKind.ROOT_COMMAND if root else StepKind.COMMAND
    does, check = words
    taken = replace(run, programs=programs_of(lines)) if run is not None and not root else None
    return Step(kind, does, lines, check=check, needs_root=root, run=taken, proof=proof)


def programs_of(lines: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """The programs of lines without a shell's operators; a line that activates an environment changes the user's shell alone."""
    words = (tuple(shlex.split(line)) for line in lines)
    return tuple(one for one in words if one and one[0] not in {".", "source"} and one[:2] != ("conda", "activate"))
