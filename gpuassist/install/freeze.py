"""What an environment holds just now, as its own tools write it, so that it can be taken back to that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from gpuassist.context import Session
from gpuassist.formats.packages import (
    HEAD_AT_MOST_BYTES,
    PackageMetadata,
    explicit_packages,
    frozen_packages,
    read_package_metadata,
)
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.plan import StepRun, Tool
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from gpuassist.system.own_child import clean
from gpuassist.system.ownership import why_not_run
from gpuassist.system.processes import Ending

_SECONDS = 120.0


class FrozenEnvironment(Struct, frozen=True):
    """The lines of `pip freeze` or `conda list --explicit`."""

    tool: Tool
    lines: tuple[str, ...]

    @property
    def packages(self) -> dict[str, str]:
        """The lines by the packages' names."""
        read: Callable[[Sequence[str]], dict[str, str]] = explicit_packages if self.tool is Tool.CONDA else frozen_packages
        return read(self.lines)


def freeze(session: Session, run: StepRun) -> Fact[FrozenEnvironment] | None:
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
    return Known(FrozenEnvironment(run.tool, tuple(line for line in outcome.text.splitlines() if line.strip())), source)


def _command(run: StepRun) -> tuple[str, ...] | None:
    program = run.programs[0][0] if run.programs else ""
    if run.tool is Tool.CONDA and run.environment:
        return (program, "list", "--prefix", run.environment, "--explicit")
    if run.tool is Tool.UV and run.interpreter:
        return (program, "pip", "freeze", "--python", run.interpreter)
    if run.tool is Tool.PIP and run.interpreter:
        return (run.interpreter, "-m", "pip", "freeze", "--all", "--disable-pip-version-check")
    return None


# The packages that an environment holds just now, by the records in its directories.


_RELEASE = lazy_regex(r"/python(\d{1,9}\.\d{1,9})t?/")
_METADATA = {".dist-info": "METADATA", ".egg-info": "PKG-INFO"}


class EnvironmentPackages(Struct, frozen=True):
    """An environment: whether it is there, where Python looks in it, its packages with their records (paths), and its Python's
    version; None where that is not known.
    """

    there: bool = True
    sites: tuple[str, ...] = ()
    packages: Mapping[str, PackageMetadata] = field(default_factory=dict)
    records: Mapping[str, str] = field(default_factory=dict)
    python: Version | None = None


def held_by(files: Files, machine: Machine, run: StepRun) -> EnvironmentPackages:
    prefix = run.environment or run.interpreter.rpartition("/bin/")[0]
    if not files.exists(run.interpreter or prefix):
        return EnvironmentPackages(there=False)
    every = value_or(machine.environments, ())
    known = next(
        (one for one in every if one.prefix == run.environment or value_or(one.interpreter, "") == run.interpreter != ""), None
    )
    own = (*files.glob(f"{prefix}/lib/python3*/site-packages"), *files.glob(f"{prefix}/lib64/python3*/site-packages"))
    sites = known.sites.value if known and isinstance(known.sites, Known) and known.sites.value else own
    packages: dict[str, PackageMetadata] = {}
    records: dict[str, str] = {}
    for site in dict.fromkeys(files.real(one) for one in sites):
        for name in files.names(site):
            one = _read(files, f"{site}/{name}")
            if one is not None and one.name not in packages:  # of two the first counts, as for Python
                packages[one.name], records[one.name] = one, f"{site}/{name}"
    return EnvironmentPackages(sites=sites, packages=packages, records=records, python=_python(known, sites))


def _python(known: PythonEnvironment | None, sites: tuple[str, ...]) -> Version | None:
    if known and isinstance(known.python_version, Known):
        return known.python_version.value
    found = (match for site in sites if (match := _RELEASE.search(site)))
    return next((Version.parse(match[1]) for match in found), None)


def _read(files: Files, record: str) -> PackageMetadata | None:
    name = next((inside for ending, inside in _METADATA.items() if record.endswith(ending)), "")
    try:
        return read_package_metadata(files.read_text(f"{record}/{name}", HEAD_AT_MOST_BYTES)) if name else None
    except OSError:
        return None  # a record that was left half removed is none for pip, too
