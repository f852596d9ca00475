"""What became of Python and conda environments: their torch, the packages around it, and environments that came or went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.diagnose.past.looks import Looks, apart, told_by
from gpuassist.diagnose.past.transactions import Transaction, in_short
from gpuassist.diagnose.past.versions import begins_alike, direction
from gpuassist.formats.packages import normalised
from gpuassist.model.environment import Accelerator, Package, PythonEnvironment, Torch
from gpuassist.model.fact import Fact, Known, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import Direction, MachineChange, PackageAction, PackageEvent, Subject

TORCH, PYTHON = "torch", "Python"
_TORCHES = frozenset({"torch", "pytorch", "pytorch-gpu", "pytorch-cpu", "libtorch"})
# What a release of torch brings, and conda's names of the build that was chosen: they follow it.
_FOLLOWS_TORCH = lazy_regex(
    r"nvidia-\S+|(?:pytorch-)?triton\S*|pytorch-(?:cuda|mutex)|cpuonly|cudatoolkit|cuda-\S+|cudnn|libtorch|torch-?(?:vision|audio)|mkl"
)
# Of a transaction without torch the first of these gives the name: frameworks, what needs a certain torch, then libraries.
_LEADERS = tuple(
    lazy_regex(words)
    for words in (
        r"torch|pytorch\S*|libtorch",
        r"python",
        r"tensorflow|jax|jaxlib|vllm|sglang|onnxruntime\S*|tensorrt\S*",
        r"torch\S*|xformers|flash-attn|bitsandbytes|deepspeed|transformers|\S*triton\S*",
        r"cudatoolkit|cuda-\S+|cudnn|nvidia-cudnn\S*",
        r"nvidia-\S+",
    )
)


class _PackagePair(Struct, frozen=True):
    """A package of an environment in both looks; an empty version is of what is not there."""

    name: str
    before: str
    after: str

    @property
    def in_short(self) -> str:
        action = (
            PackageAction.UPGRADED
            if self.before and self.after
            else PackageAction.INSTALLED
            if self.after
            else PackageAction.REMOVED
        )
        return in_short(PackageEvent("", action, self.name, self.before, self.after, ""))


def environment_changes(looks: Looks) -> Iterator[MachineChange]:
    """Each environment that both looks know, those that only one knows, and what the logs tell of any other."""
    left: dict[str, list[Transaction]] = {}
    for logged in looks.logged:
        if logged.environment:
            left.setdefault(logged.environment.rstrip("/") or "/", []).append(logged)
    found = looks.both(lambda machine: machine.environments)
    if found is not None:
        before, after = ({(one.prefix, one.name if one.is_base else ""): one for one in part} for part in found)
        for key in dict.fromkeys((*before, *after)):
            done = left.pop(key[0].rstrip("/") or "/", [])
            if key in before and key in after:
                yield from _of_one(looks, before[key], after[key], done)
            else:
                yield from _come_or_gone(looks, before.get(key), after.get(key), done)
    for prefix, done in left.items():
        yield from (_of_log(one, prefix, {}) for one in done)


def _come_or_gone(
    looks: Looks, before: PythonEnvironment | None, after: PythonEnvironment | None, done: Sequence[Transaction]
) -> Iterator[MachineChange]:
    """One that holds nothing for the GPU is nobody's loss here."""
    one = after or before
    if one is None or not (_holds(one.torch) or _holds(one.packages)):
        return
    way = Direction.ADDED if before is None else Direction.REMOVED
    holds = _torch_of(one) or f"{PYTHON} {value_or(one.python_version, '')}".strip()
    told = {"after": holds} if before is None else {"before": holds}
    seen = looks.seen(
        Subject.ENVIRONMENT, way, one.prefix, place=one.prefix, sources=looks.source(lambda found: found.environments), **told
    )
    yield told_by(done[0], seen) if done and before is None else seen


def _holds(fact: Fact[tuple[Torch, ...]] | Fact[tuple[Package, ...]]) -> bool:
    return isinstance(fact, Known) and bool(fact.value)


def _torch_of(one: PythonEnvironment) -> str:
    torches = value_or(one.torch, ())
    version = value_or(torches[0].version, "") if torches else ""
    return f"{TORCH} {version}" if version else ""


