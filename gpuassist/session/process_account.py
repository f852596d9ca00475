"""Which processes a pasted list names and what holds the GPUs, and what became of them on this machine since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from gpuassist.context import Session
from gpuassist.detect.readers.process_lists import ListedProcess, devices_of, process_list, processes, told_of
from gpuassist.formats.size import shown_size
from gpuassist.model.account import Account
from gpuassist.model.fact import Known
from gpuassist.model.finding import Evidence
from gpuassist.model.gpu import Holder
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.text import Text, counted, joined, listed, text

_MOST = 40  # that are named one by one
_QUOTED = 120  # characters of a command
_CUT = 9  # characters of a program's name that lsof shows

Rows = tuple[ListedProcess, ...]


def process_account(session: Session, paste: Paste, machine: Machine | None, *, live: bool) -> Account | None:
    """The list in words; `machine` is the one that the text may be of, `live` where it is as it is now."""
    listed = process_list(paste)
    every = processes(listed)
    if not every:
        words = text("In a container and under WSL2 nvidia-smi cannot name them, so that memory may be taken all the same.")
        return Account(text("By this table no process uses a GPU"), (words,)) if listed.none else None
    held = {pid: rows for pid, rows in every.items() if any(row.on_gpu for row in rows)}
    now = _Now(session, machine, live=live) if machine is not None else None
    # Of a list of all processes those that are on the GPUs, where another list or the machine tells which.
    shown = held or (now.among(every) if now is not None else {}) or every
    lines = [joined((_line(rows), *(now.of(rows) if now is not None else ()))) for rows in list(shown.values())[:_MOST]]
    if len(shown) > _MOST:
        lines.append(counted("and 1 more", "and {count} more", len(shown) - _MOST))
    if not held and shown is every:
        lines.append(text("The list does not say which of them use a GPU; `nvidia-smi` and `gpuassist holders` do."))
    if now is not None and now.note is not None:
        lines.append(now.note)
    return Account(_title(shown, on_gpu=bool(held) or shown is not every), tuple(lines))


def without_lists(paste: Paste) -> str:
    """The text but for the rows of such lists: what a process is called tells nothing of a failure."""
    rows = {row.line for row in process_list(paste).rows}
    return (
        paste.words if not rows else "\n".join(line for number, line in enumerate(paste.words.split("\n"), 1) if number not in rows)
    )


def _title(shown: dict[int, Rows], *, on_gpu: bool) -> Text:
    if not on_gpu:
        return counted("The text lists 1 process", "The text lists {count} processes", len(shown))
    gpus = sorted({row.gpu for rows in shown.values() for row in rows if row.gpu is not None})
    if gpus:
        named = listed(map(str, gpus))
        return counted("1 process on GPU {gpus}", "{count} processes on GPU {gpus}", len(shown), gpus=named)
    return counted("1 GPU process", "{count} GPU processes", len(shown))


def _line(rows: Rows) -> Text:
    user, command = told_of(rows)
    pid, name = rows[0].pid, command[:_QUOTED] + ("…" if len(command) > _QUOTED else "")
    if name and user:
        who = text("process {pid} ({command}) of {user}", pid=pid, command=name, user=user)
    elif name:
        who = text("process {pid} ({command})", pid=pid, command=name)
    else:
        who = text("process {pid} of {user}", pid=pid, user=user) if user else text("process {pid}", pid=pid)
    return joined((who, *_holds(rows)))


def _holds(rows: Rows) -> Iterator[Text]:
    """The GPUs that it is on, and their memory; else the device files that it has open."""
    on = {row.gpu: row.memory_used_bytes for row in rows if row.gpu is not None or isinstance(row.memory_used_bytes, Known)}
    for gpu, memory in on.items():
        used = shown_size(memory.value) if isinstance(memory, Known) else ""
        if gpu is None:
            yield text("{size} of GPU memory", size=used)
        elif used:
            yield text("GPU {index}: {size}", index=gpu, size=used)
        else:
            yield text("GPU {index}", index=gpu)
    devices = devices_of(rows)
    if devices and not on:
        cards = [device for device in devices if device[len("/dev/nvidia") :].isdecimal()]
        yield listed(cards) if cards else text("the driver alone ({devices})", devices=listed(devices))


class _Now:
    """What holds the GPUs of the machine, so that a list from earlier can be held against it."""

    def __init__(self, session: Session, machine: Machine, *, live: bool) -> None:
        from gpuassist.detect.gpu_holders import holding_of  # only where there is a machine: a text alone needs none of it

        self._found = holding_of(session, machine, live=live)
        self._held = {one.holder.pid: one for one in self._found.held}
        self._live = live

    @property
    def note(self) -> Text | None:
        """What could not be seen of them."""
        return None if self._found.looked or not self._found.notes else self._found.notes[0]

    def among(self, every: dict[int, Rows]) -> dict[int, Rows]:
        """Those that hold a GPU there."""
        return {pid: rows for pid, rows in every.items() if pid in self._held and _is_one(self._held[pid].holder, rows)}

    def of(self, rows: Rows) -> Iterator[Text]:
        """What the machine says of a process of the text."""
        held = self._held.get(rows[0].pid)
        if held is None:
            if self._found.looked and any(row.on_gpu for row in rows):
                yield text("not using a GPU here now") if self._live else text("not using a GPU on the recorded machine")
        elif not _is_one(held.holder, rows):
            yield text("that number is now another process, {command}", command=held.holder.command[:_QUOTED])
        else:
            command = held.holder.command
            if len(command) > len(told_of(rows)[1]):
                yield text("here it is: {command}", command=command[:_QUOTED])
            yield held.why


def _is_one(holder: Holder, rows: Rows) -> bool:
    """Whether the process of that number can be the one of the text; tools cut names off."""
    command = told_of(rows)[1]
    if not command or not holder.command:
        return True
    first, second = (_program(words)[:_CUT].lower() for words in (command, holder.command))
    return first.startswith(second) or second.startswith(first)


def _program(command: str) -> str:
    return PurePosixPath(command.split()[0]).name if command.split() else ""


def holders_here(session: Session, machine: Machine, *, live: bool) -> Iterator[Evidence]:
    """What holds the machine's GPUs, as evidence of why a module cannot be exchanged."""
    from gpuassist.detect.gpu_holders import holding_of

    for held in holding_of(session, machine, live=live).held[:_MOST]:
        holder = held.holder
        who = text("process {pid} ({command}) of {user}", pid=holder.pid, command=holder.command[:_QUOTED], user=holder.user)
        shown = who if holder.command else text("process {pid}", pid=holder.pid)
        yield Evidence(text("uses the GPU here"), joined((shown, held.why)), "/proc/*/fd")
