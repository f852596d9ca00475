"""The ways to a CUDA toolkit: NVIDIA's packages, its installer into HOME, conda, or the wheels of the compiler; and to a host
compiler that its nvcc accepts.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.install.driver import driver_uses
from gpuassist.install.driver_kept import KeptDriver, kept_driver
from gpuassist.install.drivers.packages import add_repository, packages_of
from gpuassist.install.place import NIXOS, InstallPlace, step
from gpuassist.knowledge.change import DriverMove, GccMove, ToolkitMove
from gpuassist.knowledge.commands import Commands, use
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.repositories import Held, RepositoryRecord
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.outlook import Method, WayPlan
from gpuassist.model.plan import Proves, Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version

_CONDA_FORGE = "conda-forge"
_FIRST_OF_WHEELS = Version((13, 0))  # the wheels of 11 and 12 hold ptxas and no nvcc (wheels.json)
_MACHINES = {"x86_64": "x86_64", "sbsa": "aarch64"}
_FIRST = {Tool.CONDA: Method.CONDA, Tool.PIP: Method.WHEELS, Tool.UV: Method.WHEELS}


class _OwnToolkit(Struct, frozen=True):
    """A distribution's own package of CUDA: the name of the row that says which release it is, and where it lies."""

    repository: str
    root: str


_OWN = {Family.ARCH: _OwnToolkit("arch", "/opt/cuda")}


def toolkit_ways(
    move: ToolkitMove, place: InstallPlace, knowledge: Knowledge, driver: DriverMove | None = None
) -> tuple[WayPlan, ...]:
    """Each way that there is, the best first: the packages where the user may become root and they are known to hold it, else what
    needs none; the one by the tool that the user asked for before all others. `driver` comes with the same plan.
    """
    goal = _Goal(move.release.release, place, knowledge, driver)
    first = _FIRST.get(place.around.wished) if place.around.wished else None
    return tuple(sorted(goal.ways(), key=lambda one: one.way is not first))


def of_conda(release: Version, architecture: str, knowledge: Knowledge) -> bool:
    """Whether conda-forge is known to have that CUDA, nvcc with it."""
    forge = knowledge.repository(_CONDA_FORGE, architecture)
    return forge is not None and forge.toolkit(release) is Held.HOLDS


def own_toolkit(place: InstallPlace, knowledge: Knowledge) -> Version | None:
    """The CUDA release that the distribution itself has, where this user may install it and it is known."""
    own = _OWN.get(place.packages)
    if own is None or not place.system.administrator:
        return None
    record = knowledge.repository(own.repository, place.repository_architecture)
    return record.last_toolkit if record is not None else None


