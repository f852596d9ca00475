"""What a plan starts from: the machine as far as its parts must fit each other, and the place where its steps are done."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, count
from pathlib import PurePosixPath

from msgspec.structs import replace

from gpuassist.diagnose.case import InstalledTorch, RuleInput
from gpuassist.diagnose.rules.driver import packages_of_two_branches
from gpuassist.diagnose.rules.driver_setup import installed_once
from gpuassist.install import hypothetical
from gpuassist.install.drivers.cloud import is_part
from gpuassist.install.drivers.packages import packages_of, surroundings_of
from gpuassist.install.place import NEW, InstallPlace, System, TorchSurroundings
from gpuassist.knowledge.change import Configuration, TorchThere
from gpuassist.knowledge.compatibility import kernels_run
from gpuassist.knowledge.driver_packages import Keeper, Shelf, shelf_of
from gpuassist.knowledge.families import Family, families_of, is_image, is_transactional, packages_base
from gpuassist.knowledge.records import ModuleFlavour
from gpuassist.model.driver import KernelModule
from gpuassist.model.environment import Accelerator, Manager, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Known, value_or
from gpuassist.model.finding import Finding
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Distribution, Host, Machine
from gpuassist.model.package_settings import PackageSettings
from gpuassist.model.plan import Tool
from gpuassist.model.toolkit import Origin
from gpuassist.model.version import ComputeCapability, Version, VersionError

_UNIFIED_CUDA = 13  # CUDA Toolkit 13.0 release notes: from it on Jetson takes the builds for ARM servers
_KERNEL = lazy_regex(r"\d{1,3}\.\d{1,4}(?:\.\d{1,5})?")
_NOWHERE = Distribution("", (), "", "")


def configuration_of(case: RuleInput) -> Configuration:
    """The machine as far as its parts must fit."""
    host = case.machine.host
    gcc, torch = case.gcc, torch_of(case)
    environment = torch.environment if torch else hypothetical.environment_of(case.machine)
    waiting = waiting_module(case)
    driver = case.serving if waiting is None else waiting.version
    opened = case.open_module if waiting is None else waiting.open_flavour
    # The toolkits that are no part of a Python environment.
    outside = (one for one in case.toolkits if value_or(one.origin, Origin.LOCAL) not in {Origin.CONDA, Origin.WHEEL})
    return Configuration(
        gpus=case.wishes,
        capabilities=_capabilities(case),
        today=case.machine.taken_at[:10],
        machine=value_or(host.architecture, "x86_64"),
        driver=value_or(driver, None),
        open_module=value_or(opened, None),
        one_module=not case.without_flavours,
        driver_fixed=case.jetson or (case.virtual and isinstance(case.driver, Known)),
        tegra=case.jetson and (case.jetpack is None or case.jetpack.cuda.major < _UNIFIED_CUDA),
        torch=_torch_there(torch) if torch else None,
        # Where no environment was found, that of the `python3` which a new one is made from.
        python=value_or(environment.python_version, None)
        if environment
        else case.knowledge.python_of(packages_base(value_or(host.distribution, _NOWHERE))),
        toolkit=case.known(case.toolkit) if case.toolkit is not None else None,
        toolkits=tuple(known for known in map(case.known, outside) if known is not None),
        gcc=value_or(gcc.version, None) if gcc else None,
        gccs=tuple(version for version, _ in _compilers(case)),
        gcc_packages=_gcc_packages(case),
        glibc=value_or(host.glibc, None),
        shelf=shelf_of_machine(case),
    )


def _gcc_packages(case: RuleInput) -> tuple[int, ...] | None:
    """What can be installed beside the usual gcc: by the system's packages, or by conda where these are not known at all."""
    if families_of(case.machine)[0] is Family.ANY:
        return case.knowledge.gcc_in(("conda", ""))
    return case.knowledge.gcc_in(packages_base(value_or(case.machine.host.distribution, _NOWHERE)))


def shelf_of_machine(case: RuleInput) -> Shelf | None:
    """What the packages of this machine's system hold of drivers; None where they bring none: it is another system's, a part of
    the board's, given by who rents it out, or nobody knows which packages these are.
    """
    host = case.machine.host
    family = families_of(case.machine)[0]
    if family in {Family.ANY, Family.WSL, Family.CONTAINER} or case.jetson or is_part(case):
        return None
    base = packages_base(value_or(host.distribution, _NOWHERE))
    holders = packages_of(family).holders
    if not surroundings_of(case.machine)["repository"]:  # NVIDIA has none for what is built on a distribution
        holders = tuple(one for one in holders if one is not Keeper.NVIDIA) or holders
    return shelf_of(case.knowledge.driver_packages(), base, holders, kernel_version(host))


def kernel_version(host: Host) -> Version | None:
    """The kernel's number, 6.8.0 of `6.8.0-60-generic`; None where it is not known."""
    found = _KERNEL.match(value_or(host.kernel, ""))
    return Version.parse(found[0]) if found else None


def torch_of(case: RuleInput) -> InstalledTorch | None:
    """The torch that is meant: one that computes on every GPU before others, a CUDA build before one for the processor alone."""
    capabilities = _capabilities(case)
    runs = (one for one in case.cuda_torches if _runs(one, capabilities))
    return next(runs, next(iter(case.cuda_torches or case.torches), None))


_NO_TORCH = Torch("")


def _nowhere(path: str) -> bool:
    return not path


