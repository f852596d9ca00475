"""Asks the tools of a step what they would do to its environment: what it holds now, and what it would hold then."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.formats.dry_runs import (
    DryRunRefused,
    Reason,
    explanation,
    read_conda_dry_run,
    read_pip_report,
    read_uv_dry_run,
    reason_of,
)
from gpuassist.formats.package_settings import without_login
from gpuassist.formats.packages import PackageMetadata
from gpuassist.formats.paste import read_paste
from gpuassist.formats.visible import shortened
from gpuassist.install.dry_run import Act, Does, conda_looks, pip_looks, pip_looks_anew, read_act, uv_looks, uv_looks_anew
from gpuassist.install.freeze import EnvironmentPackages, held_by
from gpuassist.knowledge.families import Family
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.plan import StepRun, Tool
from gpuassist.model.solve import PackageChange
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.version import Version
from gpuassist.system.disk import scratch
from gpuassist.system.hidden_packages import hide
from gpuassist.system.own_child import clean
from gpuassist.system.ownership import own_cache, why_not_run
from gpuassist.system.processes import Ending, ProcessResult

# Why a tool would install nothing, or could not be asked what it would do, and what helps.


_READ_BYTES = 128 << 10  # of its end: there tools say why
_WORDS_AT_MOST = 600  # what is said of a failure is read, not scrolled through
CLOSED = text("the distribution keeps this Python for itself: other packages belong in an environment of their own")


class DryRunCommand(Struct, frozen=True):
    """Who was asked: its command, for how long at most, and the interpreter that it belongs to; `maker` where that is not there yet
    and the one that will make it was asked.
    """

    tool: Tool
    command: tuple[str, ...]
    seconds: float
    python: str = ""
    maker: str = ""


def failed(session: Session, asked: DryRunCommand, outcome: ProcessResult) -> Text:
    if outcome.ending is Ending.CANCELLED:
        return text("Looking was cancelled; nothing was changed")
    if outcome.ending is Ending.TIMED_OUT:
        return text(
            "{tool} did not say what it would do within {seconds} seconds; nothing was changed",
            tool=asked.tool.value,
            seconds=round(asked.seconds),
        )
    if outcome.ending in {Ending.NOT_FOUND, Ending.NOT_STARTED}:
        return text("{program} could not be started: {words}", program=asked.command[0], words=outcome.words)
    if outcome.ending is Ending.KILLED:
        return text("{tool} was ended by another before it could say what it would do", tool=asked.tool.value)
    words = read_paste(outcome.stderr[-_READ_BYTES:] + b"\n" + outcome.stdout[-_READ_BYTES:]).words
    if words.strip():
        return _told(session, asked, without_login(words))
    return text("{tool} ended with status {status} and did not say why", tool=asked.tool.value, status=outcome.status)


def impossible(asked: DryRunCommand, words: str) -> Text:
    return text(
        "{tool} finds no set of packages that fits together, so nothing would be installed. It says: {words}",
        tool=asked.tool.value,
        words=shortened(explanation(without_login(words)), _WORDS_AT_MOST),
    )


def unreadable(asked: DryRunCommand) -> Text:
    """It succeeded, and yet nobody can tell what it would do."""
    return text(
        "What {tool} would do cannot be told: what it printed is no description of it, or not all of one", tool=asked.tool.value
    )


def _told(session: Session, asked: DryRunCommand, words: str) -> Text:
    reason, short = reason_of(words), verbatim(shortened(explanation(words), _WORDS_AT_MOST))
    tool = asked.tool.value
    if reason is Reason.IMPOSSIBLE:
        return impossible(asked, words)
    if reason is Reason.UNREACHABLE:
        return text("{tool} could not reach where it gets packages from. It says: {words}", tool=tool, words=short)
    if reason is Reason.TOO_OLD and asked.maker:
        return text(
            "the pip that {python} brings is too old to say what it would do (that takes 22.2); `{python} -m venv --upgrade-deps` "
            "makes an environment with a newer one",
            python=asked.maker,
        )
    if reason is Reason.TOO_OLD:
        command = _line(session, "pip-upgrade", asked, requirement="pip")
        return text(
            "this pip is too old to say what it would do (that takes 22.2); `{command}` brings a newer one", command=command
        )
    if reason is Reason.NO_PIP and asked.maker:
        return text(
            "{python} has no pip itself: what would be installed can be told once the environment is made", python=asked.maker
        )
    if reason is Reason.NO_PIP:
        command = _line(session, "pip-repair", asked)
        return text("{python} has no pip; `{command}` brings it", python=asked.python, command=command)
    if reason is Reason.CLOSED:
        return CLOSED
    return text("{tool} would do nothing. It says: {words}", tool=tool, words=short)


def _line(session: Session, key: str, asked: DryRunCommand, **parameters: str) -> str:
    lines = session.knowledge.commands.render(key, (Family.ANY,), {"python": asked.python, **parameters})
    return "; ".join(lines)


SECONDS = 600.0  # a pip before 23.3 downloads whole wheels of torch to look at them
_REPORT_AT_MOST_BYTES = 64 << 20
_TEXT_AT_MOST_BYTES = 128 << 10  # a thousand packages are 30 KB
_PYTHON = lazy_regex(r"(?:^|/(?:bin/)?python)(\d{1,9}\.\d{1,9}(?:\.\d{1,9})?)(?:t?$|/)")
_ELSEWHERE = {"--break-system-packages", "--target", "-t", "--prefix", "--root"}
_OF_CONDA = {"pytorch": "torch"}  # what a package of conda's is called where Python looks


class DryRunView(Struct, frozen=True):
    """`before` and `after` are the packages by name, as far as Python sees them; `sources` the commands that were asked; `installs`
    whether anything would be installed, and not only be taken out; `blind` the programs that nobody could look at; `python` is
    None where its version is not known.
    """

    before: Mapping[str, PackageMetadata]
    after: Mapping[str, PackageMetadata]
    changes: tuple[PackageChange, ...]
    sources: tuple[str, ...] = ()
    installs: bool = False
    yanked: tuple[str, ...] = ()
    blind: tuple[str, ...] = ()
    python: Version | None = None


class Conditions(Struct, frozen=True):
    """Where the programs run, the steps before them that are not done yet, and who may call it off."""

    directory: str
    earlier: tuple[StepRun, ...] = ()
    cancelled: Callable[[], bool] | None = None


def look(session: Session, machine: Machine, run: StepRun, conditions: Conditions) -> DryRunView | Text:
    """What a step's programs would do, or why nobody can tell."""
    # The run with its places as seen from everywhere.
    environment = posixpath.join(conditions.directory, run.environment) if run.environment else ""
    interpreter = posixpath.join(conditions.directory, run.interpreter) if "/" in run.interpreter else run.interpreter
    run = replace(run, environment=environment, interpreter=interpreter)
    held = held_by(session.world.files, machine, run)
    with scratch(own_cache(session.world)) as directory:
        view = _View(session, run, held, _Scratch(directory), conditions)
        for one in conditions.earlier:
            for program in one.programs:
                act = read_act(program)
                if act.does in {Does.CREATES, Does.REMOVES}:
                    view.take(act, program)
        for program in run.programs:
            problem = view.take(read_act(program), program)
            if problem is not None:
                return problem
        return view.seen()


