"""What became of CUDA toolkits and of the link that stands for one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from gpuassist.diagnose.past.driver import of_packages
from gpuassist.diagnose.past.looks import Looks, apart, told_by
from gpuassist.diagnose.past.transactions import Transaction
from gpuassist.diagnose.past.versions import begins_alike, direction, upstream
from gpuassist.model.fact import Known, value_or
from gpuassist.model.past import Direction, MachineChange, PackageAction, Subject
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version, VersionError

TOOLKIT = "CUDA toolkit"


def toolkit_changes(looks: Looks) -> Iterator[MachineChange]:
    """By their directory; one inside an environment is told of with its packages."""
    transactions = list(looks.of(Subject.TOOLKIT))
    brought: dict[str, Transaction] = {}
    found = looks.both(lambda machine: machine.toolkits)
    if found is not None:
        inside = tuple(f"{one.prefix}/" for one in value_or(looks.now.environments, ()) if not one.is_base)
        before, after = ({one.root: one for one in part if not one.root.startswith(inside)} for part in found)
        for root in dict.fromkeys((*before, *after)):
            seen = _seen(looks, root, before.get(root), after.get(root))
            if seen is not None:
                done = next((one for one in transactions if _leads_to(one, seen)), None)
                if done is not None:
                    transactions.remove(done)
                    brought[root] = done
                yield told_by(done, seen) if done is not None else seen
    for one in transactions:
        if any(upstream(event.before) != upstream(event.after) for event in one.events) or one.is_reinstalled:
            yield of_packages(one, Subject.TOOLKIT)
    yield from _links(looks, brought)


def _seen(looks: Looks, root: str, before: Toolkit | None, after: Toolkit | None) -> MachineChange | None:
    old, new = ("" if one is None else _version(one) for one in (before, after))
    if old is None or new is None or (old and new and Version.parse(old).release == Version.parse(new).release):
        return None  # its patch is written in two ways: 12.4.1 by version.json, 12.4.131 by nvcc
    return looks.seen(Subject.TOOLKIT, direction(old, new), TOOLKIT, before=old, after=new, place=root, sources=(root,))


def _version(one: Toolkit) -> str | None:
    found = one.version if isinstance(one.version, Known) else one.nvcc_version
    return str(found.value) if isinstance(found, Known) else None


def _leads_to(one: Transaction, seen: MachineChange) -> bool:
    """By the release alone: packages are numbered 12.8.1, their nvcc 12.8.93."""
    wanted = _release(seen.after or seen.before)
    actions = (
        (PackageAction.REMOVED,) if not seen.after else (PackageAction.INSTALLED, PackageAction.UPGRADED, PackageAction.DOWNGRADED)
    )
    told = (_release(event.before if not seen.after else event.after) for event in one.of(*actions))
    return bool(wanted) and any(found and begins_alike(found, wanted) for found in told)


def _release(version: str) -> str:
    try:
        return str(Version.parse(upstream(version)).release)
    except VersionError:
        return ""


def _links(looks: Looks, brought: Mapping[str, Transaction]) -> Iterator[MachineChange]:
    """The package that brings a toolkit lets the link lead to it (update-alternatives)."""
    found = looks.both(lambda machine: machine.system.links)
    if found is None:
        return
    was, is_now = ({one.path: one.target for one in part} for part in found)
    for path, (old, new) in apart(was, is_now).items():
        way = Direction.CHANGED if old and new else direction(old or "", new or "")
        seen = looks.seen(Subject.TOOLKIT, way, path, before=old or "", after=new or "", place=path, sources=(path,))
        yield replace(told_by(brought[new], seen), packages=()) if new and new in brought else seen
