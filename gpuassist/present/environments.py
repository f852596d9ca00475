"""The Python environments of a machine in words, and on which of its GPUs the torch of each runs."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.knowledge.compatibility import driver_serves_cuda, kernels_run
from gpuassist.model.chain import Status
from gpuassist.model.environment import Accelerator, Manager, PythonEnvironment, Torch
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, counted, text, verbatim
from gpuassist.present.overview import driver_version, is_true

_NO_WORD_OF_THE_DRIVER = frozenset((0, 9, 12))  # it answered, it is not loaded, or there is no library to ask it with


class EnvironmentLine(Struct, frozen=True):
    """A Python environment, the torch in it, and on how many of the GPUs that torch runs."""

    name: str
    manager: str
    prefix: str
    python: Text
    torch: Text
    has_torch: bool
    status: Status
    runs_on: Text


def environment_lines(machine: Machine) -> tuple[EnvironmentLine, ...]:
    """The Python environments: those with torch first, the active ones before all."""
    environments = value_or(machine.environments, ())
    order = sorted(environments, key=lambda one: (not is_true(one.active), not value_or(one.torch, ()), one.name))
    return tuple(_environment(one, machine) for one in order)


def _environment(environment: PythonEnvironment, machine: Machine) -> EnvironmentLine:
    python, torches = environment.python_version, environment.torch
    manager = environment.manager
    torch = torches.value[0] if isinstance(torches, Known) and torches.value else None
    status, runs_on = torch_runs_on(torch, machine) if torch is not None else (Status.ABSENT, verbatim("–"))
    if isinstance(torches, Unknown):
        torch_words = text("not known")
    elif not torches.value:
        torch_words = text("none")
    else:
        version = torches.value[0].version
        torch_words = verbatim(version.value) if isinstance(version, Known) else text("version not known")
    return EnvironmentLine(
        environment.name,
        manager.value.value if isinstance(manager, Known) and manager.value is not Manager.SYSTEM else "",
        environment.prefix,
        verbatim(str(python.value.release)) if isinstance(python, Known) else text("not known"),
        torch_words,
        torch is not None,
        status,
        runs_on,
    )


def torch_runs_on(torch: Torch, machine: Machine) -> tuple[Status, Text]:
    """On which GPUs this torch's own code runs, as far as its files and the driver tell."""
    accelerator = torch.accelerator
    if isinstance(accelerator, Unknown):
        return Status.UNKNOWN, text("not known")
    if accelerator.value is Accelerator.CPU:
        return Status.WARNING, text("CPU only")
    if accelerator.value is not Accelerator.CUDA:
        return Status.WARNING, text("not NVIDIA")
    gpus = value_or(machine.gpus, ())
    if not gpus:
        return Status.UNKNOWN, text("no GPU")
    driver, own = driver_version(machine), machine.driver.cuda_version
    if isinstance(driver, Known) and isinstance(torch.cuda, Known):
        # Windows and Jetson number their drivers otherwise: there the CUDA that the driver reports decides.
        otherwise = is_true(machine.host.jetson) or value_or(machine.host.wsl, 0) > 0
        if otherwise and isinstance(own, Known):
            serves = own.value.major >= torch.cuda.value.major
        else:
            serves = otherwise or driver_serves_cuda(driver.value, torch.cuda.value)
        if not serves:
            return Status.PROBLEM, text("driver too old")
    told = [_runs(torch, gpu) for gpu in gpus]
    if None in told:
        return Status.UNKNOWN, text("not known")
    if all(told):
        if isinstance(driver, Unknown):
            return Status.UNKNOWN, text("needs a driver")
        if _driver_refuses(machine):
            return Status.PROBLEM, text("driver does not answer")
        return Status.RIGHT, text("both GPUs") if len(gpus) == 2 else counted("this GPU", "all {count} GPUs", len(gpus))
    if not any(told):
        return Status.PROBLEM, counted("not this GPU", "none of the GPUs", len(gpus))
    return Status.WARNING, text("{some} of {all} GPUs", some=sum(map(bool, told)), all=len(gpus))


def _driver_refuses(machine: Machine) -> bool:
    """Whether the driver of GPUs that it holds did not let NVML start: then CUDA, which speaks to it too, does not start either."""
    status = machine.driver.nvml_status
    refused = isinstance(status, Known) and status.value.code not in _NO_WORD_OF_THE_DRIVER
    return refused and any(value_or(gpu.kernel_driver, "") == "nvidia" for gpu in value_or(machine.gpus, ()))


def _runs(torch: Torch, gpu: Gpu) -> bool | None:
    if isinstance(torch.targets, Unknown) or isinstance(gpu.compute_capability, Unknown):
        return None
    cuda = value_or(torch.cuda, None)
    return kernels_run(gpu.compute_capability.value, torch.targets.value, cuda=cuda)