class _Scratch(Struct):
    """A directory for reports, and for directories that are to be empty."""

    directory: str
    used: int = 0

    def place(self) -> str:
        self.used += 1
        return f"{self.directory}/{self.used}"


class _View(Struct):
    """The environment as it changes from program to program."""

    session: Session
    run: StepRun
    held: EnvironmentPackages
    scratch: _Scratch
    conditions: Conditions
    python: str = ""  # that will make the environment: an interpreter or a version
    after: dict[str, PackageMetadata] = field(default_factory=dict)
    removed: dict[str, str] = field(default_factory=dict)
    changes: dict[str, PackageChange] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    yanked: list[str] = field(default_factory=list)
    blind: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.after = dict(self.held.packages)

    def take(self, act: Act, program: tuple[str, ...]) -> Text | None:
        """One program; a text where what it would do cannot be told."""
        if act.does is Does.CREATES:
            self.python = act.value("--python", "-p") if act.tool is Tool.UV else act.head[0]
        elif act.does is Does.REMOVES:
            for name in act.names:
                if name in self.after:
                    self.removed[name] = self.after.pop(name).version
        elif act.does is Does.INSTALLS:
            return self._install(act)
        elif (self.run.environment or self.run.interpreter) and not self._links_inside(program):
            self.blind.append(" ".join(program))
        return None

    def _links_inside(self, program: tuple[str, ...]) -> bool:
        """Whether it makes a link in the step's own environment, which changes no package."""
        return program[:1] == ("ln",) and program[-1].startswith(f"{self.run.environment}/") and ".." not in program[-1]

    def seen(self) -> DryRunView:
        for name, version in self.removed.items():
            if name not in self.after:
                self.changes.setdefault(name, PackageChange(name, version))
        changes = tuple(self.changes[name] for name in sorted(self.changes))
        to_come = _PYTHON.search(self.python)  # the interpreter that will make the environment, by its name
        return DryRunView(
            self.held.packages,
            self.after,
            changes,
            sources=tuple(self.sources),
            installs=bool(self.sources),
            yanked=tuple(self.yanked),
            blind=tuple(self.blind),
            python=self.held.python or (Version.parse(to_come[1]) if to_come else None),
        )

    def _install(self, act: Act) -> Text | None:
        if self.sources:  # the second would be told of an environment in which the first has not been yet
            self.blind.append(" ".join((*act.head, *act.words)))
            return None
        if act.tool is Tool.CONDA:
            command = conda_looks(act)
            outcome = self._ask(command, {})
            changes = read_conda_dry_run(outcome.text)
            asked = DryRunCommand(Tool.CONDA, command, SECONDS)
            if isinstance(changes, DryRunRefused) and changes.words:
                return impossible(asked, changes.words)
            if changes is None or isinstance(changes, DryRunRefused):
                return unreadable(asked) if outcome.succeeded else failed(self.session, asked, outcome)
            self._changed(changes)
            return None
        if not self.held.there and not self.python:
            return text("{directory} is not there yet, so nobody can tell what would come into it", directory=self.run.environment)
        return self._uv(act) if act.tool is Tool.UV or not (self.held.there or not self.python[:1].isdecimal()) else self._pip(act)

    def _pip(self, act: Act) -> Text | None:
        if self._is_closed(act):
            return CLOSED
        report = self.scratch.place()
        around: Mapping[str, str] = {}
        if not self.held.there:
            command = pip_looks_anew(act, report, self.python)
            around = {"PIP_REQUIRE_VIRTUALENV": "0"}  # the one that is required is to be made first
        else:
            command = pip_looks(act, report)
            if self.removed:
                around = hide(self.scratch.place(), {self.held.records[name] for name in self.removed})
        outcome = self._ask(command, around)
        planned = read_pip_report(self._written(report)) if outcome.succeeded else None
        if planned is None:
            asked = DryRunCommand(Tool.PIP, command, SECONDS, act.head[0], "" if self.held.there else self.python)
            return unreadable(asked) if outcome.succeeded else failed(self.session, asked, outcome)
        for one in planned:
            before = self.held.packages.get(one.name)
            self.after[one.name] = PackageMetadata(one.name, one.version, one.requires)
            self.changes[one.name] = PackageChange(one.name, before.version if before else "", one.version, source=one.source)
            if one.yanked:
                self.yanked.append(f"{one.name} {one.version}")
        return None

    def _is_closed(self, act: Act) -> bool:
        """Whether the distribution keeps this Python from pip (PEP 668), which pip says only when it is in earnest."""
        files, prefix = self.session.world.files, self.run.environment
        if not self.held.there or not prefix or files.exists(f"{prefix}/pyvenv.cfg") or _ELSEWHERE & {*act.words}:
            return False
        return bool(files.glob(f"{prefix}/lib/python{self.held.python.release if self.held.python else '3*'}/EXTERNALLY-MANAGED"))

    def _uv(self, act: Act) -> Text | None:
        there, removed = self.held.there, tuple(self.removed)
        command = uv_looks(act, removed) if there else uv_looks_anew(act, self.scratch.place(), self.python)
        outcome = self._ask(command, {})
        printed = read_paste(outcome.stderr[-_TEXT_AT_MOST_BYTES:]).words
        changes = read_uv_dry_run(printed) if outcome.succeeded else None
        if changes is None:
            asked = DryRunCommand(Tool.UV, command, SECONDS)
            return unreadable(asked) if outcome.succeeded else failed(self.session, asked, outcome)
        self._changed(changes)
        return None

    def _changed(self, changes: tuple[PackageChange, ...]) -> None:
        for one in changes:
            self.changes[one.name] = one
            name = _OF_CONDA.get(one.name, one.name)
            if one.after:
                self.after[name] = PackageMetadata(name, one.after)
            else:
                self.after.pop(name, None)

    def _ask(self, command: tuple[str, ...], around: Mapping[str, str]) -> ProcessResult:
        self.sources.append(" ".join(command))
        world, conditions = self.session.world, self.conditions
        refused = why_not_run(world, command, conditions.directory)
        if refused is not None:
            return ProcessResult(Ending.NOT_STARTED, 0, b"", b"", 0.0, self.session.words(refused))
        environment = {**clean(world.surroundings.variables), **around}
        return world.processes.run(
            command, seconds=SECONDS, environment=environment, directory=conditions.directory, cancelled=conditions.cancelled
        )

    def _written(self, path: str) -> str:
        try:
            return self.session.world.files.read_text(path, _REPORT_AT_MOST_BYTES)
        except OSError:
            return ""
