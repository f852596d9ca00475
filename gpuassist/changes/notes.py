"""What the user should know before a start-up file is changed: what ends it early, what its bytes are, what stays in the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from gpuassist.changes.syntax import Syntax
from gpuassist.model.text import Text, counted, text
from gpuassist.shellfiles.lines import ShellLine
from gpuassist.shellfiles.statements import EarlyEnd, Reading
from gpuassist.system.shell_questions import PLAIN


def notes_on(
    content: bytes, reading: Reading, lines: tuple[ShellLine, ...], file: str = "", *, block: bool = False
) -> Iterator[Text]:
    """Everything that the file's own content gives reason to say; `lines` may be of other files too, `block` whether one is
    written.
    """
    if block:
        yield from _on_endings(reading.endings)
    if b"\r\n" in content:
        yield text(
            "the file has Windows line ends (CR LF), and bash takes the CR for a part of each line's last word. gpuassist writes "
            "its own lines with LF and leaves yours as they are; `sed -i 's/\\r$//' FILE` would mend them"
        )
    if reading.unreadable_line:
        yield text(
            "line {line} could not be understood by the parser, so no line is commented out",
            line=reading.unreadable_line,
        )
    yield from _on_lines(lines, file)


def notes_on_syntax(before: Syntax) -> tuple[Text, ...]:
    """What its shell said of the file as it is."""
    if not before.asked:
        return (text("{shell} could not be asked whether the file is valid ({words})", shell=before.shell, words=before.words),)
    if before.broken:
        return (
            text(
                "{shell} cannot parse this file as it is now ({words}), so it stops reading there; please mend that",
                shell=before.shell,
                words=before.words,
            ),
        )
    return ()


def notes_on_shell(login_shell: str, path: str, dialect: str = "bash", *, handed_over: bool = False) -> tuple[Text, ...]:
    """Where the login shell is one that never reads this file."""
    name = PurePosixPath(login_shell).name
    if name in {dialect, ""} or (name in PLAIN and PurePosixPath(path).name != ".bashrc"):
        return ()
    if handed_over:
        return (
            text(
                "your {shell} hands over to {reader} in a new terminal, and {path} is what that reads",
                shell=name,
                reader=dialect,
                path=path,
            ),
        )
    return (
        text(
            "your login shell is {shell}, which does not read {path}: only {reader} will find the change",
            shell=name,
            path=path,
            reader=dialect,
        ),
    )


def notes_on_login(login_file: str, path: str) -> tuple[Text, ...]:
    """Where bash as a login shell reads a file that does not read this one in, so that both are written."""
    return (text("{login} does not read {path}: the same lines are written there", login=login_file, path=path),)


def _on_endings(endings: tuple[EarlyEnd, ...]) -> Iterator[Text]:
    guard = next((ending for ending in endings if ending.interactive and not ending.always), None)
    if guard is not None:
        yield text(
            "line {line} (“{guard}”) leaves the file in shells that are not interactive: scripts, cron and `ssh HOST COMMAND` "
            "do not see the block",
            line=guard.line,
            guard=guard.text,
        )
    for ending in endings:
        if not ending.interactive:
            yield text(
                "line {line} (“{ending}”) may end the file or hand over to another program: the block stands in front of it",
                line=ending.line,
                ending=ending.text,
            )
            return


def _on_lines(lines: tuple[ShellLine, ...], file: str) -> Iterator[Text]:
    ticked = sum(line.ticked for line in lines)
    if ticked:
        yield counted(
            "{count} of your lines is commented out; undo restores it",
            "{count} of your lines are commented out; undo restores them",
            count=ticked,
        )
    rewritten = sum(line.rewritten for line in lines)
    if rewritten:
        yield counted(
            "{count} line of yours is changed where it names the toolkit, and restored by undo",
            "{count} lines of yours are changed where they name the toolkit, and restored by undo",
            count=rewritten,
        )
    for line in lines:
        if line.other and not line.ticked and not line.rewritten and not line.follows:
            if line.file == file:
                yield text("line {line} stays: {why}", line=line.line, why=line.why)
            else:
                yield text("line {line} of {file} stays: {why}", line=line.line, file=line.file, why=line.why)
