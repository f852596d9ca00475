"""Why a compiler refuses an architecture: it is older than the architecture, or no longer has it."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, SignatureInput, passages, sign
from gpuassist.diagnose.tool_releases import newest_possible, releases_said, targets_listed, toolkit_releases, torch_cuda
from gpuassist.knowledge.compatibility import nearest_target
from gpuassist.knowledge.records import ToolkitRecord
from gpuassist.model.fact import Known
from gpuassist.model.paste import Weight
from gpuassist.model.text import Parameter
from gpuassist.model.version import Code, ComputeCapability, Target, Version

_NEWER, _DROPPED = "nvcc-arch-too-new", "nvcc-arch-dropped"


def judge_architecture(setting: SignatureInput, target: Target) -> Iterator[Sign]:
    """Held against the release of the toolkit where that is told, else against the other architectures of the same build;
    where neither tells, what no release knows any more was dropped, and what the newest still knows is too new.
    """
    first, last = _first(setting, target), _last(setting, target)
    told = (
        _by_list(setting, target)
        or _by_release(setting, first, last)
        or _by_neighbours(setting, target)
        or _by_age(setting, first, last)
    )
    # The newest capability that any release knows: a number below it that none knows was dropped, or never was.
    gone = last is not None or (first is None and target.capability < max(one.capability for one in _toolkits(setting)[-1].codes))
    problem = told or (_DROPPED if gone else _NEWER)
    yield sign(problem, Weight.CAUSE, **_parameters(setting, target, problem))
    if not told and first is not None and last is not None:
        yield sign(_NEWER, Weight.STATE, **known_since(setting, target))


def known_since(setting: SignatureInput, target: Target) -> dict[str, Parameter]:
    """An architecture with the first release that knows it."""
    first = _first(setting, target)
    return {
        **_named(setting, target.capability),
        "edge": str(first or ""),
        "last": str(_last(setting, target) or "") if first else "",
        "firsts": "" if first else added_since(setting, None),
    }


def added_since(setting: SignatureInput, nvcc: Version | None) -> str:
    """What each release after one added, `CUDA 11.1: 8.6; 11.4: 8.7`; after the oldest that is known here where none is told."""
    known: set[ComputeCapability] = set()
    added: list[str] = []
    for record in sorted(_toolkits(setting), key=lambda one: one.release):
        new = sorted({target.capability for target in record.targets} - known)
        if new and known and (nvcc is None or record.release > nvcc):
            added.append(f"{record.release}: {', '.join(map(str, new))}")
        known |= set(new)
    return f"CUDA {'; '.join(added)}" if added else ""


def _parameters(setting: SignatureInput, target: Target, problem: str) -> dict[str, Parameter]:
    nvcc = _fitting_release(setting, target, problem)
    edge = _first(setting, target) if problem == _NEWER else _last(setting, target)
    record = setting.case.knowledge.toolkit(nvcc) if nvcc else None
    known = sorted(one.capability for one in record.targets) if record else []
    given: dict[str, Parameter] = {
        **_named(setting, target.capability),
        "nvcc": str(nvcc or ""),
        "edge": str(edge or ""),
        "install": _install(setting, target, problem),
    }
    if problem == _DROPPED:
        return {**given, "oldest": str(known[0]) if known else ""}
    nearest = nearest_target(record.targets, target.capability) if record and given["gpu"] else None
    return {
        **given,
        "last": str(_last(setting, target) or "") if edge else "",
        "firsts": "" if edge else added_since(setting, nvcc),
        "newest": str(known[-1]) if known else "",
        "nearest": str(nearest.capability) if nearest else "",
        "native": "yes" if nearest and nearest.code is Code.CUBIN else "",
    }


def _named(setting: SignatureInput, capability: ComputeCapability) -> dict[str, Parameter]:
    """The architecture, and the GPU of the facts that has it."""
    fits = (one.name for one in setting.case.cards if isinstance(one.capability, Known) and one.capability.value == capability)
    return {
        "capability": str(capability),
        "architecture": f"{capability.major}{capability.minor}",
        "gpu": next(fits, ""),
    }


def _by_list(setting: SignatureInput, target: Target) -> str:
    """By what nvcc lists itself."""
    listed = targets_listed(setting)
    if not listed or target.capability in {one.capability for one in listed}:
        return ""
    return _DROPPED if target.capability < listed[0].capability else _NEWER


def _by_release(setting: SignatureInput, first: Version | None, last: Version | None) -> str:
    """By the release; one that does know the architecture is not the one that refused it. Of the releases before and after those
    that know it, the nearer ones are what such a computer may have as well.
    """
    releases = toolkit_releases(setting) if first is not None or last is not None else ()
    for release in releases:
        if last is not None and release > last:
            return _DROPPED
        if first is not None and release < first:
            return _NEWER
    if not releases or first is None:
        return ""
    said = releases_said(setting)
    return _NEWER if last is None or (said and said[0].major - first.major <= last.major - said[0].major) else ""


def _by_age(setting: SignatureInput, first: Version | None, last: Version | None) -> str:
    """By the newest release that the computer can have: an old system has none that dropped the architecture."""
    newest = newest_possible(setting)
    return _NEWER if first is not None and last is not None and newest is not None and newest <= last else ""


def _by_neighbours(setting: SignatureInput, target: Target) -> str:
    """By the architectures that stand before it in the build's command: nvcc stops at the first that it does not take."""
    taken = []
    for match in passages(setting, ("arch=compute_",), r"arch=(compute_\d{2,3}[af]?)"):
        one = Target.parse(match[1].lower())
        if one.capability == target.capability:
            break
        taken.append(one.capability)
    if not taken:
        return ""
    able = [
        one.release
        for one in _toolkits(setting)
        if set(taken) <= {known.capability for known in one.targets} and not _accepts(one, target)
    ]
    first, last = _first(setting, target), _last(setting, target)
    if first is not None and (not able or max(able) < first) and min(taken) < target.capability:
        return _NEWER
    return _DROPPED if last is not None and able and min(able) > last else ""


