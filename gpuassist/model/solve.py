"""What a tool would do to an environment of packages, looked at before it does, and what speaks against it."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.fact import Fact
from gpuassist.model.plan import Tool
from gpuassist.model.text import Text


class PackageChange(Struct, frozen=True):
    """A package before and after: `before` is empty where it is added, `after` where it is removed. Builds are conda's strings, or
    empty; `source` is where it comes from (a URL, a channel), empty where the tool does not say; `size_bytes` is what is to be
    downloaded, None where the tool does not say.
    """

    name: str
    before: str = ""
    after: str = ""
    build_before: str = ""
    build_after: str = ""
    size_bytes: int | None = None
    source: str = ""


class Solve(Struct, frozen=True):
    """Every package that would be added, changed or removed, by name."""

    tool: Tool
    changes: tuple[PackageChange, ...] = ()

    @property
    def added(self) -> tuple[PackageChange, ...]:
        """What is not there yet."""
        return tuple(one for one in self.changes if not one.before)

    @property
    def removed(self) -> tuple[PackageChange, ...]:
        """What would be there no more."""
        return tuple(one for one in self.changes if not one.after)

    @property
    def changed(self) -> tuple[PackageChange, ...]:
        """What is there, and would be another version or build."""
        return tuple(one for one in self.changes if one.before and one.after)


class Requirer(Struct, frozen=True):
    """A package that is there and asks for a torch: `wanted` as its own record writes it, and whether it has that now and would."""

    name: str
    version: str
    wanted: str
    met_before: bool
    met_after: bool


class DryRun(Struct, frozen=True):
    """What a step would do: `solve` is unknown where nobody could tell, and then `stops` says why. A step with a stop is not run;
    `warnings` are shown before it is.
    """

    solve: Fact[Solve]
    requires: tuple[Requirer, ...] = ()
    stops: tuple[Text, ...] = ()
    warnings: tuple[Text, ...] = ()
