"""The steps that make the driver ready for the kernel that starts next, while the one that runs still has it."""

from __future__ import annotations

import shlex

from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.rules.next_start import next_kernel_has_driver
from gpuassist.install.drivers.arch import kernel_package
from gpuassist.install.drivers.packages import DistributionPackages, packages_of
from gpuassist.install.place import InstallPlace, step
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import Commands, UsedCommand, use
from gpuassist.knowledge.families import Family
from gpuassist.model.fact import Known, value_or
from gpuassist.model.finding import Finding
from gpuassist.model.next_start import BuildTool, ModuleBuild
from gpuassist.model.plan import Proves, Step, StepProof
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version

_RUNNING = "$(uname -r)"
_MISMATCH = "next-start-driver-mismatch"
_REFUSED = frozenset({"unsigned", "key"})
_MODULES_OF_KERNELS = "linux-modules-nvidia-"


def steps_before_restart(case: RuleInput, place: InstallPlace, commands: Commands) -> tuple[Step, ...]:
    """None where nothing keeps the next start from having the driver."""
    found = next((one for one in next_kernel_has_driver(case) if isinstance(one, Finding)), None)
    if found is None:
        return ()
    kernel, cause = str(found.parameter("kernel")), str(found.parameter("cause"))
    then = replace(place, system=replace(place.system, kernel=kernel))
    build = next(iter(value_or(case.machine.next_start.builds, ())[-1:]), None)
    if cause in _REFUSED:
        return _trusted(cause, build, then, commands)
    read: tuple[Step, ...] = ()
    if cause == "failed":
        does = text("See why the module does not build: the first error is the one that matters")
        read = (step((use("file-read", path=found.parameter("log")),), place, commands, (does, None)),)
    does, uses = _what(case, found, build, then)
    missing = (
        found.problem != _MISMATCH and cause != "image"
    )  # of what is there in another version, that there is one shows nothing
    proof = StepProof(Proves.NEXT_START, wanted=kernel) if missing else None
    made = step(uses, then, commands, (does, text("`gpuassist doctor` no longer warns of the restart")), proof=proof)
    return (*read, replace(made, commands=tuple(line.replace(_RUNNING, shlex.quote(kernel)) for line in made.commands)))


def _what(case: RuleInput, found: Finding, build: ModuleBuild | None, place: InstallPlace) -> tuple[Text, tuple[UsedCommand, ...]]:
    """What the step does, and its commands, which speak of the kernel that runs: of the next one once they are rendered."""
    kernel, cause = place.system.kernel, found.parameter("cause")
    packages = packages_of(place.family)
    if cause == "image":
        does = text(
            "Leave the system image that waits out, and keep the one that runs until an image with the driver's module comes"
        )
        return does, (use("deployment-pending-drop"),)
    if cause == "installer":
        architecture = value_or(case.machine.host.architecture, "x86_64")
        runfile = use("module-build-runfile", architecture=architecture, version=found.parameter("version"), kernel=kernel)
        does = text(
            "Have NVIDIA's installer build the module for kernel {kernel} as well, with the headers of that kernel", kernel=kernel
        )
        return does, (*_headers(case, packages, place), runfile)
    if build is None or (place.family is Family.UBUNTU and _prebuilt(case)):
        return text("Bring the driver's module for kernel {kernel}", kernel=kernel), _packaged(case, packages, place)
    akmods = build.tool is BuildTool.AKMODS
    built = use("module-build-akmods" if akmods else "module-build-dkms", kernel=kernel)
    image = case.machine.next_start.early_image
    again = (use("initramfs-rebuild"),) if isinstance(image, Known) and image.value.takes_nvidia else ()
    return text("Build the driver's module for kernel {kernel}", kernel=kernel), (*_headers(case, packages, place), built, *again)


def _headers(case: RuleInput, packages: DistributionPackages, place: InstallPlace) -> tuple[UsedCommand, ...]:
    there = case.machine.next_start.headers
    return () if there.is_true else packages.headers(place)


def _prebuilt(case: RuleInput) -> bool:
    """Whether the distribution built the module of the kernel that runs."""
    return any(one.startswith(_MODULES_OF_KERNELS) for one in value_or(case.machine.driver.driver_packages, ()))


def _packaged(case: RuleInput, packages: DistributionPackages, place: InstallPlace) -> tuple[UsedCommand, ...]:
    """Modules that come built: Canonical's by the kernel's name; SUSE's are installed once more; others come with an update."""
    if place.family is Family.UBUNTU and _prebuilt(case):
        driver_packages = value_or(case.machine.driver.driver_packages, ())
        kinds = {one for one in driver_packages if one.startswith(_MODULES_OF_KERNELS)}
        following = packages.module_anew(place, tuple(sorted(kinds)))
        own = use("driver-packages-install", packages=" ".join(sorted({_for_kernel(one, case, place) for one in kinds} - {""})))
        return (own,) if own.parameters["packages"] else following
    if place.family is Family.ARCH and kernel_package(place.system) != _running_package(case, place):
        # Each kernel has a package of its own with NVIDIA's modules, and one for those without.
        driver, opened = case.driver, value_or(case.open_module, True)  # noqa: FBT003 -- the fact's default
        move = DriverMove(Version((driver.value.major,)), opened) if isinstance(driver, Known) else None
        uses = packages.install(move, place) if move is not None else ()
        return uses or (use("driver-update"),)
    if place.family is Family.OPENSUSE:
        return packages.module_anew(place, ())
    return (use("driver-update"),) if place.family in _UPDATED else packages.module_anew(place, ())


_UPDATED = frozenset({Family.DEBIAN, Family.FEDORA, Family.RHEL, Family.ARCH})


def _running_package(case: RuleInput, place: InstallPlace) -> str:
    return kernel_package(replace(place.system, kernel=value_or(case.machine.host.kernel, "")))


def _for_kernel(package: str, case: RuleInput, place: InstallPlace) -> str:
    """`linux-modules-nvidia-580-open-6.11.0-29-generic` of the same package for the kernel that runs; empty of any other."""
    running = value_or(case.machine.host.kernel, "")
    return f"{package.removesuffix(running)}{place.system.kernel}" if running and package.endswith(f"-{running}") else ""


def _trusted(cause: str, build: ModuleBuild | None, place: InstallPlace, commands: Commands) -> tuple[Step, ...]:
    """The module is built again, and so signed, where it has no signature; then the key is registered."""
    other_key = packages_of(place.family).key_step(place, commands)
    if other_key is not None:
        return (other_key,)
    steps: list[Step] = []
    kernel = place.system.kernel
    if cause == "unsigned" and build is not None:
        anew = use("module-build-dkms-anew", name=build.name, version=build.version, kernel=kernel)
        built = anew if build.tool is BuildTool.DKMS and build.version else use("module-build-akmods", kernel=kernel)
        does = text("Build the driver's module for kernel {kernel} again, which signs it", kernel=kernel)
        steps.append(step((built,), place, commands, (does, None)))
    if commands.record("key-enroll", place.families) is not None:
        does = text("Enroll the key that the module is signed with, because Secure Boot is on; the restart asks for the password")
        steps.append(step((use("key-enroll"),), place, commands, (does, text("`mokutil --list-new` names the key"))))
    return tuple(steps)
