"""What belongs to an installed torch: the exact packages that its wheel asks for, and the releases made for it."""

from __future__ import annotations

from gpuassist.diagnose.case import InstalledTorch, RuleInput
from gpuassist.knowledge.records import TorchRelease
from gpuassist.knowledge.specifier import admits
from gpuassist.model.environment import Package
from gpuassist.model.fact import value_or
from gpuassist.model.version import Version, VersionError


def exact_pins(case: RuleInput, one: InstalledTorch) -> dict[str, str]:
    """The nvidia packages that this very torch asks for by an exact version; empty where its build is not known."""
    version, cuda = _version(one.version), value_or(one.torch.cuda, None)
    machine = value_or(case.machine.host.architecture, "x86_64")
    builds = case.knowledge.torch_builds(version) if version is not None else ()
    known = (build for build in builds if build.machine == machine and build.cuda == cuda and build.newest == version)
    pins = next((build.pins for build in known if build.pins), None) or ()
    return {name: pin for name, pin in pins if name.startswith("nvidia-") and pin[:1].isdigit()}


def belongs(case: RuleInput, one: InstalledTorch, package: Package) -> bool:
    """Whether a package was made for this torch, as far as that is known: another patch of the right release does."""
    here, release = _version(package.version), _release(case, one)
    if here is None or release is None:
        return True
    asked = [companion.version for companion in release.companions if companion.name == package.name]
    if not asked:
        # Whether earlier releases of torch had such a package and this one has none.
        earlier = (one for one in case.knowledge.torch_releases() if one.release < release.release)
        return not (
            package.name == "torchaudio" and any(companion.name == package.name for one in earlier for companion in one.companions)
        )
    return any(_takes(words, here) for words in asked)


def wanted(case: RuleInput, one: InstalledTorch, name: str) -> str:
    """The exact version that belongs to this torch; empty where that is a range, or not known."""
    release, version = _release(case, one), _version(one.version)
    belonging = release.companions_of(version) if release is not None and version is not None else ()
    return next((companion.version for companion in belonging if companion.name == name and companion.version[:1].isdigit()), "")


def _takes(words: str, here: Version) -> bool:
    if words[:1].isdigit():
        return Version.parse(words).release == here.release
    return admits(words, here)


def _release(case: RuleInput, one: InstalledTorch) -> TorchRelease | None:
    version = _version(one.version)
    return case.knowledge.torch_release(version) if version is not None else None


def _version(words: str) -> Version | None:
    try:
        return Version.parse(words)
    except VersionError:
        return None
