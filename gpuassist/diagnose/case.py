"""One machine as rules look at it: its facts joined with what is known of its parts, each join made once.

Nothing here judges; unknown facts stay unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct

from gpuassist.diagnose.driver_at_work import jetpack_on, of_the_board, of_windows, waiting_for_restart
from gpuassist.knowledge.choice import GpuWish, InstalledToolkit, installed
from gpuassist.knowledge.compatibility import (
    DriverFit,
    driver_floor,
    driver_serves_cuda,
    driver_serves_gpu,
    kernels_run,
)
from gpuassist.knowledge.driver_numbers import JetPackRecord, windows_branch
from gpuassist.knowledge.records import ArchitectureRecord, GpuRecord, ModuleFlavour
from gpuassist.knowledge.servers import Baseboard, baseboard_of, is_for_servers, is_virtual
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.driver import KernelModule
from gpuassist.model.environment import Accelerator, Manager, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Command, Terminal
from gpuassist.model.toolkit import Compiler, Toolkit
from gpuassist.model.version import ComputeCapability, Version

_FOR_VIRTUAL_MACHINES = "vfio-pci"


class KnownGpu(Struct, frozen=True, eq=False):
    """A GPU of the machine with what is known of its kind; `name` is short (`RTX 4090`), `place` counts from 0 and tells it
    from the others: to compare all the rest for each pair of 5,000 cards takes half a minute. `number` is the driver's own.
    """

    place: int
    gpu: Gpu
    record: GpuRecord | None
    architecture: ArchitectureRecord | None
    number: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownGpu) and self.place == other.place

    def __hash__(self) -> int:
        return hash(self.place)

    @property
    def name(self) -> str:
        """What people call it."""
        name = value_or(self.gpu.name, "") or (self.record.name if self.record else "")
        return name.removeprefix("NVIDIA ").removeprefix("GeForce ") or "NVIDIA GPU"

    @property
    def capability(self) -> Fact[ComputeCapability]:
        return self.gpu.compute_capability

    @property
    def chip(self) -> str:
        """The chip's code name, empty where it is not known."""
        return self.record.chip if self.record else ""

    @property
    def flavour(self) -> ModuleFlavour | None:
        """Which kernel modules it can have; None where the GPU is not known."""
        known = self.record or self.architecture
        return known.module if known else None


def wishes_of(cards: Iterable[KnownGpu]) -> tuple[GpuWish, ...]:
    """The kinds of GPU among them, each once, as choosing a driver wants them."""
    return tuple(dict.fromkeys(GpuWish(card.architecture, card.chip, card.flavour) for card in cards if card.architecture))


class InstalledTorch(Struct, frozen=True):
    """A torch and the environment that it is in."""

    environment: PythonEnvironment
    torch: Torch

    @property
    def active(self) -> bool:
        """Whether a new terminal or gpuassist's own shell has the environment activated."""
        return self.environment.active.is_true

    @property
    def version(self) -> str:
        """torch's own version text, `2.5.1+cu124`."""
        return value_or(self.torch.version, "") or "torch"

    @property
    def tool(self) -> str:
        """What can put another torch into this environment: `pip` or `uv`; empty where it should be left as it is, because
        conda counts on its own packages, and distributions close their own Python to pip (PEP 668).
        """
        manager = value_or(self.environment.manager, Manager.VENV)
        if manager is Manager.SYSTEM or value_or(self.torch.installer, "pip").startswith("conda"):
            return ""
        return "uv" if manager is Manager.UV else "pip"

    def runs_on(self, capability: ComputeCapability) -> bool:
        """Whether it is known to have code for such a GPU."""
        cuda = value_or(self.torch.cuda, None)
        return kernels_run(capability, value_or(self.torch.targets, ()), cuda=cuda)


