"""Is there a GPU, does NVIDIA's driver run it, and may a container use it? What follows from a cause is not reported again."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import KnownGpu, RuleInput
from gpuassist.diagnose.verdicts import Verdict, finding, listed, named, proof, undetermined
from gpuassist.knowledge.choice import DriverChoice, choose_driver
from gpuassist.knowledge.compatibility import DriverFit, driver_serves_gpu
from gpuassist.model.driver import ModuleBlock
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.finding import Evidence, Passed
from gpuassist.model.text import text, verbatim

_NOT_LOADED = 9  # NVML_ERROR_DRIVER_NOT_LOADED (nvml.h)
# NVML_ERROR_NO_PERMISSION, _OPERATING_SYSTEM, _UNKNOWN (nvml.h): what a node ends in that may not be opened.
_REFUSED = frozenset({4, 17, 999})
_NAMES = {"lxc": "LXC"}
_OTHER_DRIVERS = frozenset({"nouveau", "nova", "nova_core"})


def gpu_present(case: RuleInput) -> Iterator[Verdict]:
    """A GPU must be seen at all: on the PCI bus, or under WSL2 by NVML."""
    gpus = case.machine.gpus
    if isinstance(gpus, Unknown):
        yield from undetermined("no-nvidia-gpu", text("the GPUs of this machine"), gpus)
    elif not gpus.value and not case.wsl and not case.jetson:
        yield finding("no-nvidia-gpu", proof(text("NVIDIA GPUs found"), gpus, text("none")), container=case.container)
    elif gpus.value:
        yield Passed(text("GPU found"))
    if case.set_aside:
        yield finding(
            "gpu-reserved-for-vm",
            *(proof(text("kernel driver of {gpu}", gpu=card.name), card.gpu.kernel_driver) for card in case.set_aside),
            gpu=named(case.set_aside),
            others=named(case.cards),
        )


def driver_runs(case: RuleInput) -> Iterator[Verdict]:
    """NVIDIA's kernel module must be loaded, and nothing else may hold the card."""
    if not case.cards or case.wsl:
        return
    held = [card for card in case.cards if _is_held(case, card)]
    loaded = case.machine.driver.loaded
    if held:
        yield _nouveau(case, held)
    if len(held) == len(case.cards):
        return
    if case.reached:
        yield Passed(text("driver"))  # whatever else is not to be seen from here, as in a container
    elif isinstance(loaded, Unknown):
        yield from _without_the_module_fact(case, loaded)
    elif case.system_container and loaded.value and case.without_nodes:
        return  # devices_are_allowed says how this kind is given its devices
    elif case.container and (not loaded.value or case.without_nodes):
        yield finding(
            "container-no-gpu-flag",
            _loaded(case) if not loaded.value else proof(text("device nodes"), case.machine.driver.device_nodes, text("none")),
            container=case.container,
            gpu=named(case.cards),
            jetson="yes" if case.jetson else "",
        )
    elif loaded.value:
        yield Passed(text("driver"))
    else:
        yield from _not_loaded(case)


def wsl_driver_runs(case: RuleInput) -> Iterator[Verdict]:
    """Under WSL2 the Windows driver serves the GPU through libcuda in /usr/lib/wsl/lib."""
    if not case.wsl:
        return
    libcuda = case.machine.driver.libcuda
    every, foreign = value_or(libcuda, ()), case.linux_driver_in_wsl
    if foreign and len(foreign) < len(every):
        yield finding("wsl-linux-driver-installed", proof(text("libcuda beside Windows' own"), libcuda, verbatim(listed(foreign))))
    status = case.machine.driver.nvml_status
    if isinstance(status, Known) and status.value.code == 0:
        yield Passed(text("Windows driver"))
    elif isinstance(libcuda, Known) and len(foreign) == len(every):
        first = value_or(case.machine.host.wsl, 0) == 1
        yield finding(
            "wsl-driver-or-windows",
            proof(text("libcuda of the Windows driver"), libcuda, text("none")),
            first="yes" if first else "",
        )
    else:
        # Windows' libcuda is there and NVML fails (17: access blocked by the operating system): no sound machine, cause unknown.
        refused = Unknown(text("NVML does not start: {name}", name=status.value.name)) if isinstance(status, Known) else status
        yield from undetermined("wsl-driver-or-windows", text("whether the Windows driver answers"), libcuda, refused)


