"""Where something is to be installed: whose command lines serve there, and which Python environment is meant."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, count
from pathlib import PurePosixPath

from msgspec import Struct, field
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.knowledge.commands import Commands
from gpuassist.knowledge.families import repositories_package
from gpuassist.knowledge.records import Family, ModuleFlavour
from gpuassist.model.driver import KernelModule
from gpuassist.model.environment import Manager, Package, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Known, value_or
from gpuassist.model.finding import Action
from gpuassist.model.machine import Distribution, Machine
from gpuassist.model.package_settings import PackageSettings
from gpuassist.model.plan import Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.text import Text
from gpuassist.model.version import Version, whole_number

# What is around the torch that a plan changes: the environment that is meant, a free place for another, other Pythons.


_MAKERS = frozenset({Manager.SYSTEM, Manager.PYENV, Manager.UV})  # whose interpreters are no part of a project


def around(
    machine: Machine, environment: PythonEnvironment | None, torch: Torch | None, exists: Callable[[str], bool]
) -> TorchSurroundings:
    """What a plan has to know of them; `exists` is asked of places that are not in the snapshot."""
    return TorchSurroundings(
        prefix=environment.prefix if environment else "",
        name=environment.name if environment else "",
        new=free_place(machine, exists),
        packages=value_or(environment.packages, ()) if environment else (),
        directory=torch.path if torch and torch.path.startswith("/") else "",
        pythons=tuple(_pythons(machine)),
        python=environment.python_version.value if environment and isinstance(environment.python_version, Known) else None,
        of_conda=environment is not None and value_or(environment.manager, Manager.VENV) is Manager.CONDA,
        torch_of_conda=torch is not None and value_or(torch.installer, "").startswith("conda"),
        conda_root=conda_root(machine),
        settings=value_or(machine.package_settings, PackageSettings()),
    )


def conda_root(machine: Machine) -> str:
    """The directory in which conda keeps the environments of this machine; empty where it has none."""
    every = (one.prefix for one in value_or(machine.environments, ()) if value_or(one.manager, Manager.VENV) is Manager.CONDA)
    return next((prefix.rpartition("/")[0] for prefix in every if PurePosixPath(prefix).parent.name == "envs"), "")


def free_place(machine: Machine, exists: Callable[[str], bool]) -> str:
    """Where a new environment can be made: in HOME, where the files of the user's shell tell where that is."""
    home = home_of(machine)
    taken = {one.prefix for one in value_or(machine.environments, ())}
    names = chain((NEW,), (f"{NEW}-{number}" for number in count(2)))
    if not home:
        return NEW
    return next(place for place in (f"{home}/{name}" for name in names) if place not in taken and not exists(place))


def home_of(machine: Machine) -> str:
    """The user's home directory; empty where nothing tells."""
    files = (PurePosixPath(one.path) for one in value_or(machine.shell.startup_files, ()))
    own = [one for one in files if one.name.startswith(".") and ".config" not in one.parts]
    return str(own[0].parent) if own else ""


def _pythons(machine: Machine) -> list[tuple[Version, str]]:
    return [
        (one.python_version.value, one.interpreter.value)
        for one in value_or(machine.environments, ())
        if value_or(one.manager, Manager.VENV) in _MAKERS
        and isinstance(one.python_version, Known)
        and isinstance(one.interpreter, Known)
    ]


# What of a machine decides how a driver comes onto it: distribution, kernel, Secure Boot, what is installed, whose it is.


# The kernels that Canonical builds, with which it builds and signs NVIDIA's modules as well (linux-restricted-modules).
_CANONICAL = frozenset({"generic", "lowlatency", "aws", "azure", "gcp", "oracle", "nvidia", "oem"})
# The kernel that an Ubuntu release came with; a newer one is its hardware enablement kernel (Ubuntu kernel lifecycle).
_FIRST_KERNELS = {"20.04": "5.4", "22.04": "5.15", "24.04": "6.8", "26.04": "7.0"}
_WITH_ENABLEMENT = frozenset({"generic", "lowlatency"})
_ARCH_KERNELS = {"lts": "linux-lts", "zen": "linux-zen", "hardened": "linux-hardened", "rt": "linux-rt", "cachyos": "linux-cachyos"}


