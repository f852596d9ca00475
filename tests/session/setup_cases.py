"""Machines of all kinds, each with how the stages of its set-up stand: written down before the judgement was run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.gpu import Gpu, Recovery
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.session.inspect import inspection_of
from gpuassist.session.plan import parse_goal, plan_goals
from gpuassist.session.setup_judgement import SetupInput, setup_of
from gpuassist.session.setup_proof import proof_of
from gpuassist.session.setup_values import Setup, SetupRecord, SetupStageState
from gpuassist.session.verifications import KeptVerification
from tests.cli.made_session import live_session
from tests.values import GTX_1080_TI, RTX_4090, RTX_5090, UBUNTU_24, Env, Recipe, knowledge, machine

SESSION = live_session({})
BOOT, BOOT_BEFORE = "boot-2", "boot-1"
LETTERS = {
    SetupStageState.DONE: "D",
    SetupStageState.NOW: "N",
    SetupStageState.LATER: "L",
    SetupStageState.NOT_NEEDED: "-",
    SetupStageState.WAITS: "W",
    SetupStageState.UNKNOWN: "?",
}
BARE = Recipe(
    gpus=(RTX_5090,), driver="", on_disk="", libcuda="", toolkits=(), nvcc="", environments=(), distribution=UBUNTU_24, glibc="2.39"
)
"""A new RTX 5090 in a computer that has nothing of NVIDIA's."""
WITH_DRIVER = replace(BARE, driver="595.71.05", on_disk=None, libcuda=None, open_module=True, cuda="13.2")
TORCH = Env("gpu-env", "2.9.1+cu128", python="3.12", active=True)
READY = replace(WITH_DRIVER, environments=(TORCH,))
INSTALLED = replace(BARE, bound="nouveau", on_disk="595.71.05", libcuda="595.71.05", open_module=True)
"""The driver is installed, and nouveau has the GPU until the restart."""
NOTHING_KEPT = SetupRecord()
GTX_780 = "10de:1004"


def uuids(made: Machine) -> list[str]:
    gpus = made.gpus
    assert isinstance(gpus, Known)
    return [one.uuid.value if isinstance(one.uuid, Known) else "" for one in gpus.value]


def verification(made: Machine, *verdicts: str, driver: str = "595.71.05", torch: str = "2.9.1+cu128") -> KeptVerification:
    """What is kept of a run with these verdicts of the first GPUs; of the processor alone where there are none."""
    python = "/home/you/gpu-env/bin/python"
    check = {"name": "matmul", "dtype": "fp32"}
    gpus: list[dict[str, Any]] = [
        {"device": f"cuda:{place}", "uuid": uuids(made)[place], "interpreter": python, "verdict": verdict}
        | {"checks": [{**check, "verdict": verdict}]}
        for place, verdict in enumerate(verdicts)
    ]
    cpu = {"device": "cpu", "interpreter": python, "verdict": "pass", "checks": [{**check, "verdict": "pass"}]}
    document = {"environments": [{"interpreter": python, "torch": torch, "image": None}], "devices": gpus or [cpu]}
    return KeptVerification("2026-11-22T10:00:00.000+00:00", driver, "quick", document)


class SetupCase(Struct, frozen=True):
    """A machine, what is remembered and kept of it, and the letters of its stages; `problem` is the finding that leads."""

    name: str
    made: Machine
    letters: str
    problem: str = ""
    record: SetupRecord = SetupRecord()
    verdicts: tuple[str, ...] | None = None
    verified: Mapping[str, Any] = {}
    recorded: bool = False


def judged(case: SetupCase) -> Setup:
    kept = () if case.verdicts is None else (verification(case.made, *case.verdicts, **case.verified),)
    return setup(case.made, record=case.record, kept=kept, recorded=case.recorded)


def setup(
    made: Machine,
    *,
    record: SetupRecord = NOTHING_KEPT,
    kept: tuple[KeptVerification, ...] = (),
    recorded: bool = False,
    boot: str = BOOT,
) -> Setup:
    """Judged with what stands on record."""
    inspection = inspection_of(SESSION, made)
    driver = str(value_or(RuleInput(made, knowledge()).driver, ""))
    return setup_of(
        SetupInput(
            made,
            knowledge(),
            inspection.answers,
            inspection.chains,
            lambda goal: plan_goals(SESSION, made, (parse_goal(goal, knowledge()),)),
            record,
            proof_of(kept, driver, "2.9.1+cu128"),
            boot,
            "sudo systemctl reboot",
            recorded,
        )
    )


