"""What an environment holds just now, as its own tools write it, so that it can be taken back to that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gpuassist.context import Session
from gpuassist.formats.frozen import explicit_packages, frozen_packages
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.plan import Run, Tool
from gpuassist.model.text import text
from gpuassist.system.ownership import why_not_run
from gpuassist.system.processes import Ending, clean

_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Frozen:
    """The lines of `pip freeze` or `conda list --explicit`."""

    tool: Tool
    lines: tuple[str, ...]

    @property
    def packages(self) -> dict[str, str]:
        """The lines by the packages' names."""
        read: Callable[[Sequence[str]], dict[str, str]] = explicit_packages if self.tool is Tool.CONDA else frozen_packages
        return read(self.lines)


def freeze(session: Session, run: Run) -> Fact[Frozen] | None:
    """What the environment of a step holds; none where the step changes no environment of packages."""
    command = _command(run)
    if command is None:
        return None
    refused = why_not_run(session.world, command)
    if refused is not None:
        return Unknown(refused)
    environment = clean(session.world.surroundings.variables)
    outcome = session.world.processes.run(command, seconds=_SECONDS, environment=environment)
    source = " ".join(command)
    if not outcome.succeeded:
        if outcome.ending is Ending.TIMED_OUT:
            why = f"> {outcome.seconds:.0f} s"
        else:
            lines = [line for line in outcome.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
            why = lines[-1].strip()[:300] if lines else outcome.words or f"status {outcome.status}"
        return Unknown(text("`{command}` failed: {words}", command=source, words=why))
    return Known(Frozen(run.tool, tuple(line for line in outcome.text.splitlines() if line.strip())), source)


def _command(run: Run) -> tuple[str, ...] | None:
    program = run.programs[0][0] if run.programs else ""
    if run.tool is Tool.CONDA and run.environment:
        return (program, "list", "--prefix", run.environment, "--explicit")
    if run.tool is Tool.UV and run.interpreter:
        return (program, "pip", "freeze", "--python", run.interpreter)
    if run.tool is Tool.PIP and run.interpreter:
        return (run.interpreter, "-m", "pip", "freeze", "--all", "--disable-pip-version-check")
    return None
