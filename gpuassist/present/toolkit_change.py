"""A toolkit plan and what came of it in words: what the repair page says of them."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.changes.choice import version_of
from gpuassist.changes.plan import ChangeOutcome, ChangePlan, ToolkitChoice
from gpuassist.model.fact import NOT_ASKED, Fact, Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, counted, text, verbatim
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.shellfiles.lines import ShellLine

NOT_SET = text("not set")


class TerminalRow(Struct, frozen=True):
    """One thing that a new terminal finds: now, and after the change; `same` where both agree."""

    name: str
    now: Text
    after: Text
    same: bool


class Offer(Struct, frozen=True):
    """A toolkit that new shells can be made to use: the wish that means it, and its words."""

    version: str
    words: Text


def offers(machine: Machine) -> tuple[Offer, ...]:
    """The installed toolkits that can be switched to, newest first; what belongs to a Python environment is left to it."""
    toolkits = [toolkit for toolkit in value_or(machine.toolkits, ()) if _switchable(toolkit)]
    toolkits.sort(key=lambda toolkit: toolkit.version.value.parts if isinstance(toolkit.version, Known) else (), reverse=True)
    return tuple(
        Offer(version_of(toolkit), text("CUDA {version} in {root}", version=release_of(toolkit), root=toolkit.root))
        for toolkit in toolkits
    )


def release_of(toolkit: Toolkit) -> str:
    """The release that people know it by: 12.4 of 12.4.131."""
    return ".".join(version_of(toolkit).split(".")[:2])


def title(plan: ChangePlan) -> Text:
    """The page's title for a plan."""
    version = release_of(_chosen(plan).toolkit)
    if not plan.diff:
        return text("New terminals are set up for CUDA {version}", version=version)
    return text("Use CUDA {version} in new terminals", version=version)


def edit_summary(plan: ChangePlan) -> Text:
    """What happens to the file, in figures."""
    if not plan.diff:
        return text("The file already says so; nothing is changed")
    added = sum(row.startswith("+") and not row.startswith("+++") for row in plan.plan.steps[0].diff.splitlines())
    written = counted("{count} line written", "{count} lines written", added)
    if not plan.edit.existed:
        return text("a new file · {block}", block=written)
    commented, replaced = sum(line.ticked for line in plan.lines), sum(line.rewritten for line in plan.lines)
    done = [counted("{count} line replaced", "{count} lines replaced", replaced)] if replaced else []
    done += [counted("{count} line commented out", "{count} lines commented out", commented)] if commented else []
    if not done:
        return text("{block} · a backup is kept", block=written)
    lines = text("{first} · {second}", first=done[0], second=done[1]) if len(done) > 1 else done[0]
    return text("{lines} · a backup is kept", lines=lines)


def line_context(line: ShellLine) -> tuple[Text, ...]:
    """In what the statement stands, where the reason of its tick does not say so already."""
    said = {name for name, _ in line.why.parameters}
    inside = (text("inside `{inside}`", inside=line.inside.strip()),) if line.inside and "inside" not in said else ()
    owner = (text("in the block of {owner}", owner=line.owner),) if line.owner and "owner" not in said else ()
    return (*inside, *owner)


def is_verbatim(words: Text) -> bool:
    """Whether this is something of the machine, such as a path, and not a sentence."""
    return words.message == verbatim("").message


def expected_rows(plan: ChangePlan) -> tuple[TerminalRow, ...]:
    """What a new terminal finds now, and what it should find after the change."""
    wanted = _chosen(plan).expected
    home = verbatim(wanted.cuda_home) if wanted.cuda_home else NOT_SET
    if wanted.ld_library_path:
        library_path = text("{directory} first", directory=wanted.ld_library_path)
    elif any(line.ticked and "LD_LIBRARY_PATH" in line.variables for line in plan.lines):
        library_path = text("without what the lines put in that are commented out")
    else:
        library_path = _set(plan.now.value, "LD_LIBRARY_PATH") if isinstance(plan.now, Known) else plan.now.reason
    return _rows(plan.now, (verbatim(wanted.nvcc), home, library_path))


def proved_rows(plan: ChangePlan, outcome: ChangeOutcome) -> tuple[TerminalRow, ...]:
    """What a new terminal found before the change, and what a real one finds since."""
    after = outcome.proof.terminal if outcome.proof is not None else NOT_ASKED
    if not isinstance(after, Known):
        return _rows(plan.now, (after.reason,) * 3)
    return _rows(plan.now, _found(after))


def _switchable(toolkit: Toolkit) -> bool:
    of_python = isinstance(toolkit.origin, Known) and toolkit.origin.value in {Origin.CONDA, Origin.WHEEL}
    return not of_python and not (isinstance(toolkit.nvcc, Known) and not toolkit.nvcc.value)


def _rows(now: Fact[Terminal], after: tuple[Text, ...]) -> tuple[TerminalRow, ...]:
    before = _found(now) if isinstance(now, Known) else (now.reason,) * 3
    names = ("nvcc", "CUDA_HOME", "LD_LIBRARY_PATH")
    rows = (TerminalRow(name, old, new, old == new) for name, old, new in zip(names, before, after, strict=True))
    return tuple(row for row in rows if row.name != "LD_LIBRARY_PATH" or not (row.now == row.after == NOT_SET))


def _found(terminal: Known[Terminal]) -> tuple[Text, ...]:
    command = terminal.value.command("nvcc")
    nvcc = verbatim(command.path) if command is not None else text("not found")
    return nvcc, _set(terminal.value, "CUDA_HOME"), _set(terminal.value, "LD_LIBRARY_PATH")


def _set(terminal: Terminal, name: str) -> Text:
    return verbatim(terminal.variable(name) or "''") if terminal.is_set(name) else NOT_SET


def _chosen(plan: ChangePlan) -> ToolkitChoice:
    if plan.cuda is None:
        raise ValueError(plan.command)
    return plan.cuda