def place_of(case: RuleInput, exists: Callable[[str], bool] = _nowhere, wished: Tool | None = None) -> InstallPlace:
    """Where the steps are done, by which tool; a new environment is made where nothing `exists`."""
    torch = torch_of(case)
    environment = torch.environment if torch else hypothetical.environment_of(case.machine)
    tool = torch.tool if torch else InstalledTorch(environment, _NO_TORCH).tool if environment else ""
    surroundings = surroundings_of(case.machine)
    return InstallPlace(
        families=families_of(case.machine),
        repository=surroundings["repository"],
        repository_architecture=surroundings["repository_architecture"],
        python=value_or(environment.interpreter, "python3") if environment else "python3",
        tool=tool,
        torch_there=torch is not None,
        driver_there=isinstance(case.driver, Known),
        compilers=tuple((version.major, path) for version, path in _compilers(case)),
        system=system_of(case),
        shelf=shelf_of_machine(case),
        around=replace(around(case.machine, environment, torch.torch if torch else None, exists), wished=wished),
    )


def _torch_there(one: InstalledTorch) -> TorchThere | None:
    """None for one of which files are missing: whichever release it is, it has to be installed anew."""
    if value_or(one.torch.damaged, ()):
        return None
    words = value_or(one.torch.version, "")
    try:
        version = Version.parse(words)
    except VersionError:
        version = Version(())
    targets = one.torch.targets
    return TorchThere(
        version,
        words.partition("+")[2],
        value_or(one.torch.cuda, None),
        value_or(targets, None),
        cpu=value_or(one.torch.accelerator, Accelerator.CUDA) is not Accelerator.CUDA,
    )


def _compilers(case: RuleInput) -> tuple[tuple[Version, str], ...]:
    every = value_or(case.machine.compilers, ())
    return tuple((one.version.value, one.path) for one in every if one.family == "g++" and isinstance(one.version, Known))


def _capabilities(case: RuleInput) -> tuple[ComputeCapability, ...]:
    return tuple(sorted({card.capability.value for card in case.cards if isinstance(card.capability, Known)}))


def _runs(one: InstalledTorch, capabilities: tuple[ComputeCapability, ...]) -> bool:
    targets = value_or(one.torch.targets, ())
    return all(kernels_run(capability, targets, cuda=value_or(one.torch.cuda, None)) for capability in capabilities)


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
        base=environment is None or environment.is_base,
        settings=value_or(machine.package_settings, PackageSettings()),
    )


def conda_root(machine: Machine) -> str:
    """The directory in which conda keeps the environments of this machine; empty where it has none."""
    every = (one.prefix for one in value_or(machine.environments, ()) if value_or(one.manager, Manager.VENV) is Manager.CONDA)
    return next((prefix.rpartition("/")[0] for prefix in every if PurePosixPath(prefix).parent.name == "envs"), "")


def free_place(machine: Machine, exists: Callable[[str], bool], name: str = NEW) -> str:
    """Where a new environment can be made: in HOME, where the files of the user's shell tell where that is."""
    home = home_of(machine)
    taken = {one.prefix for one in value_or(machine.environments, ())}
    names = chain((name,), (f"{name}-{number}" for number in count(2)))
    if not home:
        return name
    return next(place for place in (f"{home}/{one}" for one in names) if place not in taken and not exists(place))


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


def system_of(case: RuleInput) -> System:
    host, driver = case.machine.host, case.machine.driver
    distribution = value_or(host.distribution, _NOWHERE)
    installed = (*value_or(driver.on_disk, ()), *value_or(driver.loaded, ()))
    module = next(iter(installed), None) or waiting_module(case)  # the one that is installed, loaded or not
    return System(
        distribution=distribution.id,
        release=distribution.version_id,
        kernel=value_or(host.kernel, ""),
        secure_boot=value_or(host.secure_boot, None),
        driver=value_or(module.version, None) if module else None,
        open_module=value_or(module.open_flavour, None) if module else None,
        uninstaller=value_or(driver.uninstaller, ""),
        needs_open=any(card.flavour is ModuleFlavour.OPEN_REQUIRED for card in case.cards),
        nouveau=any(case.held_by(card) in {"nouveau", "nova_core"} for card in case.cards),
        hybrid=host.hybrid.is_true,
        provider=value_or(host.provider, ""),
        part=is_part(case),
        last_branch=min(
            (one.architecture.last_branch for one in case.cards if one.architecture and one.architecture.last_branch is not None),
            default=None,
        ),
        home=home_of(case.machine),
        administrator=value_or(host.administrator, True),  # noqa: FBT003 -- the fact's default
        jetson=case.jetson,
        jetson_cuda=_board_cuda(case),
        base=packages_base(distribution),
        image=is_image(distribution),
        transactional=is_transactional(distribution),
        variant=distribution.variant,
        conda=any(value_or(one.manager, Manager.VENV) is Manager.CONDA for one in value_or(case.machine.environments, ())),
        windows=_windows_numbers(case),
        servers=case.for_servers,
        baseboard=case.baseboard,
        virtual=case.virtual,
        mixed=is_mixed(case),
        container=case.container,
        holds=() if case.container or case.wsl else tuple(one for one in value_or(case.machine.holds, ()) if one.is_on_driver),
    )


def is_mixed(case: RuleInput) -> bool:
    """Whether two installations of the driver lie over each other, or its halves come from packages of two branches."""
    return any(isinstance(one, Finding) for one in installed_once(case)) or any(packages_of_two_branches(case))


def _board_cuda(case: RuleInput) -> Version | None:
    cuda = case.machine.driver.cuda_version
    return cuda.value.release if case.jetson and isinstance(cuda, Known) else None


def _windows_numbers(case: RuleInput) -> tuple[int, ...]:
    """How Windows numbers the last branch that serves every GPU; empty where each new one does."""
    lasts = [card.architecture.last_branch for card in case.cards if card.architecture is not None] if case.wsl else []
    last = min((one for one in lasts if one is not None), default=None)
    return next((one.majors for one in case.knowledge.windows_drivers() if one.branch == last), ())


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
