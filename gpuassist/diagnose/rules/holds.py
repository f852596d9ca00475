"""Is the driver kept at its version, and rightly? What an upgrade would break, holds of one half, holds that stand in the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.driver_packages import (
    DriverPackages,
    driver_packages,
    dropped_by,
    frozen,
    holds_on_driver,
    is_kept_from,
    next_driver,
)
from gpuassist.diagnose.rules.driver import driver_serves_torch
from gpuassist.diagnose.rules.presence import best_driver
from gpuassist.diagnose.verdicts import Verdict, finding, listed, named, proof
from gpuassist.knowledge.compatibility import DriverFit
from gpuassist.model.fact import Unknown, value_or
from gpuassist.model.finding import Evidence, Finding
from gpuassist.model.holds import HoldReach, PackageHold
from gpuassist.model.text import text, verbatim

_NAMED_AT_MOST = 4
_COMPUTE = "compute"


def upgrade_keeps_the_gpus(case: RuleInput) -> Iterator[Verdict]:
    """Told where it is known that the next upgrade brings a branch that no longer serves a GPU, and nothing keeps it away."""
    coming, installed = next_driver(case), case.machine.system_packages.installed
    if coming is None or isinstance(installed, Unknown) or not case.running or is_kept_from(case, coming):
        return
    gone = dropped_by(case, coming.branch)
    if gone:
        yield finding(
            "driver-upgrade-will-break",
            Evidence(
                text("installed package {package}", package=coming.package.name),
                verbatim(coming.package.version),
                installed.source,
            ),
            Evidence(text("branch that an upgrade of it brings"), verbatim(str(coming.branch)), coming.told_by),
            gpu=named(gone),
            driver=str(value_or(case.driver, "")),
            coming=str(coming.branch),
            last=str(min(card.architecture.last_branch for card in gone if card.architecture and card.architecture.last_branch)),
            package=coming.package.name,
            unattended="yes" if case.machine.host.unattended.is_true else "",
        )


def hold_is_sound(case: RuleInput) -> Iterator[Verdict]:
    """What is on hold is told; where it hurts, that alone."""
    packages, holds = driver_packages(case), holds_on_driver(case)
    if packages is None or case.wsl or case.container:
        return
    hurting = (*_in_the_way(case, packages, holds), *_of_one_half(case, packages))
    yield from hurting or _held(case, packages, holds)


def _held(case: RuleInput, packages: DriverPackages, holds: tuple[PackageHold, ...]) -> Iterator[Verdict]:
    if not holds:
        return
    whole = [one for one in holds if one.reach is HoldReach.EVERY_UPGRADE]
    coming = next_driver(case)
    kept = dropped_by(case, coming.branch) if coming is not None else ()
    yield finding(
        "driver-held",
        *_proofs(whole or holds),
        driver=packages.version,
        branch="" if whole else packages.version.partition(".")[0],
        places=_places(whole or holds),
        gpu=named(kept),
        coming=str(coming.branch) if kept and coming is not None else "",
    )


def _in_the_way(case: RuleInput, packages: DriverPackages, holds: tuple[PackageHold, ...]) -> Iterator[Verdict]:
    """A driver that has to be exchanged, for a GPU or for torch, and is kept."""
    wrong = [card for card in case.cards if case.fit(card) in {DriverFit.TOO_OLD, DriverFit.DROPPED}]
    torch = any(isinstance(one, Finding) for one in driver_serves_torch(case))
    best = best_driver(case).best
    if best is None or not (wrong or torch):
        return
    barring = [one for one in holds if not one.lets_through(best.branch)]
    if barring:
        yield finding(
            "driver-hold-in-the-way",
            *_proofs(barring),
            driver=packages.version,
            wanted=str(best.branch),
            gpu=named(wrong),
            torch="yes" if torch and not wrong else "",
            places=_places(barring),
        )


def _of_one_half(case: RuleInput, packages: DriverPackages) -> Iterator[Verdict]:
    """A module that comes built fits one kernel, and the driver's libraries fit one version of the module."""
    kept = frozen(case)
    driver = {*packages.whole, *packages.libraries, *packages.modules} & kept
    kernels = [one for one in packages.kernels if one in kept]
    proofs = _proofs(one for one in value_or(case.machine.holds, ()) if one.reach is HoldReach.EVERY_UPGRADE)
    built = _built(packages)
    if built and driver and packages.kernels and not kernels:
        yield finding(
            "driver-half-held",
            *proofs,
            driver=packages.version,
            held=_shortened(sorted(driver)),
            free=_shortened(packages.kernels),
            kernel="yes",
        )
    elif _is_of_arch(packages) and kernels and not driver:
        yield finding(
            "driver-half-held", *proofs, driver=packages.version, held=_shortened(kernels), free=_shortened(built), module="yes"
        )
    elif driver and not kept & set(packages.whole):
        halves = (packages.libraries, packages.modules)
        held = next((half for half in halves if kept & set(half)), ())
        free = next((half for half in halves if half and not kept & set(half)), ())
        if held and free:
            yield finding(
                "driver-half-held",
                *proofs,
                driver=packages.version,
                held=_shortened(sorted(kept & set(held))),
                free=_shortened(free),
            )


def _built(packages: DriverPackages) -> tuple[str, ...]:
    """The packages whose module comes built for a kernel."""
    return tuple(one for one in packages.modules if "dkms" not in one) if packages.kernels else ()


def _is_of_arch(packages: DriverPackages) -> bool:
    return bool(packages.kernels) and not any(one.startswith("linux-modules-nvidia-") for one in packages.modules)


def _proofs(holds: Iterable[PackageHold]) -> tuple[Evidence, ...]:
    shown = tuple(holds)[:_NAMED_AT_MOST]
    return tuple(
        Evidence(text("kept: {pattern}", pattern=one.pattern), verbatim(one.version or one.kind.value), one.source) for one in shown
    )


def _places(holds: Iterable[PackageHold]) -> str:
    return listed(tuple(dict.fromkeys(one.source.rpartition(":")[0] for one in holds)))


def _shortened(names: Iterable[str]) -> str:
    every = tuple(names)
    rest = len(every) - _NAMED_AT_MOST
    return listed((*every[:_NAMED_AT_MOST], *((f"+{rest}",) if rest > 0 else ())))


def upgrades_wait_for_the_work(case: RuleInput) -> Iterator[Verdict]:
    """Automatic upgrades are the usual, and told only where GPUs compute: for servers, or at this moment."""
    unattended, packages = case.machine.host.unattended, driver_packages(case)
    if packages is None or not unattended.is_true or not case.running or case.wsl or case.container:
        return
    leaves_alone = {HoldReach.EVERY_UPGRADE, HoldReach.AUTOMATIC_UPGRADES}
    kept = {name for one in value_or(case.machine.holds, ()) if one.reach in leaves_alone for name in one.covers}
    computing = [one for card in case.cards for one in value_or(card.gpu.processes, ()) if one.kind == _COMPUTE]
    if kept.isdisjoint(packages.names) and (case.for_servers or computing):
        yield finding(
            "driver-upgrades-by-itself",
            proof(text("packages upgrade by themselves"), unattended, text("yes")),
            proof(text("driver"), case.driver),
            servers="yes" if case.for_servers else "",
        )


RULES = (upgrade_keeps_the_gpus, hold_is_sound, upgrades_wait_for_the_work)
