"""Asks one shell: what is handed to the child process that starts it (`ask_shell_child`), and what its answer means."""

from __future__ import annotations

import marshal
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TypedDict

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.text import Text, text
from gpuassist.system import shell_questions, shell_session
from gpuassist.system.groups import litter
from gpuassist.system.own_child import clean, own_child
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.system.shell_session import SessionResult
from gpuassist.system.streams import MARK
from gpuassist.system.world import World

# The error lines that a shell itself prints while it reads start-up files, found in all that was printed meanwhile.


AT_MOST = 20
_LONGEST = 300
# CSI, OSC and DCS sequences, escapes of two or three signs, and all other control characters but the end of a line.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[]PX^_].*?(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]", re.DOTALL
)
_ERROR = re.compile(
    r"-?(?:/\S*/)?(?:bash|sh|dash|ksh|mksh): .*"  # bash: command not found; bash: /root/.bashrc: line 3: syntax error
    r"|\S.*: line \d+: .*"  # /root/.bashrc: line 3: …
    r"|(?:/dev/)?[^\s:][^:]*: \d+: .*"  # dash: /root/.profile: 3: foo: not found
    r"|(?:zsh:)?(?:\(\w+\)|[^\s:][^:]*):\d+: .*"  # zsh: /root/.zshrc:11: no matches found: …
    r"|(?:fish|source): .*"
    r"|\S.* \(line \d+\):.*"  # fish: ~/.config/fish/config.fish (line 3): …
)
# bash says these where a shell without a terminal is made to be interactive; they are none of the user's files.
_OURS = re.compile(r"(?:no job control in this shell|cannot set terminal process group)")


def complaints(printed: str) -> tuple[str, ...]:
    """Those lines, each once, cleaned of escape sequences."""
    lines = (line.strip() for line in _ESCAPES.sub("", printed.replace("\r\n", "\n")).replace("\r", "\n").split("\n"))
    found = (line[:_LONGEST] for line in lines if _ERROR.fullmatch(line) and not _OURS.search(line))
    return tuple(dict.fromkeys(found))[:AT_MOST]


def plain(printed: str) -> str:
    """What was printed without escape sequences and control characters."""
    return _ESCAPES.sub("", printed.replace("\r\n", "\n"))


HIDDEN_ARGUMENT = "--shell-session"  # a frozen gpuassist has no interpreter to start: it starts itself with this
_ENTERS_AT_MOST = 2
_GRACE_SECONDS = 5.0  # in which the child kills what it started
_PLACES = ("/tmp", "/dev/shm", "/var/tmp")  # where a name is short to type


