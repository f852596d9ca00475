"""Asks one shell: what is handed to the child process that starts it (`shell_session`), and what its answer means."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from gpuassist.model.text import Text, text
from gpuassist.system import shell_questions, shell_session
from gpuassist.system.processes import Ending, Outcome, clean
from gpuassist.system.programs import MARK
from gpuassist.system.shell_complaints import complaints, plain
from gpuassist.system.shell_questions import Answer
from gpuassist.system.shell_session import Came
from gpuassist.system.world import World

HIDDEN_ARGUMENT = "--shell-session"  # a frozen gpuassist has no interpreter to start: it starts itself with this
_SCRIPT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from gpuassist.system.shell_session import main; sys.exit(main())"
)
_HOME = Path(__file__).resolve().parents[2]
_GRACE_SECONDS = 5.0  # in which the child kills what it started
_PLACES = ("/tmp", "/dev/shm", "/var/tmp")


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """A process that a start-up file started and that outlives the shell, as it would outlive the terminal."""

    pid: int
    name: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of asking: the answer, or why there is none; what start-up files complained of, asked, and left running.

    `shell` is the file of the shell that answered, `through` the program that handed the question on to it (tmux).
    Where there is no answer, `ended` says that the shell had ended by itself.
    """

    answer: Answer | None
    why: Text
    seconds: float
    shell: str = ""
    through: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    left_behind: tuple[LeftBehind, ...] = ()
    ended: bool = False


def ask(
    world: World,
    command: Sequence[str],
    *,
    names: Sequence[str],
    environment: Mapping[str, str],
    directory: str,
    on_terminal: bool,
    seconds: float,
) -> Reply:
    """Starts that shell, on a terminal or with its question as `-c`, and asks for the commands of those `names` and all variables."""
    mark = secrets.token_hex(8)
    shell = command[0]
    with _scratch() as scratch:
        for name, words in shell_questions.files(names, scratch).items():
            Path(scratch, name).write_text(words, encoding="utf-8")
        question = () if on_terminal else ("-c", shell_questions.command(PurePosixPath(shell).name, scratch).strip())
        ours = _ours(scratch, mark)
        request = {
            "command": [*command, *question],
            "environment": {**ours, **environment},
            "directory": directory,
            "terminal": on_terminal,
            "seconds": seconds,
            "scratch": scratch,
        }
        try:
            outcome = world.processes.run(
                child_command(),
                seconds=seconds + _GRACE_SECONDS,
                environment=clean(world.surroundings.variables),
                stdin=json.dumps(request).encode(),
            )
        except BaseException:
            world.programs.end_marked(mark)
            raise
        if not outcome.succeeded and outcome.ending is not Ending.NOT_FOUND:
            world.programs.end_marked(mark)
    return _reply(outcome, shell, ours, seconds)


def child_command() -> tuple[str, ...]:
    """The child's command line; isolated, but with the very modules that this process would find."""
    if getattr(sys, "frozen", False):
        return (sys.executable, HIDDEN_ARGUMENT)
    return (sys.executable, "-I", "-S", "-c", _SCRIPT, json.dumps([*filter(None, sys.path), str(_HOME)]))


def _ours(scratch: str, mark: str) -> dict[str, str]:
    """What keeps the user's own things out of it: histories, and the sessions of programs that many terminals share."""
    return {
        MARK: mark,
        "HISTFILE": f"{scratch}/history",
        "HISTIGNORE": f"*{scratch}*",  # bash
        "HISTORY_IGNORE": f"*{scratch}*",  # zsh
        "TMUX_TMPDIR": f"{scratch}/tmux",
        "SCREENDIR": f"{scratch}/screen",
        "ZELLIJ_SOCKET_DIR": f"{scratch}/zellij",
    }


