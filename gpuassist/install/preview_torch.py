"""The torch that an environment would hold: what it computes on, and the GPU code in it, as far as that is known."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.formats.conda_build import read_build
from gpuassist.formats.index_address import tag_of
from gpuassist.formats.requirement import marker_environment, names_asked
from gpuassist.formats.torch_version import Origin, read_torch_version
from gpuassist.install.dry_run_process import Seen
from gpuassist.knowledge.conda import builds
from gpuassist.knowledge.records import TorchBuild
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.environment import Accelerator
from gpuassist.model.fact import value_or
from gpuassist.model.machine import Machine
from gpuassist.model.solve import PackageChange
from gpuassist.model.version import Target, Version, VersionError

_CONDA_NAMES = ("pytorch", "libtorch")
_TRITONS = frozenset({"triton", "pytorch-triton"})
_MAKERS = {"cu": Accelerator.CUDA, "cpu": Accelerator.CPU, "rocm": Accelerator.ROCM, "xpu": Accelerator.XPU}


@dataclass(frozen=True, slots=True)
class SolvedTorch:
    """`version` as it is written, `tag` its build (`cu128`, empty where that is not known), `changes` whether it is not the
    one that is there. None is not known: what it computes on, its CUDA, the GPU code in it.
    """

    version: str
    tag: str = ""
    accelerator: Accelerator | None = None
    cuda: Version | None = None
    targets: tuple[Target, ...] | None = None
    changes: bool = True
    source: str = ""


def solved_torch(knowledge: Knowledge, machine: Machine, seen: Seen) -> SolvedTorch | None:
    """The torch that would be there; None where none would."""
    changes = {one.name: one for one in seen.changes}
    of_conda = next((changes[name] for name in _CONDA_NAMES if name in changes and changes[name].after), None)
    if of_conda is not None and of_conda.build_after:
        build = read_build(of_conda.build_after)
        accelerator = None if build.cpu is None else Accelerator.CPU if build.cpu else Accelerator.CUDA
        version, architecture = _version(of_conda.after), value_or(machine.host.architecture, "x86_64")
        same = (
            one
            for one in (builds(knowledge.conda(), version, machine=architecture) if version else ())
            if one.cuda is not None and build.cuda is not None and one.cuda.release == build.cuda.release
        )
        targets = next((one.targets for one in same if one.channel.value in of_conda.source), None)
        return SolvedTorch(of_conda.after, "", accelerator, build.cuda, targets, source=of_conda.source)
    if "torch" not in seen.after:
        return None
    return _of_python(knowledge, machine, seen, changes.get("torch"))


def _of_python(knowledge: Knowledge, machine: Machine, seen: Seen, change: PackageChange | None) -> SolvedTorch:
    version = seen.after["torch"].version
    source = change.source if change else ""
    # The known builds of a release; of a nightly, of NVIDIA's own or of one that its user built none is known.
    read = read_torch_version(version)
    architecture = value_or(machine.host.architecture, "x86_64")
    every = knowledge.torch_builds(read.release.release) if read and read.origin is Origin.RELEASE else ()
    known = tuple(one for one in every if one.machine == architecture)
    # What its version says of its build, or the address that it comes from.
    read = read_torch_version(version)
    tag = ((read.tag if read else "") or tag_of(source)) or _tag_by_company(machine, seen, known)
    accelerator = next((kind for start, kind in _MAKERS.items() if tag.startswith(start)), None)
    build = next((one for one in known if one.tag == tag), None)
    found = read_torch_version(f"0.0+{tag}")
    cuda = build.cuda if build else found.cuda if found else None
    return SolvedTorch(version, tag, accelerator, cuda, build.targets if build else None, change is not None, source)


def _tag_by_company(machine: Machine, seen: Seen, known: tuple[TorchBuild, ...]) -> str:
    """The build of a version that does not say, as PyPI's: by the parts of CUDA that come with it."""
    default = next((one.tag for one in known if one.default), "")
    asks = _asks(machine, seen)
    if asks is None:
        return default
    if not any(name.startswith(("nvidia-", "cuda-")) or name in _TRITONS for name in asks):
        # Whether the default build of this release asks for NVIDIA's wheels: those up to 1.12 held all of it themselves.
        return "cpu" if any(one.default and one.pins for one in known) else default
    runtime = next((one.version for one in seen.after.values() if one.name.startswith("nvidia-cuda-runtime")), "")
    release = _version(runtime)
    return f"cu{release.release.major}{release.release.parts[1]}" if release is not None else default


def _asks(machine: Machine, seen: Seen) -> frozenset[str] | None:
    """What torch asks for; of a tool that does not say, what is there with it, and None where that was told to bring nothing."""
    lines = seen.after["torch"].requires
    if not lines:
        return None if any("--no-deps" in source for source in seen.sources) else frozenset(seen.after)
    if seen.python is None:
        return None
    return names_asked(lines, marker_environment(seen.python, value_or(machine.host.architecture, "x86_64")))


def _version(words: str) -> Version | None:
    try:
        return Version.parse(words)
    except VersionError:
        return None
