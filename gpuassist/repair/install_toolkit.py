"""The steps to another CUDA toolkit, and to a host compiler that its nvcc accepts."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.knowledge.change import GccMove, ToolkitMove
from gpuassist.knowledge.commands import Commands
from gpuassist.knowledge.records import Family
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import text
from gpuassist.repair.install_place import Place, step, use


def toolkit_steps(move: ToolkitMove, place: Place, commands: Commands) -> Iterator[Step]:
    """Installing the toolkit where it is not there, and making it the one that new terminals find."""
    release = str(move.release)
    if not move.root:
        yield from _install(move, place, commands)
    check = text("`nvcc --version` in a new terminal shows {release}", release=release)
    does = text("Let new terminals use CUDA {release}; gpuassist shows the change to your start-up file first", release=release)
    yield step((use("use-cuda", version=release),), place, commands, (does, check))


def gcc_steps(move: GccMove, place: Place, commands: Commands) -> Iterator[Step]:
    """Installing a compiler that nvcc accepts where none is there, and letting nvcc call it."""
    major = move.version.major
    if not move.there:
        does = text("Install gcc {major} beside the one that is there: nvcc accepts none newer", major=major)
        yield step((use("gcc-install", version=major),), place, commands, (does, None))
    there = dict(place.compilers).get(major, "")
    installed = f"/opt/rh/gcc-toolset-{major}/root/usr/bin/g++" if place.packages is Family.RHEL else f"/usr/bin/g++-{major}"
    does = text("Let nvcc and cmake call gcc {major}; in your start-up file the lines hold for every terminal", major=major)
    check = text("`nvcc` compiles a program in the same terminal")
    yield step((use("nvcc-host-compiler", compiler=there or installed),), place, commands, (does, check))


def _install(move: ToolkitMove, place: Place, commands: Commands) -> Iterator[Step]:
    release = str(move.release)
    check = text("/usr/local/cuda-{release}/bin/nvcc is there", release=release)
    if place.repository:
        does = text("Install CUDA {release} from NVIDIA's repository, without a driver, beside what is there", release=release)
        uses = (
            use("cuda-repository-add", repository=place.repository, architecture=place.repository_architecture),
            use("toolkit-install", version=release),
        )
        yield step(uses, place, commands, (does, check))
        return
    does = text("Install CUDA {release} from NVIDIA's download page, without the driver that its installer offers", release=release)
    yield Step(StepKind.ROOT_COMMAND, does, check=check, needs_root=True)