class System(Struct, frozen=True):
    """`distribution` and `release` are os-release's ID and VERSION_ID, `kernel` is `uname -r`; `secure_boot` is None where that is
    not known. `driver` is the version that is installed, loaded or not, `open_module` its flavour, both None where not there or not
    known; `uninstaller` is that of NVIDIA's own installer, empty where it was not used. `needs_open`: a GPU runs with the open
    modules alone. `nouveau` has a GPU; `hybrid`: a laptop whose processor draws as well. `provider` is the cloud it is rented from,
    `part` that only a part of a GPU is rented (vGPU). `repositories` is openSUSE's package that adds NVIDIA's,
    `administrator` whether this user may become root.
    """

    distribution: str = ""
    release: str = ""
    kernel: str = ""
    secure_boot: bool | None = False
    driver: Version | None = None
    open_module: bool | None = None
    uninstaller: str = ""
    needs_open: bool = False
    nouveau: bool = False
    hybrid: bool = False
    provider: str = ""
    part: bool = False
    home: str = ""
    administrator: bool = True
    jetson: bool = False
    conda: bool = False
    repositories: str = "openSUSE-repos-Tumbleweed-NVIDIA"

    @property
    def major(self) -> int:
        """The distribution's major release; 0 where it has none, or says none."""
        return whole_number(self.release.partition(".")[0]) or 0

    @property
    def signed_modules(self) -> str:
        """How the names of Ubuntu's signed modules for this kernel end: `generic-hwe-24.04`; empty where it has none."""
        flavour = self.kernel.rpartition("-")[2]
        if flavour not in _CANONICAL:
            return ""
        first = _FIRST_KERNELS.get(self.release)
        if self.distribution != "ubuntu" or first is None:
            return self.kernel
        newer = flavour in _WITH_ENABLEMENT and not self.kernel.startswith(f"{first}.")
        return f"{flavour}-hwe-{self.release}" if newer else flavour

    @property
    def enterprise_suse(self) -> str:
        """NVIDIA's name for a release of SUSE Linux Enterprise: `sle15sp7`, `sle16`; empty on any other system."""
        if self.distribution not in {"sles", "sled"}:
            return ""
        major, _, pack = self.release.partition(".")
        later = f".{pack}" if pack.strip("0") else ""
        return f"sle{major}sp{pack}" if major == "15" else f"sle{major}{later}"

    @property
    def arch_kernel(self) -> str:
        """The package of an Arch kernel by the end of its name: `linux-lts` of `6.12.58-1-lts`, `linux` of `6.17.8-arch1-1`."""
        ending = self.kernel.rpartition("-")[2]
        return _ARCH_KERNELS.get(ending, f"linux-{ending}" if ending.isalpha() and ending != "generic" else "linux")


_AZURE_PARTS = frozenset({"10de:2236"})  # A10: NVadsA10 v5, which Azure says takes GRID drivers in all sizes
_AMAZON_PARTS = ("g6f.", "gr6f.")
_NOWHERE = Distribution("", (), "", "")


def system_of(case: RuleInput) -> System:
    """What is known of it."""
    host, driver = case.machine.host, case.machine.driver
    distribution = value_or(host.distribution, _NOWHERE)
    module = _module(case)
    return System(
        distribution=distribution.id,
        release=distribution.version_id,
        kernel=value_or(host.kernel, ""),
        secure_boot=host.secure_boot.value if isinstance(host.secure_boot, Known) else None,
        driver=value_or(module.version, None) if module else None,
        open_module=value_or(module.open_flavour, None) if module else None,
        uninstaller=value_or(driver.uninstaller, ""),
        needs_open=any(card.flavour is ModuleFlavour.OPEN_REQUIRED for card in case.cards),
        nouveau=any(case.held_by(card) in {"nouveau", "nova_core"} for card in case.cards),
        hybrid=value_or(host.hybrid, False),  # noqa: FBT003 -- the fact's default
        provider=value_or(host.provider, ""),
        part=_part(case),
        home=home_of(case.machine),
        administrator=value_or(host.administrator, True),  # noqa: FBT003 -- the fact's default
        jetson=case.jetson,
        conda=any(value_or(one.manager, Manager.VENV) is Manager.CONDA for one in value_or(case.machine.environments, ())),
        repositories=repositories_package(distribution),
    )


def _part(case: RuleInput) -> bool:
    """Whether only a part of a GPU is rented: Azure has the A10 in such parts, Amazon the L4 in these types of instances."""
    host = case.machine.host
    provider = value_or(host.provider, "")
    if provider == "azure":
        return any(value_or(card.gpu.pci_id, "") in _AZURE_PARTS for card in case.cards)
    return provider == "aws" and value_or(host.product, "").startswith(_AMAZON_PARTS)


def _module(case: RuleInput) -> KernelModule | None:
    """The module that is installed, loaded or not."""
    driver = case.machine.driver
    installed = (*value_or(driver.on_disk, ()), *value_or(driver.loaded, ()))
    return next(iter(installed), None) or waiting_module(case)


