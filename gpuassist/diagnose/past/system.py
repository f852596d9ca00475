"""What became of the system below the GPU work: its kernel, its release, its compilers and libraries, and packages of the rest."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.diagnose.past.driver import of_packages
from gpuassist.diagnose.past.looks import Looks, apart, logged, told_by
from gpuassist.diagnose.past.transactions import Transaction, of_itself
from gpuassist.diagnose.past.versions import begins_alike, direction, kernel_in_name, newer_kernel, newest, same_kernel, upstream
from gpuassist.formats.package_logs.ostree import IMAGE
from gpuassist.model.fact import Known, value_or
from gpuassist.model.holds import HoldKind, PackageHold
from gpuassist.model.past import Direction, MachineChange, PackageAction, PackageEvent, Subject
from gpuassist.model.toolkit import Compiler

KERNEL, GLIBC, CUDNN, DISTRIBUTION = "kernel", "glibc", "cuDNN", "distribution"
_HEADERS = ("linux-headers", "kernel-devel", "kernel-default-devel", "linux-lts-headers", "linux-zen-headers")
_MAKES = (PackageAction.INSTALLED, PackageAction.UPGRADED, PackageAction.DOWNGRADED)


def kernel_changes(looks: Looks) -> Iterator[MachineChange]:
    """The kernel that runs, joined with its installation; those that wait for a restart, and what was done to others."""
    running = value_or(looks.now.host.kernel, "")
    pair = looks.differs(lambda machine: machine.host.kernel)
    transactions = looks.of(Subject.KERNEL)
    joined = -1
    if pair is not None:
        seen = looks.seen(
            Subject.KERNEL,
            _way(*pair),
            KERNEL,
            before=pair[0],
            after=pair[1],
            sources=looks.source(lambda machine: machine.host.kernel),
        )
        joined = max((place for place, one in enumerate(transactions) if _makes(one, pair[1])), default=-1)
        yield told_by(transactions[joined], seen) if joined >= 0 else seen
    for place, one in enumerate(transactions):
        if place != joined:
            yield _kernel_of_log(one, running)


def _way(before: str, after: str) -> Direction:
    if newer_kernel(after, before):
        return Direction.UPGRADED
    return Direction.DOWNGRADED if newer_kernel(before, after) else Direction.CHANGED


def _release(event: PackageEvent) -> str:
    """The kernel that a package is of, as nearly as its name or version tells."""
    named = kernel_in_name(event.package)
    version = event.after or event.before
    return named or (version if _is_kernel(event) else "")


def _is_kernel(event: PackageEvent) -> bool:
    """Whether it is a kernel itself: no headers, and no name that only leads to the newest one."""
    name = event.package
    if name.startswith(_HEADERS) or name.endswith(("-headers", "-devel")) or "nvidia" in name:
        return False
    if kernel_in_name(name):
        return name.startswith(("linux-image", "proxmox-kernel", "pve-kernel"))
    return not name.startswith(
        ("linux-image-", "linux-generic", "linux-virtual", "linux-lowlatency", "linux-oem", "linux-aws", "linux-modules")
    )


def _kernels(one: Transaction, *actions: PackageAction) -> tuple[PackageEvent, ...]:
    return tuple(event for event in one.of(*actions) if _is_kernel(event))


def _makes(one: Transaction, release: str) -> bool:
    return any(same_kernel(_release(event), release) for event in _kernels(one, *_MAKES))


def _kernel_of_log(one: Transaction, running: str) -> MachineChange:
    made = _kernels(one, *_MAKES)
    if made:
        event = max(made, key=lambda found: tuple(map(len, (found.before, _release(found)))))
        release = _release(event)
        waits = bool(running) and not same_kernel(release, running) and newer_kernel(release, running)
        before = event.before if event.before and not kernel_in_name(event.package) else running if waits else ""
        way = direction(before, release) if before else Direction.ADDED
        if waits:
            way = Direction.UPGRADED
        return replace(logged(one, Subject.KERNEL, way, KERNEL, before=before, after=release), waits=waits)
    headers = next(
        (event for event in one.events if event.package.startswith(_HEADERS) or event.package.endswith("-headers")), None
    )
    if headers is not None and not _kernels(one, PackageAction.REMOVED):
        return replace(of_packages(replace(one, events=(headers, *one.events)), Subject.KERNEL), name=headers.package)
    gone = next(
        (event for event in _kernels(one, PackageAction.REMOVED) if running and same_kernel(_release(event), running)), None
    )
    if gone is not None:
        return logged(one, Subject.KERNEL, Direction.REMOVED, KERNEL, before=_release(gone))
    return of_packages(one)


def distribution_changes(looks: Looks) -> Iterator[MachineChange]:
    """Another release; that base-files has a new revision is none."""
    found = looks.both(lambda machine: machine.host.distribution)
    if found is not None and (found[0].id, found[0].version_id) != (found[1].id, found[1].version_id):
        before, after = (one.name or f"{one.id} {one.version_id}" for one in found)
        way = direction(found[0].version_id, found[1].version_id) if found[0].id == found[1].id else Direction.CHANGED
        sources = looks.source(lambda machine: machine.host.distribution)
        seen = looks.seen(Subject.DISTRIBUTION, way, DISTRIBUTION, before=before, after=after, sources=sources)
        done = looks.of(Subject.DISTRIBUTION)
        yield told_by(done[-1], seen) if done else seen
        return
    for one in looks.of(Subject.DISTRIBUTION):
        image = next((event for event in one.events if event.package == IMAGE), None)
        if image is not None:  # of a system that is exchanged as a whole
            yield logged(one, Subject.DISTRIBUTION, Direction.CHANGED, DISTRIBUTION, before=image.before, after=image.after)


def compiler_changes(looks: Looks) -> Iterator[MachineChange]:
    """By their path: another major there is another compiler; of its patches nvcc knows nothing."""
    found = looks.both(lambda machine: machine.compilers)
    transactions = [one for one in looks.of(Subject.COMPILER) if _is_new(one)]
    rows: dict[tuple[str, str], list[Compiler]] = {}
    for pair in apart(*({one.path: one for one in part} for part in found)).values() if found else ():
        before, after = (_of_compiler(one) for one in pair)
        there = next(one for one in reversed(pair) if one is not None)
        if before is not None and after is not None and before.partition(".")[0] != after.partition(".")[0]:
            rows.setdefault((before, after), []).append(there)
    for (before, after), compilers in rows.items():
        seen = looks.seen(
            Subject.COMPILER,
            direction(before, after),
            compilers[0].family,
            before=before,
            after=after,
            place=compilers[0].path,
            sources=tuple(one.path for one in compilers),
        )
        done = next((one for one in transactions if _leads_to(one, before, after)), None)
        if done is not None:
            transactions.remove(done)
        yield told_by(done, seen) if done is not None else seen
    # Where both looks know the compilers, what they do not show is a package beside them, or another patch.
    subject = Subject.COMPILER if found is None else Subject.SYSTEM_PACKAGE
    yield from (of_packages(one, subject) for one in transactions)


def _of_compiler(one: Compiler | None) -> str | None:
    """Its version; empty of none, None where it is not known."""
    if one is None:
        return ""
    return str(one.version.value) if isinstance(one.version, Known) else None


def _leads_to(one: Transaction, before: str, after: str) -> bool:
    if after:
        return any(event.after and begins_alike(event.after, after.partition(".")[0]) for event in one.events)
    return any(begins_alike(event.before, before.partition(".")[0]) for event in one.of(PackageAction.REMOVED))


def library_changes(looks: Looks) -> Iterator[MachineChange]:
    """The C library, cuDNN, and the libcuda that programs get."""
    transactions = [one for one in looks.of(Subject.LIBRARY) if _is_new(one)]
    for seen in _libraries_seen(looks):
        done = next((one for one in transactions if any(begins_alike(event.after, seen.after) for event in one.events)), None)
        if done is not None:
            transactions.remove(done)
        yield told_by(done, seen) if done is not None else seen
    for one in transactions:
        yield of_packages(replace(one, events=tuple(sorted(one.events, key=_place_of_library))), Subject.LIBRARY)


def _place_of_library(event: PackageEvent) -> tuple[bool, bool]:
    """Those of NVIDIA before those of C and C++, which every program has; last what is only packaged anew."""
    name = event.package.partition(":")[0]
    return upstream(event.before) == upstream(event.after), name in {"libc6", "glibc"} or name.startswith("libstdc++")


def _libraries_seen(looks: Looks) -> Iterator[MachineChange]:
    glibc = looks.differs(lambda machine: machine.host.glibc)
    if glibc is not None:
        before, after = map(str, glibc)
        sources = looks.source(lambda machine: machine.host.glibc)
        yield looks.seen(Subject.LIBRARY, direction(before, after), GLIBC, before=before, after=after, sources=sources)
    cudnn = looks.both(lambda machine: machine.path_libraries)
    if cudnn is not None:
        before, after = (newest({str(one.version.value) for one in part if isinstance(one.version, Known)}) for part in cudnn)
        if before != after:
            sources = looks.source(lambda machine: machine.path_libraries)
            yield looks.seen(Subject.LIBRARY, direction(before, after), CUDNN, before=before, after=after, sources=sources)
    taken = looks.differs(lambda machine: machine.driver.libcuda_taken)
    if taken is not None:
        places = tuple(one.rpartition("/")[0] for one in taken)
        if places[0] != places[1] and all(places):  # the same directory: another version, which the driver's change tells
            sources = looks.source(lambda machine: machine.driver.libcuda_taken)
            yield looks.seen(Subject.LIBRARY, Direction.CHANGED, "libcuda", before=taken[0], after=taken[1], sources=sources)


def _is_new(one: Transaction) -> bool:
    """Whether more than the packager's own revision is another one."""
    return any(upstream(event.before) != upstream(event.after) for event in one.events)


