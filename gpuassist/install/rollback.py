"""The way back of an install: what would be done, the last step first, and doing it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.formats.packages import FreezeDifference, back_to
from gpuassist.install.autostart import remove_autostart
from gpuassist.install.execution import InstallOutcome, kept, mark
from gpuassist.install.freeze import freeze
from gpuassist.install.records import Install, InstallState, StepState, place, save
from gpuassist.install.run import Cancelled, OnLine, RunContext, StepEnding, StepOutcome, run_step
from gpuassist.knowledge.families import Family
from gpuassist.model.fact import Known
from gpuassist.model.plan import Step, StepKind, StepRun, Tool
from gpuassist.model.text import Text, listed, text, verbatim

_TOUCHED = {StepState.DONE, StepState.FAILED, StepState.CANCELLED, StepState.RUNNING}


class BackStep(Struct, frozen=True):
    """What takes step `number` back: a directory that goes, or programs that run. `left` names what somebody else changed since
    and stays; `obstacle` says why it cannot be taken back.
    """

    number: int
    text: Text
    removes: str = ""
    run: StepRun | None = None
    left: tuple[str, ...] = ()
    obstacle: Text | None = None

    @property
    def commands(self) -> tuple[str, ...]:
        if self.removes:
            return (shlex.join(("rm", "-r", self.removes)),)
        return tuple(shlex.join(one) for one in self.run.programs) if self.run is not None else ()


def plan_back(session: Session, install: Install) -> tuple[BackStep, ...]:
    """The way back, in the order in which it is gone."""
    made = [one.step.run.creates for one in install.steps if one.made and one.step.run is not None and one.state in _TOUCHED]
    way = list[BackStep]()
    for number, record in reversed(tuple(enumerate(install.steps))):
        run = record.step.run
        if run is None or record.state not in _TOUCHED:
            continue
        if record.made:
            gone = text("Take {path} away, with all that it holds: it was made by this install", path=run.creates)
            way.append(BackStep(number, gone, run.creates))
        elif not any(_lies_in(run, directory) for directory in made):
            way.append(_restoring(session, install, number, run))
    return tuple(way)


def take_back(session: Session, install: Install, back: BackStep, *, on_line: OnLine, cancelled: Cancelled) -> InstallOutcome:
    """Goes one step back, and looks whether everything is as it was."""
    session.world.programs.end_marked(mark(session, install, back.number))
    if back.obstacle is not None:
        done = StepOutcome(StepEnding.NOT_STARTED, back.obstacle)
    elif back.removes:
        done = _removed(session, back.removes)
    elif back.run is not None and back.run.programs:
        directory = place(session.world, install)
        log = f"{directory}/step-{back.number + 1}-back-{_backs(session, install, back.number) + 1}.txt"
        around = RunContext(directory, log, mark(session, install, back.number))
        step = Step(StepKind.COMMAND, verbatim(""), run=back.run)
        done = run_step(session, step, around=around, on_line=on_line, cancelled=cancelled)
        done = _checked(session, install, back, done) if done.ending is StepEnding.DONE else done
    else:
        done = StepOutcome(StepEnding.DONE, text("nothing has to be done"))
    if done.ending is StepEnding.DONE:
        install = _taken_back(install, back)
        save(session.world, install)
        if install.state is not InstallState.OPEN:
            remove_autostart(session)
    return InstallOutcome(install, done)


def _restoring(session: Session, install: Install, number: int, run: StepRun) -> BackStep:
    does = text("Take {place} back to what it held before", place=run.environment or run.interpreter)
    before = kept(session, install, number, "before")
    if before is None:
        return BackStep(number, text("This step changed no Python environment: there is nothing to undo"))
    session.world.programs.end_marked(mark(session, install, number))  # what a killed gpuassist left running changes it still
    now = freeze(session, run)
    if not isinstance(now, Known):
        reason = now.reason if now is not None else text("it cannot be asked")
        return BackStep(number, does, obstacle=text("what it holds now could not be told: {reason}", reason=reason))
    begun = _backs(session, install, number)  # what is missing now may be what an earlier way back had taken out
    after = (None if begun else kept(session, install, number, "after")) or now.value
    back = back_to(before.packages, after.packages, now.value.packages)
    programs = () if back.nothing else back_programs(run, back, _indexes(session, back.restore))
    return BackStep(number, does, run=replace(run, programs=programs, creates=""), left=back.left)


def _indexes(session: Session, lines: tuple[str, ...]) -> tuple[str, ...]:
    """PyTorch's indexes for the builds that are to come back: their versions name them (`2.9.1+cu128`)."""
    tags = dict.fromkeys(line.rpartition("+")[2] for line in lines if "==" in line and "+" in line)
    words = (
        word
        for tag in tags
        for line in session.knowledge.commands.render("torch-install", Family.ANY, {"python": "-", "version": "-", "tag": tag})
        for word in line.split()
    )
    return tuple(word for word in words if word.startswith("https://"))