class ShellRequest(TypedDict):
    """What is to be started, on a terminal or not, and how long its answer is waited for, for which `scratch` is a directory.

    The first prompts, as many as `enters`, are questions and get the Enter key; the question of number `prompt_at` is a prompt.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    directory: str
    terminal: bool
    seconds: float
    scratch: str
    enters: int
    prompt_at: int


class ShellAnswer(Struct, frozen=True):
    """What a shell said: its process, the whole environment of its programs, the paths of the commands, and what else has their
    names, as (kind, name, text); `exports` is what it tells itself where it can start no program.
    """

    shell: str
    pid: int
    environment: Mapping[str, str]
    paths: Mapping[str, str]
    named: tuple[tuple[str, str, str], ...]
    exports: str = ""


class LeftBehind(Struct, frozen=True):
    """A process that a start-up file started and that outlives the shell, as it would outlive the terminal."""

    pid: int
    name: str


class Reply(Struct, frozen=True):
    """What came of asking: the answer, or why there is none; what start-up files complained of, asked, and left running.

    `shell` is the file of the shell that answered, `through` the program that handed the question on to it (tmux).
    Where there is no answer, `ended` says that the shell had ended by itself. `typed` is how
    often our question was typed, `asked` how many of the start-up files' own were met.
    """

    answer: ShellAnswer | None
    why: Text
    seconds: float
    shell: str = ""
    through: str = ""
    complaints: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    left_behind: tuple[LeftBehind, ...] = ()
    ended: bool = False
    typed: int = 0
    asked: int = 0


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
    """Starts that shell, on a terminal or with its question as `-c`, and asks for the commands of those `names` and all variables.

    A start-up file that asks something with an editor of its own (vared, fish's read) looks like a prompt and takes the line that
    is typed for its answer; a shell without an editor (unsetopt zle) looks like a question and ends at the end of its input. Then
    it is started again, and that place is taken for what it is.
    """
    enters, prompt_at, spent = 0, -1, 0.0
    while True:
        with _scratch() as scratch:
            request = ShellRequest(
                command=command,
                environment=environment,
                directory=directory,
                terminal=on_terminal,
                seconds=seconds - spent,
                scratch=scratch,
                enters=enters,
                prompt_at=prompt_at,
            )
            reply = _ask_once(world, request, names)
        spent += reply.seconds
        if reply.answer is None and reply.ended and reply.asked > prompt_at + 1:
            prompt_at = reply.asked - 1
        elif reply.typed > 1 and enters < _ENTERS_AT_MOST:
            enters += 1
        else:
            break
        if spent + reply.seconds > seconds:
            break
    return replace(reply, seconds=spent)


def _ask_once(world: World, request: ShellRequest, names: Sequence[str]) -> Reply:
    mark, scratch, shell = secrets.token_hex(8), request["scratch"], request["command"][0]
    for name, words in shell_questions.files(names, scratch).items():
        Path(scratch, name).write_text(words, encoding="utf-8")
    # What keeps the user's own things out of it: histories, and the sessions of programs that many terminals share.
    ours = {
        MARK: mark,
        "HISTFILE": f"{scratch}/history",
        "HISTIGNORE": f"*{scratch}*",  # bash
        "HISTORY_IGNORE": f"*{scratch}*",  # zsh
        "TMUX_TMPDIR": f"{scratch}/tmux",
        "SCREENDIR": f"{scratch}/screen",
        "ZELLIJ_SOCKET_DIR": f"{scratch}/zellij",
    }
    request["environment"] = {**ours, **request["environment"]}
    if not request["terminal"]:
        question = shell_questions.command(PurePosixPath(shell).name, scratch)
        request["command"] = [*request["command"], "-c", question.strip()]
    whole = False
    try:
        outcome = world.processes.run(
            child_command(),
            seconds=request["seconds"] + _GRACE_SECONDS,
            environment=clean(world.surroundings.variables),
            stdin=marshal.dumps(dict(request)),
        )
        whole = outcome.succeeded or outcome.ending is Ending.NOT_FOUND
    finally:
        if not whole:  # Ctrl-C while it was waited for, or a child that was killed: what it started is in other sessions
            world.programs.end_marked(mark)
    return _reply(outcome, shell, ours, request["seconds"])


def child_command() -> tuple[str, ...]:
    return own_child("gpuassist.system.ask_shell_child", HIDDEN_ARGUMENT, "-S")


@contextmanager
def _scratch() -> Iterator[str]:
    """A directory of our own whose path is easy to type: no sign of it means anything to a line editor."""
    parent = next(place for place in (*_PLACES, ".") if os.access(place, os.W_OK | os.X_OK))
    directory = f"{os.path.realpath(parent)}/{secrets.randbelow(10**12):012d}"
    os.mkdir(directory, 0o700)
    litter.add(directory)
    try:
        for name in ("tmux", "screen", "zellij"):
            os.mkdir(f"{directory}/{name}", 0o700)
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        litter.discard(directory)


def _reply(outcome: ProcessResult, shell: str, ours: Mapping[str, str], seconds: float) -> Reply:
    if not outcome.succeeded:
        late = outcome.ending is Ending.TIMED_OUT
        words = outcome.words or outcome.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
        why = _late(shell, seconds) if late else text("{shell} could not be asked: {words}", shell=shell, words=words)
        return Reply(None, why, outcome.seconds)
    came = SessionResult()
    vars(came).update(marshal.loads(outcome.stdout))
    answer = _read(came.answer.encode("utf-8", "surrogateescape"))
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
        came.through,
        told,
        tuple(dict.fromkeys(line for question in came.questions if (line := plain(question).strip()))),
        tuple(LeftBehind(pid, name) for pid, name in came.left),
        came.ending == shell_session.ENDED,
        came.typed,
        len(came.questions),
    )


def _read(said: bytes) -> ShellAnswer | None:
    """The first whole answer; none where it is cut short."""
    tokens = iter(said.decode("utf-8", "replace").split("\0"))
    paths: dict[str, str] = {}
    named: list[tuple[str, str, str]] = []
    environment: dict[str, str] = {}
    exports = ""
    try:
        while next(tokens) != "begin":
            pass
        shell, pid = next(tokens), next(tokens)
        while (token := next(tokens)) != "environment":
            name, words = next(tokens), next(tokens).strip("\n")
            if token == "path":
                paths[name] = words
            elif words:
                named.append((token, name, words))
        while (token := next(tokens)) != "end":
            if token == "exports":
                exports = next(tokens)
            else:
                variable, _, value = token.partition("=")
                environment[variable] = value
    except StopIteration:
        return None
    return ShellAnswer(shell, int(pid) if pid.isdigit() else 0, environment, paths, tuple(named), exports)


def _why(came: SessionResult, shell: str, told: Sequence[str], seconds: float) -> Text:
    program = came.program if came.program != PurePosixPath(shell).name else ""
    if came.ending == shell_session.ENDED:
        if told:
            return text("{shell} ended before it was ready; it said: {words}", shell=shell, words=told[-1][:200])
        if program:
            return text(
                "{shell} ended before it was ready: a start-up file puts {program} in its place, which ended",
                shell=shell,
                program=program,
            )
        return text(
            "{shell} ended before it was ready: a start-up file leaves it with status {status}", shell=shell, status=came.status
        )
    if came.ending == shell_session.LATE:
        return _late(shell, seconds, program, typed=bool(came.typed))
    if came.ending == shell_session.NOT_STARTED and came.words == "E2BIG":
        return text("{shell} could not be started: its environment is larger than the system hands to any program", shell=shell)
    question = plain(came.questions[-1]).strip() if came.questions else ""
    return {
        shell_session.NOT_STARTED: text("{shell} could not be started: {words}", shell=shell, words=came.words),
        shell_session.ANOTHER: text("a start-up file puts {program} in the place of {shell}", program=came.program, shell=shell),
        shell_session.ASKS: text("a start-up file of {shell} asks again and again: {question}", shell=shell, question=question),
    }.get(came.ending, text("the answer of {shell} broke off", shell=shell))


def _late(shell: str, seconds: float, program: str = "", *, typed: bool = False) -> Text:
    if typed:
        return text("{shell} drew its prompt, but did not run what was typed in {seconds:.0f} s", shell=shell, seconds=seconds)
    if not program:
        return text("the start-up files of {shell} were not done after {seconds:.0f} s", shell=shell, seconds=seconds)
    return text(
        "the start-up files of {shell} were not done after {seconds:.0f} s: {program} was at work",
        shell=shell,
        seconds=seconds,
        program=program,
    )


def _starts_nothing(answer: ShellAnswer, shell: str) -> Text:
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
        "{shell} can start no program: it exports more than the system hands on, {name} alone takes {size} characters",
        shell=shell,
        name=largest,
        size=sizes.get(largest, 0),
    )
