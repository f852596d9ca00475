"""What belongs to a torch: the exact packages that its wheel asks for, the releases made for it, and which of a text are others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gpuassist.diagnose.case import InstalledTorch, RuleInput
from gpuassist.diagnose.signature import SignatureInput, passages
from gpuassist.diagnose.tool_releases import torch_version
from gpuassist.formats.torch_version import BuildOrigin, read_torch_version
from gpuassist.knowledge.compatibility import kernels_run
from gpuassist.knowledge.records import TorchBuild, TorchRelease
from gpuassist.knowledge.specifier import admits, version_in
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.environment import Package
from gpuassist.model.fact import value_or
from gpuassist.model.text import Parameter
from gpuassist.model.version import ComputeCapability, Version, VersionError


def exact_pins(case: RuleInput, one: InstalledTorch) -> dict[str, str]:
    """The nvidia packages that this very torch asks for by an exact version; empty where its build is not known. Patches of a
    release ask for the same.
    """
    build = build_of(case, one)
    return _exact(build.pins or ()) if build is not None else {}


def build_of(case: RuleInput, one: InstalledTorch) -> TorchBuild | None:
    """The build that a torch of pip's is, of those that are known."""
    told, cuda = read_torch_version(one.version), built_for(case, one)
    if told is None or told.origin is not BuildOrigin.RELEASE or cuda is None:
        return None
    return next(
        (build for build in _builds(case, told.release) if build.cuda is not None and build.cuda.release == cuda.release), None
    )


def built_for(case: RuleInput, one: InstalledTorch) -> Version | None:
    """The CUDA that a torch of pip's was built for: by its tag, by the runtime that lies beside it where there is such a build, or
    else that of PyPI's own build, whose version has no tag.
    """
    told, beside = read_torch_version(one.version), value_or(one.torch.cuda, None)
    if told is None or told.cuda is not None or told.tag:
        return told.cuda if told is not None and told.cuda is not None else beside
    builds = _builds(case, told.release)
    if beside is not None and any(build.cuda is not None and build.cuda.release == beside.release for build in builds):
        return beside
    return next((build.cuda for build in builds if build.default), None) or beside


def wheels_needed(case: RuleInput, one: InstalledTorch) -> bool:
    """Whether a torch of pip's counts on NVIDIA's packages; those builds that bring all of CUDA themselves do not."""
    build = build_of(case, one)
    return build is not None and (build.pins is None or any(name.startswith("nvidia-") for name, _ in build.pins))


def cuda_majors(knowledge: Knowledge, package: str) -> tuple[int, ...]:
    """The CUDA majors that a part of CUDA is for, by its name; empty for any other package."""
    wheel = knowledge.wheel(package)
    if wheel is None or not wheel.of_cuda or not package.startswith("nvidia-"):
        return ()
    return wheel.cuda_majors


def _builds(case: RuleInput, release: Version) -> list[TorchBuild]:
    machine = value_or(case.machine.host.architecture, "x86_64")
    return [build for build in case.knowledge.torch_builds(release) if build.machine == machine]


def _exact(pins: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: pin for name, pin in pins if name.startswith("nvidia-") and pin[:1].isdigit()}


def takes(wanted: str, torch: Version) -> bool:
    """Whether a range, as a package writes it, admits a torch."""
    try:
        return admits(wanted, torch)
    except VersionError:
        return True  # written in a way that is not known here


def coming(case: RuleInput, wanted: str) -> dict[str, str]:
    """The torch that pip would put there: the newest that is asked for, in PyPI's build; its CUDA, and the GPUs that it loses."""
    patches = [patch for release in case.knowledge.torch_releases() for patch in release.patches if takes(wanted, patch)]
    newest = max(patches, default=None)
    if newest is None:
        return {}
    build = next((one for one in _builds(case, newest) if one.default), None)
    release = case.knowledge.torch_release(newest)
    if build is not None and build.cuda is not None:
        lost = [one for one in case.capabilities if not kernels_run(one, build.targets, cuda=build.cuda)]
        return {"comes": str(newest), "cuda": str(build.cuda), "lost": _codes(lost)}
    cuda = release.cudas[0] if release is not None and release.cudas else None
    toolkit = case.knowledge.toolkit(cuda) if cuda is not None else None
    if toolkit is None:
        return {"comes": str(newest)}
    served = [target.capability for target in toolkit.targets]
    lost = [one for one in case.capabilities if not any(of.major == one.major and of <= one for of in served)]
    return {"comes": str(newest), "cuda": str(cuda), "lost": _codes(lost)}


def _codes(capabilities: Iterable[ComputeCapability]) -> str:
    return ", ".join(f"sm_{one.major}{one.minor}" for one in capabilities)


