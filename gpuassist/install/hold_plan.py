"""Keeping the driver that works, by the distribution's own hold, pin or lock, and letting go of it; the user takes the steps."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.chain import chains
from gpuassist.diagnose.driver_packages import DriverPackages, driver_packages, frozen
from gpuassist.install.configuration import place_of
from gpuassist.install.driver_release import release_step
from gpuassist.install.drivers.packages import packages_of
from gpuassist.install.outlook_notes import links_of
from gpuassist.install.place import InstallPlace, step
from gpuassist.knowledge.commands import Commands, UsedCommand
from gpuassist.model.fact import Unknown
from gpuassist.model.holds import HeldPart, HoldReach, PackageHold
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.plan import Step
from gpuassist.model.text import Text, counted, listed, text

_KEEPING = frozenset({HoldReach.EVERY_UPGRADE, HoldReach.OTHER_BRANCHES, HoldReach.ONE_VERSION})


def foresee_hold(session: Session, machine: Machine, title: Text) -> Outlook:
    """What keeps the installed driver at its version: all its packages, and the kernel where its module comes built for one."""
    looked = _Looked.at(session, machine, title)
    missing = _elsewhere(looked)
    packages, unknown = driver_packages(looked.case), machine.system_packages.installed
    if missing is not None:
        return looked.outlook(blocked_by=(missing,))
    if isinstance(unknown, Unknown):
        told = text("which packages of the driver are installed is not known: {reason}", reason=unknown.reason)
        return looked.outlook(undetermined=(told,))
    if packages is None:
        return looked.outlook(blocked_by=(_without_packages(looked),))
    place, commands = looked.place, session.knowledge.commands
    kernels = packages.kernels
    wanted = tuple(name for name in (*packages.names, *kernels) if name not in frozen(looked.case))
    family = packages_of(place.family)
    uses = family.hold(wanted, place) if wanted else ()
    if wanted and not _known(uses, place, commands):
        return looked.outlook(blocked_by=(text("gpuassist knows no way in which this system keeps a package at its version"),))
    notes = (*_notes(packages, kernels, place), *family.hold_remarks(packages.names, place))
    if not wanted:
        already = text("the driver {version} is on hold already", version=packages.version)
        return looked.outlook(notes=(already, *notes))
    does = counted(
        "Hold {count} package at its version, so that no upgrade changes driver {version}",
        "Hold {count} packages at their versions, so that no upgrade changes driver {version}",
        count=len(wanted),
        version=packages.version,
    )
    if place.system.image:
        does = text(
            "Keep this deployment with driver {version}: whatever comes, this computer can be started from it",
            version=packages.version,
        )
    taken = step(uses, place, commands, (does, family.hold_check(place)))
    return looked.outlook(steps=(taken,), notes=notes)


def foresee_release(session: Session, machine: Machine, title: Text) -> Outlook:
    """What lets upgrades change the driver again, and the kernel that was held with it."""
    looked = _Looked.at(session, machine, title)
    missing = _elsewhere(looked)
    if missing is not None:
        return looked.outlook(blocked_by=(missing,))
    if isinstance(machine.holds, Unknown):
        told = text("what is on hold is not known: {reason}", reason=machine.holds.reason)
        return looked.outlook(undetermined=(told,))
    holds = tuple(one for one in machine.holds.value if _is_released(one))
    automatic = any(one.reach is HoldReach.AUTOMATIC_UPGRADES and HeldPart.DRIVER in one.parts for one in machine.holds.value)
    notes = (
        (text("automatic upgrades go on leaving the driver out, as their own settings say; that is no hold"),) if automatic else ()
    )
    if not holds:
        return looked.outlook(notes=(text("nothing keeps the driver's packages at their version"), *notes))
    return looked.outlook(steps=(release_step(holds, looked.place, session.knowledge.commands),), notes=notes)


def _is_released(hold: PackageHold) -> bool:
    """Whether it keeps the driver or the kernel; what keeps another repository's driver away is left: it keeps this one working."""
    if hold.reach is HoldReach.NOTHING:
        return True
    return hold.reach in _KEEPING and bool({HeldPart.DRIVER, HeldPart.KERNEL} & set(hold.parts))


class _Looked(Struct, frozen=True):
    """The machine as it is: nothing of its links changes by a hold."""

    case: RuleInput
    place: InstallPlace
    as_it_is: Outlook

    @classmethod
    def at(cls, session: Session, machine: Machine, title: Text) -> _Looked:
        case = RuleInput(machine, session.knowledge)
        now = chains(machine, session.knowledge, thorough=True)
        return cls(case, place_of(case), Outlook(title, now, now, (), links=links_of(case, now)))

    def outlook(
        self,
        *,
        steps: tuple[Step, ...] = (),
        blocked_by: tuple[Text, ...] = (),
        undetermined: tuple[Text, ...] = (),
        notes: tuple[Text, ...] = (),
    ) -> Outlook:
        it = self.as_it_is
        return Outlook(
            it.goal, it.before, it.after, steps, blocked_by=blocked_by, notes=notes, undetermined=undetermined, links=it.links
        )


def _elsewhere(looked: _Looked) -> Text | None:
    """Where the driver is another system's, whose packages are kept there."""
    if looked.case.wsl:
        return text("the driver is that of Windows, which keeps it: nothing of it is a package of this system")
    if looked.case.container:
        return text("the driver is that of the host: hold it there")
    return None


def _without_packages(looked: _Looked) -> Text:
    if looked.place.system.uninstaller:
        return text("the driver came from NVIDIA's own installer: no upgrade of packages changes it, and there is nothing to hold")
    return text("no package of a driver is installed: there is nothing to hold")


def _known(uses: tuple[UsedCommand, ...], place: InstallPlace, commands: Commands) -> bool:
    return bool(uses) and all(commands.record(one.key, place.families) is not None for one in uses)


def _notes(packages: DriverPackages, kernels: tuple[str, ...], place: InstallPlace) -> tuple[Text, ...]:
    release = text("`gpuassist plan release` gives the commands that let go of it again")
    if place.system.image:  # newer images go on coming, with kernel and driver
        return (release,)
    security = text(
        "while it is held, fixes of the driver's security holes do not come: look once in a while what NVIDIA has mended"
    )
    if kernels:
        together = text(
            "the kernel is held with it ({kernels}), because the driver's module comes ready built for each kernel and could not "
            "follow: fixes of the kernel do not come either",
            kernels=listed(kernels),
        )
        return security, together, release
    built = any("dkms" in one or one.startswith("akmod") for one in packages.modules)
    goes_on = text(
        "the kernel goes on being upgraded, and the module is built anew for each: a driver that stays behind does not build for "
        "every newer kernel, so keep the kernel that works among those that the start menu offers"
    )
    return (security, *((goes_on,) if built else ()), release)
