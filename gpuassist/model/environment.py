"""Python environments and the torch in them, as their files describe them."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.version import Target, Version


class Manager(str, Enum):
    """What made the environment."""

    SYSTEM = "system"
    VENV = "venv"
    CONDA = "conda"
    PYENV = "pyenv"
    UV = "uv"


class Accelerator(str, Enum):
    """What a torch build computes on beside the CPU."""

    CUDA = "cuda"
    ROCM = "rocm"
    XPU = "xpu"
    CPU = "cpu"


class Torch(Struct, frozen=True):
    """A torch in a site-packages directory. `version` is its own full text (`2.5.1+cu124`), `cuda` what it was built with
    (only asked of CUDA builds), `targets` the GPU code it was compiled to, `installer` who put it there (pip, uv, conda);
    `damaged` are files of its record that are missing, or libraries of another size (only asked of what pip or uv installed).
    """

    path: str
    version: Fact[str] = NOT_ASKED
    accelerator: Fact[Accelerator] = NOT_ASKED
    cuda: Fact[Version] = NOT_ASKED
    targets: Fact[tuple[Target, ...]] = NOT_ASKED
    installer: Fact[str] = NOT_ASKED
    damaged: Fact[tuple[str, ...]] = NOT_ASKED


class Package(Struct, frozen=True):
    """An installed package that has to do with the GPU: its name as package indexes normalise it, its version as it is written,
    and conda's build string where conda installed it (empty otherwise).
    """

    name: str
    version: str
    build: str = ""


class TorchAsker(Struct, frozen=True):
    """An installed package that asks for certain versions of torch; `wanted` as it writes them (`==2.8.0`)."""

    package: str
    version: str
    wanted: str


class LoadedLibrary(Struct, frozen=True):
    """A library that a program of an environment needs, where a new terminal's LD_LIBRARY_PATH decides which file is loaded, or
    nothing does: `own` is the file without that variable (empty where there is none), `taken` the file with it.
    """

    program: str
    soname: str
    own: str
    taken: str


class PythonEnvironment(Struct, frozen=True):
    """An environment by its prefix; `active` where a new terminal's or gpuassist's own shell has it activated;
    `torch` is an empty tuple where none is installed, and holds two where one shadows the other; `packages` are those around it,
    `libraries` those that LD_LIBRARY_PATH decides on, or that are not found at all; `stray` lie in its project's directory, where
    its wheels make the loader look; `askers` are asked for where there is a torch.
    """

    prefix: str
    name: str
    manager: Fact[Manager] = NOT_ASKED
    interpreter: Fact[str] = NOT_ASKED
    python_version: Fact[Version] = NOT_ASKED
    active: Fact[bool] = NOT_ASKED
    torch: Fact[tuple[Torch, ...]] = NOT_ASKED
    packages: Fact[tuple[Package, ...]] = NOT_ASKED
    libraries: Fact[tuple[LoadedLibrary, ...]] = NOT_ASKED
    sites: Fact[tuple[str, ...]] = NOT_ASKED
    stray: Fact[tuple[str, ...]] = NOT_ASKED
    askers: Fact[tuple[TorchAsker, ...]] = NOT_ASKED

    @property
    def is_base(self) -> bool:
        """Whether it is an interpreter that environments are made from, and no project's: the system's, one of pyenv's or uv's own,
        conda's base.
        """
        manager = self.manager.value if isinstance(self.manager, Known) else None
        if manager is Manager.UV:
            return "/uv/python/" in f"{self.prefix}/"
        if manager is Manager.CONDA:
            return self.name == "base"
        return manager in {Manager.SYSTEM, Manager.PYENV}