def _of_one(
    looks: Looks, before: PythonEnvironment, after: PythonEnvironment, done: Sequence[Transaction]
) -> Iterator[MachineChange]:
    pairs = _pairs(before, after)
    torch = _torch_pair(before, after)
    python = _python_pair(before, after)
    left = dict(pairs)
    changes: list[MachineChange] = []
    torch_told = torch is None
    for one in done:
        of_torch = torch is not None and not torch_told and _tells_torch(one, torch)
        names = {normalised(event.package) for event in one.events}
        mine = [pair for name, pair in left.items() if name in names and _fits(one, pair)]
        mine += [
            pair
            for name, pair in left.items()
            if of_torch and pair not in mine and _FOLLOWS_TORCH.fullmatch(name) and name not in _told(done)
        ]
        for pair in mine:
            left.pop(pair.name)
        if of_torch and torch is not None:
            torch_told = True
            seen = _seen_torch(looks, after, torch)
            changes.append(_with(one, seen, [pair for pair in mine if pair.name not in _TORCHES], ()))
        elif mine:
            changes.append(_bundle(looks, after, mine, one))
        else:
            changes.append(_of_log(one, after.prefix, _versions(before)))
    if not torch_told and torch is not None:
        mine = [pair for name, pair in left.items() if _FOLLOWS_TORCH.fullmatch(name) or name in _TORCHES]
        for pair in mine:
            left.pop(pair.name)
        changes.append(_with(None, _seen_torch(looks, after, torch), [pair for pair in mine if pair.name not in _TORCHES], ()))
    rest = [pair for name, pair in left.items() if not (name in _TORCHES and torch is not None)]
    if python is not None:
        place = looks.source(lambda machine: machine.environments)
        changes.append(
            looks.seen(
                Subject.ENVIRONMENT,
                direction(*python),
                PYTHON,
                before=python[0],
                after=python[1],
                place=after.prefix,
                sources=place,
            )
        )
    if rest:
        changes.append(_bundle(looks, after, rest, None))
    yield from changes


def _told(done: Iterable[Transaction]) -> frozenset[str]:
    """The packages that some transaction names: pip keeps no record of what it took away."""
    return frozenset(normalised(event.package) for one in done for event in one.events)


def _pairs(before: PythonEnvironment, after: PythonEnvironment) -> dict[str, _PackagePair]:
    if not (isinstance(before.packages, Known) and isinstance(after.packages, Known)):
        return {}
    found = {}
    for name, (old, new) in apart(_versions(before), _versions(after)).items():
        was, is_now = (one or "" for one in (old, new))
        if was.partition(" ")[0] != is_now.partition(" ")[0]:  # else the two builds of conda's are what differs
            was, is_now = was.partition(" ")[0], is_now.partition(" ")[0]
        found[name] = _PackagePair(name, was, is_now)
    return found


def _versions(one: PythonEnvironment) -> dict[str, str]:
    """Of what is installed, by name; with conda's build, where one of two builds of a version computes on the GPU."""
    return {package.name: f"{package.version} {package.build}".rstrip() for package in value_or(one.packages, ())}


def _torch_pair(before: PythonEnvironment, after: PythonEnvironment) -> tuple[str, str] | None:
    """The torch that is imported in each, where it is another one."""
    if not (isinstance(before.torch, Known) and isinstance(after.torch, Known)):
        return None
    old, new = (_described(found.value[0]) if found.value else "" for found in (before.torch, after.torch))
    if old is None or new is None or old == new:
        return None
    was, is_now = old.partition(" ")[0], new.partition(" ")[0]
    return (old, new) if was == is_now else (was, is_now)


def _described(torch: Torch) -> str | None:
    """Its version, and what it computes on, which conda's version does not say; None where nobody knows."""
    if not isinstance(torch.version, Known):
        return None
    kind = torch.accelerator.value if isinstance(torch.accelerator, Known) else None
    if kind is None:
        return torch.version.value
    cuda = str(torch.cuda.value) if kind is Accelerator.CUDA and isinstance(torch.cuda, Known) else ""
    return f"{torch.version.value} {f'CUDA {cuda}' if cuda else kind.value}"


