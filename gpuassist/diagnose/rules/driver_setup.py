"""Was the driver set up whole, once, and so that every GPU starts: firmware, a place in memory, installers, options, tools?"""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import KnownGpu, RuleInput
from gpuassist.diagnose.rules.driver import driver_serves_torch
from gpuassist.diagnose.rules.presence import best_driver
from gpuassist.diagnose.silent_gpus import all_silent, is_silent
from gpuassist.diagnose.verdicts import Verdict, finding, listed, named, proof, undetermined
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.finding import Evidence, Finding
from gpuassist.model.gpu import Holder, PowerState
from gpuassist.model.text import text, verbatim
from gpuassist.model.version import Version, whole_number

_WITHOUT_FIXES_YEARS = 2
_MONITORS = ("nvidia-smi", "nvtop", "nvitop", "gpustat", "btop", "conky", "waybar", "psensor", "mangohud", "nvidia-settings")


def gpus_start(case: RuleInput) -> Iterator[Verdict]:
    """A GPU needs a place in memory from the computer's firmware, and, with the open module, firmware of its own from a file."""
    if case.wsl or case.container:
        return
    dumb = [card for card in case.cards if isinstance(card.gpu.uuid, Unknown)]  # one that NVML lists has started
    homeless = [card for card in dumb if not value_or(card.gpu.addressed, True)]  # noqa: FBT003 -- the fact's default
    if homeless:
        yield finding(
            "rm-init-adapter-failed",
            *(proof(text("place of {gpu} in memory", gpu=card.name), card.gpu.addressed, text("none")) for card in homeless),
            gpu=named(homeless),
            no_address="yes",
        )
        return
    if not dumb or not _nvml_starts(case):
        return
    found = tuple(_without_firmware(case, dumb)) if len(dumb) == len(case.cards) else ()
    yield from found or _unbound(case, dumb)


def none_is_excluded(case: RuleInput) -> Iterator[Verdict]:
    """An option of the driver can leave a GPU out on purpose."""
    excluded = [card for card in case.cards if card.gpu.excluded.is_true]
    if excluded:
        yield finding(
            "gpu-excluded-by-option",
            *(proof(text("{gpu} left out by the driver", gpu=card.name), card.gpu.excluded, text("yes")) for card in excluded),
            gpu=named(excluded),
            option=_options(case).get("ExcludedGpus", ""),
        )


def installed_once(case: RuleInput) -> Iterator[Verdict]:
    """NVIDIA's own installer and the distribution's packages put different versions of the same files on the disk."""
    driver = case.machine.driver
    packages = value_or(driver.driver_packages, ())
    if case.wsl or case.container or not value_or(driver.uninstaller, "") or not packages:
        return
    yield finding(
        "driver-installed-twice",
        proof(text("NVIDIA's own installer left"), driver.uninstaller),
        proof(text("driver packages of the distribution"), driver.driver_packages, verbatim(listed(packages))),
        uninstaller=value_or(driver.uninstaller, ""),
        packages=listed(packages),
    )


def tool_is_there(case: RuleInput) -> Iterator[Verdict]:
    """Where the driver answers, a missing nvidia-smi is only a missing tool."""
    driver = case.machine.driver
    found = isinstance(case.terminal, Known) and case.terminal.value.command("nvidia-smi") is not None
    if _nvml_starts(case) and isinstance(driver.nvidia_smi, Known) and not driver.nvidia_smi.value and not found:
        yield finding(
            "nvidia-smi-missing",
            proof(text("NVML"), driver.nvml_status, verbatim("NVML_SUCCESS")),
            proof(text("nvidia-smi"), driver.nvidia_smi, text("none")),
            driver=str(value_or(case.driver, "")),
            branch=_branch(case),
        )


def branch_is_cared_for(case: RuleInput) -> Iterator[Verdict]:
    """Told where no fix came for two years, a branch that gets some serves the same GPUs, and nothing else asks for it."""
    branch = next((one for one in case.knowledge.branches() if str(one.branch) == _branch(case)), None)
    today = case.machine.taken_at[:10]
    usable = case.usable and not case.without_flavours and not case.virtual and not case.container
    if branch is None or not usable or not today or not "" < branch.end_of_life < _years_before(today):
        return
    best = best_driver(case).best
    if best is not None and not best.has_ended(today) and not any(isinstance(one, Finding) for one in driver_serves_torch(case)):
        yield finding(
            "driver-branch-end-of-life",
            proof(text("driver"), case.driver),
            Evidence(
                text("end of branch {branch}", branch=str(branch.branch)),
                verbatim(branch.end_of_life),
                branch.source.partition(":")[0],
            ),
            driver=str(value_or(case.driver, "")),
            branch=str(branch.branch),
            ended=branch.end_of_life,
            instead=str(best.branch),
        )