class RuleInput:
    """A machine under examination."""

    def __init__(self, machine: Machine, knowledge: Knowledge) -> None:
        self.machine = machine
        self.knowledge = knowledge

    @property
    def wsl(self) -> bool:
        """Whether this is WSL, where the driver is Windows' own."""
        return value_or(self.machine.host.wsl, 0) > 0

    @property
    def without_flavours(self) -> bool:
        """Whether the GPU's driver is none of the two kernel modules: Windows' (WSL2), or a Jetson's own."""
        return self.wsl or self.jetson

    @property
    def linux_driver_in_wsl(self) -> tuple[str, ...]:
        """The libraries of a Linux driver inside WSL, whose driver is that of Windows."""
        paths = (one.path for one in value_or(self.machine.driver.libcuda, ())) if self.wsl else ()
        return tuple(path for path in paths if not path.startswith("/usr/lib/wsl/"))

    @property
    def container(self) -> str:
        """The kind of container, empty outside one."""
        return value_or(self.machine.host.container, "")

    @property
    def system_container(self) -> bool:
        """Whether it is a container of a whole system, which is given its devices one by one."""
        return self.container in {"lxc", "systemd-nspawn"}

    @property
    def without_nodes(self) -> bool:
        """A container sees the host's modules and PCI tree, but only the device nodes that it was given."""
        nodes = self.machine.driver.device_nodes
        return bool(self.container) and isinstance(nodes, Known) and not nodes.value

    @property
    def jetson(self) -> bool:
        """Whether the GPU is part of the processor's own chip."""
        return self.machine.host.jetson.is_true

    @cached_property
    def cards(self) -> tuple[KnownGpu, ...]:
        """Every GPU that was found, but those that are set aside."""
        return tuple(card for card in self._every_card if self.held_by(card) != _FOR_VIRTUAL_MACHINES)

    @cached_property
    def namesakes(self) -> Mapping[str, int]:
        """How many of them have each name."""
        return Counter(card.name for card in self.cards)

    @cached_property
    def set_aside(self) -> tuple[KnownGpu, ...]:
        """The GPUs that are kept for a virtual machine on purpose: nothing here has to serve them."""
        return tuple(card for card in self._every_card if self.held_by(card) == _FOR_VIRTUAL_MACHINES)

    @cached_property
    def _every_card(self) -> tuple[KnownGpu, ...]:
        return tuple(self._card(place, gpu) for place, gpu in enumerate(value_or(self.machine.gpus, ())))

    @cached_property
    def _numbered(self) -> bool:
        return any(isinstance(gpu.index, Known) for gpu in value_or(self.machine.gpus, ()))

    def held_by(self, card: KnownGpu) -> str:
        """The driver other than NVIDIA's that has the GPU; empty where none has or that is not known."""
        driver = value_or(card.gpu.kernel_driver, "")
        return "" if driver == "nvidia" else driver

    def left_alone(self, card: KnownGpu) -> bool:
        """Whether no driver has a GPU though NVIDIA's runs, answers, and does not list it."""
        status, gpu = self.machine.driver.nvml_status, card.gpu
        answers = isinstance(status, Known) and status.value.code == 0 and bool(self.loaded)
        unbound = isinstance(gpu.kernel_driver, Known) and gpu.kernel_driver.value == "" and not gpu.excluded.is_true
        return answers and unbound and isinstance(gpu.uuid, Unknown) and not self.container and not self.wsl

    @cached_property
    def baseboard(self) -> Baseboard | None:
        """The board whose NVSwitches join the GPUs; None where there is none, and where a machine is given GPUs without them."""
        ids = [value_or(card.gpu.pci_id, "") or (card.record.pci_id if card.record else "") for card in self.cards]
        found = baseboard_of(ids, self.knowledge.baseboards())
        switches = self.machine.driver.switches  # those of the fourth generation are none of NVIDIA's on the PCI bus
        hidden = found is not None and not found.subnet_manager and isinstance(switches, Known) and not switches.value
        return None if hidden else found

    @property
    def for_servers(self) -> bool:
        """Whether every GPU is a product for data centres."""
        products = self.knowledge.server_gpus()
        return bool(self.cards) and all(is_for_servers(value_or(one.gpu.name, ""), one.record, products) for one in self.cards)

    @property
    def virtual(self) -> bool:
        """Whether a hypervisor gives a GPU in parts (vGPU), whose driver belongs to that of its host."""
        return any(is_virtual(value_or(card.gpu.name, "")) for card in self.cards)

    @cached_property
    def usable(self) -> tuple[KnownGpu, ...]:
        """The GPUs that the driver at hand does not rule out; those that it does have a finding of their own."""
        return tuple(card for card in self.cards if not self.ruled_out(card))

    @cached_property
    def driver(self) -> Fact[Version]:
        """The version of the running driver: the loaded module's, else what NVML says."""
        for module in self.loaded:
            if isinstance(module.version, Known):
                return module.version
        return self.machine.driver.version

    @cached_property
    def after_restart(self) -> KernelModule | None:
        """The module of another version than the one that runs, which the next start loads."""
        return None if self.wsl or self.container else waiting_for_restart(self.machine, self.driver)

    @cached_property
    def serving(self) -> Fact[Version]:
        """The driver that the machine is judged by, by the numbers of Linux: that which the next start loads; of Windows' driver
        (WSL2) and of a Jetson's own the branch that it is of.
        """
        driver = self.driver if self.after_restart is None else self.after_restart.version
        if self.wsl:
            return of_windows(self.machine, self.knowledge, driver)
        return of_the_board(self.machine, self.knowledge, driver) if self.jetson else driver

    @cached_property
    def jetpack(self) -> JetPackRecord | None:
        """The system of a Jetson; None on another computer, and where nothing tells which it is."""
        return jetpack_on(self.machine, self.knowledge, self.driver)

    @property
    def jetson_torch(self) -> tuple[str, str]:
        """Where NVIDIA has torch for the board's JetPack: an index, or a wheel; both empty where none is known."""
        return (self.jetpack.index, self.jetpack.wheel) if self.jetpack else ("", "")

    def numbered(self, version: Version) -> Version:
        """A driver's version that somebody names, by the numbers of Linux: `581.80` is Windows' name for a 580."""
        branch = windows_branch(version, self.knowledge.windows_drivers(), self.knowledge.branches()) if self.wsl else None
        return version if branch is None else Version((branch,))

    def floor(self, cuda: Version) -> str:
        """The oldest driver for a CUDA release, as this machine numbers drivers: Windows begins each branch with other minors."""
        floor = driver_floor(cuda)
        return str(floor.major) if self.wsl else str(floor)

    def serves(self, cuda: Version) -> bool:
        """Whether the driver is known to run programs of a CUDA release."""
        return isinstance(self.serving, Known) and driver_serves_cuda(self.serving.value, cuda)

    @property
    def loaded(self) -> tuple[KernelModule, ...]:
        return value_or(self.machine.driver.loaded, ())

    @property
    def running(self) -> bool:
        """Whether NVIDIA's driver is at work: its module is loaded, or NVML reached it (0: success, 18: of another version)."""
        status = self.machine.driver.nvml_status
        return bool(self.loaded) or (isinstance(status, Known) and status.value.code in {0, 18})

    @property
    def reached(self) -> bool:
        """Whether NVML reached the driver, which it can only through the device nodes."""
        status = self.machine.driver.nvml_status
        return isinstance(status, Known) and status.value.code == 0

    @cached_property
    def open_module(self) -> Fact[bool]:
        """Whether the loaded module is the open one; where another is loaded at the next start, that one."""
        waiting = self.after_restart
        if waiting is not None and isinstance(waiting.open_flavour, Known):
            return waiting.open_flavour
        return next((module.open_flavour for module in self.loaded), NOT_ASKED)

    def ruled_out(self, card: KnownGpu) -> bool:
        """Whether the loaded driver cannot serve this GPU: another has it, or it is too old, past it, or of the wrong flavour."""
        if self.loaded and self.held_by(card):
            return True
        if self.fit(card) in {DriverFit.TOO_OLD, DriverFit.DROPPED}:
            return True
        opened = self.open_module
        if isinstance(opened, Unknown) or self.without_flavours:
            return False
        wrong = ModuleFlavour.OPEN_IMPOSSIBLE if opened.value else ModuleFlavour.OPEN_REQUIRED
        return card.flavour is wrong

    def fit(self, card: KnownGpu) -> DriverFit:
        """Whether the driver's branch serves the GPU."""
        if isinstance(self.serving, Unknown) or card.architecture is None:
            return DriverFit.UNKNOWN
        return driver_serves_gpu(self.serving.value, card.architecture, card.chip)

    @cached_property
    def wishes(self) -> tuple[GpuWish, ...]:
        """All kinds of GPU, as choosing a driver wants them."""
        return wishes_of(self.cards)

    @cached_property
    def capabilities(self) -> tuple[ComputeCapability, ...]:
        """The compute capabilities of the usable GPUs, each once."""
        known = (card.capability for card in self.usable)
        return tuple(sorted({fact.value for fact in known if isinstance(fact, Known)}))

    @property
    def terminal(self) -> Fact[Terminal]:
        return self.machine.shell.new_terminal

    def variable(self, name: str) -> str:
        """A variable of a new terminal; empty where it is not set or no terminal could be asked."""
        return self.terminal.value.variable(name) if isinstance(self.terminal, Known) else ""

    @cached_property
    def nvcc(self) -> Command | None:
        """The nvcc that a new terminal finds."""
        return self.terminal.value.command("nvcc") if isinstance(self.terminal, Known) else None

    @cached_property
    def toolkits(self) -> tuple[Toolkit, ...]:
        """The installed toolkits that have an nvcc."""
        return tuple(one for one in value_or(self.machine.toolkits, ()) if value_or(one.nvcc, "") or isinstance(one.nvcc, Unknown))

    @cached_property
    def toolkit(self) -> Toolkit | None:
        """The toolkit whose nvcc a new terminal finds."""
        if self.nvcc is None:
            return None
        for path in (self.nvcc.real_path, self.nvcc.path):
            for one in self.toolkits:
                if one.runs_as(path) or path.startswith(one.root.rstrip("/") + "/"):
                    return one
        return None

    def known(self, toolkit: Toolkit) -> InstalledToolkit | None:
        """An installed toolkit as choosing wants it."""
        version = toolkit.version
        return installed(toolkit, self.knowledge.toolkit(version.value) if isinstance(version, Known) else None)

    def toolkit_at(self, directory: str) -> Toolkit | None:
        """The toolkit that a variable such as CUDA_HOME names: by its directory, a symlink to it, or a wrapper of its nvcc."""
        place = directory.rstrip("/")
        toolkits = value_or(self.machine.toolkits, ())
        return next((one for one in toolkits if place in {one.root, *one.links} or one.runs_as(f"{place}/bin/nvcc")), None)

    @cached_property
    def gcc(self) -> Compiler | None:
        """The host compiler that nvcc calls: g++, or gcc, of a new terminal's PATH."""
        if isinstance(self.terminal, Unknown):
            return None
        compilers = value_or(self.machine.compilers, ())
        for family in ("g++", "gcc"):
            command = self.terminal.value.command(family)
            places = {command.path, command.real_path} if command else set()
            found = next((one for one in compilers if one.family == family and one.path in places), None)
            if found is not None:
                return found
        return None

    @cached_property
    def torches(self) -> tuple[InstalledTorch, ...]:
        """The torch installs that matter: those of active environments, or all where no active one has torch."""
        every = tuple(
            InstalledTorch(environment, torch)
            for environment in value_or(self.machine.environments, ())
            for torch in value_or(environment.torch, ())[:1]
        )
        return tuple(one for one in every if one.active) or every

    @cached_property
    def cuda_torches(self) -> tuple[InstalledTorch, ...]:
        """Those of them that were built for CUDA."""
        return tuple(one for one in self.torches if value_or(one.torch.accelerator, Accelerator.CPU) is Accelerator.CUDA)

    def _card(self, place: int, gpu: Gpu) -> KnownGpu:
        record = self.knowledge.gpu(gpu.pci_id.value) if isinstance(gpu.pci_id, Known) else None
        if record is None and isinstance(gpu.name, Known):
            record = self.knowledge.gpu_named(gpu.name.value)
        if record is not None:
            architecture: ArchitectureRecord | None = self.knowledge.architecture(record.architecture)
        elif isinstance(gpu.compute_capability, Known):
            architecture = self.knowledge.architecture_of(gpu.compute_capability.value)
        else:
            architecture = self.knowledge.architecture(gpu.architecture.value) if isinstance(gpu.architecture, Known) else None
        address = value_or(gpu.pci_address, "") if self._numbered else ""
        unnumbered = address if ":" in address else str(place)  # one that is only wished for has no address
        return KnownGpu(place, gpu, record, architecture, str(value_or(gpu.index, unnumbered)))