def _python_pair(before: PythonEnvironment, after: PythonEnvironment) -> tuple[str, str] | None:
    """Another minor release, for which other wheels are made."""
    if not (isinstance(before.python_version, Known) and isinstance(after.python_version, Known)):
        return None
    old, new = before.python_version.value, after.python_version.value
    return (str(old), str(new)) if old.release != new.release else None


def _seen_torch(looks: Looks, one: PythonEnvironment, pair: tuple[str, str]) -> MachineChange:
    torches = value_or(one.torch, ())
    source = (torches[0].path,) if torches else (one.prefix,)
    return looks.seen(Subject.TORCH, direction(*pair), TORCH, before=pair[0], after=pair[1], place=one.prefix, sources=source)


def _tells_torch(one: Transaction, pair: tuple[str, str]) -> bool:
    return any(
        normalised(event.package) in _TORCHES
        and event.action is not PackageAction.REINSTALLED
        and (begins_alike(event.after, pair[1]) if event.after and pair[1] else not event.after and not pair[1])
        for event in one.events
    )


def _fits(one: Transaction, pair: _PackagePair) -> bool:
    """Whether the transaction leads to what is there now."""
    told = next(event for event in reversed(one.events) if normalised(event.package) == pair.name)
    if told.action is PackageAction.REINSTALLED:
        return False
    return begins_alike(told.after, pair.after) if told.after and pair.after else not told.after and not pair.after


def _bundle(looks: Looks, one: PythonEnvironment, pairs: Sequence[_PackagePair], done: Transaction | None) -> MachineChange:
    """Several packages that changed at once, named by the one that matters most."""
    first = min(pairs, key=lambda pair: _rank(pair.name))
    subject = Subject.TORCH if first.name in _TORCHES else Subject.PYTHON_PACKAGE
    seen = looks.seen(
        subject,
        direction(first.before, first.after),
        TORCH if first.name in _TORCHES else first.name,
        before=first.before,
        after=first.after,
        place=one.prefix,
        sources=(one.prefix,),
    )
    return _with(done, seen, [pair for pair in pairs if pair is not first], (first.name,))


def _with(done: Transaction | None, seen: MachineChange, pairs: Iterable[_PackagePair], without: Iterable[str]) -> MachineChange:
    """The change with the other packages of it, those that both looks tell by what they were and are."""
    pairs = tuple(pairs)
    told = tuple(pair.in_short for pair in pairs)
    if done is None:
        return replace(seen, packages=told)
    left_out = {*(pair.name for pair in pairs), *without, *_TORCHES}
    rest = [event.package for event in done.events if normalised(event.package) in left_out]
    found = told_by(done, seen, without=rest)
    return replace(found, packages=tuple(dict.fromkeys((*told, *found.packages))))


def _rank(name: str) -> int:
    return next((place for place, words in enumerate(_LEADERS) if words.fullmatch(name)), len(_LEADERS))


_WAYS = {
    PackageAction.INSTALLED: Direction.ADDED,
    PackageAction.REMOVED: Direction.REMOVED,
    PackageAction.UPGRADED: Direction.UPGRADED,
    PackageAction.DOWNGRADED: Direction.DOWNGRADED,
    PackageAction.REINSTALLED: Direction.REINSTALLED,
}


def _of_log(one: Transaction, prefix: str, before: Mapping[str, str]) -> MachineChange:
    """What no look shows: the same again, or there and back. pip's records say only what is there now."""
    first = min(one.events, key=lambda event: _rank(normalised(event.package)))
    name = normalised(first.package)
    was = before.get(name, "")
    way, old = _WAYS[first.action], first.before
    if first.action is PackageAction.INSTALLED and not old and was:
        old = was.partition(" ")[0]
        way = Direction.REINSTALLED if begins_alike(first.after, was) else direction(old, first.after)
    subject = Subject.TORCH if name in _TORCHES else Subject.PYTHON_PACKAGE
    change = MachineChange(subject, way, TORCH if name in _TORCHES else first.package, before=old, after=first.after, place=prefix)
    return told_by(one, change, without=(first.package,))
