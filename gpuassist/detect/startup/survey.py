"""Every line of the start-up files that touches a variable that matters: whose it is, what it does, whether it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.detect.startup.chain import ChainFile, Stage, dialect_of, sources, startup_chain
from gpuassist.detect.startup.effect import PlacedStatement, TraceJudge, by_reading, elements_of
from gpuassist.detect.startup.fish_universal import universal_lines
from gpuassist.detect.startup.line import SurveyLine, line_of, untold
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.shell import StartupFile, Terminal
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.statements import WATCHED, Statement, ToolLine
from gpuassist.system.login import login_environment
from gpuassist.system.ownership import open_to_others
from gpuassist.system.shell_trace import SECONDS, Trace, trace_startup
from gpuassist.system.terminal import ask_terminal, usable_shell
from gpuassist.system.world import World


class UnreadFile(Struct, frozen=True):
    """A start-up file that a new terminal does not read, or that could not be looked into."""

    path: str
    reason: Text


class Survey(Struct, frozen=True):
    """The whole table; `seconds` is how long a new terminal takes to come up."""

    shell: str
    lines: tuple[SurveyLine, ...]
    notes: tuple[Text, ...]
    seconds: Fact[float]
    unread: tuple[UnreadFile, ...]
    terminal: Fact[Terminal] = NOT_ASKED


def survey(session: Session, machine: Machine | None = None, *, seconds: float = SECONDS, recorded: bool = False) -> Survey:
    """Reads the start-up files and watches a new terminal come up, for at most `seconds`; of a recorded machine it reads what the
    recording holds, and starts nothing.
    """
    world = session.world
    if machine is not None and (recorded or is_recorded(world, machine)):
        chain = recorded_chain(machine)
        shell = value_or(machine.shell.login_shell, "")
        untold: Fact[Trace] = Unknown(text("nothing was run: this is a recorded machine"), asked=False)
        return _survey(_Seen(shell, chain, machine.shell.new_terminal, untold, NOT_ASKED, (), str))
    chain = startup_chain(world)
    shell = usable_shell(world)
    terminal, trace, took = _watched(world, machine, seconds)
    start = login_environment(world.files, world.surroundings, shell=shell, home=world.surroundings.home)
    found = _survey(_Seen(shell, chain, terminal, trace, took, elements_of(start.get("PATH")), world.files.real))
    found = replace(found, notes=(*_open_to_others(world, chain), *found.notes))
    if PurePosixPath(shell).name != "fish":
        return found
    return replace(found, lines=(*universal_lines(world, terminal), *found.lines))


def _open_to_others(world: World, chain: tuple[ChainFile, ...]) -> Iterator[Text]:
    """A warning for HOME and for each file of the user's that others can write in: what stands in them runs with his rights."""
    read = (world.files.real(file.path) for file in chain if file.ours and file.exists and file.unread is None)
    for path in dict.fromkeys((world.surroundings.home, *read)):
        warning = open_to_others(world, path)
        if warning is not None:
            yield warning


def is_recorded(world: World, machine: Machine) -> bool:
    files = value_or(machine.shell.startup_files, ())
    home = PurePosixPath(world.surroundings.home)
    elsewhere = all(home not in PurePosixPath(file.path).parents for file in files)
    return not world.files.live or any(isinstance(file.content, Known) for file in files) or (bool(files) and elsewhere)


def _watched(world: World, machine: Machine | None, seconds: float) -> tuple[Fact[Terminal], Fact[Trace], Fact[float]]:
    with ThreadPoolExecutor(2) as pool:
        tracing = pool.submit(trace_startup, world, WATCHED, seconds=seconds)
        if machine is not None:
            trace = tracing.result()
            took: Fact[float] = Known(trace.value.seconds, trace.source) if isinstance(trace, Known) else NOT_ASKED
            return machine.shell.new_terminal, trace, took
        began = world.clock.monotonic()
        terminal = ask_terminal(world, seconds=seconds)
        lasted = world.clock.monotonic() - began
        seen: Fact[float] = Unknown(terminal.reason) if isinstance(terminal, Unknown) else Known(lasted, terminal.source)
        return terminal, tracing.result(), seen


class _Seen(Struct, frozen=True):
    shell: str
    chain: tuple[ChainFile, ...]
    terminal: Fact[Terminal]
    trace: Fact[Trace]
    seconds: Fact[float]
    start: tuple[str, ...]
    real: Callable[[str], str]


_Line = tuple[Statement | ToolLine, ChainFile]


def _survey(seen: _Seen) -> Survey:
    placed = tuple(PlacedStatement(number, file, says) for number, (says, file) in enumerate(_in_order(seen.chain)))
    if isinstance(seen.trace, Known):
        traced = TraceJudge(placed, seen.terminal, seen.trace.value, seen.real)
        lines = [line_of(one, traced.effect(one), traced) for one in placed]
        for line in untold(traced, placed, seen.chain):
            # Behind the last line of its file that stands above it; at the end where its file has none.
            above = [place for place, one in enumerate(lines) if one.file == line.file and one.line <= line.line]
            first = next((place for place, one in enumerate(lines) if one.file == line.file), len(lines))
            lines.insert(above[-1] + 1 if above else first, line)
    else:
        judge = by_reading(placed, seen.terminal, seen.start)
        lines = [line_of(one, judge(one), None) for one in placed]
    unread = (UnreadFile(file.path, why) for file in seen.chain if (why := file.unread or file.unreadable) is not None)
    notes = notes_on(seen.shell, seen.chain, seen.seconds, seen.trace)
    return Survey(seen.shell, tuple(lines), notes, seen.seconds, tuple(unread), seen.terminal)


