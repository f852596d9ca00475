"""A driver that is there and fits, and is not at work all the same: what brings it to work."""

from __future__ import annotations

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.rules.driver import libraries_match_module, library_is_there
from gpuassist.install.place import InstallPlace, System, home_of, step, use
from gpuassist.knowledge.commands import Commands
from gpuassist.knowledge.families import repositories_package
from gpuassist.knowledge.records import ModuleFlavour
from gpuassist.model.chain import Chain, Part, Status
from gpuassist.model.driver import KernelModule
from gpuassist.model.environment import Manager
from gpuassist.model.fact import NOT_ASKED, Known, value_or
from gpuassist.model.finding import Finding
from gpuassist.model.machine import Distribution
from gpuassist.model.plan import Proves, Step, StepProof
from gpuassist.model.text import text

_LISTED = text("`nvidia-smi` lists every GPU")
_AT_WORK = StepProof(Proves.DRIVER)


def waiting_module(case: RuleInput) -> KernelModule | None:
    """The module of a driver that is installed and not loaded: the one on disk, or the one that fits the libraries that are."""
    driver = case.machine.driver
    if not isinstance(driver.loaded, Known) or case.running or case.container or case.wsl:
        return None
    for module in value_or(driver.on_disk, ()):
        if isinstance(module.version, Known):
            return module
    versions = [one.version for one in value_or(driver.libcuda, ()) if isinstance(one.version, Known)]
    return KernelModule("", versions[0], NOT_ASKED, NOT_ASKED) if versions and isinstance(driver.on_disk, Known) else None


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


# What of a machine decides how a driver comes onto it, from its facts.


_AZURE_PARTS = frozenset({"10de:2236"})  # A10: NVadsA10 v5, which Azure says takes GRID drivers in all sizes
_AMAZON_PARTS = ("g6f.", "gr6f.")
_NOWHERE = Distribution("", (), "", "")


def system_of(case: RuleInput) -> System:
    """What is known of it."""
    host, driver = case.machine.host, case.machine.driver
    distribution = value_or(host.distribution, _NOWHERE)
    module = _module(case)
    return System(
        distribution=distribution.id,
        release=distribution.version_id,
        kernel=value_or(host.kernel, ""),
        secure_boot=host.secure_boot.value if isinstance(host.secure_boot, Known) else None,
        driver=value_or(module.version, None) if module else None,
        open_module=value_or(module.open_flavour, None) if module else None,
        uninstaller=value_or(driver.uninstaller, ""),
        needs_open=any(card.flavour is ModuleFlavour.OPEN_REQUIRED for card in case.cards),
        nouveau=any(case.held_by(card) in {"nouveau", "nova_core"} for card in case.cards),
        hybrid=value_or(host.hybrid, False),  # noqa: FBT003 -- the fact's default
        provider=value_or(host.provider, ""),
        part=_part(case),
        home=home_of(case.machine),
        administrator=value_or(host.administrator, True),  # noqa: FBT003 -- the fact's default
        jetson=case.jetson,
        conda=any(value_or(one.manager, Manager.VENV) is Manager.CONDA for one in value_or(case.machine.environments, ())),
        repositories=repositories_package(distribution),
    )


def _part(case: RuleInput) -> bool:
    """Whether only a part of a GPU is rented: Azure has the A10 in such parts, Amazon the L4 in these types of instances."""
    host = case.machine.host
    provider = value_or(host.provider, "")
    if provider == "azure":
        return any(value_or(card.gpu.pci_id, "") in _AZURE_PARTS for card in case.cards)
    return provider == "aws" and value_or(host.product, "").startswith(_AMAZON_PARTS)


def _module(case: RuleInput) -> KernelModule | None:
    """The module that is installed, loaded or not."""
    driver = case.machine.driver
    installed = (*value_or(driver.on_disk, ()), *value_or(driver.loaded, ()))
    return next(iter(installed), None) or waiting_module(case)
