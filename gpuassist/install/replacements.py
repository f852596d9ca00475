"""Parts of a machine replaced by products that the knowledge names: a driver branch, a CUDA release, a torch build, a GPU."""

from __future__ import annotations

from gpuassist.install import hypothetical
from gpuassist.knowledge.asked_gpus import asked_gpus, nearest
from gpuassist.knowledge.driver_numbers import windows_branch
from gpuassist.knowledge.records import GpuRecord, TorchBuild
from gpuassist.knowledge.tables import Knowledge, agreeing_gpu
from gpuassist.model.fact import value_or
from gpuassist.model.machine import Machine
from gpuassist.model.nearest import nearest_names
from gpuassist.model.text import Text, listed, text
from gpuassist.model.version import Version, VersionError


class UnknownPartError(ValueError):
    """A wish names a part that is not known, or several; `reason` says which, and what is near it."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


def version_of(words: str) -> Version:
    """A version that somebody typed; raises `UnknownPartError`."""
    try:
        return Version.parse(words)
    except VersionError:
        raise UnknownPartError(text("{words} is not a version number", words=words)) from None


def gpu_record(knowledge: Knowledge, name: str) -> GpuRecord:
    """A GPU by PCI id or name; raises `UnknownPartError` where none is known by it, or several that differ are."""
    several = asked_gpus(knowledge, name)
    # The card itself before its variants in other sizes.
    record = agreeing_gpu(nearest(several, name)) or agreeing_gpu(several)
    if record is not None:
        return record
    if several:
        ids = listed(f"{one.pci_id} ({one.architecture} {one.compute_capability})" for one in several[:4])
        raise UnknownPartError(
            text("several different GPUs are sold as {name}: say which by its PCI id, {ids}", name=name, ids=ids)
        )
    near = nearest_names(name, (one.name for one in knowledge.gpus() if not one.unlisted))
    if near:
        raise UnknownPartError(text("{name} is no GPU that gpuassist knows; near it are {near}", name=name, near=listed(near)))
    raise UnknownPartError(text("{name} is no GPU that gpuassist knows", name=name))


def with_added_gpu(knowledge: Knowledge, machine: Machine, name: str) -> Machine:
    """The machine with one more GPU beside those that are there."""
    present = value_or(machine.gpus, ())
    return hypothetical.with_gpus(machine, (*present, hypothetical.gpu(gpu_record(knowledge, name), len(present))))


def with_driver(knowledge: Knowledge, machine: Machine, version: Version) -> Machine:
    """The machine with this driver, whose kernel module is the one that its GPUs need."""
    windows = windows_branch(version, knowledge.windows_drivers(), knowledge.branches()) if value_or(machine.host.wsl, 0) else None
    branch = knowledge.branch(version.major if windows is None else windows)
    records = (knowledge.gpu(value_or(one.pci_id, "")) for one in value_or(machine.gpus, ()))
    flavours = tuple(record.module for record in records if record is not None)
    return hypothetical.with_driver(
        machine, version, branch.cuda if branch else None, open_module=hypothetical.open_module_for(flavours)
    )


def with_toolkit(knowledge: Knowledge, machine: Machine, release: Version) -> Machine:
    return hypothetical.with_toolkit(machine, release, knowledge.toolkit(release))


def with_torch(knowledge: Knowledge, machine: Machine, words: str) -> Machine:
    """The machine with this torch; of one whose build is not said, the one that pip takes by default."""
    build = torch_build(knowledge, words, value_or(machine.host.architecture, "x86_64"))
    return hypothetical.with_torch(machine, build) if build else hypothetical.with_unknown_torch(machine, words)


def torch_build(knowledge: Knowledge, words: str, architecture: str) -> TorchBuild | None:
    """The build of `2.7.1+cu128` or `2.7`; None where no such release or build is known."""
    version, _, tag = words.partition("+")
    builds = [one for one in knowledge.torch_builds(version_of(version)) if one.machine == architecture]
    fitting = [one for one in builds if one.tag == tag] if tag else [one for one in builds if one.default]
    return fitting[0] if fitting else None
