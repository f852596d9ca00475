"""Does the torch that matters compute on every GPU: a CUDA build, with code for each architecture?"""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import InstalledTorch, KnownGpu, RuleInput
from gpuassist.diagnose.torch_choice import offered, torch_to_install
from gpuassist.diagnose.verdicts import Verdict, finding, named, proof, undetermined
from gpuassist.formats.torch_version import BuildOrigin, read_torch_version
from gpuassist.knowledge.choice import Obstacle
from gpuassist.model.environment import Accelerator
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.finding import Passed
from gpuassist.model.text import text, verbatim
from gpuassist.model.version import Code, ComputeCapability

# What of other makers torch is built for, as their makers call it.
_OTHER_MAKERS = {Accelerator.ROCM: "ROCm (AMD)", Accelerator.XPU: "XPU (Intel)"}
# No build of torch that is still made has code for less (release tables of 2.0 to 2.15: 5.0; CUDA 11.8 builds: 3.7).
_OLDEST = ComputeCapability(5, 0)


def torch_is_cuda_build(case: RuleInput) -> Iterator[Verdict]:
    """A build for the processor, or for GPUs of another maker, never sees the GPU, whatever the driver."""
    if not case.usable:
        return
    missing = list(_unread(case))
    cpu = [one for one in case.torches if value_or(one.torch.accelerator, Accelerator.CUDA) is not Accelerator.CUDA]
    if missing:
        yield from undetermined("torch-cpu-only", text("what the torch of each Python environment was built for"), *missing)
    elif cpu and not case.cuda_torches:
        one = cpu[0]
        yield finding(
            "torch-cpu-only",
            proof(text("torch in {name}", name=one.environment.name), one.torch.version),
            proof(text("built for"), one.torch.accelerator, verbatim(value_or(one.torch.accelerator, Accelerator.CPU).value)),
            built=_OTHER_MAKERS.get(value_or(one.torch.accelerator, Accelerator.CPU), ""),
            gpu=named(case.usable),
            **_replacement(case, one),
        )


def _unread(case: RuleInput) -> Iterator[Unknown]:
    """What could hide a CPU build: every unread environment, or the active ones alone where a CUDA torch is known."""
    if isinstance(case.machine.environments, Unknown):
        yield case.machine.environments
    for one in value_or(case.machine.environments, ()):
        if isinstance(one.torch, Unknown) and (not case.cuda_torches or one.active.is_true):
            yield one.torch
    for installed in () if case.cuda_torches else case.torches:
        if isinstance(installed.torch.accelerator, Unknown):
            yield installed.torch.accelerator


def torch_has_kernels(case: RuleInput) -> Iterator[Verdict]:
    """Machine code runs on its own major with an equal or higher minor, PTX on anything newer; never by exact match."""
    for card in case.usable if case.cuda_torches else ():
        if isinstance(card.capability, Known):
            yield from _judge(case, card, card.capability.value)
        else:
            yield from undetermined("torch-lacks-sm", text("the compute capability of {gpu}", gpu=card.name), card.capability)


def _judge(case: RuleInput, card: KnownGpu, capability: ComputeCapability) -> Iterator[Verdict]:
    told = [one for one in case.cuda_torches if isinstance(one.torch.targets, Known)]
    # Each a release made with a CUDA that could not compile for this GPU yet: torch itself calls the two not compatible, whatever
    # PTX is in it.
    before = all(_is_from_before(case, one, capability) for one in case.cuda_torches)
    if not told and before:
        yield _lacks(case, card, case.cuda_torches[0], capability)
    elif not told:
        unknown = case.cuda_torches[0]
        label = text("the GPU architectures that torch in {name} was compiled for", name=unknown.environment.name)
        yield from undetermined("torch-lacks-sm", label, unknown.torch.targets)
    elif any(one.runs_on(capability) for one in told):
        yield Passed(text("torch runs on {gpu}", gpu=card.name))
    elif capability < _OLDEST and torch_to_install(case, told[0].environment, (capability,)).build is None:
        one = told[0]
        yield finding(
            "gpu-too-old-for-torch",
            proof(text("compute capability of {gpu}", gpu=card.name), card.capability),
            proof(text("torch in {name}", name=one.environment.name), one.torch.version),
            gpu=card.name,
            capability=str(capability),
        )
    else:
        yield _lacks(case, card, told[0], capability)


def _is_from_before(case: RuleInput, one: InstalledTorch, capability: ComputeCapability) -> bool:
    version = read_torch_version(one.version)
    released = version is not None and version.origin is BuildOrigin.RELEASE
    newest = _newest_of(case, one) if released else None
    return newest is not None and newest.major < capability.major


def _newest_of(case: RuleInput, one: InstalledTorch) -> ComputeCapability | None:
    """The newest architecture that the CUDA of a torch compiles for."""
    record = case.knowledge.toolkit(one.torch.cuda.value) if isinstance(one.torch.cuda, Known) else None
    return max((target.capability for target in record.targets), default=None) if record else None


def _lacks(case: RuleInput, card: KnownGpu, one: InstalledTorch, capability: ComputeCapability) -> Verdict:
    targets = value_or(one.torch.targets, ())
    newest = max((target.capability for target in targets if target.code is Code.CUBIN), default=_newest_of(case, one))
    words = verbatim(" ".join(str(target) for target in targets))
    return finding(
        "torch-lacks-sm",
        proof(text("compute capability of {gpu}", gpu=card.name), card.capability),
        proof(text("torch in {name} has code for", name=one.environment.name), one.torch.targets, words)
        if targets
        else proof(text("CUDA of torch in {name}", name=one.environment.name), one.torch.cuda),
        gpu=card.name,
        capability=str(capability),
        newer="yes" if newest is not None and capability > newest else "",
        **_replacement(case, one),
    )


def _replacement(case: RuleInput, one: InstalledTorch) -> dict[str, str]:
    """What is installed where, and the build that would serve all GPUs: `install` is empty where none does."""
    choice = torch_to_install(case, one.environment)
    index, wheel = case.jetson_torch
    # What PyTorch's builds lack for a Jetson, NVIDIA's for its JetPack have.
    for_jetson = case.jetson and choice.obstacle is not None and choice.obstacle is not Obstacle.PYTHON and bool(index or wheel)
    return {
        "torch": value_or(one.torch.version, ""),
        "environment": one.environment.name,
        "tool": one.tool,
        "python": value_or(one.environment.interpreter, "python"),
        **offered(case, choice, case.capabilities, value_or(one.environment.python_version, None)),
        "obstacle": Obstacle.JETSON_WHEELS.value if for_jetson else choice.obstacle.value if choice.obstacle else "",
        "jetpack_index": index if for_jetson else "",
        "jetpack_wheel": wheel if for_jetson else "",
    }


RULES = (torch_is_cuda_build, torch_has_kernels)
