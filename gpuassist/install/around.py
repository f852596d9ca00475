"""What is around a torch that is to be changed: its environment with the packages in it, other Pythons, and the user's wish."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath

from gpuassist.model.environment import Package
from gpuassist.model.package_settings import PackageSettings
from gpuassist.model.plan import Tool
from gpuassist.model.version import Version

NEW = "torch-gpu"


@dataclass(frozen=True, slots=True)
class Around:
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
