"""Lines of start-up files in a plan, for people and for programs."""

from __future__ import annotations

from gpuassist.cli.context import Context
from gpuassist.model.codec import Json
from gpuassist.model.plan import Plan
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.shellfiles.line_choice import Choice
from gpuassist.shellfiles.lines import ShellLine

_MARKS = {Choice.KEEP: "[ ]", Choice.COMMENT_OUT: "[x]", Choice.REPLACE: "[~]"}


def show_lines(context: Context, lines: tuple[ShellLine, ...], main: str) -> None:
    """Each line with what becomes of it and why; those of other files than the main one below their file's name."""
    file = main
    for line in lines:
        if line.file != file:
            file = line.file
            context.say(f"  {file}:")
        does = "; ".join(context.session.words(what) for what in line.does)
        context.say(f"  {_MARKS[line.choice]} {line.line}: {does} – {context.session.words(line.why)}")
        if line.rewritten:
            context.say(text("      becomes: {line}", line=line.new_text))


def line_json(line: ShellLine, words: Words) -> Json:
    """A line for programs."""
    return {
        "file": line.file,
        "line": line.line,
        "last_line": line.last_line,
        "text": line.text,
        "variables": list(line.variables),
        "does": [words(what) for what in line.does],
        "tickable": line.tickable,
        "ticked": line.ticked,
        "choice": line.choice.value,
        "rewrite": line.new_text or None,
        "why_no_rewrite": words(line.why_not) if line.why_not is not None and not line.instead else None,
        "why": words(line.why),
        "inside": line.inside,
        "owner": line.owner,
    }


def files_json(plan: Plan) -> list[Json]:
    """The files that a plan writes."""
    return [
        {"file": step.edit.path, "target": step.edit.target, "existed": step.edit.existed, "diff": step.diff}
        for step in plan.steps
        if step.edit is not None
    ]