def memory_outlives_sleep(case: RuleInput) -> Iterator[Verdict]:
    """Without its option, the driver keeps only a part of a GPU's memory when the computer sleeps."""
    options, slept = case.machine.driver.options, case.machine.host.slept
    if case.cards and _options(case).get("PreserveVideoMemoryAllocations") == "0" and value_or(slept, 0):
        yield finding(
            "video-memory-lost-over-sleep",
            proof(text("times slept since the start"), slept),
            proof(text("option of the driver"), options, verbatim("PreserveVideoMemoryAllocations=0")),
        )


def may_sleep(case: RuleInput) -> Iterator[Verdict]:
    """A laptop's GPU that may be switched off while idle stays on as long as a monitoring program asks it."""
    idle = [card for card in case.cards if not value_or(card.gpu.processes, ())]
    active = [card for card in idle if value_or(card.gpu.power_state, None) is PowerState.ACTIVE]
    awake = [card for card in active if card.gpu.sleeps.is_true]
    holders = value_or(case.machine.holders, ())
    monitors = [one for one in holders if _program(one.command) in _MONITORS]
    if awake and monitors and len(monitors) == len(holders):
        yield finding(
            "gpu-kept-awake",
            *(proof(text("power state of {gpu}", gpu=card.name), card.gpu.power_state, text("awake")) for card in awake),
            proof(text("programs that have it open"), case.machine.holders, verbatim(_programs(monitors))),
            gpu=named(awake),
            program=_programs(monitors),
        )


def _years_before(today: str) -> str:
    """The month, and nothing where the day is none: a recording says what it likes."""
    year = whole_number(today[:4])
    return "" if year is None else f"{year - _WITHOUT_FIXES_YEARS}{today[4:7]}"


def _options(case: RuleInput) -> dict[str, str]:
    return {one.name: one.value for one in value_or(case.machine.driver.options, ())}


def _nvml_starts(case: RuleInput) -> bool:
    status = case.machine.driver.nvml_status
    return isinstance(status, Known) and status.value.code == 0


def _without_firmware(case: RuleInput, dumb: list[KnownGpu]) -> Iterator[Verdict]:
    """The open module never works without the firmware; the proprietary one can."""
    firmware = case.machine.driver.firmware
    usable = set(case.usable)
    served = [card for card in dumb if card in usable]
    if served and isinstance(firmware, Known) and not firmware.value and case.open_module.is_true:
        yield finding(
            "rm-init-adapter-failed",
            proof(text("loaded module"), case.open_module, text("open kernel module")),
            proof(text("firmware of the driver"), firmware, text("none")),
            gpu=named(served),
            firmware_missing=firmware.source,
            branch=_branch(case),
            driver=str(value_or(case.driver, "")),
        )


def _unbound(case: RuleInput, dumb: list[KnownGpu]) -> Iterator[Verdict]:
    """Of a card that the loaded driver left alone, or has and cannot start, only the kernel's log tells why."""
    usable = set(case.usable)
    left = [card for card in dumb if card in usable and case.left_alone(card)]
    silent = [card for card in dumb if card in usable and is_silent(case, card)]
    if silent and all_silent(case):
        yield finding(
            "nvidia-smi-no-devices",
            *(proof(text("kernel driver of {gpu}", gpu=card.name), card.gpu.kernel_driver) for card in silent),
            proof(text("loaded kernel module"), case.loaded[0].version),
            proof(text("GPUs that NVML lists"), silent[0].gpu.recovery, text("none")),
            gpu=named(silent),
            bound="yes",
        )
    elif silent:
        yield from undetermined("nvidia-smi-no-devices", text("whether {gpu} starts", gpu=named(silent)), silent[0].gpu.uuid)
    if left:
        yield finding(
            "nvidia-smi-no-devices",
            *(proof(text("kernel driver of {gpu}", gpu=card.name), card.gpu.kernel_driver, text("none")) for card in left),
            proof(text("loaded kernel module"), case.loaded[0].version),
            gpu=named(left),
        )


def _program(command: str) -> str:
    """The program's name; of one that an interpreter runs, the script's."""
    words = [word.rpartition("/")[2] for word in command.split()[:2]]
    return words[-1] if words and words[0].startswith("python") else "".join(words[:1])


def _programs(holders: list[Holder]) -> str:
    return listed(tuple(dict.fromkeys(_program(one.command) for one in holders)))


def _branch(case: RuleInput) -> str:
    version = value_or(case.serving, Version(()))
    return str(version.major) if version.parts else ""


RULES = (gpus_start, none_is_excluded, installed_once, tool_is_there, branch_is_cared_for, memory_outlives_sleep, may_sleep)