class _Goal(Struct, frozen=True):
    release: Version
    place: InstallPlace
    knowledge: Knowledge
    driver: DriverMove | None = None

    def ways(self) -> tuple[WayPlan, ...]:
        if self.place.system.distribution == NIXOS:
            return (self.of_nixpkgs(),)
        held = self._held
        root = self.place.system.administrator
        packages = (self.packages(),) if root and held is Held.HOLDS else ()
        unsure = (self.packages(asked=True),) if root and held is Held.UNKNOWN else ()
        wheels = (self.wheels(),) if self.release >= _FIRST_OF_WHEELS else ()
        other = (*self.conda(), *wheels) if self.place.system.conda else (*wheels, *self.conda())
        ways = (*self.own(), *packages, *self.runfile(), *other, *unsure)
        if not ways or not root or held is not Held.LACKS:
            return ways
        return (replace(ways[0], notes=(*ways[0].notes, self._lacking())), *ways[1:])

    def of_nixpkgs(self) -> WayPlan:
        """What is built for other systems does not start there (NixOS Wiki, CUDA and Packaging/Binaries)."""
        does = text(
            "Take CUDA {release} from nixpkgs (cudaPackages), in a development shell as the page CUDA of the NixOS Wiki describes: "
            "NVIDIA's installer, conda's packages and PyPI's compiler are built for other systems and do not start here",
            release=self._words,
        )
        check = text("`nvcc --version` in that shell shows {release}", release=self._words)
        return WayPlan(Method.PACKAGES, text("By nixpkgs"), (Step(StepKind.COMMAND, does, check=check),))

    @property
    def _repository(self) -> RepositoryRecord | None:
        return self.knowledge.repository(self.place.repository, self.place.repository_architecture)

    @property
    def _held(self) -> Held | None:
        """Whether NVIDIA's packages for this distribution have it; None where there are none. JetPack's has its own alone."""
        if self.place.system.jetson:
            return Held.HOLDS if self._of_the_board else None
        if not self.place.repository:
            return None
        return self._repository.toolkit(self.release) if self._repository is not None else Held.UNKNOWN

    def _lacking(self) -> Text:
        record = self._repository
        first, last = (record.first_toolkit, record.last_toolkit) if record is not None else (None, None)
        if first is None or last is None:
            return text("NVIDIA's repository {repository} has no CUDA toolkit", repository=self.place.repository)
        return text(
            "NVIDIA's repository {repository} has no CUDA {release}: those that were seen there are {first} to {last}",
            repository=self.place.repository,
            release=self._words,
            first=str(first),
            last=str(last),
        )

    def own(self) -> tuple[WayPlan, ...]:
        """The distribution's package, which is the newest: at least the release that is known of it."""
        own = _OWN.get(self.place.packages)
        if own is None or self.release != own_toolkit(self.place, self.knowledge):
            return ()
        does = text(
            "Install the distribution's own CUDA, which is {release} or newer, into {directory}",
            release=self._words,
            directory=own.root,
        )
        check = text("{path} is there", path=f"{own.root}/bin/nvcc")
        proof = StepProof(Proves.NVCC, f"{own.root}/bin/nvcc", f"{self._words}+")
        install = use("toolkit-install", version=self.release)
        made = step((install,), self.place, self.knowledge.commands, (does, check), proof=proof)
        used = _used(str(self.release.major), own.root, self.place, self.knowledge)
        return (WayPlan(Method.PACKAGES, text("By the distribution's own package, for every user of the machine"), (made, used)),)

    def packages(self, *, asked: bool = False) -> WayPlan:
        """NVIDIA's; `asked` where whether they have it is not known, and their repository tells once it is there."""
        root = f"/usr/local/cuda-{self.release}"
        install = use("toolkit-install", version=self.release)
        does = text("Install CUDA {release} from NVIDIA's repository, without a driver, beside what is there", release=self._words)
        check = text("/usr/local/cuda-{release}/bin/nvcc is there", release=self._words)
        # JetPack brings its own repository, whose CUDA is built for the board.
        adding, kept = () if self.place.system.jetson else (add_repository(self.place),), KeptDriver()
        if adding:
            kept = kept_driver(self.driver, self.place, self._repository)
        if self.driver is not None and any(one.key == adding[0].key for one in driver_uses(self.driver, self.place) if adding):
            adding = ()  # the driver comes from it, in the same plan
        questions = (use("toolkit-ask", version=self.release),) if asked else ()
        steps = list[Step]()
        if kept.does is not None:
            uses = (*kept.before, *adding, *kept.after)
            steps.append(step(uses, self.place, self.knowledge.commands, (kept.does, None)))
            adding = ()
        uses = (*adding, *questions, install)
        steps.append(step(uses, self.place, self.knowledge.commands, (does, check), proof=self._nvcc(root)))
        steps.append(self.used(root))
        told = text(
            "whether NVIDIA's repository {repository} has CUDA {release} is not known here: the question in front of the "
            "installation tells, once the repository is added",
            repository=self.place.repository,
            release=self._words,
        )
        does = text("By NVIDIA's packages, for every user of the machine")
        return WayPlan(Method.PACKAGES, does, tuple(steps), (told,) if asked else ())

    def runfile(self) -> tuple[WayPlan, ...]:
        record = self.knowledge.runfile(self.release)
        if record is None or self._machine not in record.machines or self.place.system.jetson:
            return ()
        root = self._directory
        installer = use("toolkit-install-runfile", version=record.version, file=record.file(self._machine), directory=root)
        does = text(
            "Install CUDA {release} into {directory} by NVIDIA's installer, without its driver and without root",
            release=self._words,
            directory=root,
        )
        words = (does, text("{path} is there", path=f"{root}/bin/nvcc"))
        made = step((installer,), self.place, self.knowledge.commands, words, proof=self._nvcc(root))
        told = text(
            "the installer writes /tmp/cuda-installer.log and fails where that is another user's: its owner, or a restart, takes "
            "it away"
        )
        return (WayPlan(Method.RUNFILE, text("Into your home directory, without root"), (made, self.used(root)), (told,)),)

    def conda(self) -> tuple[WayPlan, ...]:
        if not self._machine or not of_conda(self.release, self.place.repository_architecture, self.knowledge):
            return ()
        there = self.place.system.conda
        under = self.place.around.conda_root or f"{self._miniforge}/envs"
        directory = f"{under}/cuda-{self.release}"
        arguments = f"-c conda-forge cuda-toolkit cuda-version={self.release}"
        does = text(
            "Make an environment of conda's with CUDA {release} and a host compiler that it accepts, and work in it",
            release=self._words,
        )
        words = (does, text("`nvcc --version` in the environment shows {release}", release=self._words))
        # A conda that comes with the step before is on the PATH of that shell alone.
        run = StepRun((), Tool.CONDA, directory, creates=directory) if there else None
        create = use("conda-create", directory=directory, arguments=arguments)
        made = step((create,), self.place, self.knowledge.commands, words, run=run, proof=self._nvcc(directory))
        steps = (made,) if there else (self._conda_itself(), made)
        does = text("By conda, with a compiler and a C library of its own, where the environment is active")
        return (WayPlan(Method.CONDA, does, steps),)

    def _conda_itself(self) -> Step:
        does = text("Install conda (miniforge) into {directory}; it needs no root", directory=self._miniforge)
        get = use("conda-get", architecture=self._machine, directory=self._miniforge)
        check = text("`conda --version` answers in the same terminal")
        proof = StepProof(Proves.ENVIRONMENT, self._miniforge)
        return step((get,), self.place, self.knowledge.commands, (does, check), proof=proof)

    def wheels(self) -> WayPlan:
        directory = self._directory
        release, python = next(iter(self.place.around.pythons), (None, "python3"))
        made = StepRun((), Tool.PIP, directory, creates=directory)
        create = step(
            (use("environment-create", python=python, directory=directory),),
            self.place,
            self.knowledge.commands,
            (text("Make an environment for the compiler alone: {directory}", directory=directory), None),
            run=made,
            proof=StepProof(Proves.ENVIRONMENT, directory),
        )
        inside = f"{directory}/bin/python"
        requirement = f"cuda-toolkit[nvcc,cccl]~={self.release}.0"
        root = f"{directory}/lib/python{release.release}/site-packages/nvidia/cu{self.release.major}" if release else ""
        get = use("toolkit-install-wheels", python=inside, requirement=requirement)
        # nvcc looks for its libraries in lib64, and the wheels have lib (bin/nvcc.profile of nvidia-cuda-nvcc 13.0.88).
        major = self.release.major
        link = (
            use("toolkit-wheels-link", root=root, major=major)
            if root
            else use("toolkit-wheels-link-in", python=inside, major=major)
        )
        does = text(
            "Install the compiler of CUDA {release} with its headers from PyPI, and put its libraries where it looks for them",
            release=self._words,
        )
        check = text("`{nvcc}` compiles and links a kernel", nvcc=f"{root}/bin/nvcc") if root else None
        install = step(
            (get, link),
            self.place,
            self.knowledge.commands,
            (does, check),
            run=StepRun((), Tool.PIP, directory, inside),
            proof=self._nvcc(root) if root else None,
        )
        return WayPlan(
            Method.WHEELS,
            text("By the wheels of the compiler: nvcc, its headers and the runtime, without the libraries for mathematics"),
            (create, install, self.used(root)),
        )

    def used(self, root: str) -> Step:
        return _used(self._words, root, self.place, self.knowledge)

    def _nvcc(self, root: str) -> StepProof:
        return StepProof(Proves.NVCC, f"{root}/bin/nvcc", self._words)

    @property
    def _of_the_board(self) -> bool:
        """JetPack's own repository has the CUDA of its system and no other."""
        system = self.place.system
        return system.jetson and system.jetson_cuda in {None, self.release}

    @property
    def _words(self) -> str:
        return str(self.release)

    @property
    def _machine(self) -> str:
        return _MACHINES.get(self.place.repository_architecture, "")

    @property
    def _directory(self) -> str:
        home = self.place.system.home
        return f"{home}/cuda-{self.release}" if home else f"cuda-{self.release}"

    @property
    def _miniforge(self) -> str:
        home = self.place.system.home
        return f"{home}/miniforge3" if home else "miniforge3"


