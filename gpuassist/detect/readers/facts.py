"""Facts of two accounts of one machine brought together: when both mean the same thing, and which of them counts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.formats.torch_version import read_torch_version
from gpuassist.knowledge.names import key
from gpuassist.model.environment import PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, T, Unknown, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version

Record = TypeVar("Record", bound=Struct)


def either(first: Fact[T], second: Fact[T]) -> Fact[T]:
    """The known one of two; where neither is, the reason that somebody gives."""
    if isinstance(first, Known):
        return first
    return second if isinstance(second, Known) or not first.asked else first


def united(first: Record, second: Record) -> Record:
    """A record with every fact that one of two has; what is no fact is the first's, unless it is empty there."""
    if first == second:
        return first
    changed = {one: _one(getattr(first, one), getattr(second, one)) for one in first.__struct_fields__}
    return replace(first, **changed)


def named(gpus: Iterable[Gpu]) -> Fact[tuple[Gpu, ...]]:
    """GPUs that a text names, which stand where the first of the names does."""
    every = tuple(gpus)
    name = every[0].name if every else NOT_ASKED
    return Known(every, name.source) if isinstance(name, Known) else NOT_ASKED


def agree(first: Fact[T], second: Fact[T]) -> bool:
    return isinstance(first, Unknown) or isinstance(second, Unknown) or _same(first.value, second.value)


def _same(one: object, other: object) -> bool:
    """12.4 and 12.4.131 are one release, told with more or fewer numbers."""
    if isinstance(one, Version) and isinstance(other, Version):
        length = min(len(one.parts), len(other.parts))
        return one.parts[:length] == other.parts[:length]
    return one == other


def _one(first: Any, second: Any) -> Any:
    if isinstance(first, (Known, Unknown)):
        return either(first, second)
    if isinstance(first, Struct):
        return united(first, second)
    return first or second


# Accounts that a text gives again and again: each that tells something else once, and no more of them than are worth reading.


Account = TypeVar("Account")

_MOST = 30  # from either end: a log begins with how it was started, and ends with how things stand


def latest_first(accounts: Iterable[Account], meaning: Callable[[Account], Hashable]) -> list[Account]:
    """The accounts from the last to the first; of those that mean the same the last, which is how things stand now."""
    kept: dict[Hashable, Account] = {}
    for one in accounts:
        told = meaning(one)
        kept.pop(told, None)
        kept[told] = one
    every = list(kept.values())
    ends = every if len(every) <= 2 * _MOST else [*every[:_MOST], *every[-_MOST:]]
    return ends[::-1]


# When two accounts mean the same thing: a GPU's name cut short, a toolkit without its directory, a torch without its tag.


CUT = "..."
"""How a table of nvidia-smi ends a name that is too long for it."""

# What a name may lack and still mean the same card; `Ti`, `SUPER`, `Laptop` are none of these.
_MAY_LACK = frozenset(("geforce", "quadro", "tesla", "grid", "rtx", "gtx", "pcie", "sxm", "hbm", "nvl", "hgx", "server", "edition"))


def same_gpu(one: Gpu, other: Gpu) -> bool:
    for first, second in ((one.uuid, other.uuid), (one.pci_address, other.pci_address)):
        if isinstance(first, Known) and isinstance(second, Known):
            return first.value == second.value and same_name(value_or(one.name, ""), value_or(other.name, ""))
    return (
        agree(one.index, other.index)
        and agree(one.pci_id, other.pci_id)
        and agree(one.compute_capability, other.compute_capability)
        and same_name(value_or(one.name, ""), value_or(other.name, ""))
    )


def same_name(one: str, other: str) -> bool:
    """Whether two names can be of one card; no name fits every name."""
    if not one or not other:
        return True
    if one.endswith(CUT) or other.endswith(CUT):
        shorter, longer = sorted((_plain(one), _plain(other)), key=len)
        return longer.startswith(shorter)
    first, second = key(one), key(other)
    return all(
        (word in _MAY_LACK or (word.removesuffix("gb").isdigit() and word.endswith("gb"))) for word in first ^ second
    ) and bool(first & second)


def same_toolkit(one: Toolkit, other: Toolkit) -> bool:
    """Whether two accounts can be of one toolkit: of one directory, or of one release where a directory is not told."""
    if one.root and other.root:
        return one.root == other.root or one.root in other.links or other.root in one.links
    if isinstance(one.version, Unknown) or isinstance(other.version, Unknown):
        return True
    return one.version.value.release == other.version.value.release  # nvcc of 12.4.1 calls itself 12.4.131


def same_environment(one: PythonEnvironment, other: PythonEnvironment) -> bool:
    """Whether two accounts can be of one environment: of one prefix, or with one Python and one torch where that is not told."""
    if one.prefix and other.prefix:
        return one.prefix == other.prefix
    return agree(one.python_version, other.python_version) and _shares_torch(one, other)


def same_torch(one: Torch, other: Torch) -> bool:
    """Whether two accounts can be of one torch: `2.6.0` is what pip calls a `2.6.0+cu124`."""
    if isinstance(one.version, Unknown) or isinstance(other.version, Unknown):
        return agree(one.cuda, other.cuda) and agree(one.accelerator, other.accelerator)
    if one.version.value == other.version.value:
        return True
    first, second = read_torch_version(one.version.value), read_torch_version(other.version.value)
    if first is None or second is None:
        return False
    return first.release == second.release and first.origin == second.origin and (not first.tag or not second.tag)


def _shares_torch(one: PythonEnvironment, other: PythonEnvironment) -> bool:
    if isinstance(one.torch, Unknown) or isinstance(other.torch, Unknown):
        return True
    if not one.torch.value or not other.torch.value:
        return one.torch.value == other.torch.value
    return any(same_torch(first, second) for first in one.torch.value for second in other.torch.value)


def _plain(name: str) -> str:
    plain = " ".join(name.lower().removesuffix(CUT).split())
    return plain.removeprefix("nvidia ").removeprefix("geforce ").strip()