def _lies_in(run: StepRun, directory: str) -> bool:
    return any(one == directory or one.startswith(f"{directory}/") for one in (run.environment, run.interpreter) if one)


def _removed(session: Session, path: str) -> StepOutcome:
    try:
        session.world.disk.remove_tree(path)
    except OSError as error:
        words = text("{path} could not be taken away: {words}", path=path, words=error.strerror or str(error))
        return StepOutcome(StepEnding.FAILED, words)
    return StepOutcome(StepEnding.DONE, text("{path} is gone", path=path))


def _backs(session: Session, install: Install, number: int) -> int:
    """How often the way back of that step was begun."""
    return sum(name.startswith(f"step-{number + 1}-back-") for name in session.world.disk.names(place(session.world, install)))


def _checked(session: Session, install: Install, back: BackStep, done: StepOutcome) -> StepOutcome:
    before = kept(session, install, back.number, "before")
    run = install.steps[back.number].step.run
    now = freeze(session, run) if run is not None else None
    if before is None or not isinstance(now, Known):
        return done
    was, found = before.packages, now.value.packages
    other = sorted(name for name in {*was, *found} - set(back.left) if was.get(name) != found.get(name))
    if other:
        return replace(done, ending=StepEnding.FAILED, words=text("these are not as they were: {names}", names=listed(other)))
    return replace(done, words=text("everything is as it was before"))


def _taken_back(install: Install, back: BackStep) -> Install:
    for number, record in enumerate(install.steps):
        inside = back.removes and record.step.run is not None and _lies_in(record.step.run, back.removes)
        if number == back.number or (inside and record.state in _TOUCHED):
            install = install.with_step(number, replace(record, state=StepState.TAKEN_BACK, words="", made=False))
    if not any(one.state in _TOUCHED and one.step.run is not None for one in install.steps):
        install = replace(install, state=InstallState.TAKEN_BACK)
    return install


# The programs that take an environment back to what it held, by the tool that had changed it.


_WITH_VALUE = {"--extra-index-url": "--extra-index-url", "--index-url": "--extra-index-url", "-i": "--extra-index-url"}
_KEPT_WITH_VALUE = {"--find-links", "-f", "--trusted-host", "--index", "--default-index"}
_KEPT = {"--no-index", "--offline"}


def back_programs(run: StepRun, back: FreezeDifference, indexes: Sequence[str] = ()) -> tuple[tuple[str, ...], ...]:
    """First what was added is taken out, then the rest comes back exactly as it was; `indexes` are those that have such builds."""
    program = run.programs[0][0]
    if run.tool is Tool.CONDA:
        conda: list[tuple[str, ...]] = []
        if back.remove:
            conda.append((program, "remove", "--yes", "--force", "--prefix", run.environment, *back.remove))
        if back.restore:
            conda.append((program, "install", "--yes", "--prefix", run.environment, *back.restore))
        return tuple(conda)
    options = where_from(run.programs)
    if not _KEPT & set(options):
        options += tuple(word for one in indexes for word in ("--extra-index-url", one))
    if run.tool is Tool.UV:
        # uv takes a package from the first index that has any version of it, and PyTorch's has some of NumPy; these are exact.
        options += ("--index-strategy", "unsafe-best-match") if indexes and options else ()
        uv: list[tuple[str, ...]] = []
        if back.remove:
            uv.append((program, "pip", "uninstall", "--python", run.interpreter, *back.remove))
        if back.restore:
            uv.append((program, "pip", "install", "--python", run.interpreter, "--no-deps", *options, *_words(back.restore)))
        return tuple(uv)
    pip: list[tuple[str, ...]] = []
    if back.remove:
        pip.append((run.interpreter, "-m", "pip", "uninstall", "--yes", *back.remove))
    if back.restore:
        pip.append((run.interpreter, "-m", "pip", "install", "--no-deps", "--force-reinstall", *options, *_words(back.restore)))
    return tuple(pip)


def where_from(programs: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The options of a step's own programs that say where packages come from; an index of theirs becomes one more."""
    found: list[str] = []
    for program in programs:
        words = iter(program)
        for word in words:
            name, _, value = word.partition("=")
            if name in _WITH_VALUE:
                found += (_WITH_VALUE[name], value or next(words, ""))
            elif name in _KEPT_WITH_VALUE:
                found += (name, value or next(words, ""))
            elif word in _KEPT:
                found.append(word)
    return tuple(found)


def _words(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for line in lines for word in (("-e", line[3:]) if line.startswith("-e ") else (line,)))
