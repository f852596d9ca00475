"""Who holds the GPUs as rows of a table: the process, whose it is, what it takes, and what it is."""

from __future__ import annotations

from gpuassist.detect.gpu_holders import GpuHolder, Holding, Role
from gpuassist.model.fact import Known
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.holders import ROLE_WORDS, gpus, place, share, state
from gpuassist.present.marks import Mark
from gpuassist.present.samples import process_name, size
from gpuassist.ui.models.rows import Cell, Row

PROCESS, USER, PLACE = 1, 2, 5

HEADINGS = (text("PID"), text("Process"), text("User"), text("GPU"), text("Memory"), text("Belongs to"), text("What it is"))

# As wide as the columns are made, whatever comes.
COLUMN_SAMPLES = (
    Cell("8888888"),
    Cell("python train.py"),
    Cell("a-user-name"),
    Cell("GPU 0, 1, 2"),
    Cell("888.8 GiB"),
    Cell("docker 3f2a51c07d1e"),
    Cell("another user's", mark=Mark.INFO),
)

ROLE_MARKS: dict[Role, Mark] = {
    Role.PROGRAM: Mark.INFO,
    Role.DESKTOP: Mark.WARNING,
    Role.SERVICE: Mark.WARNING,
    Role.OTHERS: Mark.ABSENT,
    Role.INVISIBLE: Mark.UNKNOWN,
}
_SHOWN_OF_A_COMMAND = 200  # characters: a command line can have 65,000, and a cell is measured at every paint


def holder_rows(found: Holding, words: Words) -> tuple[Row, ...]:
    """One row a process, in the order they were found."""
    return tuple(_row(found, held, words) for held in found.held)


def _row(found: Holding, held: GpuHolder, words: Words) -> Row:
    holder = held.holder
    command = holder.command[:_SHOWN_OF_A_COMMAND]
    name = words(process_name(command, holder.pid)) if command else "–"
    unusual = state(held)
    return (
        Cell(str(holder.pid)),
        Cell(name, command.partition(name)[2].strip(), quiet=not command, tip=words(unusual) if unusual is not None else ""),
        Cell(holder.user or "–", quiet=not holder.user),
        Cell(words(gpus(held))),
        _memory(found, held, words),
        Cell(words(place(held)), quiet=True, tip=words(place(held))),
        Cell(words(ROLE_WORDS[held.role]), mark=ROLE_MARKS[held.role], tip=words(held.why)),
    )


def _memory(found: Holding, held: GpuHolder, words: Words) -> Cell:
    used = held.memory_used_bytes
    if isinstance(used, Known):
        return Cell(words(size(used.value)), share=share(found, held))
    return Cell(words(text("not known")), quiet=True, tip=words(used.reason))
