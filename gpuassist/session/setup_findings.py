"""Where in a GPU's set-up a finding is mended, and what goes on with it: the plan, the page, the command line."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from msgspec.structs import replace

from gpuassist.model.finding import Action, Answer, Severity
from gpuassist.model.outlook import GoalKind
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import Text, verbatim
from gpuassist.session.navigation import Destination, GoTo, ToInstall, ToRepair, WizardStep
from gpuassist.session.plan import ANY, PARTS, InstallWish
from gpuassist.session.setup_values import SetupStage, SetupStageId

_USE_LINE = "gpuassist use cuda "
_TOOLKIT = frozenset(
    (
        "cuda-home-disagrees",
        "ld-library-path-other-toolkit",
        "nvcc-arch-dropped",
        "nvcc-arch-too-new",
        "nvcc-glibc-too-new",
        "nvcc-host-gcc-too-new",
        "nvcc-not-on-path",
        "path-order-wrong-nvcc",
        "toolkit-newer-than-driver",
    )
)
_TORCH = frozenset(
    (
        "bitsandbytes-triton-mismatch",
        "conda-channel-frozen",
        "duplicate-torch-installs",
        "flash-attention-needs-ampere",
        "gpu-too-old-for-torch",
        "known-bad-pair",
        "library-in-project-directory",
        "mixed-nvidia-pip-wheels",
        "onnxruntime-cpu-build",
        "torch-cpu-only",
        "torch-install-damaged",
        "torch-lacks-sm",
        "torch-needs-newer-jetpack",
        "torch-pinned-by-package",
        "torchvision-torch-mismatch",
        "triton-torch-mismatch",
    )
)
# Where they are mended by hand: those that a plan mends go by its goal.
_DRIVER = frozenset(
    (
        "container-lxc-devices",
        "container-no-gpu-flag",
        "cuda-init-failed-driver-state",
        "device-permissions",
        "dkms-build-failed",
        "driver-does-not-answer",
        "driver-library-mismatch",
        "driver-module-blacklisted",
        "driver-not-loaded",
        "driver-too-old-for-gpu",
        "fabric-manager-not-running",
        "geforce-open-module-unsupported",
        "gpu-excluded-by-option",
        "gpu-reserved-for-vm",
        "kernel-headers-missing",
        "legacy-driver-branch-needed",
        "libcuda-missing",
        "libcuda-not-found",
        "mig-without-instance",
        "next-start-driver-mismatch",
        "next-start-without-driver",
        "no-driver",
        "no-nvidia-gpu",
        "nouveau-active",
        "nvidia-smi-no-devices",
        "open-module-required",
        "open-module-unsupported-gpu",
        "rm-init-adapter-failed",
        "secure-boot-mok-pending",
        "secure-boot-unsigned-module",
        "uvm-device-missing",
        "wsl-driver-or-windows",
        "wsl-linux-driver-installed",
        "xid-79-gpu-fell-off-bus",
    )
)
_BY_GOAL = {"driver": SetupStageId.DRIVER, "cuda": SetupStageId.TOOLKIT, "torch": SetupStageId.TORCH}
_USE_CUDA, _REBOOT = "use-cuda", "reboot"


def stage_of(answer: Answer) -> SetupStageId | None:
    """Where a finding is mended; None for what stands in the way of whichever stage is now."""
    goal = next((remedy.goal for remedy in answer.remedies if remedy.goal), "").partition("=")[0]
    if goal in _BY_GOAL:
        return _BY_GOAL[goal]
    sets = ((_DRIVER, SetupStageId.DRIVER), (_TOOLKIT, SetupStageId.TOOLKIT), (_TORCH, SetupStageId.TORCH))
    return next((stage for problems, stage in sets if answer.id in problems), None)


def mended_at(answer: Answer) -> Destination | None:
    """The place of the window that mends a finding; None where that is done by hand."""
    for remedy in answer.remedies:
        for command in remedy.commands:
            if remedy.action is Action.EDIT and (command.key == _USE_CUDA or command.lines[:1] == (_use_line(remedy.steps),)):
                return ToRepair(_version_used(command.lines[0]))
    goal = next((remedy.goal for remedy in answer.remedies if remedy.steps), "")
    kind, _, version = goal.partition("==")
    part = PARTS.get(GoalKind(kind)) if kind else None
    return ToInstall(replace(InstallWish(), **{part: version or ANY})) if part is not None else None


def _use_line(steps: Sequence[Step]) -> str:
    """The line of a plan that is nothing but choosing a toolkit."""
    lines = [line for step in steps for line in step.commands]
    return lines[0] if len(steps) == 1 and lines and lines[0].startswith(_USE_LINE) else ""


def _version_used(line: str) -> str:
    return line.removeprefix(_USE_LINE).split(" ")[0]


def line_of(answer: Answer) -> str:
    """The one command line that goes on with it: the plan, the single line, or the whole story."""
    place = mended_at(answer)
    if isinstance(place, ToRepair):
        return f"{_USE_LINE}{place.version}"
    goal = next((remedy.goal for remedy in answer.remedies if remedy.steps), "")
    return f"gpuassist plan {shlex.quote(goal)}" if goal else "gpuassist doctor"


def led_by(answer: Answer, stage: SetupStage) -> SetupStage:
    """The stage where this is mended first."""
    remedy = next(iter(answer.remedies), None)
    steps = next((one.steps for one in answer.remedies if one.steps), ())
    does = first_words(steps) or (verbatim(remedy.text) if remedy is not None else None)
    return replace(
        stage,
        why=verbatim(answer.title),
        does=does,
        destination=mended_at(answer) or GoTo(WizardStep.FOUND),
        command=line_of(answer),
        problem=answer.id if answer.severity is Severity.PROBLEM else "",  # a warning stands in nobody's way
        blocked=answer.remedies[:1] != () and answer.remedies[0].action is Action.NONE,
    )


def is_restart_alone(answer: Answer) -> bool:
    """Whether its first remedy is a restart and nothing else."""
    remedy = next(iter(answer.remedies), None)
    if remedy is None or remedy.steps:
        return False
    return remedy.action is Action.REBOOT and all(command.key == _REBOOT for command in remedy.commands)


def beyond_restart(answer: Answer, steps: Sequence[Step]) -> Text | None:
    """What is left where a restart did not help: the step after it, or the remedy that does something before it restarts again."""
    if len(steps) > 1 and steps[0].kind is StepKind.REBOOT:
        return first_words(steps[1:])
    for remedy in answer.remedies:
        keys = [command.key for command in remedy.commands]
        if _REBOOT in keys and keys[0] != _REBOOT:
            return verbatim(remedy.text)
    return None


def first_words(steps: Sequence[Step]) -> Text | None:
    return steps[0].text if steps else None
