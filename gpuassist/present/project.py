"""What is said of a project: each link with its line, the changes, the steps; as sentences and as the JSON of its contract."""

from __future__ import annotations

from gpuassist.model.codec import Json
from gpuassist.model.plan import Step
from gpuassist.model.project import CheckId, LinkState, ProjectCheck, ProjectOutlook
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit, Mark
from gpuassist.present.steps import step_document

SCHEMA = 1
CHECK_MARKS = {LinkState.HOLDS: Mark.RIGHT, LinkState.BROKEN: Mark.PROBLEM, LinkState.UNKNOWN: Mark.UNKNOWN}
CHECK_TITLES: dict[CheckId, Text] = {
    CheckId.PYTHON: text("Python"),
    CheckId.DRIVER: text("Driver"),
    CheckId.TORCH_BUILD: text("torch"),
    CheckId.ARCHITECTURE: text("GPU code"),
    CheckId.CUDA: text("CUDA"),
    CheckId.TOOLKIT: text("Toolkit"),
    CheckId.COMPILER: text("Compiler"),
    CheckId.EXTENSION: text("Extension"),
    CheckId.IMAGE: text("Image"),
    CheckId.ENGINE: text("Engine"),
}


def verdict_of(outlook: ProjectOutlook) -> Text:
    """The answer in a sentence."""
    if outlook.fits:
        return text("It works on this machine.")
    if outlook.fits is None:
        return text("It could not be determined whether it works on this machine.")
    if outlook.changes or outlook.steps:
        return text("It does not work on this machine as it is.")
    return text("It does not work on this machine, and gpuassist knows no change of its files that would make it work.")


def place_words(check: ProjectCheck) -> Text | None:
    """The file and line that ask for it; none where the machine itself is meant."""
    if not check.file:
        return None
    return text("{file}, line {line}", file=check.file, line=check.line) if check.line else verbatim(check.file)


def exit_of_project(outlook: ProjectOutlook) -> Exit:
    if outlook.fits is None:
        return Exit.UNDETERMINED
    return Exit.HEALTHY if outlook.fits else Exit.PROBLEMS


def project_document(outlook: ProjectOutlook, words: Words) -> dict[str, Json]:
    """As its contract has it; the steps as every plan's."""
    return {
        "schema": SCHEMA,
        "fits": outlook.fits,
        "checks": [
            {
                "id": one.id.value,
                "state": one.state.value,
                "text": words(one.text),
                "file": one.file or None,
                "line": one.line or None,
            }
            for one in outlook.checks
        ],
        "changes": [
            {"file": one.file, "diff": one.diff, "text": words(one.text), "may_break": [words(each) for each in one.may_break]}
            for one in outlook.changes
        ],
        "steps": [step_document(one, words) for one in outlook.steps],
    }


def in_plain_text(outlook: ProjectOutlook, words: Words) -> str:
    """The answer to copy."""
    rows = [words(verdict_of(outlook)), ""]
    for check in outlook.checks:
        place = place_words(check)
        rows.append(f"{check.state.value}: {words(check.text)}" + (f" ({words(place)})" if place is not None else ""))
    for change in outlook.changes:
        rows += ["", words(change.text), change.diff]
    for number, one in enumerate(outlook.steps, start=1):
        rows += ["", f"{number}. {words(one.text)}", *step_lines(one)]
    return "\n".join(rows) + "\n"


def step_lines(one: Step) -> tuple[str, ...]:
    return tuple(f"   {line}" for line in one.commands)
