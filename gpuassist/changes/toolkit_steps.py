"""What a toolkit's plan is for and what is done, in words: an edit a file, then a new terminal."""

from __future__ import annotations

from gpuassist.changes.choice import version_of
from gpuassist.model.plan import FileEdit, Step, StepKind
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Toolkit
from gpuassist.shellfiles.diff import unified


def goal_of(toolkit: Toolkit) -> Text:
    """What the plan is for."""
    return text("Make CUDA {version} in {root} the toolkit that new shells use", version=version_of(toolkit), root=toolkit.root)


def steps_of(edits: tuple[FileEdit, ...], toolkit: Toolkit, main: str) -> tuple[Step, ...]:
    """An edit for each file, of which `main` is the one that a new terminal reads; then the terminal in which it holds."""
    nvcc = f"{toolkit.root}/bin/nvcc"
    found = text("a new terminal finds {nvcc}", nvcc=nvcc)
    terminal = Step(
        StepKind.NEW_SHELL,
        text(
            "Open a new terminal: those that are open keep what they have, also after `source`, which takes nothing out. For one "
            "of them, paste the lines below into it."
        ),
        check=text("`command -v nvcc` prints {nvcc}", nvcc=nvcc),
    )
    return (*(_edit(edit, _does(edit, toolkit, main), found) for edit in edits), terminal)


def _does(edit: FileEdit, toolkit: Toolkit, main: str) -> Text:
    if edit.path == main:
        return text("Make {path} lead to CUDA {version}", path=edit.path, version=version_of(toolkit))
    return text("Change the lines of {path} that lead to another toolkit", path=edit.path)


def _edit(edit: FileEdit, words: Text, found: Text) -> Step:
    return Step(StepKind.EDIT, words, diff=unified(edit.path, edit.before, edit.after), check=found, edit=edit)
