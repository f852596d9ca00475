"""Which of the nvidia packages that a text lists is not the one that torch asks for."""

from __future__ import annotations

from collections import Counter

from gpuassist.diagnose.signature import SignatureInput, passages
from gpuassist.diagnose.tool_releases import torch_version
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.text import Parameter
from gpuassist.model.version import Version, VersionError

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
    first = min(wrong, key=lambda name: not _holds(setting, name, library))
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
    try:
        version = Version.parse(words)
    except VersionError:
        return {}
    builds = [one for one in setting.case.knowledge.torch_builds(version) if one.machine == "x86_64" and one.pins]
    tag = words.partition("+")[2]
    chosen = next((one for one in builds if one.tag == tag or (not tag and one.default)), None)
    return _exact(chosen) if chosen is not None else {}


def _exact(build: TorchBuild) -> dict[str, str]:
    return {name: version for name, version in build.pins or () if name.startswith("nvidia-") and version[:1].isdigit()}


def _majority(listed: dict[str, str]) -> dict[str, str]:
    """Where torch's version is not told: the CUDA release that most of the packages are of."""
    of_release = {name: version for name, version in listed.items() if any(part in name for part in _OF_RELEASE)}
    releases = Counter(_release(version) for version in of_release.values())
    if len(releases) < 2 or len(of_release) < 3:
        return {}
    most = releases.most_common(1)[0][0]
    return dict.fromkeys(of_release, most)


def _release(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _agree(version: str, wanted: str) -> bool:
    return version == wanted or (wanted.count(".") == 1 and _release(version) == wanted)


def _holds(setting: SignatureInput, package: str, library: str) -> bool:
    wheel = setting.case.knowledge.wheel(package)
    return wheel is not None and any(one.startswith(library) for one in wheel.libraries)
