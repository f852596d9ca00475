"""What of a machine decides how a driver comes onto it, from its facts."""

from __future__ import annotations

from gpuassist.diagnose.case import Case
from gpuassist.install.driver_at_work import waiting_module
from gpuassist.install.place_around import home_of
from gpuassist.install.system import System
from gpuassist.knowledge.families import repositories_package
from gpuassist.knowledge.records import ModuleFlavour
from gpuassist.model.driver import KernelModule
from gpuassist.model.environment import Manager
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Distribution

_AZURE_PARTS = frozenset({"10de:2236"})  # A10: NVadsA10 v5, which Azure says takes GRID drivers in all sizes
_AMAZON_PARTS = ("g6f.", "gr6f.")
_NOWHERE = Distribution("", (), "", "")


def system_of(case: Case) -> System:
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


def _part(case: Case) -> bool:
    """Whether only a part of a GPU is rented: Azure has the A10 in such parts, Amazon the L4 in these types of instances."""
    host = case.machine.host
    provider = value_or(host.provider, "")
    if provider == "azure":
        return any(value_or(card.gpu.pci_id, "") in _AZURE_PARTS for card in case.cards)
    return provider == "aws" and value_or(host.product, "").startswith(_AMAZON_PARTS)


def _module(case: Case) -> KernelModule | None:
    """The module that is installed, loaded or not."""
    driver = case.machine.driver
    installed = (*value_or(driver.on_disk, ()), *value_or(driver.loaded, ()))
    return next(iter(installed), None) or waiting_module(case)