def _in_order(chain: tuple[ChainFile, ...]) -> Iterator[_Line]:
    """All lines in the order in which they are come to: those of a file that is read in where that is done."""
    inside: dict[str, list[ChainFile]] = {}
    for file in chain:
        if file.sourced_by is not None:
            inside.setdefault(file.sourced_by[0], []).append(file)
    return (line for file in chain if file.sourced_by is None for line in _of_file(file, inside))


def _of_file(file: ChainFile, inside: dict[str, list[ChainFile]]) -> list[_Line]:
    found: list[tuple[int, list[_Line]]] = [(one.line, [(one, file)]) for one in file.reading.statements]
    found += [(one.line, [(one, file)]) for one in file.reading.tools]
    found += [(one.sourced_by[1], _of_file(one, inside)) for one in inside.get(file.path, ()) if one.sourced_by is not None]
    return [line for _, lines in sorted(found, key=lambda entry: entry[0]) for line in lines]


# What else the user should know about the start-up files: what hides what, what ends early, what could not be told.


SLOW_SECONDS = 2.0


def notes_on(shell: str, chain: tuple[ChainFile, ...], seconds: Fact[float], trace: Fact[Trace]) -> tuple[Text, ...]:
    """All that is worth saying, what is in the way first."""
    return tuple(_notes(shell, chain, seconds, trace))


def _notes(shell: str, chain: tuple[ChainFile, ...], seconds: Fact[float], trace: Fact[Trace]) -> Iterator[Text]:
    if PurePosixPath(shell).name == "bash":
        yield from _login_gap(chain)
    for file in chain:
        ends = (end.line for end in file.reading.endings if end.interactive) if file.ours and file.unread is None else ()
        line = next((end for end in ends if any(one.line > end for one in file.reading.statements)), None)
        if line is not None:
            yield text(
                "{path}, line {line} ends the file for shells that are not interactive: what ssh runs, cron, and tasks of an "
                "editor do not see the lines below it",
                path=file.path,
                line=line,
            )
    for file in chain:
        if file.reading.unreadable_line and file.ours:
            yield text("{path}, line {line} could not be understood", path=file.path, line=file.reading.unreadable_line)
    for file in chain:
        for statement in file.reading.statements if file.dialect is Dialect.ENVIRONMENT else ():
            if any("$" in element.written for assignment in statement.assignments for element in assignment.elements):
                yield text(
                    "{path}, line {line}: nothing is expanded in this file, so that the $ and what follows stay as they are",
                    path=file.path,
                    line=statement.line,
                )
    if isinstance(seconds, Known) and seconds.value >= SLOW_SECONDS:
        yield text("your start-up files take {seconds:.1f} s for each new terminal", seconds=seconds.value)
    if isinstance(trace, Unknown):
        yield text("which line wins was told by reading alone: {reason}", reason=trace.reason)
    elif not trace.value.whole:
        yield text("a start-up file turns off what tells which lines run, so not all of them are known")


def _login_gap(chain: tuple[ChainFile, ...]) -> Iterator[Text]:
    """Debian's .profile reads .bashrc in; one that somebody wrote anew often does not, and then a login shell is without it."""
    terminal = next((file for file in chain if file.stage is Stage.TERMINAL and file.sourced_by is None), None)
    login = next((file for file in chain if file.stage is Stage.LOGIN and not file.sourced_by and file.unread is None), None)
    if terminal is None or not terminal.exists:
        return
    if login is None:
        yield text("no login file reads {path} in: a login shell (ssh, a text console) does not see its lines", path=terminal.path)
    elif not sources(chain, login.path, terminal.path):
        yield text(
            "{login} does not read {path} in: a login shell (ssh, a text console) does not see its lines",
            login=login.path,
            path=terminal.path,
        )


# The start-up files of a recorded machine: as much as its recording holds of them.


_LOGIN = frozenset({".bash_profile", ".bash_login", ".profile", ".zshenv", ".zprofile", ".zlogin"})


def recorded_chain(machine: Machine) -> tuple[ChainFile, ...]:
    """Its files, those that a login reads first."""
    shell = PurePosixPath(value_or(machine.shell.login_shell, "")).name
    own = {"zsh": Dialect.ZSH, "fish": Dialect.FISH}.get(shell, Dialect.BASH)
    files = [_file(file, own) for file in value_or(machine.shell.startup_files, ()) if file.exists]
    return tuple(sorted(files, key=lambda file: file.stage is not Stage.LOGIN))


def _file(file: StartupFile, own: Dialect) -> ChainFile:
    path = PurePosixPath(file.path)
    stage = Stage.LOGIN if path.name in _LOGIN else Stage.TERMINAL
    dialect = dialect_of(file.path, own)
    if isinstance(file.content, Unknown):
        return ChainFile(file.path, dialect, stage, unreadable=text("the recording does not hold its text"))
    content = file.content.value.encode("utf-8", "surrogateescape")
    reading = read_startup(content, dialect, {"HOME": str(path.parent)})
    return ChainFile(file.path, dialect, stage, content=content, ours=True, reading=reading)
