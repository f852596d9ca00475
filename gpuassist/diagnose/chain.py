"""The compatibility chain of each GPU: which parts there are, which pairs fit, and why not where one does not."""

from __future__ import annotations

from gpuassist.diagnose.case import InstalledTorch, KnownGpu, RuleInput
from gpuassist.diagnose.rules.driver import devices_may_be_opened, libraries_match_module, library_is_there
from gpuassist.diagnose.rules.system_wide import libcuda_is_found
from gpuassist.diagnose.silent_gpus import all_silent, is_lost, is_silent
from gpuassist.knowledge.compatibility import (
    CodePath,
    DriverFit,
    ToolkitMatch,
    extension_buildable,
    gcc_fits,
    glibc_clashes,
    toolkit_builds_for,
    way_to_run,
)
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.chain import Chain, Joint, Node, Part, Status
from gpuassist.model.environment import Accelerator
from gpuassist.model.fact import NOT_ASKED, Known, Unknown, value_or
from gpuassist.model.finding import Finding
from gpuassist.model.machine import Machine
from gpuassist.model.text import text, verbatim
from gpuassist.model.version import Version

_NOTHING = verbatim("")
# What can be wrong with a driver that serves the GPU, whichever it is.
_DRIVER_ITSELF = (
    (libraries_match_module, text("its module and its libraries are of different versions")),
    (library_is_there, text("its library libcuda is missing")),
    (libcuda_is_found, text("programs do not get its library libcuda")),
    (devices_may_be_opened, text("this user may not open the GPU's device")),
)


def chains(machine: Machine, knowledge: Knowledge, *, thorough: bool = False) -> tuple[Chain, ...]:
    """One chain a GPU, in the machine's order; a thorough one judges torch and toolkit for a GPU that its driver rules out, too."""
    case = RuleInput(machine, knowledge)
    return tuple(_chain(case, card, thorough=thorough) for card in case.cards)


def _chain(case: RuleInput, card: KnownGpu, *, thorough: bool) -> Chain:
    # The torch to draw: one that runs on this GPU where there is one.
    capability = card.capability
    runs = (one for one in case.cuda_torches if isinstance(capability, Known) and one.runs_on(capability.value))
    one = next(runs, next(iter(case.cuda_torches or case.torches), None))
    version = case.toolkit.version if case.toolkit is not None else NOT_ASKED
    if isinstance(version, Unknown) or isinstance(case.serving, Unknown) or case.serves(version.value):
        driver_to_toolkit: Joint | None = None
    else:
        reason = text("too old for programs of CUDA {cuda}", cuda=str(version.value.release))
        driver_to_toolkit = Joint(Part.DRIVER, Part.TOOLKIT, Status.WARNING, reason)
    joints = tuple(
        joint
        for joint in (
            _gpu_to_driver(case, card),
            _driver_to_torch(case, one),
            _torch_to_toolkit(case, one),
            _toolkit_to_compiler(case),
            _gpu_to_torch(case, card, one) if thorough or not case.ruled_out(card) else None,
            _gpu_to_toolkit(case, card) if thorough or not case.ruled_out(card) else None,
            driver_to_toolkit,
        )
        if joint is not None
    )
    if one is None:
        torch = Node(Part.TORCH, text("none"), text("not installed"), Status.ABSENT)
    else:
        torch = Node(Part.TORCH, verbatim(one.version), verbatim(one.environment.name), Status.RIGHT)
    nodes = (_gpu(card), _driver(case), torch, _toolkit(case), _compiler(case))
    return Chain(tuple(_coloured(node, joints) for node in nodes), joints, card.number)


def _gpu(card: KnownGpu) -> Node:
    name, capability = card.architecture.name if card.architecture else "", card.capability
    if isinstance(capability, Known) and name:
        detail = text("{architecture} · {capability}", architecture=name, capability=str(capability.value))
    else:
        detail = verbatim(str(capability.value) if isinstance(capability, Known) else name)
    return Node(Part.GPU, verbatim(card.name), detail, Status.RIGHT)


def _driver(case: RuleInput) -> Node:
    if isinstance(case.driver, Known):
        cuda = case.machine.driver.cuda_version
        if isinstance(cuda, Known):
            driver_detail = text("runs CUDA up to {major}.x", major=cuda.value.major)
        else:
            opened = case.open_module
            if isinstance(opened, Unknown):
                driver_detail = _NOTHING
            else:
                driver_detail = text("open module") if opened.value else text("proprietary module")
        return Node(Part.DRIVER, verbatim(str(case.driver.value)), driver_detail, Status.RIGHT)
    held = next((value_or(card.gpu.kernel_driver, "") for card in case.cards if value_or(card.gpu.kernel_driver, "")), "")
    if held and held != "nvidia":
        return Node(Part.DRIVER, verbatim(held), text("not NVIDIA's driver"), Status.PROBLEM)
    loaded = case.machine.driver.loaded
    if isinstance(loaded, Known) and not loaded.value:
        return Node(Part.DRIVER, text("none"), text("no module is loaded"), Status.PROBLEM)
    return Node(Part.DRIVER, text("not known"), _NOTHING, Status.UNKNOWN)