# The steps to another CUDA toolkit, and to a host compiler that its nvcc accepts.


_CONDA_COMPILER = "x86_64-conda-linux-gnu-g++"


def toolkit_steps(
    move: ToolkitMove, place: InstallPlace, knowledge: Knowledge, driver: DriverMove | None = None
) -> tuple[Step, ...]:
    """Installing the toolkit in the best way where it is not there, and making it the one that new terminals find."""
    if move.root:
        return (_used(str(move.release), move.root, place, knowledge),)
    ways = toolkit_ways(move, place, knowledge, driver)
    if ways:
        return ways[0].steps
    release = str(move.release)
    does = text("Install CUDA {release} from NVIDIA's download page, without the driver that its installer offers", release=release)
    check = text("/usr/local/cuda-{release}/bin/nvcc is there", release=release)
    by_hand = Step(StepKind.ROOT_COMMAND, does, check=check, needs_root=True)
    return by_hand, _used(release, "", place, knowledge)


def _used(release: str, root: str, place: InstallPlace, knowledge: Knowledge) -> Step:
    does = text("Let new terminals use CUDA {release}; gpuassist shows the change to your start-up file first", release=release)
    check = text("`nvcc --version` in a new terminal shows {release}", release=release)
    proof = StepProof(Proves.NEW_TERMINAL, root, release) if root else None
    return step((use("use-cuda", version=release),), place, knowledge.commands, (does, check), proof=proof)


