"""Every fact of a machine as a line of words with its source, section by section: the full list behind every summary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from gpuassist.model.environment import PythonEnvironment, Torch
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Shell, Terminal
from gpuassist.model.text import Text, counted, listed, text, verbatim
from gpuassist.model.toolkit import Toolkit
from gpuassist.present.facts import LABELS, words_of, words_of_field, words_of_hold
from gpuassist.present.overview import CardRow, is_true, line


class Section(Struct, frozen=True):
    """A part of the machine, or one of several of a kind."""

    title: Text
    lines: tuple[CardRow, ...]


def sections(machine: Machine) -> tuple[Section, ...]:
    """The whole machine; a fact that nobody asked for is left out, one that could not be found out says why."""
    # Left out where nobody looked, as in a recording that was made before.
    lines, following = facts(machine.system), facts(machine.next_start)
    return (
        Section(text("Host"), facts(machine.host)),
        *_of_each(text("GPUs"), machine.gpus, _gpu),
        Section(text("Driver"), facts(machine.driver)),
        *((Section(text("Next start"), (*following, *_unread(machine))),) if following else ()),
        *_of_each(text("CUDA toolkits"), machine.toolkits, _toolkit),
        Section(text("Host compilers"), tuple(_compilers(machine))),
        *_of_each(text("Python environments"), machine.environments, _environment),
        Section(text("Shell"), (*_shell(machine.shell), *facts(machine))),
        *((Section(text("For all programs"), lines),) if lines else ()),
        *_packages(machine),
        Section(text("GPU processes"), tuple(_holders(machine))),
    )


def facts_read(machine: Machine) -> tuple[Section, ...]:
    """What is known of it alone: what a text told."""
    read = (Section(one.title, tuple(line for line in one.lines if line.known)) for one in sections(machine))
    return tuple(one for one in read if one.lines)


def facts(record: Any) -> tuple[CardRow, ...]:
    """The facts of one record, in its own order."""
    found = ((name, getattr(record, name)) for name in record.__struct_fields__ if name in LABELS)
    return tuple(
        line(LABELS[name], fact, words_of_field(name, fact.value) if isinstance(fact, Known) else None)
        for name, fact in found
        if isinstance(fact, Known) or (isinstance(fact, Unknown) and fact.asked)
    )


def _unread(machine: Machine) -> Iterator[CardRow]:
    for reason in machine.next_start.unread:
        yield CardRow(text("not read"), reason, known=False)


def _of_each(title: Text, found: Fact[tuple[Any, ...]], section: Any) -> tuple[Section, ...]:
    if isinstance(found, Unknown):
        return (Section(title, (line(text("found"), found),)),)
    if not found.value:
        return (Section(title, (CardRow(text("found"), text("none"), found.source),)),)
    return tuple(section(one) for one in found.value)


def _gpu(gpu: Gpu) -> Section:
    name = verbatim(value_or(gpu.name, "")) if value_or(gpu.name, "") else text("not known")
    return Section(text("GPU: {name}", name=name), facts(gpu))


def _toolkit(toolkit: Toolkit) -> Section:
    lines = list(facts(toolkit))
    for label, paths in ((text("symlinks to it"), toolkit.links), (text("programs that run its nvcc"), toolkit.wrappers)):
        if paths:
            lines.append(CardRow(label, listed(paths), toolkit.root))
    title = text("CUDA toolkit {root}", root=toolkit.root) if toolkit.root else text("CUDA toolkit")
    return Section(title, tuple(lines))


def _environment(environment: PythonEnvironment) -> Section:
    found = facts(environment)
    torches = value_or(environment.torch, ())
    if isinstance(environment.torch, Known):
        found = (*found, _count(torches, environment.torch.source))
    title = text("Python environment {name} ({prefix})", name=environment.name, prefix=environment.prefix)
    if not environment.prefix:  # of a pasted text, which need not say where it is
        title = text("Python environment {name}", name=environment.name)
    elif is_true(environment.active):
        title = text("Python environment {name} ({prefix}), active", name=environment.name, prefix=environment.prefix)
    return Section(title, (*found, *(one for torch in torches for one in _torch(torch))))


def _count(torches: tuple[Torch, ...], source: str) -> CardRow:
    if not torches:
        return CardRow(text("torch"), text("none"), source)
    return CardRow(text("torch"), counted("one", "{count}, of which the first is imported", count=len(torches)), source)


def _torch(torch: Torch) -> tuple[CardRow, ...]:
    directory = (CardRow(text("directory of torch"), verbatim(torch.path), torch.path),) if torch.path else ()
    return (*directory, *facts(torch))


def _compilers(machine: Machine) -> Iterator[CardRow]:
    compilers = machine.compilers
    if isinstance(compilers, Unknown) or not compilers.value:
        yield line(text("found"), compilers, text("none"))
        return
    for compiler in compilers.value:
        label = text("{family} at {path}", family=compiler.family, path=compiler.path)
        yield line(label, compiler.version)


def _shell(shell: Shell) -> Iterator[CardRow]:
    yield from facts(shell)
    if isinstance(shell.startup_files, Known):
        there = [file.path for file in shell.startup_files.value if file.exists]
        words = listed(there) if there else text("none")
        yield CardRow(text("start-up files that exist"), words, shell.startup_files.source)
    yield from _terminal(shell.new_terminal, own=False)
    yield from _terminal(shell.own, own=True)


def _terminal(terminal: Fact[Terminal], *, own: bool) -> Iterator[CardRow]:
    if isinstance(terminal, Unknown):
        if terminal.asked:
            yield line(text("gpuassist's own environment") if own else text("new terminal"), terminal)
        return
    for variable in terminal.value.variables:
        label = text("{name} of gpuassist itself", name=variable.name)
        yield CardRow(label if own else _in_terminal(variable.name), verbatim(variable.value), terminal.source)
    for command in terminal.value.commands:
        label = text("{name} for gpuassist itself", name=command.name)
        words = words_of(command) if command.path else text("none on PATH")
        yield CardRow(label if own else _in_terminal(command.name), words, terminal.source)


def _packages(machine: Machine) -> Iterator[Section]:
    """Left out where nobody looked."""
    holds, told = machine.holds, facts(machine.system_packages)
    lines = [CardRow(text("{package} is kept", package=one.pattern), words_of_hold(one), one.source) for one in value_or(holds, ())]
    if isinstance(holds, Unknown) and holds.asked:
        lines = [line(text("what is kept"), holds)]
    elif not lines and isinstance(holds, Known):
        lines = [CardRow(text("what is kept"), text("none"), holds.source)]
    if lines or told:
        yield Section(text("Packages of the distribution"), (*lines, *told))


def _in_terminal(name: str) -> Text:
    return text("{name} in a new terminal", name=name)


def _holders(machine: Machine) -> Iterator[CardRow]:
    holders = machine.holders
    if isinstance(holders, Unknown) or not holders.value:
        yield line(text("found"), holders, text("none"))
        return
    for holder in holders.value:
        label = text("process {pid} of {user}", pid=holder.pid, user=holder.user)
        if not holder.user:  # of a pasted list, which need not tell it
            label = text("process {pid}", pid=holder.pid)
        devices = ", ".join(holder.devices)
        words = text("{command}, on {devices}", command=holder.command, devices=devices)
        yield CardRow(label, words if holder.command and devices else verbatim(holder.command or devices), holders.source)
