"""The facts that a text tells, where nothing else is to be said of it, and whether enough of it was read to call it sound."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gpuassist.detect.readers.at_work import of_tools, signs_of_work
from gpuassist.formats.visible import shortened
from gpuassist.model.account import Account
from gpuassist.model.driver import KernelModule
from gpuassist.model.fact import Known, value_or
from gpuassist.model.finding import Evidence
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.text import Text, text, verbatim
from gpuassist.session.accounts import PAGES, of_work


def accounts_with_facts(told: Machine, accounts: tuple[Account, ...]) -> tuple[Account, ...]:
    """With the parts of a machine that the text names, first where it names a driver: whoever reads that nothing is wrong has to
    see with what.
    """
    parts = tuple(dict.fromkeys(part.words for part in _parts(told)))
    if not parts or (accounts and not isinstance(told.driver.version, Known)):
        return accounts
    named = parts[0]
    for part in parts[1:_MOST_PARTS]:
        named = text("{names}, {name}", names=named, name=part)
    return (Account(text("The text is about {parts}, and names no error", parts=named)), *accounts)


_MOST_PARTS = 6
_WIDEST = 80  # characters of a variable


class _Part(Struct, frozen=True):
    """A part of a machine in words, and where it was read; `there` unless the text says that it is missing."""

    words: Text
    source: str
    there: bool = True


def _parts(told: Machine) -> Iterator[_Part]:
    for gpu in value_or(told.gpus, ()):
        if isinstance(gpu.name, Known):
            yield _Part(verbatim(gpu.name.value), gpu.name.source)
    driver = told.driver
    if isinstance(driver.version, Known):
        yield _Part(text("driver {version}", version=str(driver.version.value)), driver.version.source)
    if isinstance(driver.loaded, Known):
        version = _version(driver.loaded.value)
        named = text("the loaded kernel module {version}", version=version) if version else text("a loaded kernel module")
        there = bool(driver.loaded.value)
        yield _Part(named if there else text("no loaded kernel module"), driver.loaded.source, there)
    if isinstance(driver.on_disk, Known):
        named = text("the kernel module {version} on disk", version=_version(driver.on_disk.value))
        there = bool(driver.on_disk.value)
        yield _Part(named if there else text("no kernel module on disk"), driver.on_disk.source, there)
    yield from _programs(told)
    yield from _around(told)


def _programs(told: Machine) -> Iterator[_Part]:
    for toolkit in value_or(told.toolkits, ()):
        release = toolkit.version if isinstance(toolkit.version, Known) else toolkit.nvcc_version
        if isinstance(release, Known):
            yield _Part(text("CUDA {version}", version=str(release.value)), release.source)
        else:
            yield _Part(text("a CUDA toolkit"), told.toolkits.source if isinstance(told.toolkits, Known) else "")
    for environment in value_or(told.environments, ()):
        for torch in value_or(environment.torch, ()):
            version = torch.version
            source = environment.torch.source if isinstance(environment.torch, Known) else ""
            yield (
                _Part(text("torch {version}", version=version.value), version.source)
                if isinstance(version, Known)
                else _Part(text("torch"), source)
            )
        if isinstance(environment.python_version, Known):
            words = text("Python {version}", version=str(environment.python_version.value))
            yield _Part(words, environment.python_version.source)


def _around(told: Machine) -> Iterator[_Part]:
    """Of the system and the terminal."""
    host = told.host
    if isinstance(host.secure_boot, Known):
        yield _Part(text("Secure Boot on") if host.secure_boot.value else text("Secure Boot off"), host.secure_boot.source)
    if isinstance(host.distribution, Known):
        yield _Part(verbatim(host.distribution.value.name or host.distribution.value.id), host.distribution.source)
    if isinstance(host.kernel, Known):
        yield _Part(text("kernel {version}", version=host.kernel.value), host.kernel.source)
    terminal = told.shell.new_terminal
    if not isinstance(terminal, Known):
        return
    for variable in terminal.value.variables:
        yield _Part(verbatim(shortened(f"{variable.name}={variable.value}", _WIDEST)), terminal.source)
    for command in terminal.value.commands:
        there = bool(command.path)
        yield _Part(verbatim(command.path) if there else text("no {name} on PATH", name=command.name), terminal.source, there)


def looked_at(paste: Paste, told: Machine, accounts: tuple[Account, ...]) -> tuple[Evidence, ...]:
    """What was read in a text, as evidence that it shows no fault: nothing where a part of that is missing or not as it should
    be, or where the most of the text is something else.
    """
    parts = tuple(_parts(told))
    if not all(one.sound for one in accounts) or not all(one.there for one in parts):
        return ()
    signs = signs_of_work(paste) if len(paste.words) <= PAGES else ()
    work = of_work(paste) if signs else None
    tables = tuple(one for one in accounts if one != work)
    if not tables and not (signs or parts):
        return ()
    if not tables and not _mostly_understood(paste, {one.source.rpartition(" ")[2] for one in parts}, {one.line for one in signs}):
        return ()
    read = [Evidence(text("read"), one.title, "pasted text") for one in tables]
    read += [Evidence(text("read"), one.words, one.source) for one in parts[:_MOST_PARTS]]
    first = {sign.what: sign for sign in reversed(signs)}
    told_of = sorted(first.values(), key=lambda sign: sign.line)[:_MOST_PARTS]
    read += [Evidence(sign.what, verbatim(sign.words), f"pasted text, line {sign.line}") for sign in told_of]
    return tuple(dict.fromkeys(read))


def _mostly_understood(paste: Paste, of_facts: set[str], of_signs: set[int]) -> bool:
    """Whether enough of its lines are commands, tables, or told of a fact or of something that was done."""
    if len(paste.words) > PAGES:
        return False
    understood = {int(number) for number in of_facts if number.isdecimal()} | of_signs | of_tools(paste)
    return len(understood) * _LEAST >= sum(1 for line in paste.words.split("\n") if line.strip())


_LEAST = 4  # one line of so many has to be understood


def _version(modules: tuple[KernelModule, ...]) -> str:
    return next((str(one.version.value) for one in modules if isinstance(one.version, Known)), "")