HOLD = "hold"


def hold_changes(looks: Looks) -> Iterator[MachineChange]:
    """Packages that the distribution keeps as they are, or does not any more: those of one kind are set and taken away together."""
    found = looks.both(lambda machine: machine.holds)
    if found is None:
        return
    rows: dict[tuple[HoldKind, Direction], list[PackageHold]] = {}
    sides = ({(one.kind, one.pattern, one.version): one for one in part} for part in found)
    for (kind, _, _), (old, new) in apart(*sides).items():
        one = new or old
        if one is not None and (old is None or new is None):
            rows.setdefault((kind, Direction.ADDED if old is None else Direction.REMOVED), []).append(one)
    for (_, way), holds in rows.items():
        first = holds[0]
        yield looks.seen(
            Subject.SETTING,
            way,
            f"{HOLD} {first.pattern} {first.version}".rstrip(),
            place=first.source,
            sources=tuple(dict.fromkeys(one.source for one in holds)),
            packages=tuple(one.pattern for one in holds[1:]),
        )


def package_changes(looks: Looks) -> Iterator[MachineChange]:
    """Of the system's packages what stands around GPU work: dkms, the container toolkit, boot loaders."""
    for one in looks.logged:
        around = not one.environment and one.subject in {Subject.SYSTEM_PACKAGE, Subject.SECURE_BOOT, Subject.TORCH}
        if around and (_is_new(one) or one.subject is Subject.SECURE_BOOT):
            subject = one.subject if one.subject is Subject.TORCH else Subject.SYSTEM_PACKAGE
            yield of_packages(replace(one, events=tuple(sorted(one.events, key=_weight))), subject)


def _weight(event: PackageEvent) -> bool:
    """What is worth a line by itself is named first."""
    return not of_itself(event.package, gone=event.action is PackageAction.REMOVED)
