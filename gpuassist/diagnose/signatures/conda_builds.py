"""The builds of torch that `conda search` lists, and which of them to ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, passages, sign
from gpuassist.formats.conda_build import CondaBuild, read_build
from gpuassist.knowledge.compatibility import driver_serves_cuda, kernels_run
from gpuassist.knowledge.records import TorchBuild
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.fact import Known, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.text import Text, text
from gpuassist.model.version import Code, Target, Version

_ROW = lazy_regex(
    r"^\s*pytorch(?:-gpu|-cpu)?\s+(?P<version>\d{1,2}(?:\.\d{1,3}){1,3})\s+(?P<build>\S{2,60})(?:\s+\(\+\s*\d+ builds?\))?"
    r"\s+(?P<channel>\S{2,120})"
)
_MOST = 4000  # rows of a list


class ListedBuild(Struct, frozen=True):
    """A row; `spec` is how conda is asked for it."""

    version: Version
    build: CondaBuild
    channel: str
    spec: str


def _search(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The newest build with CUDA that the GPU, the driver and the Python can use; a channel that lists none has none to offer."""
    every = list(_rows(setting.paste.words[match.end() :]))
    with_cuda = [one for one in every if one.build.cuda is not None]
    if every and not with_cuda:
        channel = every[-1].channel
        newest = max(one.version for one in every)
        yield sign("conda-resolved-cpu-build", Weight.CAUSE, channel=channel, listed="yes", torch=str(newest))
    fitting = [one for one in with_cuda if _fits(one, setting)]
    if fitting:
        best = max(fitting, key=lambda one: (one.version, one.build.cuda or Version(()), one.build.python or Version(())))
        channels = f"-c {best.channel}{' -c nvidia' if best.channel == 'pytorch' and best.version >= _FIRST_WITH_NVIDIA else ''}"
        arguments = f"{channels} {best.spec}"
        yield sign("healthy", Weight.CONSEQUENCE, build=best.spec, arguments=arguments, lacking=_lacking(best, setting))
    elif with_cuda and any(one.channel.endswith("pytorch") for one in with_cuda):
        yield sign("conda-channel-frozen", Weight.STATE, none="yes")


_FIRST_WITH_NVIDIA = Version((1, 13))  # whose CUDA is in that channel


def _rows(words: str) -> Iterator[ListedBuild]:
    for line in words.split("\n")[:_MOST]:
        found = _ROW.match(line[:300])
        version = version_in(found["version"]) if found else None
        if found and version is not None:
            channel = found["channel"].removesuffix("/linux-64").removesuffix("/linux-aarch64")
            spec = f"pytorch={found['version']}={found['build']}"
            yield ListedBuild(version, read_build(found["build"]), channel, spec)


def _fits(one: ListedBuild, setting: SignatureInput) -> bool:
    """As far as is known what is there."""
    case, cuda = setting.case, one.build.cuda
    said = passages(
        setting, ("python",), r"\bpython(?: |={1,2})(3\.\d{1,2})", most=1
    )  # a new environment has whichever is asked for
    python = version_in(said[0][1]) if said else None
    if cuda is None or (python is not None and one.build.python is not None and one.build.python.release != python.release):
        return False
    driver = value_or(case.serving, None)
    if driver is not None and not driver_serves_cuda(driver, cuda):
        return False
    builds = case.knowledge.torch_builds(one.version)
    known = [_own_code(build) for build in builds if build.cuda is not None and build.cuda.release == cuda.release]
    toolkit = case.knowledge.toolkit(cuda)
    if known:
        return all(kernels_run(capability, known[0], cuda=cuda) for capability in case.capabilities)
    served = [target.capability for target in toolkit.targets] if toolkit is not None else []
    return all(any(of.major == capability.major and of <= capability for of in served) for capability in case.capabilities)


def _own_code(build: TorchBuild) -> tuple[Target, ...]:
    """Without PTX: of a GPU that it would be compiled for anew torch itself says that the two are not compatible."""
    return tuple(target for target in build.targets if target.code is Code.CUBIN)


def _lacking(best: ListedBuild, setting: SignatureInput) -> Text | str:
    if not setting.case.capabilities:
        return text("the GPU and the driver")
    if not isinstance(setting.case.driver, Known):
        return text("the driver")
    return "" if best.build.python is not None else text("the Python that it is for")


SIGNATURES = (
    Signature(
        ("version ", "loading channels"),
        r"(?m:^)(?:Loading channels: [^\n]{0,80}\n(?:[^\n]{0,120}\n){0,6}?)?#? {0,2}Name {1,60}Version {1,60}Build\b[^\n]{0,120}\n"
        r"(?=[\s─]{0,200}pytorch)",
        _search,
        window=900,
    ),
)
