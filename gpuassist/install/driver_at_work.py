"""A driver that is there and fits, and is not at work all the same: what brings it to work."""

from __future__ import annotations

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.rules.driver import libraries_match_module, library_is_there
from gpuassist.install.configuration import waiting_module
from gpuassist.install.place import InstallPlace, step
from gpuassist.knowledge.commands import Commands, use
from gpuassist.model.chain import Chain, Part, Status
from gpuassist.model.fact import value_or
from gpuassist.model.finding import Finding
from gpuassist.model.plan import Proves, Step, StepProof
from gpuassist.model.text import text

_LISTED = text("`nvidia-smi` lists every GPU")
_AT_WORK = StepProof(Proves.DRIVER)


def mending_steps(case: RuleInput, chains: tuple[Chain, ...], place: InstallPlace, commands: Commands) -> tuple[Step, ...]:
    """The steps that bring the driver to work which is there; none where it works."""
    every = (joint for chain in chains for joint in chain.joints if (joint.first, joint.second) == (Part.GPU, Part.DRIVER))
    reason = next((joint.reason for joint in every if joint.status is Status.PROBLEM), None)
    if reason is None:
        return ()
    waiting = waiting_module(case)
    if waiting is not None:
        return _loading(case, place, commands) if waiting.path else _building(place, commands)
    mismatch = next((one for one in libraries_match_module(case) if isinstance(one, Finding)), None)
    if mismatch is not None and mismatch.parameter("reboot_is_enough"):
        does = text("Restart the computer: the driver was updated, and the old one is still loaded")
        return (step((use("reboot"),), place, commands, (does, _LISTED), proof=_AT_WORK),)
    library = next((one for one in library_is_there(case) if isinstance(one, Finding)), None)
    if library is not None and commands.record("cuda-library-install", place.families) is not None:
        does = text("Install the driver's library for CUDA, which is missing beside its kernel module")
        uses = (use("cuda-library-install", branch=library.parameter("branch")),)
        return (step(uses, place, commands, (does, text("`gpuassist doctor` no longer says that libcuda is missing"))),)
    does = text("Mend the driver that is there ({reason}): this names the remedy", reason=reason)
    return (step((use("doctor"),), place, commands, (does, None)),)


def _loading(case: RuleInput, place: InstallPlace, commands: Commands) -> tuple[Step, ...]:
    again = _restart(place, commands)
    if any(case.held_by(card) for card in case.cards):
        does = text("Keep nouveau from taking the GPU: NVIDIA's driver is installed and cannot load while it has it")
        return step((use("nouveau-blacklist"),), place, commands, (does, None)), again
    secure = value_or(case.machine.host.secure_boot, False)  # noqa: FBT003 -- the fact's default
    if secure and commands.record("key-enroll", place.families) is not None:
        does = text("Enroll the key that the module is signed with, because Secure Boot is on; the restart asks for the password")
        return step((use("key-enroll"),), place, commands, (does, None)), again
    does = text("Load the driver's module, which is installed and not loaded")
    return (step((use("module-load"),), place, commands, (does, _LISTED), proof=_AT_WORK),)


def _building(place: InstallPlace, commands: Commands) -> tuple[Step, ...]:
    does = text("Build the driver's module for the running kernel: the driver is installed, and this kernel has no module of it")
    uses = (use("kernel-headers-install"), use("module-rebuild"))
    return step(uses, place, commands, (does, None)), _restart(place, commands)


def _restart(place: InstallPlace, commands: Commands) -> Step:
    return step((use("reboot"),), place, commands, (text("Restart the computer"), _LISTED), proof=_AT_WORK)