def _toolkit(case: RuleInput) -> Node:
    if case.toolkit is not None:
        version = case.toolkit.version
        name = text("nvcc {version}", version=str(version.value.release)) if isinstance(version, Known) else text("nvcc")
        return Node(Part.TOOLKIT, name, verbatim(case.toolkit.root), Status.RIGHT)
    if case.nvcc is not None:
        return Node(Part.TOOLKIT, text("nvcc"), verbatim(case.nvcc.path), Status.UNKNOWN)
    if isinstance(case.terminal, Unknown):
        return Node(Part.TOOLKIT, text("not known"), _NOTHING, Status.UNKNOWN)
    detail = text("installed, not on PATH") if case.toolkits else text("none, and none needed")
    return Node(Part.TOOLKIT, text("no nvcc"), detail, Status.ABSENT)


def _compiler(case: RuleInput) -> Node:
    gcc = case.gcc
    if gcc is None:
        return Node(Part.COMPILER, text("none found"), _NOTHING, Status.ABSENT)
    version = gcc.version
    name = f"{gcc.family} {version.value.release}" if isinstance(version, Known) else gcc.family
    distribution = case.machine.host.distribution
    return Node(
        Part.COMPILER,
        verbatim(name),
        verbatim(distribution.value.name if isinstance(distribution, Known) else gcc.path),
        Status.RIGHT,
    )


def _gpu_to_driver(case: RuleInput, card: KnownGpu) -> Joint:
    if isinstance(case.driver, Unknown):
        status = _driver(case).status
        return Joint(
            Part.GPU, Part.DRIVER, status, text("NVIDIA's driver does not run this GPU") if status is Status.PROBLEM else _NOTHING
        )
    version, fit = str(case.driver.value), case.fit(card)
    if fit is DriverFit.TOO_OLD:
        return Joint(Part.GPU, Part.DRIVER, Status.PROBLEM, text("driver {version} is older than this GPU", version=version))
    if fit is DriverFit.DROPPED:
        return Joint(Part.GPU, Part.DRIVER, Status.PROBLEM, text("driver {version} no longer serves this GPU", version=version))
    if case.loaded and case.held_by(card):
        return Joint(Part.GPU, Part.DRIVER, Status.PROBLEM, text("{driver} has this GPU", driver=case.held_by(card)))
    if case.ruled_out(card):
        opened = isinstance(case.open_module, Known) and case.open_module.value
        reason = text("the open module does not run this GPU") if opened else text("this GPU needs the open module")
        return Joint(Part.GPU, Part.DRIVER, Status.PROBLEM, reason)
    if is_lost(card):
        return Joint(Part.GPU, Part.DRIVER, Status.PROBLEM, text("the driver no longer reaches this GPU"))
    if is_silent(case, card):
        status = Status.PROBLEM if all_silent(case) else Status.UNKNOWN
        return Joint(Part.GPU, Part.DRIVER, status, text("the driver does not list this GPU"))
    if case.left_alone(card):
        return Joint(Part.GPU, Part.DRIVER, Status.PROBLEM, text("the driver does not take this GPU"))
    for rule, reason in _DRIVER_ITSELF:
        if any(isinstance(verdict, Finding) for verdict in rule(case)):
            return Joint(Part.GPU, Part.DRIVER, Status.PROBLEM, reason)
    unknown = fit is DriverFit.UNKNOWN and not case.jetson  # a board's driver is made for it
    return Joint(Part.GPU, Part.DRIVER, Status.UNKNOWN if unknown else Status.RIGHT, _NOTHING)


def _driver_to_torch(case: RuleInput, one: InstalledTorch | None) -> Joint:
    if one is None:
        return Joint(Part.DRIVER, Part.TORCH, Status.ABSENT, _NOTHING)
    if value_or(one.torch.accelerator, Accelerator.CUDA) is Accelerator.CPU:
        return Joint(Part.DRIVER, Part.TORCH, Status.PROBLEM, text("a CPU build: it does not use the driver"))
    if value_or(one.torch.accelerator, Accelerator.CUDA) is not Accelerator.CUDA:
        return Joint(Part.DRIVER, Part.TORCH, Status.PROBLEM, text("built for GPUs of another maker"))
    if isinstance(case.serving, Unknown) or isinstance(one.torch.cuda, Unknown):
        return Joint(Part.DRIVER, Part.TORCH, Status.UNKNOWN, _NOTHING)
    if case.serves(one.torch.cuda.value):
        return Joint(Part.DRIVER, Part.TORCH, Status.RIGHT, _NOTHING)
    return Joint(Part.DRIVER, Part.TORCH, Status.PROBLEM, text("too old for CUDA {cuda}", cuda=str(one.torch.cuda.value)))


