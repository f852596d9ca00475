"""An engine whose Pythons end before the torch that has code for a GPU: there it cannot run, whatever is installed."""

from __future__ import annotations

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.knowledge.compatibility import kernels_run
from gpuassist.knowledge.engines import builds_for
from gpuassist.model.fact import value_or
from gpuassist.model.version import Code, ComputeCapability

_ISAAC = ("isaacgym", "isaac gym", "isaac_gym", "gym_38.so", "gym_37.so", "gym_36.so", "legged_gym", "gymtorch", "gymapi")


def of_isaac_gym(setting: SignatureInput) -> bool:
    """Whether a text is of Isaac Gym, or of what stands on it."""
    return setting.says(*_ISAAC)


def without_code(case: RuleInput, engine: str, capability: ComputeCapability) -> dict[str, str]:
    """Why an engine cannot run on a GPU: its name, its Pythons, and the last torch for them; empty where one has code for it."""
    record = case.knowledge.engine(engine)
    releases = case.knowledge.engine_releases(engine)
    if record is None or not releases:
        return {}
    newest = releases[0]
    machine = value_or(case.machine.host.architecture, "x86_64")
    builds = tuple(builds_for(newest, case.knowledge.torch_builds(), case.knowledge.torch_releases(), machine=machine))
    own = {build: tuple(target for target in build.targets if target.code is Code.CUBIN) for build in builds}
    if not builds or any(kernels_run(capability, targets, cuda=build.cuda) for build, targets in own.items()):
        return {}
    pythons = newest.pythons
    return {
        "engine": record.title,
        "pythons": f"{pythons[0]} to {pythons[-1]}" if pythons else newest.python,
        "last": str(max(build.newest for build in builds)),
    }
