"""How a process that holds a GPU is told of: its line, and what stands below it; the same for the terminal and the window."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.model.fact import Known, value_or
from gpuassist.model.text import Text, text
from gpuassist.session.holding import Held, Role, name_of
from gpuassist.session.memory_words import short_size

_STATES = {
    "D": text("waits inside the driver or the kernel"),
    "T": text("stopped, its memory stays taken"),
    "t": text("stopped by a debugger, its memory stays taken"),
    "Z": text("ended, not yet cleared away"),
}


def label(held: Held) -> Text:
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


def gpus(held: Held) -> Text:
    """The GPUs that it is on."""
    if held.gpus:
        return text("GPU {indices}", indices=", ".join(str(index) for index in held.gpus))
    nodes = [device.removeprefix("/dev/") for device in held.holder.devices if device[len("/dev/nvidia") :].isdecimal()]
    # Without a node of a GPU it has the driver's own open, /dev/nvidiactl or /dev/nvidia-uvm.
    return text("{devices}", devices=", ".join(nodes)) if nodes else text("driver only")


def about(held: Held) -> Iterator[Text]:
    """What stands below the line: where it belongs, its state where that is unusual, and whether it may be stopped."""
    holder = held.holder
    container, unit = value_or(holder.container, ""), value_or(holder.unit, "")
    if container:
        yield text("in the container {container}", container=container)
    elif unit and held.role is not Role.SERVICE:
        yield text("in the unit {unit}", unit=unit)
    state = _STATES.get(value_or(holder.state, ""))
    if state is not None:
        yield state
    yield held.why
