"""A change arranged into steps: driver and restart first, because all else stands on it, then torch, toolkit and host compiler."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.install.conda import conda_ways
from gpuassist.install.driver import driver_steps
from gpuassist.install.place import InstallPlace, step, use
from gpuassist.install.toolkit_methods import toolkit_ways
from gpuassist.install.torch import torch_ways
from gpuassist.knowledge.change import GccMove, ToolkitMove, VersionChange
from gpuassist.knowledge.commands import Commands
from gpuassist.knowledge.records import CondaRecord, Family
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.outlook import Method, WayPlan
from gpuassist.model.plan import Proves, Step, StepKind, StepProof
from gpuassist.model.text import text


def install_steps(change: VersionChange, place: InstallPlace, knowledge: Knowledge) -> tuple[Step, ...]:
    """The steps of a change, in the order in which they are done; of several ways those of the best."""
    ways = install_ways(change, place, knowledge)
    return ways[0].steps if ways else (*_before(change, place, knowledge), *_after(change, place, knowledge))


def install_ways(
    change: VersionChange, place: InstallPlace, knowledge: Knowledge, record: CondaRecord | None = None
) -> tuple[WayPlan, ...]:
    """Each way to the torch of a change, or else to its toolkit, with all steps of the change; empty where both stay. `record` is
    that of conda's build where torch is to come from there.
    """
    if change.torch is None:
        # Those to a toolkit that is not there yet; conda's brings a host compiler of its own.
        if change.toolkit is None or change.toolkit.root:
            return ()
        before = tuple(_before(change, place, knowledge))
        gcc = tuple(gcc_steps(change.gcc, place, knowledge.commands)) if change.gcc is not None else ()
        ways = toolkit_ways(change.toolkit, place, knowledge)
        return tuple(replace(one, steps=(*before, *one.steps, *(() if one.way is Method.CONDA else gcc))) for one in ways)
    torch = change.torch
    ways = torch_ways(torch, place, knowledge) if record is None else conda_ways(torch, record, place, knowledge)
    before, after = tuple(_before(change, place, knowledge)), tuple(_after(change, place, knowledge))
    return tuple(replace(one, steps=(*before, *one.steps, *after)) for one in ways)


def _before(change: VersionChange, place: InstallPlace, knowledge: Knowledge) -> Iterator[Step]:
    if change.driver is not None:
        yield from driver_steps(change.driver, place, knowledge.commands)


def _after(change: VersionChange, place: InstallPlace, knowledge: Knowledge) -> Iterator[Step]:
    if change.toolkit is not None:
        yield from toolkit_steps(change.toolkit, place, knowledge)
    if change.gcc is not None:
        yield from gcc_steps(change.gcc, place, knowledge.commands)


# The steps to another CUDA toolkit, and to a host compiler that its nvcc accepts.


_CONDA_COMPILER = "x86_64-conda-linux-gnu-g++"


def toolkit_steps(move: ToolkitMove, place: InstallPlace, knowledge: Knowledge) -> Iterator[Step]:
    """Installing the toolkit in the best way where it is not there, and making it the one that new terminals find."""
    ways = () if move.root else toolkit_ways(move, place, knowledge)
    if ways:
        yield from ways[0].steps
        return
    release = str(move.release)
    if not move.root:
        does = text(
            "Install CUDA {release} from NVIDIA's download page, without the driver that its installer offers", release=release
        )
        check = text("/usr/local/cuda-{release}/bin/nvcc is there", release=release)
        yield Step(StepKind.ROOT_COMMAND, does, check=check, needs_root=True)
    check = text("`nvcc --version` in a new terminal shows {release}", release=release)
    does = text("Let new terminals use CUDA {release}; gpuassist shows the change to your start-up file first", release=release)
    proof = StepProof(Proves.NEW_TERMINAL, move.root, release) if move.root else None
    yield step((use("use-cuda", version=release),), place, knowledge.commands, (does, check), proof=proof)


def gcc_steps(move: GccMove, place: InstallPlace, commands: Commands) -> Iterator[Step]:
    """Installing a compiler that nvcc accepts where none is there, and letting nvcc call it."""
    major = move.version.major
    # Where the package puts it: without root that of conda-forge.
    if not place.system.administrator:
        root = place.around.conda_root or f"{place.system.home}/miniforge3/envs"
        installed = f"{root}/gcc-{major}/bin/{_CONDA_COMPILER}"
    else:
        installed = f"/opt/rh/gcc-toolset-{major}/root/usr/bin/g++" if place.packages is Family.RHEL else f"/usr/bin/g++-{major}"
    if not move.there:
        does = text("Install gcc {major} beside the one that is there: nvcc accepts none newer", major=major)
        # The same place, served by the lines for any system: conda's.
        there = place if place.system.administrator else InstallPlace(python=place.python, around=place.around, system=place.system)
        check = text("{path} is there", path=installed)
        yield step((use("gcc-install", version=major),), there, commands, (does, check))
    does = text("Let nvcc and cmake call gcc {major}; in your start-up file the lines hold for every terminal", major=major)
    check = text("`nvcc` compiles a program in the same terminal")
    compiler = dict(place.compilers).get(major, "") or installed
    yield step((use("nvcc-host-compiler", compiler=compiler),), place, commands, (does, check))
