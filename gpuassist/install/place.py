"""Where something is to be installed: whose command lines serve there, and which Python environment is meant."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import PurePosixPath

from msgspec import Struct, field
from msgspec.structs import replace

from gpuassist.knowledge.commands import Commands, UsedCommand
from gpuassist.knowledge.driver_packages import Shelf
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.servers import Baseboard
from gpuassist.model.environment import Package
from gpuassist.model.finding import Action
from gpuassist.model.holds import PackageHold
from gpuassist.model.package_settings import PackageSettings
from gpuassist.model.plan import Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.text import Text
from gpuassist.model.version import Version, whole_number


class System(Struct, frozen=True):
    """`distribution` and `release` are os-release's ID and VERSION_ID, `kernel` is `uname -r`; `secure_boot` is None where that is
    not known. `driver` is the version that is installed, loaded or not, `open_module` its flavour, both None where not there or not
    known; `uninstaller` is that of NVIDIA's own installer, empty where it was not used. `needs_open`: a GPU runs with the open
    modules alone. `nouveau` has a GPU; `hybrid`: a laptop whose processor draws as well. `provider` is the cloud it is rented from,
    `part` that only a part of a GPU is rented (vGPU). `last_branch` is the newest driver branch that still serves every GPU, None
    where no end of it is known. `base` is the distribution whose packages it takes with their release, both empty where nobody
    knows; `image`: packages are layered on an image (rpm-ostree), `transactional`: they are installed into the next start's
    snapshot (transactional-update); `variant` is os-release's VARIANT_ID. `container` is the kind of container that this is, empty
    outside one.
    `holds` is what keeps the driver's packages from an upgrade that is asked for.
    `administrator` whether this user may become root. `jetson_cuda` is the CUDA of a Jetson's system, None where not known. Under
    WSL2 `windows` is how Windows numbers the last branch that serves every GPU, empty where any later one does. `servers`: each
    GPU is a product for data centres; `baseboard` is that whose NVSwitches join them. `virtual`: the GPU is a part that a
    hypervisor gives. `mixed`: two installations of the driver lie over each other, or its halves are of two branches.
    """

    distribution: str = ""
    release: str = ""
    kernel: str = ""
    secure_boot: bool | None = False
    driver: Version | None = None
    open_module: bool | None = None
    uninstaller: str = ""
    needs_open: bool = False
    nouveau: bool = False
    hybrid: bool = False
    provider: str = ""
    part: bool = False
    last_branch: int | None = None
    home: str = ""
    administrator: bool = True
    jetson: bool = False
    jetson_cuda: Version | None = None
    conda: bool = False
    windows: tuple[int, ...] = ()
    servers: bool = False
    baseboard: Baseboard | None = None
    virtual: bool = False
    mixed: bool = False
    base: tuple[str, str] = ("", "")
    image: bool = False
    transactional: bool = False
    variant: str = ""
    container: str = ""
    holds: tuple[PackageHold, ...] = ()

    @property
    def major(self) -> int:
        """The distribution's major release; 0 where it has none, or says none."""
        return whole_number(self.release.partition(".")[0]) or 0


# What is around a torch that is to be changed: its environment with the packages in it, other Pythons, and the user's wish.


NEW = "torch-gpu"
NIXOS = "nixos"


class TorchSurroundings(Struct, frozen=True):
    """`prefix` and `name` are the environment's, `new` is the directory of one to be made, which is not there yet; `packages` those
    that have to do with the GPU, `directory` that of its torch; `pythons` are interpreters that can make an environment, `wished`
    the tool that the user asked for. `of_conda` where conda made the environment, `torch_of_conda` where its torch came by conda;
    `conda_root` is the directory under which conda keeps its environments; `base` where the environment is an interpreter that
    others are made from, and nobody's project; `settings` say where packages come from.
    """

    prefix: str = ""
    name: str = ""
    new: str = NEW
    packages: tuple[Package, ...] = ()
    directory: str = ""
    pythons: tuple[tuple[Version, str], ...] = ()
    wished: Tool | None = None
    python: Version | None = None
    of_conda: bool = False
    torch_of_conda: bool = False
    conda_root: str = ""
    base: bool = False
    settings: PackageSettings = field(default_factory=PackageSettings)

    @property
    def new_of_conda(self) -> str:
        """Where conda makes a new one: beside those that it made."""
        return f"{self.conda_root}/{PurePosixPath(self.new).name}" if self.conda_root else self.new

    def has(self, name: str) -> bool:
        return any(one.name == name for one in self.packages)


_KINDS = {
    Action.NONE: StepKind.COMMAND,
    Action.EDIT: StepKind.EDIT,
    Action.COMMAND: StepKind.COMMAND,
    Action.NEW_SHELL: StepKind.NEW_SHELL,
    Action.REBOOT: StepKind.REBOOT,
    Action.HARDWARE: StepKind.HARDWARE,
}


class InstallPlace(Struct, frozen=True):
    """`families` are those whose lines serve, the most special first; `repository` is NVIDIA's name for this distribution, empty
    where it has no packages for it. `tool` can change the environment of `python` (`pip`, `uv`), empty where it is to be left as
    it is; `compilers` are the installed g++ by their majors. `shelf` is what the packages here hold of drivers, None where no
    packages bring one.
    """

    families: tuple[Family, ...] = (Family.ANY,)
    repository: str = ""
    repository_architecture: str = ""
    python: str = "python3"
    tool: str = ""
    torch_there: bool = False
    driver_there: bool = True
    compilers: tuple[tuple[int, str], ...] = ()
    around: TorchSurroundings = field(default_factory=TorchSurroundings)
    system: System = field(default_factory=System)
    shelf: Shelf | None = None

    @property
    def family(self) -> Family:
        """The one that says whose the driver is."""
        return self.families[0]

    @property
    def packages(self) -> Family:
        """The one whose packages are installed here: under WSL2 the distribution's, though the driver is not."""
        return next((one for one in self.families if one not in {Family.WSL, Family.CONTAINER}), Family.ANY)


def step(
    uses: tuple[UsedCommand, ...],
    place: InstallPlace,
    commands: Commands,
    words: tuple[Text, Text | None],
    *,
    run: StepRun | None = None,
    proof: StepProof | None = None,
) -> Step:
    """A step of these commands, as far as they are known for the place; `words` say what it does, and how to see that it worked.
    `run` says who takes it and where, and gets its programs from the lines.
    """
    records = [commands.record(one.key, place.families) for one in uses]
    known = [record for record in records if record is not None]
    lines = tuple(line for one in uses for line in commands.render(one.key, place.families, one.parameters))
    root = any(record.needs_root for record in known)
    acts = [_KINDS[record.action] for record in known if record.action is not Action.COMMAND]
    kind = acts[0] if acts else StepKind.ROOT_COMMAND if root else StepKind.COMMAND
    does, check = words
    taken = replace(run, programs=programs_of(lines)) if run is not None and not root else None
    return Step(kind, does, lines, check=check, needs_root=root, run=taken, proof=proof)


def programs_of(lines: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """The programs of lines without a shell's operators; a line that activates an environment changes the user's shell alone."""
    words = (tuple(shlex.split(line)) for line in lines)
    return tuple(one for one in words if one and one[0] not in {".", "source"} and one[:2] != ("conda", "activate"))
