"""What is around a torch that is to be changed: its environment with the packages in it, other Pythons, and the user's wish."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.model.environment import Package
from gpuassist.model.plan import Tool
from gpuassist.model.version import Version

NEW = "torch-gpu"


@dataclass(frozen=True, slots=True)
class Around:
    """`prefix` and `name` are the environment's, `new` is the directory of one to be made, which is not there yet; `packages` those
    that have to do with the GPU, `directory` that of its torch; `pythons` are interpreters that can make an environment, `wished`
    the tool that the user asked for.
    """

    prefix: str = ""
    name: str = ""
    new: str = NEW
    packages: tuple[Package, ...] = ()
    directory: str = ""
    pythons: tuple[tuple[Version, str], ...] = ()
    wished: Tool | None = None

    def has(self, name: str) -> bool:
        """Whether a package is installed there."""
        return any(one.name == name for one in self.packages)