def belongs(case: RuleInput, one: InstalledTorch, package: Package) -> bool:
    """Whether a package was made for this torch, as far as that is known: another patch of the right release does."""
    here, release = version_in(package.version), _release(case, one)
    if here is None or release is None:
        return True
    asked = [companion.version for companion in release.companions if companion.name == package.name]
    if not asked:
        # Whether earlier releases of torch had such a package and this one has none.
        earlier = (one for one in case.knowledge.torch_releases() if one.release < release.release)
        had = any(companion.name == package.name for one in earlier for companion in one.companions)
        return package.name != "torchaudio" or not had
    return any(is_of_release(words, here) for words in asked)


def is_of_release(asked: str, here: Version) -> bool:
    """Whether a version is what a release of torch asks for: any patch of one that is named, else what the range takes in."""
    return Version.parse(asked).release == here.release if asked[:1].isdigit() else admits(asked, here)


def wanted(case: RuleInput, one: InstalledTorch, name: str) -> str:
    """The exact version that belongs to this torch; empty where that is a range, or not known."""
    release, version = _release(case, one), version_in(one.version)
    belonging = release.companions_of(version) if release is not None and version is not None else ()
    return next((companion.version for companion in belonging if companion.name == name and companion.version[:1].isdigit()), "")


def _release(case: RuleInput, one: InstalledTorch) -> TorchRelease | None:
    version = version_in(one.version)
    return case.knowledge.torch_release(version) if version is not None else None


_LISTED = r"(?<![\w-])(nvidia[-_][a-z0-9_-]{2,40}?)(?:==|@| {1,40}\(?|: ?|-)(\d{1,3}(?:\.\d{1,6}){1,4})\b"
# Packages whose versions begin with the CUDA release that they are of.
_OF_RELEASE = ("cuda-runtime", "cuda-nvrtc", "cuda-cupti", "nvjitlink", "nvtx", "cublas")


def other_wheel(setting: SignatureInput, library: str) -> dict[str, Parameter] | None:
    """A listed package that is not what torch asks for, first of all the one with this library; None where none is listed so."""
    listed = _installed(setting)
    pins = _pins(setting) or _majority(listed)
    wrong = {name: version for name, version in listed.items() if name in pins and not _agree(version, pins[name])}
    if not wrong:
        return None
    wheels = {name: setting.case.knowledge.wheel(name) for name in wrong}
    holding = {name for name, wheel in wheels.items() if wheel and any(one.startswith(library) for one in wheel.libraries)}
    first = min(wrong, key=lambda name: name not in holding)
    return _told(setting, first, wrong[first], pins[first])


def wanted_wheel(setting: SignatureInput, stem: str) -> dict[str, Parameter]:
    """The package that begins so, with the version that torch asks for; empty where that is not known."""
    pins = _pins(setting)
    name = next((one for one in pins if one.startswith(stem)), "")
    installed = _installed(setting).get(name, "")
    return _told(setting, name, installed, pins[name]) if name else {}


def _told(setting: SignatureInput, package: str, installed: str, wanted: str) -> dict[str, Parameter]:
    exact = wanted if wanted.count(".") > 1 else ""
    return {"package": package, "installed": installed, "wanted": exact, "torch": torch_version(setting).partition("+")[0]}


def _installed(setting: SignatureInput) -> dict[str, str]:
    found = passages(setting, ("nvidia-", "nvidia_"), _LISTED, window=120)
    return {match[1].lower().replace("_", "-"): match[2] for match in found}


def _pins(setting: SignatureInput) -> dict[str, str]:
    """What torch's own wheel asks for, of the build in its version or else of the one that pip installs."""
    words = torch_version(setting)
    version, tag = version_in(words), words.partition("+")[2]
    builds = setting.case.knowledge.torch_builds(version) if version is not None else ()
    known = (one for one in builds if one.machine == "x86_64" and one.pins and (one.tag == tag or (not tag and one.default)))
    return _exact(next((one.pins for one in known if one.pins), ()))


def _majority(listed: dict[str, str]) -> dict[str, str]:
    """Where torch's version is not told: the CUDA release that most of the packages are of."""
    of_release = {name: version for name, version in listed.items() if any(part in name for part in _OF_RELEASE)}
    releases = Counter(_of_two_parts(version) for version in of_release.values())
    if len(releases) < 2 or len(of_release) < 3:
        return {}
    most = releases.most_common(1)[0][0]
    return dict.fromkeys(of_release, most)


def _of_two_parts(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _agree(version: str, wanted: str) -> bool:
    return version == wanted or (wanted.count(".") == 1 and _of_two_parts(version) == wanted)