def letters(found: Setup) -> str:
    return "".join(LETTERS[one.state] for one in found.stages)


def unknown(reason: str) -> Fact[Any]:
    return Unknown(text(reason))


def _dead(recovery: Recovery) -> Machine:
    return machine(READY, dead=(RTX_5090,), told={"recovery": (recovery,)})


def _with_silent_nvcc() -> Machine:
    made, silent = machine(), unknown("it did not answer")
    return replace(made, toolkits=Known((replace(value_or(made.toolkits, ())[0], version=silent),), "/usr/local"))


_TRIED = SetupRecord(restart_boot=BOOT_BEFORE, restart_cause="nouveau-active")
_ASKED = SetupRecord(restart_boot=BOOT, restart_cause="nouveau-active")
_TWO = replace(READY, gpus=(RTX_5090, RTX_4090))
_NO_GPUS: Fact[tuple[Gpu, ...]] = Known((), "/sys/bus/pci/devices")

CASES = (
    SetupCase("a new card, nouveau, nothing else", machine(BARE, bound="nouveau"), "NL-LLL", "nouveau-active"),
    SetupCase("a new card that no driver has", machine(BARE), "NL-LLL", "no-driver"),
    SetupCase("installed, and nouveau has it until the restart", machine(INSTALLED), "WN-LLL", "nouveau-active"),
    SetupCase("the same, asked for in this boot", machine(INSTALLED), "WN-LLL", "nouveau-active", _ASKED),
    SetupCase("restarted, and nouveau has it again", machine(INSTALLED), "NL-LLL", "nouveau-active", _TRIED),
    SetupCase("restarted, and the driver runs", machine(WITH_DRIVER), "DD-NLL", record=_TRIED),
    SetupCase("a driver and no torch", machine(WITH_DRIVER), "D--NLL"),
    SetupCase(
        "a torch for the processor alone",
        machine(WITH_DRIVER, environments=(Env("gpu-env", "2.9.1+cpu", python="3.12", active=True),)),
        "D--NLL",
        "torch-cpu-only",
    ),
    SetupCase(
        "a torch older than the card",
        machine(WITH_DRIVER, environments=(Env("gpu-env", "2.6.0+cu124", active=True),)),
        "D--NLL",
        "torch-lacks-sm",
    ),
    SetupCase("all there, nothing verified", machine(READY), "D--DNL"),
    SetupCase("all there with a toolkit that fits", machine(), "D-DDNL"),
    SetupCase("verified", machine(READY), "D--DDN", verdicts=("pass",)),
    SetupCase("verified and watched", machine(READY), "D--DDD", verdicts=("pass",), record=SetupRecord(live_at="2026-11-22")),
    SetupCase("watched before it was verified", machine(READY), "D--DND", record=SetupRecord(live_at="2026-11-22")),
    SetupCase("verified with another driver", machine(READY), "D--DNL", verdicts=("pass",), verified={"driver": "580.95.05"}),
    SetupCase("verified with another torch", machine(READY), "D--DNL", verdicts=("pass",), verified={"torch": "2.8.0+cu128"}),
    SetupCase("the processor was verified", machine(READY), "D--DNL", verdicts=()),
    SetupCase("the verification failed", machine(READY), "D--DNL", verdicts=("fail",)),
    SetupCase("the driver has the card and does not start it", _dead(Recovery.START), "N--DLL", "nvidia-smi-no-devices"),
    SetupCase("the card is lost", _dead(Recovery.POWER_CYCLE), "N--DLL", "xid-79-gpu-fell-off-bus"),
    SetupCase("an nvcc that does not answer", _with_silent_nvcc(), "D-?DNL"),
    SetupCase("the verification was cut short", machine(READY), "D--DNL", verdicts=("skipped",)),
    SetupCase("one of two was verified", machine(_TWO), "D--DNL", verdicts=("pass",)),
    SetupCase("one of two failed", machine(_TWO), "D--DNL", verdicts=("pass", "error")),
    SetupCase("both were verified", machine(_TWO), "D--DDN", verdicts=("pass", "pass")),
    SetupCase(
        "nvcc too old, a newer one is there", machine(toolkits=("11.7.99", "12.4.131"), nvcc="11.7"), "D-NDLL", "nvcc-arch-too-new"
    ),
    SetupCase("nvcc too old, and no other", machine(toolkits=("11.7.99",), nvcc="11.7"), "D-NDLL", "nvcc-arch-too-new"),
    SetupCase("wants to compile, no toolkit", machine(READY), "D-NDLL", record=SetupRecord(compiles=True)),
    SetupCase(
        "wants to compile, and torch comes first",
        machine(WITH_DRIVER, environments=(Env("gpu-env", "2.9.1+cpu", python="3.12", active=True),)),
        "D-LNLL",
        "torch-cpu-only",
        SetupRecord(compiles=True),
    ),
    SetupCase("module and libraries differ", machine(libcuda="550.90.07"), "WNDDLL", "driver-library-mismatch"),
    SetupCase(
        "a driver older than the card",
        machine(BARE, driver="535.183.01", on_disk=None, libcuda=None),
        "NL-LLL",
        "driver-too-old-for-gpu",
    ),
    SetupCase(
        "a torch newer than the driver",
        machine(
            driver="535.183.01", cuda="12.2", toolkits=(), nvcc="", environments=(Env("gpu-env", "2.14.1+cu130", active=True),)
        ),
        "D--NLL",
        "driver-too-old-for-cuda",
    ),
    SetupCase(
        "two cards that no driver serves at once",
        machine(READY, gpus=(GTX_1080_TI, RTX_5090)),
        "N--LLL",
        "open-module-required",
    ),
    SetupCase("WSL, all there", machine(wsl=2, toolkits=(), nvcc=""), "D--DNL"),
    SetupCase("WSL without Windows' driver", machine(BARE, wsl=2), "N--LLL", "wsl-driver-or-windows"),
    SetupCase("a container with its GPU", machine(READY, container="docker"), "D--DNL"),
    SetupCase(
        "a container without",
        machine(BARE, container="docker", environments=(TORCH,)),
        "N--DLL",
        "container-no-gpu-flag",
    ),
    SetupCase("a rented machine", machine(BARE, host_facts={"provider": Known("aws", "DMI")}), "NL-LLL", "no-driver"),
    SetupCase("no GPU at all", replace(machine(BARE), gpus=_NO_GPUS), "N--LLL", "no-nvidia-gpu"),
    SetupCase("nobody could read the GPUs", replace(machine(BARE), gpus=unknown("it hangs")), "N?-LLL"),
    SetupCase("nobody could read the environments", replace(machine(WITH_DRIVER), environments=unknown("no access")), "D--?NL"),
    SetupCase(
        "a card too old for any torch",
        machine(
            WITH_DRIVER,
            gpus=(GTX_780,),
            driver="470.256.02",
            cuda="11.4",
            open_module=False,
            environments=(Env("old", "1.13.1+cu117", active=True),),
        ),
        "D--NLL",
        "gpu-too-old-for-torch",
    ),
    SetupCase(
        "Secure Boot, and the module is signed with a key of its own",
        machine(BARE, on_disk="595.71.05", libcuda="595.71.05", open_module=True, secure_boot=True),
        "NL-LLL",
        "driver-not-loaded",
    ),
    SetupCase(
        "Secure Boot, and the key waits for the restart",
        machine(
            BARE,
            on_disk="595.71.05",
            libcuda="595.71.05",
            open_module=True,
            secure_boot=True,
            host_facts={"key_pending": Known(True, "mokutil")},
        ),
        "WN-LLL",
        "secure-boot-mok-pending",
    ),
    SetupCase(
        "a variable hides every GPU", machine(READY, variables={"CUDA_VISIBLE_DEVICES": "7"}), "D--DNL", "cuda-visible-devices-bad"
    ),
    SetupCase(
        "a variable hides every GPU since it was verified",
        machine(READY, variables={"CUDA_VISIBLE_DEVICES": "7"}),
        "D--DNL",
        "cuda-visible-devices-bad",
        verdicts=("pass",),
    ),
    SetupCase("asleep", machine(READY, asleep=True), "D--DNL"),
    SetupCase("asleep, and verified before", machine(READY, asleep=True), "D--DDN", verdicts=("pass",)),
    SetupCase("a recording of a machine that is ready", machine(READY), "D--D--", recorded=True),
    SetupCase("a recording of a new card", machine(BARE), "NL-L--", "no-driver", recorded=True),
)