def gcc_steps(move: GccMove, place: InstallPlace, commands: Commands) -> tuple[Step, ...]:
    """Installing a compiler that nvcc accepts where none is there, and letting nvcc call it."""
    major = move.version.major
    works = text("`nvcc` compiles a program in the same terminal")
    install = text("Install gcc {major} beside the one that is there: nvcc accepts none newer", major=major)
    if not move.there and place.packages is Family.ANY and place.system.administrator:
        # Whose computer it is nobody knows, so neither where conda is: its environment names its compiler itself.
        made = text("`conda list -n gcc-{major} gxx_linux-64` lists it", major=major)
        does = text("Let nvcc and cmake call gcc {major} for this terminal", major=major)
        return (
            step((use("gcc-install", version=major),), place, commands, (install, made)),
            step((use("nvcc-host-compiler-conda", version=major),), place, commands, (does, works)),
        )
    # Where the package puts it: without root that of conda-forge.
    if not place.system.administrator:
        root = place.around.conda_root or f"{place.system.home}/miniforge3/envs"
        installed = f"{root}/gcc-{major}/bin/{_CONDA_COMPILER}"
    else:
        installed = packages_of(place.packages).compiler(major)
    steps = list[Step]()
    if not move.there:
        # The same place, served by the lines for any system: conda's.
        there = place if place.system.administrator else InstallPlace(python=place.python, around=place.around, system=place.system)
        check = text("{path} is there", path=installed)
        steps.append(step((use("gcc-install", version=major),), there, commands, (install, check)))
    does = text("Let nvcc and cmake call gcc {major}; in your start-up file the lines hold for every terminal", major=major)
    compiler = dict(place.compilers).get(major, "") or installed
    return (*steps, step((use("nvcc-host-compiler", compiler=compiler),), place, commands, (does, works)))
