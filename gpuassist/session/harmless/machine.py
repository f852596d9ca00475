"""A machine as it may leave: every string in it goes through a rule for its field, and those of no rule through the strictest."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.past import MachineChange, Subject
from gpuassist.model.shell import StartupFile, Terminal, Variable
from gpuassist.model.text import Text, text
from gpuassist.model.version import ComputeCapability, Target, Version
from gpuassist.session.harmless.sentences import OwnSentences
from gpuassist.session.harmless.stand_ins import LEFT_OUT, StandIns, TakenKind, TakenOut
from gpuassist.session.harmless.strings import HarmlessStrings
from gpuassist.system.resources import Resources

_Rule = Callable[[HarmlessStrings, str], str]
_NUMBERS = (Version, ComputeCapability, Target)


def _path(strings: HarmlessStrings, words: str) -> str:
    return strings.places.path(words)


def _kernel(strings: HarmlessStrings, words: str) -> str:
    return strings.places.kernel(words)


# What is told of each string by more than single words; any other field, and one that is new, has `words`.
RULES: dict[str, _Rule] = {
    "Host.kernel": _kernel,
    "Host.l4t": HarmlessStrings.version,
    "Distribution.version_id": HarmlessStrings.version,
    "Gpu.name": HarmlessStrings.product,
    "Driver.nvml_version": HarmlessStrings.version,
    "Driver.driver_packages": HarmlessStrings.system_package,
    "Driver.libcuda_taken": _path,
    "Driver.firmware": _path,
    "Driver.uninstaller": _path,
    "Driver.nvidia_smi": _path,
    "Driver.fabric_manager": _path,
    "KernelModule.path": _path,
    "Library.path": _path,
    "DeviceNode.path": _path,
    "DeviceNode.owner": HarmlessStrings.owner,
    "ModuleBlock.place": _path,
    "Toolkit.root": _path,
    "Toolkit.nvcc": _path,
    "Toolkit.links": _path,
    "Toolkit.wrappers": _path,
    "Compiler.path": _path,
    "PythonEnvironment.prefix": _path,
    "PythonEnvironment.name": HarmlessStrings.environment,
    "PythonEnvironment.interpreter": _path,
    "PythonEnvironment.sites": _path,
    "PythonEnvironment.stray": _path,
    "Torch.path": _path,
    "Torch.version": HarmlessStrings.version,
    "Torch.damaged": _path,
    "Package.name": HarmlessStrings.python_package,
    "Package.version": HarmlessStrings.version,
    "Package.build": HarmlessStrings.build,
    "TorchAsker.package": HarmlessStrings.python_package,
    "TorchAsker.version": HarmlessStrings.version,
    "TorchAsker.wanted": HarmlessStrings.requirement,
    "LoadedLibrary.program": _path,
    "LoadedLibrary.soname": _path,
    "LoadedLibrary.own": _path,
    "LoadedLibrary.taken": _path,
    "Shell.login_shell": _path,
    "Shell.directories_missing": _path,
    "Terminal.shell": _path,
    "Command.path": _path,
    "Command.real_path": _path,
    "StartupFile.path": _path,
    "Holder.user": HarmlessStrings.user,
    "Holder.command": HarmlessStrings.command_line,
    "Holder.devices": _path,
    "Holder.container": HarmlessStrings.container,
    "ToolkitLink.path": _path,
    "ToolkitLink.target": _path,
    "LoaderDirectory.file": _path,
    "LoaderDirectory.directory": _path,
    "LoaderDirectory.real": _path,
    "LoaderDirectory.libraries": _path,
    "ContainerList.path": _path,
    "PackageSetting.value": HarmlessStrings.setting,
    "NextStart.kernel": _kernel,
    "NextStart.kernels": _kernel,
    "NextStart.restart_packages": HarmlessStrings.system_package,
    "ModuleBuild.version": HarmlessStrings.version,
    "ModuleBuild.log": _path,
    "EarlyImage.path": _path,
    "EarlyImage.blocks_after": _path,
    "EarlyImage.takes_nvidia": _path,
    "EarlyImage.modules_after": _path,
    "PackageHold.pattern": HarmlessStrings.system_package,
    "PackageHold.version": HarmlessStrings.requirement,
    "PackageHold.covers": HarmlessStrings.system_package,
    "PackageHold.owner": HarmlessStrings.system_package,
    "PackageHold.repository": HarmlessStrings.repository,
    "GpuRepository.name": HarmlessStrings.repository,
    "GpuRepository.id": HarmlessStrings.repository,
    "GpuRepository.source": _path,
    "SystemPackage.name": HarmlessStrings.system_package,
    "SystemPackage.version": HarmlessStrings.version,
    "MachineChange.sources": HarmlessStrings.words,
}
NOT_IN_A_REPORT = text("left out of this report")


class HarmlessMachine(Struct, frozen=True):
    """A machine that may leave, and what was taken out of it."""

    machine: Machine
    taken_out: tuple[TakenOut, ...]


class Sieve:
    """Lets pass what is harmless, with the same stand-ins for a whole report; `home` and `user` are those of whoever makes it."""

    def __init__(self, knowledge: Knowledge, resources: Resources, home: str = "", user: str = "") -> None:
        self._stand_ins = StandIns()
        self.strings = HarmlessStrings(
            self._stand_ins,
            lambda name: bool(knowledge.python_package(name)),
            products=(one.name for one in knowledge.gpus()),
            repositories=(one.repository for one in knowledge.repositories()),
        )
        self._sentences = OwnSentences(lambda: resources.read("words/zh_CN.po"), self.strings.words)
        if user and user != "root":
            self.strings.places.user(user)
        self.strings.places.learn_home(home)

    @property
    def taken_out(self) -> tuple[TakenOut, ...]:
        return self._stand_ins.taken_out()

    def machine(self, machine: Machine) -> Machine:
        """The machine without what tells whose it is."""
        for gpu in value_or(machine.gpus, ()):
            for uuid in (value_or(gpu.uuid, ""), *value_or(gpu.mig_uuids, ())):
                if uuid:
                    self.strings.learn_uuid(uuid)
        for environment in value_or(machine.environments, ()):
            self.strings.places.learn_environment(environment.prefix)
        if machine.note:
            self._stand_ins.left_out(TakenKind.NOTE, machine.note)
        told = self._value(replace(machine, note=""), "Machine")
        assert isinstance(told, Machine)
        return told

    def change(self, change: MachineChange) -> MachineChange:
        """A change without lines of start-up files, whoever did it, and the way back, which leads nowhere elsewhere."""
        strings, shown = self.strings, self._shown_in(change)
        return replace(
            change,
            name=self._name_of(change),
            before=shown(change.before),
            after=shown(change.after),
            place=strings.places.path(change.place),
            at=strings.words(change.at),
            earliest=strings.words(change.earliest),
            latest=strings.words(change.latest),
            by=self._by(change.by),
            user=strings.user(change.user),
            sources=tuple(strings.words(one) for one in change.sources),
            packages=tuple(self._package(change, one) for one in change.packages),
            undo="",
        )

    def text(self, told: Text) -> Text:
        """A sentence of ours, its parameters harmless."""
        return self._sentences.text(told)

    def _shown_in(self, change: MachineChange) -> Callable[[str], str]:
        if change.subject is Subject.STARTUP_FILE:
            return lambda words: self._stand_ins.left_out(TakenKind.STARTUP, words) if words else words
        if change.subject is Subject.VARIABLE:
            return lambda words: self.strings.variable(change.name, words)
        if change.subject is Subject.GPU:
            return self.strings.product
        if change.subject is Subject.KERNEL:
            return lambda words: self.strings.places.kernel(words) if words[:1].isdigit() else self.strings.words(words)
        return lambda words: self.strings.version(words) if words[:1].isdigit() else self.strings.words(words)

    def _name_of(self, change: MachineChange) -> str:
        if "/" in change.name:
            return self.strings.places.path(change.name)
        if change.subject is Subject.VARIABLE:
            return change.name if self.strings.is_variable(change.name) else LEFT_OUT
        if change.subject is Subject.GPU:
            return self.strings.product(change.name)
        if change.subject is Subject.ENVIRONMENT:
            return self.strings.environment(change.name)
        kept = self.strings.words(change.name)
        return kept if LEFT_OUT not in kept else self._any_package(change, change.name)

    def _package(self, change: MachineChange, words: str) -> str:
        name, _, version = words.partition(" ")
        told = self._any_package(change, name)
        return f"{told} {self.strings.version(version)}" if version else told

    def _any_package(self, change: MachineChange, name: str) -> str:
        of_python = change.subject in {Subject.TORCH, Subject.PYTHON_PACKAGE, Subject.ENVIRONMENT}
        return self.strings.python_package(name) if of_python else self.strings.system_package(name)

    def _by(self, words: str) -> str:
        """`apt install nvidia-driver-580`, `unattended-upgrade`: the program, and packages that are known."""
        return self.strings.command_line(words) if " " in words else self.strings.words(words)

    def _value(self, value: Any, field: str) -> Any:
        if value is None or isinstance(value, (bool, float, Enum, *_NUMBERS)):
            return value
        if isinstance(value, int):
            return self.strings.user_number(value) if field == "Holder.uid" else value
        if isinstance(value, str):
            return RULES.get(field, HarmlessStrings.words)(self.strings, value)
        if isinstance(value, Text):
            return self._sentences.text(value)
        if isinstance(value, Known):
            return Known(self._value(value.value, field), self.strings.words(value.source))
        if isinstance(value, Unknown):
            return replace(value, reason=self._sentences.text(value.reason))
        if isinstance(value, tuple):
            return tuple(self._value(one, field) for one in value)
        return self._record(value)

    def _record(self, value: Any) -> Any:
        if isinstance(value, Variable):
            return Variable(value.name, self.strings.variable(value.name, value.value))
        if isinstance(value, StartupFile) and isinstance(value.content, Known):
            self._stand_ins.left_out(TakenKind.STARTUP, value.content.value)
            value = replace(value, content=Unknown(NOT_IN_A_REPORT, asked=False))
        if isinstance(value, Terminal):
            for one in value.variables:
                if not self.strings.is_variable(one.name):
                    self._stand_ins.left_out(TakenKind.VARIABLE, one.name)
            value = replace(value, variables=tuple(one for one in value.variables if self.strings.is_variable(one.name)))
        name = type(value).__name__
        told = {field: self._value(getattr(value, field), f"{name}.{field}") for field in value.__struct_fields__}
        return type(value)(**told)