def _fitting_release(setting: SignatureInput, target: Target, problem: str) -> Version | None:
    """The release that refused, of those that may have: only one that does not know the architecture."""
    edge = _first(setting, target) if problem == _NEWER else _last(setting, target)
    if edge is None:
        return next(iter(toolkit_releases(setting)), None)
    return next((one for one in toolkit_releases(setting) if (one < edge if problem == _NEWER else one > edge)), None)


def _install(setting: SignatureInput, target: Target, problem: str) -> str:
    """The release to install: for a dropped one its last, for a new one that of torch where it knows it, else none by name."""
    if problem == _DROPPED:
        return str(_last(setting, target) or "") if _named(setting, target.capability)["gpu"] else ""
    cuda, first = torch_cuda(setting), _first(setting, target)
    return cuda if cuda and first is not None and Version.parse(cuda) >= first else ""


def _first(setting: SignatureInput, target: Target) -> Version | None:
    """The first release whose nvcc takes the architecture by this name."""
    early = setting.case.knowledge.early_toolkits(target.capability)
    if early is not None and early.first is not None:
        return early.first
    return min((one.release for one in _toolkits(setting) if _accepts(one, target)), default=None)


def _last(setting: SignatureInput, target: Target) -> Version | None:
    """The last one; None where the newest still does, or where none ever did."""
    toolkits = _toolkits(setting)
    early = setting.case.knowledge.early_toolkits(target.capability)
    last = max((one.release for one in toolkits if _accepts(one, target)), default=early.last if early is not None else None)
    return None if last == toolkits[-1].release else last


def _accepts(toolkit: ToolkitRecord, target: Target) -> bool:
    return Target(target.capability, Code.CUBIN, target.suffix) in toolkit.codes


def _toolkits(setting: SignatureInput) -> tuple[ToolkitRecord, ...]:
    return setting.case.knowledge.toolkits()
