"""What taking changes of start-up files back does not reach, and whether there is any to take back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote

from msgspec.structs import replace

from gpuassist.changes.record import ChangeStatus, records
from gpuassist.changes.restore import FileUndo
from gpuassist.changes.undo import UndoPlan
from gpuassist.context import Session
from gpuassist.model.text import Text, text
from gpuassist.system.world import World


def what_stays(session: Session, taking: UndoPlan) -> tuple[Text, ...]:
    """What taking a change of start-up files back does not reach: terminals that are open, and what fish remembers by itself."""
    dialects = {file.receipt.dialect for file in taking.files if file.edit is not None}
    if not dialects & {"bash", "zsh", "fish"}:
        return ()
    open_ones = text("Terminals that are open keep what they have, also after `source`, which takes nothing out.")
    return (open_ones, *(_remembered(session.world, taking) if "fish" in dialects else ()))


def what_stays_of_all(session: Session, taken: Iterable[UndoPlan]) -> tuple[Text, ...]:
    """The same of several that were done one after the other, the first one first."""
    files: dict[str, FileUndo] = {}
    for file in (file for one in taken for file in reversed(one.files) if file.edit is not None):
        first = files.get(file.receipt.target)
        if first is not None and first.edit is not None and file.edit is not None:
            file = replace(file, edit=replace(file.edit, before=first.edit.before))
        files[file.receipt.target] = file
    return what_stays(session, UndoPlan(tuple(files.values()))) if files else ()


def _remembered(world: World, taking: UndoPlan) -> Iterator[Text]:
    """`fish_add_path` puts directories into a universal variable, which outlives the line that did it."""
    # With the parsers that come along it would be half of what `undo --list` loads.
    from gpuassist.detect.startup.fish_universal import universal_variables

    taken = b"".join(file.edit.before for file in taking.files if file.edit is not None)
    left = b"".join(file.edit.after for file in taking.files if file.edit is not None)
    for variable in universal_variables(world):
        for element in variable.elements:
            if element.encode() in taken and element.encode() not in left:
                yield text(
                    "fish itself goes on remembering {directory} in {variable}: `{command}` takes it out",
                    directory=element,
                    variable=variable.name,
                    command=f"set -U {variable.name} (string match -v -- {quote(element)} ${variable.name})",
                )


def any_in_effect(session: Session) -> bool:
    """Whether a change that was made still stands in a file."""
    return any(file.standing is ChangeStatus.STANDS for record in records(session.world) for file in record.files)