def devices_are_allowed(case: RuleInput) -> Iterator[Verdict]:
    """Nodes that are missing, or that look usable and are refused by the host's device rules, which no file here shows."""
    nodes, status = case.machine.driver.device_nodes, case.machine.driver.nvml_status
    if not (case.system_container and case.cards and case.loaded and isinstance(nodes, Known)):
        return
    usable = bool(nodes.value) and all(node.readable and node.writable for node in nodes.value)
    refused = usable and isinstance(status, Known) and status.value.code in _REFUSED
    if not nodes.value or refused:
        yield finding(
            "container-lxc-devices",
            proof(text("device nodes"), nodes, verbatim(listed([node.path for node in nodes.value])) if refused else text("none")),
            proof(text("NVML"), status, verbatim(status.value.name)) if refused and isinstance(status, Known) else None,
            kind=_NAMES.get(case.container, case.container),
            gpu=named(case.cards),
        )


def _is_held(case: RuleInput, card: KnownGpu) -> bool:
    """Whether another driver has the card; where that was not to be read, a loaded nouveau without NVIDIA's module has it."""
    if isinstance(card.gpu.kernel_driver, Known):
        return card.gpu.kernel_driver.value in _OTHER_DRIVERS
    nouveau = case.machine.driver.nouveau_loaded
    return isinstance(nouveau, Known) and nouveau.value and not case.running


def _nouveau(case: RuleInput, held: list[KnownGpu]) -> Verdict:
    facts = [proof(text("kernel driver of {gpu}", gpu=card.name), card.gpu.kernel_driver) for card in held]
    loaded = proof(text("nouveau"), case.machine.driver.nouveau_loaded, text("loaded")) if None in facts else None
    barred = bars(case, "nouveau")
    # The GPUs that NVIDIA's driver runs beside those that nouveau has: somebody may want it so.
    by_nouveau = set(held)
    return finding(
        "nouveau-active",
        *facts,
        loaded,
        *(bar_proof(case, bar) for bar in barred[:1]),
        gpu=named(held),
        others=named(card for card in case.cards if card not in by_nouveau) if case.running else "",
        blacklisted=barred[0].place if barred else "",
        **_what_to_install(case),
    )


def _not_loaded(case: RuleInput) -> Iterator[Verdict]:
    on_disk, libcuda = case.machine.driver.on_disk, case.machine.driver.libcuda
    kernel = value_or(case.machine.host.kernel, "")
    what = _what_to_install(case)
    cause = tuple(named_cause(case)) or tuple(_left_behind(case))
    if cause:
        yield from cause
    elif isinstance(on_disk, Known) and on_disk.value:
        module = on_disk.value[0]
        secure = "yes" if case.machine.host.secure_boot.is_true else ""
        yield finding(
            "driver-not-loaded",
            _loaded(case),
            proof(text("NVIDIA module on disk"), on_disk, verbatim(module.path)),
            proof(text("Secure Boot"), case.machine.host.secure_boot, text("on")) if secure else None,
            gpu=named(case.cards),
            kernel=kernel,
            module=module.path,
            secure_boot=secure,
        )
    elif isinstance(libcuda, Known) and libcuda.value:
        libraries = proof(text("the driver's libraries"), libcuda, verbatim(libcuda.value[0].path))
        gone = proof(text("module for this kernel"), on_disk, text("none"))
        yield finding(
            "driver-not-loaded", _loaded(case), gone, libraries, gpu=named(case.cards), kernel=kernel, module="", secure_boot=""
        )
    else:
        nothing = proof(text("NVIDIA module on disk"), on_disk, text("none"))
        yield finding("no-driver", _loaded(case), nothing, gpu=named(case.cards), **what)


