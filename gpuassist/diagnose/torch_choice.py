"""Which build of torch a finding offers: one for the GPUs, the driver and the Python at hand, as far as these are known."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.knowledge.choice import BuildHost, Obstacle, TorchChoice, choose_torch
from gpuassist.knowledge.compatibility import driver_floor
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import value_or
from gpuassist.model.version import ComputeCapability, Version

# Where no driver is known, a build of CUDA 12 comes first: whatever driver of 2022 or later runs it.
_USUAL = driver_floor(Version((12, 0)))
_USUAL_PYTHON = Version((3, 12))  # of a new environment


def torch_to_install(
    case: RuleInput,
    environment: PythonEnvironment | None,
    capabilities: tuple[ComputeCapability, ...] = (),
    *,
    python: Version | None = None,
) -> TorchChoice:
    """The torch for an environment's Python and these capabilities, else those of all usable GPUs."""
    told = value_or(environment.python_version, None) if environment is not None else None
    driver, machine = value_or(case.serving, None), case.machine.host
    host = BuildHost(value_or(machine.architecture, "x86_64"), driver, told or python, glibc=value_or(machine.glibc, None))
    wanted = capabilities or case.capabilities
    if driver is None:
        usual = choose_torch(case.knowledge.torch_builds(), wanted, replace(host, driver=_USUAL))
        if usual.obstacle in {None, Obstacle.PYTHON}:
            return usual
    return choose_torch(case.knowledge.torch_builds(), wanted, host)


def offered(
    case: RuleInput, choice: TorchChoice, capabilities: tuple[ComputeCapability, ...], python: Version | None
) -> dict[str, str]:
    """The parameters that name the build of a choice: with the oldest driver for it and for these GPUs; where the Python is what
    stands in the way, the one to take instead, and the newest torch that there is for the one at hand.
    """
    build = choice.build
    if build is None or build.cuda is None:
        return {}
    named = {"install": str(build.newest), "tag": build.tag, "floor": _floor(case, build.cuda, capabilities)}
    if choice.obstacle is not Obstacle.PYTHON or python is None:
        return named
    there = [one.newest for one in case.knowledge.torch_builds() if python.release in one.pythons]
    return {
        **named,
        "python_version": str(python.release),
        "wanted_python": str(_USUAL_PYTHON if _USUAL_PYTHON in build.pythons else build.pythons[-1]),
        "last": str(max(there)) if there else "",
    }


def _floor(case: RuleInput, cuda: Version, capabilities: tuple[ComputeCapability, ...]) -> str:
    """Of CUDA and of each GPU, which has a first driver of its own."""
    firsts = [first for one in capabilities if (first := _first_driver(case, one)) is not None]
    newest = max(firsts, default=None)
    return str(newest) if newest is not None and newest > driver_floor(cuda) and not case.wsl else case.floor(cuda)


def _first_driver(case: RuleInput, capability: ComputeCapability) -> Version | None:
    architecture = case.knowledge.architecture_of(capability)
    chips = architecture.chips if architecture is not None else ()
    known = [one.first_driver for one in chips if one.compute_capability == capability and one.first_driver is not None]
    return min(known, default=None)