def waiting_module(case: RuleInput) -> KernelModule | None:
    """The module of a driver that is installed and not loaded: the one on disk, or the one that fits the libraries that are."""
    driver = case.machine.driver
    if not isinstance(driver.loaded, Known) or case.running or case.container or case.wsl:
        return None
    for module in value_or(driver.on_disk, ()):
        if isinstance(module.version, Known):
            return module
    versions = [one.version for one in value_or(driver.libcuda, ()) if isinstance(one.version, Known)]
    return KernelModule("", versions[0], NOT_ASKED, NOT_ASKED) if versions and isinstance(driver.on_disk, Known) else None


# What is around a torch that is to be changed: its environment with the packages in it, other Pythons, and the user's wish.


NEW = "torch-gpu"


class TorchSurroundings(Struct, frozen=True):
    """`prefix` and `name` are the environment's, `new` is the directory of one to be made, which is not there yet; `packages` those
    that have to do with the GPU, `directory` that of its torch; `pythons` are interpreters that can make an environment, `wished`
    the tool that the user asked for. `of_conda` where conda made the environment, `torch_of_conda` where its torch came by conda;
    `conda_root` is the directory under which conda keeps its environments; `settings` say where packages come from.
    """

    prefix: str = ""
    name: str = ""
    new: str = NEW
    packages: tuple[Package, ...] = ()
    directory: str = ""
    pythons: tuple[tuple[Version, str], ...] = ()
    wished: Tool | None = None
    python: Version | None = None
    of_conda: bool = False
    torch_of_conda: bool = False
    conda_root: str = ""
    settings: PackageSettings = field(default_factory=PackageSettings)

    @property
    def new_of_conda(self) -> str:
        """Where conda makes a new one: beside those that it made."""
        return f"{self.conda_root}/{PurePosixPath(self.new).name}" if self.conda_root else self.new

    def has(self, name: str) -> bool:
        """Whether a package is installed there."""
        return any(one.name == name for one in self.packages)


_KINDS = {
    Action.NONE: StepKind.COMMAND,
    Action.EDIT: StepKind.EDIT,
    Action.COMMAND: StepKind.COMMAND,
    Action.NEW_SHELL: StepKind.NEW_SHELL,
    Action.REBOOT: StepKind.REBOOT,
    Action.HARDWARE: StepKind.HARDWARE,
}


class InstallPlace(Struct, frozen=True):
    """`families` are those whose lines serve, the most special first; `repository` is NVIDIA's name for this distribution, empty
    where it has no packages for it. `tool` can change the environment of `python` (`pip`, `uv`), empty where it is to be left as
    it is; `compilers` are the installed g++ by their majors.
    """

    families: tuple[Family, ...] = (Family.ANY,)
    repository: str = ""
    repository_architecture: str = ""
    python: str = "python3"
    tool: str = ""
    torch_there: bool = False
    driver_there: bool = True
    compilers: tuple[tuple[int, str], ...] = ()
    around: TorchSurroundings = field(default_factory=TorchSurroundings)
    system: System = field(default_factory=System)

    @property
    def family(self) -> Family:
        """The one that says whose the driver is."""
        return self.families[0]

    @property
    def packages(self) -> Family:
        """The one whose packages are installed here: under WSL2 the distribution's, though the driver is not."""
        return next((one for one in self.families if one not in {Family.WSL, Family.CONTAINER}), Family.ANY)


class UsedCommand(Struct, frozen=True):
    """A command by its key, and what it is used with."""

    key: str
    parameters: Mapping[str, object]


def use(key: str, **parameters: object) -> UsedCommand:
    """A command to render."""
    return UsedCommand(key, parameters)


def step(
    uses: tuple[UsedCommand, ...],
    place: InstallPlace,
    commands: Commands,
    words: tuple[Text, Text | None],
    *,
    run: StepRun | None = None,
    proof: StepProof | None = None,
) -> Step:
    """A step of these commands, as far as they are known for the place; `words` say what it does, and how to see that it worked.
    `run` says who takes it and where, and gets its programs from the lines.
    """
    records = [commands.record(one.key, place.families) for one in uses]
    known = [record for record in records if record is not None]
    lines = tuple(line for one in uses for line in commands.render(one.key, place.families, one.parameters))
    root = any(record.needs_root for record in known)
    acts = [_KINDS[record.action] for record in known if record.action is not Action.COMMAND]
    kind = acts[0] if acts else StepKind.ROOT_COMMAND if root else StepKind.COMMAND
    does, check = words
    taken = replace(run, programs=programs_of(lines)) if run is not None and not root else None
    return Step(kind, does, lines, check=check, needs_root=root, run=taken, proof=proof)


def programs_of(lines: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """The programs of lines without a shell's operators; a line that activates an environment changes the user's shell alone."""
    words = (tuple(shlex.split(line)) for line in lines)
    return tuple(one for one in words if one and one[0] not in {".", "source"} and one[:2] != ("conda", "activate"))
