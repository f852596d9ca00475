"""Will the GPU work after the next start? Judged is the kernel that starts then; of the one that runs, what nobody else judges."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.rules.driver import libraries_match_module
from gpuassist.diagnose.verdicts import Verdict, finding, listed, proof, undetermined
from gpuassist.knowledge.compatibility import DriverFit
from gpuassist.model.driver import KernelModule
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.finding import Evidence, Finding, Passed
from gpuassist.model.next_start import BuildState, ChosenBy, EarlyImage, ModuleBuild, NextStart
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.version import Version

_PROBLEM = "next-start-without-driver"  # what stays open about it
_COMMAND_LINE = "/proc/cmdline"


def next_kernel_has_driver(case: RuleInput) -> Iterator[Verdict]:
    """A module for that kernel, of a branch that serves the cards, which it will load, and that fits the libraries on disk."""
    following = case.machine.next_start
    if not _arises(case) or isinstance(following.kernel, Unknown):
        return
    if isinstance(following.modules, Unknown):
        if following.modules.asked and not _same(case):
            label = text("NVIDIA's modules for kernel {kernel}, which starts next", kernel=following.kernel.value)
            yield from undetermined(_PROBLEM, label, following.modules)
        return
    modules = following.modules.value
    found = next(iter((*_missing(case), *(_unfit(case, modules) if modules else ()))), None)
    if found is not None:
        yield found
    elif modules and not _same(case):
        yield from _trust_is_open(case, modules)
        yield Passed(text("driver after the next start"))


def early_image_is_new_enough(case: RuleInput) -> Iterator[Verdict]:
    """What is started before the disk is there was copied once: a later block of nouveau, and a later driver, are not in it."""
    image = case.machine.next_start.early_image
    if not _arises(case) or isinstance(image, Unknown):
        return
    if image.value.modules_after:
        yield _older(case, image, "modules", image.value.modules_after)
    elif _nouveau_may_start(case, image.value):
        yield _older(case, image, "nouveau", image.value.blocks_after)


def restart_waits(case: RuleInput) -> Iterator[Verdict]:
    """What will be otherwise after the restart that waits; nothing where that is told as a problem."""
    following = case.machine.next_start
    if (
        not _asked(case)
        or isinstance(following.kernel, Unknown)
        or any(isinstance(one, Finding) for one in next_kernel_has_driver(case))
    ):
        return
    if any(case.fit(card) is DriverFit.DROPPED for card in case.cards):
        return
    driver, after = value_or(case.driver, None), _version(following)
    other_kernel, other_driver = not _same(case), after is not None and driver is not None and after != driver
    mismatch = any(isinstance(one, Finding) for one in libraries_match_module(case))
    gone, image = following.modules_gone.is_true, value_or(following.deployment, "")
    if not other_kernel and not image and (not other_driver or mismatch):  # the mismatch says itself that a restart ends it
        return
    yield finding(
        "restart-pending",
        proof(text("kernel that runs"), case.machine.host.kernel) if other_kernel else None,
        *_choice_proof(following),
        proof(text("driver that runs"), case.driver) if other_driver else None,
        proof(text("NVIDIA's modules for it"), following.modules, verbatim(str(after))) if after is not None else None,
        proof(text("modules of the kernel that runs"), following.modules_gone, text("removed")) if gone else None,
        _packages_proof(following),
        kernel=value_or(case.machine.host.kernel, "") if other_kernel else "",
        kernel_after=following.kernel.value if other_kernel else "",
        driver=str(driver) if other_driver else "",
        driver_after=str(after) if other_driver else "",
        driver_stays=str(driver) if after is not None and after == driver else "",
        mends="yes" if mismatch and after in _libraries(case) else "",
        gone="yes" if gone else "",
        image=image[:12],
        guess=_guess(following),
    )


def _asked(case: RuleInput) -> bool:
    return bool(case.cards) and not case.wsl and not case.container and not case.jetson


def _arises(case: RuleInput) -> bool:
    """Whether there is a driver at work to lose: what keeps one from working now is told by others."""
    return _asked(case) and case.running


def _same(case: RuleInput) -> bool:
    """Whether the kernel and the system that run start again."""
    following = case.machine.next_start
    kernel = case.machine.host.kernel
    again = isinstance(kernel, Known) and isinstance(following.kernel, Known) and kernel.value == following.kernel.value
    return again and not value_or(following.deployment, "")


def _libraries(case: RuleInput) -> set[Version]:
    every = value_or(case.machine.driver.libcuda, ())
    return {one.version.value for one in every if isinstance(one.version, Known)}


def _version(following: NextStart) -> Version | None:
    """That of the driver which the next start loads; None where it has none, several, or it is not known."""
    versions = {one.version.value for one in value_or(following.modules, ()) if isinstance(one.version, Known)}
    return next(iter(versions)) if len(versions) == 1 else None


def _guess(following: NextStart) -> str:
    return "yes" if value_or(following.chosen_by, None) is ChosenBy.NEWEST else ""


CHOSEN: dict[ChosenBy, Text] = {
    ChosenBy.ONLY: text("the only kernel that is installed"),
    ChosenBy.SETTING: text("named by the boot loader's setting"),
    ChosenBy.FIRST: text("the first that the boot loader lists"),
    ChosenBy.IMAGE: text("that of the system image that waits for the restart"),
    ChosenBy.NEWEST: text("the newest that is installed; what the boot loader starts could not be read"),
}


def _choice_proof(following: NextStart) -> tuple[Evidence | None, ...]:
    by = value_or(following.chosen_by, None)
    why = text("{kernel}: {why}", kernel=value_or(following.kernel, ""), why=CHOSEN[by]) if by is not None else None
    unread = (Evidence(text("not read"), one, "") for one in following.unread[:3])
    return (proof(text("kernel that starts next"), following.kernel, why), *unread)


def _packages_proof(following: NextStart) -> Evidence | None:
    packages = value_or(following.restart_packages, ())
    return (
        proof(text("packages that wait for the restart"), following.restart_packages, verbatim(listed(packages[:6])))
        if packages
        else None
    )


# No module, or one that will not be loaded, or not serve.


def _problem(
    case: RuleInput,
    cause: str,
    *evidence: Evidence | None,
    build: ModuleBuild | None = None,
    built_at_start: str = "",
    signer: str = "",
    version: str = "",
) -> Finding:
    following = case.machine.next_start
    return finding(
        "next-start-without-driver",
        *_choice_proof(following),
        *evidence,
        kernel=value_or(following.kernel, ""),
        running="" if _same(case) else value_or(case.machine.host.kernel, ""),
        startable=_startable(case),
        cause=cause,
        guess=_guess(following),
        built_at_start=built_at_start,
        error=build.error if build is not None else "",
        log=build.log if build is not None else "",
        signer=signer,
        version=build.version if build is not None else version,
    )


def _startable(case: RuleInput) -> str:
    """The kernel that runs, where it can be chosen at the next start instead: Arch removes it when a new one comes."""
    following, kernel = case.machine.next_start, value_or(case.machine.host.kernel, "")
    there = kernel in value_or(following.kernels, ()) or bool(value_or(following.deployment, ""))
    return kernel if there and not _same(case) else ""


def _missing(case: RuleInput) -> Iterator[Finding]:
    """Told where a driver is installed here: one that a container brought into the kernel will be brought again."""
    following, driver = case.machine.next_start, case.machine.driver
    builds = value_or(following.builds, ())
    installed = _libraries(case) or builds or (value_or(driver.on_disk, ()) and not _same(case))
    if value_or(following.modules, ()) or not installed:
        return
    none = proof(text("NVIDIA's modules for it"), following.modules, text("none"))
    failed = next((one for one in builds if one.state is BuildState.FAILED), None)
    bare = isinstance(following.headers, Known) and not following.headers.value
    build = builds[-1] if builds else None
    if value_or(following.deployment, ""):
        yield _problem(case, "image", none)
    elif failed is not None:
        words = verbatim(failed.error or failed.state.value)
        label = text("build of driver {version}", version=failed.version) if failed.version else text("build of the driver")
        shown = Evidence(label, words, failed.log)
        yield _problem(case, "failed", none, shown, build=failed)
    elif build is not None and bare:
        headers = proof(text("headers of that kernel"), following.headers, text("none"))
        yield _problem(case, "headers", none, headers, _build_proof(following, build), build=build)
    elif build is not None:
        services = value_or(following.built_at_start, ())
        own = next((one for one in services if one.startswith(build.tool.value)), "")
        of_build = _build_proof(following, build)
        yield _problem(case, "missing", none, of_build, build=build, built_at_start=own if not _same(case) else "")
    elif value_or(driver.uninstaller, ""):
        tool = proof(text("NVIDIA's own installer left"), driver.uninstaller)
        yield _problem(case, "installer", none, tool, version=str(value_or(case.driver, "")))
    else:
        yield _problem(case, "missing", none, _packages_of_driver(case))


def _packages_of_driver(case: RuleInput) -> Evidence | None:
    packages = value_or(case.machine.driver.driver_packages, ())
    return proof(text("driver packages"), case.machine.driver.driver_packages, verbatim(listed(packages[:6]))) if packages else None


def _build_proof(following: NextStart, build: ModuleBuild) -> Evidence | None:
    words = text("{tool}: {state}", tool=build.tool.value, state=verbatim(f"{build.version} {build.state.value}".strip()))
    return proof(text("driver that is built here"), following.builds, words)


def _unfit(case: RuleInput, modules: tuple[KernelModule, ...]) -> Iterator[Finding]:
    """Of the same kernel others judge all of it."""
    if _same(case):
        return
    yield from _refused(case, modules)
    libraries = _libraries(case)
    versions = {one.version.value for one in modules if isinstance(one.version, Known)}
    if libraries and versions and not versions & libraries and all(isinstance(one.version, Known) for one in modules):
        following = case.machine.next_start
        yield finding(
            "next-start-driver-mismatch",
            *_choice_proof(following),
            proof(text("NVIDIA's modules for it"), following.modules, verbatim(_in_a_row(versions))),
            proof(text("driver libraries on disk"), case.machine.driver.libcuda, verbatim(_in_a_row(libraries))),
            kernel=value_or(following.kernel, ""),
            running=_startable(case),
            module=_in_a_row(versions),
            libraries=_in_a_row(libraries),
            guess=_guess(following),
        )


def _in_a_row(versions: set[Version]) -> str:
    return listed([str(one) for one in sorted(versions)])


def _refused(case: RuleInput, modules: tuple[KernelModule, ...]) -> Iterator[Finding]:
    """Under Secure Boot: a module without a signature, or with a key that the computer does not know. Not told where the module
    that is loaded has none either: such a kernel takes it.
    """
    host, following = case.machine.host, case.machine.next_start
    if not host.secure_boot.is_true or host.key_pending.is_true or not _asks_for_signatures(case):
        return
    secure = proof(text("Secure Boot"), host.secure_boot, text("on"))
    bare = next((one for one in modules if isinstance(one.signer, Known) and not one.signer.value), None)
    if bare is not None:
        yield _problem(case, "unsigned", secure, proof(text("signature of {path}", path=bare.path), bare.signer, text("none")))
    elif isinstance(following.key_known, Known) and not following.key_known.value and not _known_signer(case, modules):
        signer = next(one.signer.value for one in modules if isinstance(one.signer, Known))
        shown = proof(text("key of its modules"), following.key_known, text("{signer}: not enrolled", signer=signer))
        yield _problem(case, "key", secure, shown, signer=signer)


def _asks_for_signatures(case: RuleInput) -> bool:
    signers = [one.signer for one in value_or(case.machine.driver.on_disk, ())]
    return not any(isinstance(one, Known) and not one.value for one in signers)


def _known_signer(case: RuleInput, modules: tuple[KernelModule, ...]) -> bool:
    """Whether the module that is loaded now is signed by the same key."""
    loaded = {value_or(one.signer, "") for one in value_or(case.machine.driver.on_disk, ())} - {""}
    return bool(loaded & {value_or(one.signer, "") for one in modules})


def _trust_is_open(case: RuleInput, modules: tuple[KernelModule, ...]) -> Iterator[Verdict]:
    known = case.machine.next_start.key_known
    hidden = case.machine.host.secure_boot.is_true and isinstance(known, Unknown) and known.asked
    if hidden and not _known_signer(case, modules) and _asks_for_signatures(case):
        yield from undetermined(_PROBLEM, text("whether the key of the next kernel's NVIDIA module is enrolled"), known)


# The early boot image.


def _older(case: RuleInput, image: Known[EarlyImage], reason: str, later: tuple[str, ...]) -> Finding:
    following = case.machine.next_start
    return finding(
        "next-start-initramfs-old",
        *_choice_proof(following),
        proof(
            text("early boot image of it"),
            image,
            text("{path}, written {when}", path=image.value.path, when=image.value.written[:16].replace("T", " ")),
        ),
        proof(text("written after it"), image, verbatim(listed(later[:4]))),
        kernel=value_or(following.kernel, ""),
        image=image.value.path,
        reason=reason,
        later=listed(later[:4]),
    )


def _nouveau_may_start(case: RuleInput, image: EarlyImage) -> bool:
    """Where each file that forbids it is younger than the image, and the kernel's command line does not."""
    following = case.machine.next_start
    blocks = value_or(following.nouveau_blocks, ())
    files = {one.place.rpartition(":")[0] for one in blocks if ":" in one.place}
    by_line = any(":" not in one.place for one in blocks)
    by_line = by_line or any(
        one.module == "nouveau" and one.place == _COMMAND_LINE for one in value_or(case.machine.driver.bars, ())
    )
    there = following.nouveau
    return bool(files) and files <= set(image.blocks_after) and not by_line and there.is_true


RULES = (next_kernel_has_driver, early_image_is_new_enough, restart_waits)
