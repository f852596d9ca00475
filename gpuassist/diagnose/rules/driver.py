"""Does the driver that runs fit its own libraries, every GPU, the user's permissions and torch's CUDA?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuassist.diagnose.case import InstalledTorch, KnownGpu, RuleInput, wishes_of
from gpuassist.diagnose.forward_compatibility import package_for
from gpuassist.diagnose.verdicts import Verdict, finding, listed, named, proof, undetermined
from gpuassist.knowledge.choice import GpuWish, choose_driver
from gpuassist.knowledge.compatibility import DriverFit
from gpuassist.knowledge.records import ModuleFlavour
from gpuassist.model.driver import KernelModule, Library
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.finding import Evidence, Finding, Passed
from gpuassist.model.gpu import PowerState
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.version import Version

_MISMATCH = 18  # NVML_ERROR_LIB_RM_VERSION_MISMATCH (nvml.h)
# NVML_SUCCESS, _DRIVER_NOT_LOADED, _LIBRARY_NOT_FOUND (the tools' package alone is missing), _LIB_RM_VERSION_MISMATCH (nvml.h)
_TOLD_ELSEWHERE = frozenset({0, 9, 12, _MISMATCH})
_MODULE_PACKAGES = ("linux-modules-nvidia-", "nvidia-dkms-", "nvidia-kernel-")
_LIBRARY_PACKAGES = ("libnvidia-compute-", "nvidia-utils-")
_BRANCH = lazy_regex(r"-(\d{3})(?=-|$)")
_NEEDED_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm")


def libraries_match_module(case: RuleInput) -> Iterator[Verdict]:
    """The loaded module and the libraries on disk must be of one version.

    NVML itself tells that they are not where the PCI tree shows no GPU, as in a container, because only NVML could list them there.
    """
    driver = case.machine.driver
    told = driver.nvml_status
    refused = isinstance(told, Known) and told.value.code == _MISMATCH
    gpus = case.machine.gpus
    seen = bool(case.cards) or (refused and isinstance(gpus, Unknown) and gpus.asked)
    # The library of a Jetson has a number of its own: libcuda.so.1.1 of Jetson Linux 35.
    if case.wsl or case.jetson or not seen or not (case.running or isinstance(driver.loaded, Unknown)):
        return
    loaded, libraries = _loaded_version(case), _versions(value_or(driver.libcuda, ()))
    differs = isinstance(loaded, Known) and bool(libraries) and loaded.value not in libraries
    if refused or differs:
        on_disk, halves = _versions(value_or(driver.on_disk, ())), packages_of_two_branches(case)
        yield finding(
            "driver-library-mismatch",
            proof(text("loaded kernel module"), loaded),
            proof(text("driver libraries on disk"), driver.libcuda, verbatim(listed([str(one) for one in libraries])))
            if libraries
            else None,
            proof(text("module on disk"), driver.on_disk, verbatim(listed([str(one) for one in on_disk]))) if on_disk else None,
            proof(text("NVML"), told, verbatim(told.value.name)) if refused and isinstance(told, Known) else None,
            _unattended(case),
            loaded=str(loaded.value) if isinstance(loaded, Known) else "",
            libraries=listed([str(one) for one in libraries]) if differs else "",
            reboot_is_enough="yes" if set(on_disk) & set(libraries) and not any(halves) else "",
            module_packages=listed(halves[0]),
            library_packages=listed(halves[1]),
            unattended="yes" if _unattended(case) else "",
            system="yes" if case.system_container else "",
        )
    elif (isinstance(loaded, Known) and libraries) or (isinstance(told, Known) and told.value.code == 0):
        yield Passed(text("kernel module and libraries agree"))
    else:
        yield from undetermined("driver-library-mismatch", text("the versions of the driver's two halves"), loaded, told)


def packages_of_two_branches(case: RuleInput) -> tuple[list[str], list[str]]:
    """The packages of the kernel module and those of the libraries, where they are of different branches; else none."""
    packages = value_or(case.machine.driver.driver_packages, ())
    modules = [one for one in packages if one.startswith(_MODULE_PACKAGES)]
    libraries = [one for one in packages if one.startswith(_LIBRARY_PACKAGES)]
    branches = [{int(found[1]) for one in half if (found := _BRANCH.search(one))} for half in (modules, libraries)]
    on_disk = {one.major for one in _versions(value_or(case.machine.driver.on_disk, ()))}
    # Of a branch whose module is there for another kernel alone nothing is loaded here.
    apart = all(branches) and not branches[0] & branches[1] and not on_disk & branches[1]
    return (modules, libraries) if apart else ([], [])


def library_is_there(case: RuleInput) -> Iterator[Verdict]:
    """Programs reach the driver through libcuda."""
    libcuda = case.machine.driver.libcuda
    if case.wsl or not case.running or case.without_nodes:
        return
    if isinstance(libcuda, Unknown):
        yield from undetermined("libcuda-missing", text("whether libcuda is installed"), libcuda)
    elif not libcuda.value:
        branch = str(case.driver.value.major) if isinstance(case.driver, Known) else ""
        asked_for = case.variable("NVIDIA_DRIVER_CAPABILITIES") if case.container else ""
        yield finding(
            "libcuda-missing",
            proof(text("libcuda"), libcuda, text("none")),
            proof(verbatim("NVIDIA_DRIVER_CAPABILITIES"), case.terminal, verbatim(asked_for)) if asked_for else None,
            branch=branch,
            capabilities=asked_for,
            system="yes" if case.system_container else "",
        )


def one_driver_serves_all(case: RuleInput) -> Iterator[Verdict]:
    """Old GPUs that need the proprietary module and new ones that need the open one have no common Linux driver."""
    old, new = _split(case)
    if not (old and new):
        return
    opened = case.open_module
    dead = [card for card in (*old, *new) if case.ruled_out(card)] if isinstance(opened, Known) else []
    alive = [card for card in (*old, *new) if not case.ruled_out(card)] if dead else []
    yield finding(
        "open-module-required",
        *(proof(text("architecture of {gpu}", gpu=card.name), card.gpu.architecture) for card in (*old, *new)),
        proof(text("loaded module"), opened, _flavour(opened.is_true)),
        gpu=named(new),
        mixed="yes",
        old=named(old),
        new=named(new),
        dead=named(dead),
        alive=named(alive),
        runs_new="yes" if alive == new else "",
        runs_old="yes" if alive == old else "",
        branch=_branch(case, wishes_of(new)),
        old_branch=_branch(case, wishes_of(old)),
    )


def module_flavour_fits(case: RuleInput) -> Iterator[Verdict]:
    """Blackwell and later need the open module; before Turing there is only the proprietary one."""
    cards = [card for card in case.cards if case.fit(card) is not DriverFit.TOO_OLD]  # those have a finding that says so
    opened = case.open_module
    strict = [card for card in cards if card.flavour in {ModuleFlavour.OPEN_IMPOSSIBLE, ModuleFlavour.OPEN_REQUIRED}]
    if case.without_flavours or not cards or all(_split(case)):
        return
    if isinstance(case.machine.driver.loaded, Known) and not case.loaded:
        return
    if isinstance(opened, Unknown):
        if any(isinstance(card.gpu.uuid, Unknown) for card in strict):  # one that NVML lists is served
            yield from undetermined("open-module-required", text("whether the loaded module is the open one"), opened)
        return
    wrong = ModuleFlavour.OPEN_IMPOSSIBLE if opened.value else ModuleFlavour.OPEN_REQUIRED
    for card in strict:
        if card.flavour is wrong:
            name = "open-module-unsupported-gpu" if opened.value else "open-module-required"
            yield finding(
                name,
                proof(text("architecture of {gpu}", gpu=card.name), card.gpu.architecture),
                proof(text("loaded module"), opened, _flavour(opened.value)),
                gpu=card.name,
                mixed="",
                driver=str(value_or(case.driver, Version(()))),
                branch=_branch(case, wishes_of([card])),
            )
            return
    yield Passed(text("open or proprietary module"))


def driver_serves_gpus(case: RuleInput) -> Iterator[Verdict]:
    """A driver can be older than a card, or have left the card behind; where none serves all, another finding says so."""
    if not case.cards or all(_split(case)):
        return
    if isinstance(case.serving, Unknown) or isinstance(case.driver, Unknown):
        if case.loaded or case.wsl:
            yield from undetermined("driver-too-old-for-gpu", text("the driver's version"), case.serving)
        return
    fits = {card: case.fit(card) for card in case.cards}
    for card, fit in fits.items():
        if fit is DriverFit.TOO_OLD:
            yield _gpu_too_new(case, card, case.driver)
        elif fit is DriverFit.DROPPED:
            yield _gpu_dropped(case, card, case.driver)
    if DriverFit.UNKNOWN not in fits.values() and not {DriverFit.TOO_OLD, DriverFit.DROPPED} & set(fits.values()):
        yield Passed(text("driver knows the GPU"))


def driver_serves_torch(case: RuleInput) -> Iterator[Verdict]:
    """torch's CUDA needs a driver of its major's floor; a newer minor is no obstacle."""
    if not case.usable or not case.cuda_torches:
        return
    if isinstance(case.serving, Unknown) or isinstance(case.driver, Unknown):
        if case.loaded or case.wsl:
            yield from undetermined("driver-too-old-for-cuda", text("the driver's version"), case.serving)
        return
    told = [one for one in case.cuda_torches if isinstance(one.torch.cuda, Known)]
    untold = [one for one in case.cuda_torches if isinstance(one.torch.cuda, Unknown)]
    refused = [one for one in told if not case.serves(value_or(one.torch.cuda, Version(())))]
    if len(refused) < len(told):
        yield Passed(text("driver serves torch's CUDA"))
    elif untold:
        label = text("the CUDA that torch in {name} was built with", name=untold[0].environment.name)
        yield from undetermined("driver-too-old-for-cuda", label, untold[0].torch.cuda)
    elif case.jetson:
        yield _newer_than_the_board(case, refused[0])
    else:
        yield _too_old_for(case, case.driver, refused[0])


def devices_may_be_opened(case: RuleInput) -> Iterator[Verdict]:
    """The user must be allowed to read and write the device nodes."""
    nodes = case.machine.driver.device_nodes
    if not case.loaded and not value_or(nodes, ()):
        return
    if isinstance(nodes, Unknown):
        yield from undetermined("device-permissions", text("the permissions of /dev/nvidia*"), nodes)
        return
    needed = [one for one in nodes.value if one.path in _NEEDED_NODES or one.path.removeprefix("/dev/nvidia").isdigit()]
    closed = [node for node in needed if not (node.readable and node.writable)]
    if closed:
        group = closed[0].owner.partition(":")[2]
        yield finding(
            "device-permissions",
            *(
                proof(verbatim(node.path), nodes, text("{owner}, mode {mode}", owner=node.owner, mode=f"{node.mode & 0o777:04o}"))
                for node in closed
            ),
            node=closed[0].path,
            group=group if group != "root" and closed[0].mode & 0o060 == 0o060 else "",
        )
    elif nodes.value:
        yield Passed(text("permissions"))


def driver_answers(case: RuleInput) -> Iterator[Verdict]:
    """NVML must start where the driver is loaded and whole, and come back; a sleeping GPU is not asked."""
    told, fault = case.machine.driver.nvml_status, case.machine.driver.nvml_fault
    if isinstance(fault, Known) and fault.value:
        yield from _does_not_answer(case, fault)
        return
    asleep = any(value_or(card.gpu.power_state, PowerState.ACTIVE) is PowerState.ASLEEP for card in case.cards)
    if not case.loaded or not case.usable or asleep:
        return
    if isinstance(told, Unknown):
        if told.asked:
            yield from undetermined("cuda-init-failed-driver-state", text("whether the driver answers"), told)
    elif told.value.code not in _TOLD_ELSEWHERE and not _has_finding(case) and not case.system_container:
        yield finding(
            "cuda-init-failed-driver-state",
            proof(text("NVML"), told, verbatim(told.value.name)),
            proof(text("loaded kernel module"), case.loaded[0].version),
            gpu=named(case.usable),
            driver=str(value_or(case.driver, "")),
            status=told.value.name,
            container=case.container,
        )


def _does_not_answer(case: RuleInput, fault: Known[str]) -> Iterator[Verdict]:
    """NVML hangs or crashes: where no driver runs, or its halves do not fit, or another driver has the GPUs, that is the cause."""
    without_driver = isinstance(case.machine.driver.loaded, Known) and not case.loaded
    if (case.cards and (without_driver or not case.usable) and not case.wsl) or _has_finding(case):
        return
    hangs = fault.value == "hang"
    yield finding(
        "driver-does-not-answer",
        proof(text("NVML"), fault, text("did not come back") if hangs else text("crashed with {signal}", signal=fault.value)),
        proof(text("loaded kernel module"), case.loaded[0].version) if case.loaded else None,
        gpu=named(case.usable),
        crash="" if hangs else fault.value,
    )


def _unattended(case: RuleInput) -> Evidence | None:
    fact = case.machine.host.unattended
    return proof(text("packages upgrade by themselves"), fact, text("yes")) if fact.is_true else None


def _split(case: RuleInput) -> tuple[list[KnownGpu], list[KnownGpu]]:
    """The GPUs that need the proprietary module, and those that need the open one; some drivers know no such split."""
    cards = () if case.without_flavours else case.cards
    old = [card for card in cards if card.flavour is ModuleFlavour.OPEN_IMPOSSIBLE]
    return old, [card for card in cards if card.flavour is ModuleFlavour.OPEN_REQUIRED]


def _has_finding(case: RuleInput) -> bool:
    rules = (libraries_match_module, module_flavour_fits, devices_may_be_opened)
    return any(isinstance(verdict, Finding) for rule in rules for verdict in rule(case))


def _loaded_version(case: RuleInput) -> Fact[Version]:
    loaded = case.machine.driver.loaded
    return case.loaded[0].version if case.loaded else loaded if isinstance(loaded, Unknown) else NOT_ASKED


def _gpu_too_new(case: RuleInput, card: KnownGpu, driver: Known[Version]) -> Verdict:
    chips = card.architecture.chips if card.architecture else ()
    first = next((chip.first_driver for chip in chips if chip.chip == card.chip), None)
    return finding(
        "driver-too-old-for-gpu",
        proof(text("driver"), driver),
        proof(text("architecture of {gpu}", gpu=card.name), card.gpu.architecture),
        gpu=card.name,
        driver=str(driver.value),
        first=str(first) if first else "",
        branch=_branch(case, case.wishes),
    )


def _gpu_dropped(case: RuleInput, card: KnownGpu, driver: Known[Version]) -> Verdict:
    """By the driver that runs, or by one that waits for the restart: then the card still works."""
    last = str(card.architecture.last_branch) if card.architecture else ""
    waiting = case.after_restart
    if waiting is not None and isinstance(waiting.version, Known):
        driver = waiting.version
    return finding(
        "legacy-driver-branch-needed",
        proof(text("driver"), driver),
        proof(text("architecture of {gpu}", gpu=card.name), card.gpu.architecture),
        gpu=card.name,
        architecture=card.architecture.name if card.architecture else "",
        driver=str(driver.value),
        branch=last,
        waits="yes" if waiting is not None else "",
    )


def _too_old_for(case: RuleInput, driver: Known[Version], one: InstalledTorch) -> Verdict:
    cuda = value_or(one.torch.cuda, Version(()))
    compat = package_for(case, cuda)
    return finding(
        "driver-too-old-for-cuda",
        proof(text("driver"), driver),
        proof(text("CUDA of torch in {name}", name=one.environment.name), one.torch.cuda),
        driver=str(driver.value),
        torch=one.version,
        environment=one.environment.name,
        cuda=str(cuda),
        floor=case.floor(cuda),
        python=value_or(one.environment.interpreter, "python"),
        compat=compat.name if compat else "",
        compat_cuda=str(compat.cuda) if compat else "",
    )


def _newer_than_the_board(case: RuleInput, one: InstalledTorch) -> Verdict:
    """A Jetson's driver is part of its system: no other can be installed."""
    served, (index, wheel) = case.machine.driver.cuda_version, case.jetson_torch
    return finding(
        "torch-needs-newer-jetpack",
        proof(text("driver"), case.driver),
        proof(text("CUDA of the driver"), served),
        proof(text("CUDA of torch in {name}", name=one.environment.name), one.torch.cuda),
        torch=one.version,
        environment=one.environment.name,
        cuda=str(value_or(one.torch.cuda, "")),
        served=str(value_or(served, "")),
        jetpack=str(case.jetpack.release) if case.jetpack else "",
        python=value_or(one.environment.interpreter, ""),
        jetpack_index=index,
        jetpack_wheel=wheel,
    )


def _branch(case: RuleInput, wishes: tuple[GpuWish, ...]) -> str:
    choice = choose_driver(case.knowledge.branches(), wishes, today=case.machine.taken_at[:10], one_module=not case.wsl)
    return str(choice.best.branch) if choice.best else ""


def _versions(found: Iterable[Library | KernelModule]) -> list[Version]:
    return sorted({one.version.value for one in found if isinstance(one.version, Known)})


def _flavour(opened: object) -> Text:
    return text("open kernel module") if opened else text("proprietary kernel module")


RULES = (
    libraries_match_module,
    library_is_there,
    one_driver_serves_all,
    module_flavour_fits,
    driver_serves_gpus,
    driver_serves_torch,
    devices_may_be_opened,
    driver_answers,
)