@contextmanager
def _scratch() -> Iterator[str]:
    """A directory of our own whose path is easy to type: no sign of it means anything to a line editor."""
    parent = next(place for place in (*_PLACES, ".") if os.access(place, os.W_OK | os.X_OK))
    directory = f"{os.path.realpath(parent)}/{secrets.randbelow(10**12):012d}"
    os.mkdir(directory, 0o700)
    try:
        for name in ("tmux", "screen", "zellij"):
            os.mkdir(f"{directory}/{name}", 0o700)
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _reply(outcome: Outcome, shell: str, ours: Mapping[str, str], seconds: float) -> Reply:
    if not outcome.succeeded:
        late = outcome.ending is Ending.TIMED_OUT
        words = outcome.words or outcome.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
        why = _late(shell, seconds) if late else text("{shell} could not be started: {words}", shell=shell, words=words)
        return Reply(None, why, outcome.seconds)
    came = Came(**json.loads(outcome.stdout))
    answer = shell_questions.read(came.answer.encode("utf-8", "surrogateescape"))
    told = complaints(came.printed)
    why = _why(came, shell, told, seconds) if answer is None else _starts_nothing(answer, shell)
    if answer is not None:
        kept = {name: value for name, value in answer.environment.items() if ours.get(name) != value}
        answer = replace(answer, environment=kept) if not answer.exports else None
    return Reply(
        answer,
        why,
        came.seconds,
        came.shell,
        tuple(came.through),
        told,
        tuple(line for question in came.questions if (line := plain(question).strip())),
        tuple(LeftBehind(pid, name) for pid, name in came.left),
        came.ending == shell_session.ENDED,
    )


def _why(came: Came, shell: str, told: Sequence[str], seconds: float) -> Text:
    name = PurePosixPath(shell).name
    if came.ending == shell_session.NOT_STARTED:
        if came.words == "E2BIG":
            return text("{shell} could not be started: its environment is larger than the system hands to any program", shell=shell)
        return text("{shell} could not be started: {words}", shell=shell, words=came.words)
    if came.ending == shell_session.ANOTHER:
        return text("a start-up file puts {program} in the place of {shell}", program=came.program, shell=shell)
    if came.ending == shell_session.LATE:
        if came.typed:
            return text(
                "{shell} drew its prompt, but did not run what was typed within {seconds:.0f} s", shell=shell, seconds=seconds
            )
        return _late(shell, seconds) if came.program in {"", name} else _late_for(shell, seconds, came.program)
    if told:
        return text("{shell} ended before it was ready; it said: {words}", shell=shell, words=told[-1][:200])
    if came.program not in {"", name}:
        return text(
            "{shell} ended before it was ready: a start-up file puts {program} in its place, which ended",
            shell=shell,
            program=came.program,
        )
    return text(
        "{shell} ended before it was ready: a start-up file leaves it with status {status}", shell=shell, status=came.status
    )


def _late(shell: str, seconds: float) -> Text:
    return text("the start-up files of {shell} were not done after {seconds:.0f} s", shell=shell, seconds=seconds)


def _late_for(shell: str, seconds: float, program: str) -> Text:
    return text(
        "the start-up files of {shell} were not done after {seconds:.0f} s: {program} was at work",
        shell=shell,
        seconds=seconds,
        program=program,
    )


def _starts_nothing(answer: Answer, shell: str) -> Text:
    """Where what it exports is larger than the system hands to any program, of which the largest is named."""
    sizes: dict[str, int] = {}
    name = ""
    for line in answer.exports.split("\n"):
        start = line.removeprefix("declare -x ").removeprefix("export ").removeprefix("typeset -x ")
        word = start.partition("=")[0].partition(" ")[0]
        name = word if word.replace("_", "").isalnum() else name
        sizes[name] = sizes.get(name, 0) + len(line)
    largest = max(sizes, key=lambda one: sizes[one], default="")
    return text(
        "{shell} can start no program: what it exports is larger than the system hands on, {name} alone takes {size} characters",
        shell=shell,
        name=largest,
        size=sizes.get(largest, 0),
    )