def _left_behind(case: RuleInput) -> Iterator[Verdict]:
    """The module on disk is of a branch that no longer serves a card: an update brought it, and it takes no such card."""
    on_disk = case.machine.driver.on_disk
    module = next(iter(value_or(on_disk, ())), None)
    if module is None or not isinstance(module.version, Known):
        return
    for card in case.cards:
        architecture, version = card.architecture, module.version.value
        if architecture is not None and driver_serves_gpu(version, architecture, card.chip) is DriverFit.DROPPED:
            yield finding(
                "legacy-driver-branch-needed",
                proof(text("NVIDIA module on disk"), on_disk, verbatim(str(version))),
                proof(text("architecture of {gpu}", gpu=card.name), card.gpu.architecture),
                gpu=card.name,
                architecture=architecture.name,
                driver=str(version),
                branch=str(architecture.last_branch),
                waits="",
            )


def _without_the_module_fact(case: RuleInput, loaded: Unknown) -> Iterator[Verdict]:
    status = case.machine.driver.nvml_status
    if isinstance(status, Known) and status.value.code in {0, 18}:
        yield Passed(text("driver"))
    elif isinstance(status, Known) and status.value.code == _NOT_LOADED:
        yield from _not_loaded(case)
    elif isinstance(case.driver, Known):
        yield Passed(text("driver"))
    else:
        yield from undetermined("no-driver", text("whether NVIDIA's kernel module is loaded"), loaded)


def _what_to_install(case: RuleInput) -> dict[str, str]:
    choice = best_driver(case)
    return {"branch": str(choice.best.branch) if choice.best else "", "split": "yes" if choice.split else ""}


def best_driver(case: RuleInput) -> DriverChoice:
    """The driver that would serve every GPU of the machine; none where one of them is not known."""
    if any(card.architecture is None for card in case.cards):
        return DriverChoice((), None, open_module=False)
    return choose_driver(case.knowledge.branches(), case.wishes, today=case.machine.taken_at[:10], one_module=not case.wsl)


def _loaded(case: RuleInput) -> Evidence | None:
    status = case.machine.driver.nvml_status
    told = proof(text("NVML"), status, verbatim(status.value.name)) if isinstance(status, Known) else None
    return proof(text("loaded NVIDIA module"), case.machine.driver.loaded, text("none")) or told


# Why a driver that is there does not run, where the facts name it: forbidden, its key not confirmed, a kernel that it refuses.
def named_cause(case: RuleInput) -> Iterator[Verdict]:
    """At most one, for a driver that is there and not loaded."""
    if not value_or(case.machine.driver.on_disk, ()):
        host, driver = case.machine.host, case.machine.driver
        if host.realtime.is_true and isinstance(driver.on_disk, Known) and value_or(driver.libcuda, ()):
            yield finding(
                "dkms-build-failed",
                proof(text("real-time kernel"), host.realtime, text("yes")),
                proof(text("module for this kernel"), driver.on_disk, text("none")),
                driver="",
                kernel=value_or(host.kernel, ""),
                flavour="PREEMPT_RT",
                realtime="yes",
            )
    elif barred := bars(case, "nvidia"):
        bar = barred[0]
        yield finding(
            "driver-module-blacklisted",
            proof(text("loaded NVIDIA module"), case.machine.driver.loaded, text("none")),
            bar_proof(case, bar),
            gpu=named(case.cards),
            place=bar.place,
            line=bar.words,
            command_line="yes" if bar.place == "/proc/cmdline" else "",
        )
    else:
        host = case.machine.host
        if host.key_pending.is_true and host.secure_boot.is_true:
            yield finding(
                "secure-boot-mok-pending",
                proof(text("loaded NVIDIA module"), case.machine.driver.loaded, text("none")),
                proof(text("Secure Boot"), host.secure_boot, text("on")),
                proof(text("key that waits to be confirmed"), host.key_pending, text("there is one")),
                gpu=named(case.cards),
            )


def bars(case: RuleInput, module: str) -> tuple[ModuleBlock, ...]:
    """The settings that forbid the module."""
    return tuple(bar for bar in value_or(case.machine.driver.bars, ()) if bar.module == module)


def bar_proof(case: RuleInput, bar: ModuleBlock) -> Evidence | None:
    return proof(text("setting in {place}", place=bar.place), case.machine.driver.bars, verbatim(bar.words))


RULES = (gpu_present, driver_runs, wsl_driver_runs, devices_are_allowed)
