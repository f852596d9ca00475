"""How a process that holds a GPU is told of: its line, and what stands below it; the same for the terminal and the window."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.detect.gpu_holders import GpuHolder, HeldCard, Holding, Role, name_of
from gpuassist.model.fact import Fact, Known, value_or
from gpuassist.model.text import Text, counted, joined, listed, text, verbatim
from gpuassist.model.words import Words
from gpuassist.present.commands import copyable_lines
from gpuassist.present.memory import short_size
from gpuassist.present.samples import size
from gpuassist.session.holders import PATIENCE_SECONDS

_QUOTED_AT_MOST = 300  # characters: a command line can have 65,000, and a dialog has to fit the screen
_STATES = {
    "D": text("waiting inside the driver or the kernel"),
    "T": text("stopped, still using its memory"),
    "t": text("stopped by a debugger, still using its memory"),
    "Z": text("ended, not yet cleaned up"),
}


def label(held: GpuHolder) -> Text:
    """The process in one line: number, user, program, GPUs and memory."""
    holder, memory = held.holder, held.memory_used_bytes
    used = (
        text("{size} of GPU memory", size=short_size(memory.value)) if isinstance(memory, Known) else text("GPU memory not known")
    )
    if held.role is Role.INVISIBLE:
        return text("{pid}  {gpus}  {memory}", pid=holder.pid, gpus=gpus(held), memory=used)
    return text(
        "{pid}  {user}  {gpus}  {memory}  {command}",
        pid=holder.pid,
        user=holder.user,
        gpus=gpus(held),
        memory=used,
        command=holder.command or name_of(holder),
    )


def gpus(held: GpuHolder) -> Text:
    """The GPUs that it is on."""
    if held.gpus:
        return text("GPU {indices}", indices=listed(str(index) for index in held.gpus))
    nodes = [device.removeprefix("/dev/") for device in held.holder.devices if device[len("/dev/nvidia") :].isdecimal()]
    # Without a node of a GPU it has the driver's own open, /dev/nvidiactl or /dev/nvidia-uvm.
    return text("{devices}", devices=listed(nodes)) if nodes else text("driver only")


def about(held: GpuHolder) -> Iterator[Text]:
    """What stands below the line: where it belongs, its state where that is unusual, and whether it may be stopped."""
    holder = held.holder
    container, unit = value_or(holder.container, ""), value_or(holder.unit, "")
    if container:
        yield text("in the container {container}", container=container)
    elif unit and held.role is not Role.SERVICE:
        yield text("in the unit {unit}", unit=unit)
    unusual = state(held)
    if unusual is not None:
        yield unusual
    if len(held.memory_by_gpu) > 1:
        yield joined(
            tuple(
                text("GPU {index}: {size}", index=index, size=size(used.value))
                if isinstance(used, Known)
                else text("GPU {index}: not known", index=index)
                for index, used in held.memory_by_gpu
            )
        )
    yield held.why


ROLE_WORDS: dict[Role, Text] = {
    Role.PROGRAM: text("your program"),
    Role.DESKTOP: text("desktop"),
    Role.SERVICE: text("system service"),
    Role.OTHERS: text("another user's"),
    Role.INVISIBLE: text("not visible here"),
}


def title(found: Holding) -> Text:
    """The answer in a line."""
    if not found.held and not found.looked:
        return text("The GPU processes could not be read")
    if not found.held:
        return text("No GPU processes found")
    return counted("1 GPU process", "{count} GPU processes", len(found.held))


def place(held: GpuHolder) -> Text:
    """The container or unit that it belongs to; empty where to none."""
    return verbatim(value_or(held.holder.container, "") or value_or(held.holder.unit, ""))


def state(held: GpuHolder) -> Text | None:
    """Its state where that is unusual."""
    return _STATES.get(value_or(held.holder.state, ""))


def on_card(card: HeldCard, used: Fact[int]) -> Text:
    """How much of the card it takes; the reason where that is not known."""
    if not isinstance(used, Known):
        return used.reason
    if isinstance(card.memory_total_bytes, Known):
        return text("{used} of {total}", used=size(used.value), total=size(card.memory_total_bytes.value))
    return size(used.value)


def share(found: Holding, held: GpuHolder) -> float | None:
    """Which part of its cards' memory it takes; none where that is not known."""
    totals = {card.index: value_or(card.memory_total_bytes, 0) for card in found.cards}
    whole = sum(totals.get(index, 0) for index, _ in held.memory_by_gpu)
    if not whole or not isinstance(held.memory_used_bytes, Known):
        return None
    return held.memory_used_bytes.value / whole


STOP_IT = text("Stop process")
LET_IT_RUN = text("Let it run")


def stop_question(held: GpuHolder) -> Text:
    """What is asked before it is stopped."""
    return text("Stop process {pid} ({name})?", pid=held.holder.pid, name=name_of(held.holder))


def stop_warning(held: GpuHolder) -> Text:
    """What the answer yes means, and what is lost; of a long command only its beginning."""
    command = held.holder.command
    if len(command) > _QUOTED_AT_MOST:
        held = replace(held, holder=replace(held.holder, command=f"{command[:_QUOTED_AT_MOST]}…"))
    return text(
        "{process}\n\nIt is asked to end, and killed if it is still running after {seconds:.0f} s. Unsaved "
        "work is lost: a training run falls back to its last checkpoint. Its GPU memory is freed.",
        process=label(held),
        seconds=PATIENCE_SECONDS,
    )


def stopping(held: GpuHolder, seconds: int) -> Text:
    """What is going on while it is waited for."""
    pid, name = held.holder.pid, name_of(held.holder)
    if seconds <= 0:
        return text("Process {pid} ({name}) is being killed.", pid=pid, name=name)
    return text(
        "Process {pid} ({name}) was asked to end. It will be killed in {seconds} s unless it ends.",
        pid=pid,
        name=name,
        seconds=seconds,
    )


def as_plain_text(found: Holding, words: Words) -> str:
    """All of it, to be handed on."""
    lines = [words(title(found))]
    for held in found.held:
        lines += [
            words(label(held)),
            *(f"    {words(one)}" for one in about(held)),
            *(f"      {words(line)}" for line in copyable_lines(held.command)),
        ]
    return "\n".join([*lines, *(words(text("Note: {note}", note=note)) for note in found.notes)]) + "\n"