def _torch_to_toolkit(case: RuleInput, one: InstalledTorch | None) -> Joint:
    version = case.toolkit.version if case.toolkit is not None else None
    if one is None or version is None or value_or(one.torch.accelerator, Accelerator.CPU) is not Accelerator.CUDA:
        return Joint(Part.TORCH, Part.TOOLKIT, Status.ABSENT, _NOTHING)
    if isinstance(version, Unknown) or isinstance(one.torch.cuda, Unknown):
        return Joint(Part.TORCH, Part.TOOLKIT, Status.UNKNOWN, _NOTHING)
    if extension_buildable(one.torch.cuda.value, version.value) is not ToolkitMatch.MAJOR_DIFFERS:
        return Joint(Part.TORCH, Part.TOOLKIT, Status.RIGHT, _NOTHING)
    return Joint(
        Part.TORCH,
        Part.TOOLKIT,
        Status.WARNING,
        text("extensions need a toolkit of CUDA {major}", major=one.torch.cuda.value.major),
    )


def _toolkit_to_compiler(case: RuleInput) -> Joint:
    toolkit, gcc = case.toolkit, case.gcc
    if toolkit is None or gcc is None:
        return Joint(Part.TOOLKIT, Part.COMPILER, Status.ABSENT, _NOTHING)
    known, glibc = case.known(toolkit), case.machine.host.glibc
    if known is not None and isinstance(glibc, Known) and glibc_clashes(known.glibc_clash, glibc.value):
        reason = text("its headers clash with glibc {glibc}", glibc=str(glibc.value))
        return Joint(Part.TOOLKIT, Part.COMPILER, Status.PROBLEM, reason)
    if known is None or known.gcc_limit is None or isinstance(gcc.version, Unknown):
        return Joint(Part.TOOLKIT, Part.COMPILER, Status.UNKNOWN, _NOTHING)
    if gcc_fits(known.gcc_limit, gcc.version.value):
        return Joint(Part.TOOLKIT, Part.COMPILER, Status.RIGHT, _NOTHING)
    return Joint(Part.TOOLKIT, Part.COMPILER, Status.PROBLEM, text("accepts gcc up to {limit}", limit=known.gcc_limit))


def _gpu_to_torch(case: RuleInput, card: KnownGpu, one: InstalledTorch | None) -> Joint | None:
    if one is None or not isinstance(card.capability, Known) or not isinstance(one.torch.targets, Known):
        return None
    if value_or(one.torch.accelerator, Accelerator.CUDA) is not Accelerator.CUDA:
        return None  # that it has no code for any GPU of NVIDIA's is said of the driver
    capability, cuda, offered = card.capability.value, one.torch.cuda, case.machine.driver.cuda_version
    way = way_to_run(
        capability,
        one.torch.targets.value,
        cuda=value_or(cuda, None),
        driver_cuda=value_or(offered, None),
    )
    if way is CodePath.NONE:
        return Joint(Part.GPU, Part.TORCH, Status.PROBLEM, text("torch has no code for {capability}", capability=str(capability)))
    if way is CodePath.DRIVER_TOO_OLD_TO_COMPILE:
        reason = text("the driver is too old to compile torch's code for {capability}", capability=str(capability))
        return Joint(Part.GPU, Part.TORCH, Status.PROBLEM, reason)
    return None


def _gpu_to_toolkit(case: RuleInput, card: KnownGpu) -> Joint | None:
    toolkit = case.toolkit
    known = case.known(toolkit) if toolkit is not None else None
    if toolkit is None or known is None or not known.targets or not isinstance(card.capability, Known):
        return None
    if toolkit_builds_for(known.targets, card.capability.value):
        return None
    version = str(value_or(toolkit.version, Version(())).release)
    reason = text("nvcc {version} cannot build for {capability}", version=version, capability=str(card.capability.value))
    return Joint(Part.GPU, Part.TOOLKIT, Status.PROBLEM, reason)


def _coloured(node: Node, joints: tuple[Joint, ...]) -> Node:
    """A part is to blame for a pair that fails where it is the pair's second: the one that can be changed."""
    if node.status is Status.RIGHT and any(joint.second is node.part and joint.status is Status.PROBLEM for joint in joints):
        return Node(node.part, node.name, node.detail, Status.PROBLEM)
    return node
