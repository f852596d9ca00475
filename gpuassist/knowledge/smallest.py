"""The smallest change that makes the parts of a machine fit: driver, torch build, toolkit and host compiler for all its GPUs.

Each part can stay, or move to the best that fits the others; of all combinations the cheapest is taken. What it costs counts what
it asks of the user: a line in a start-up file, a package of his own, root, a restart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from gpuassist.knowledge.change import (
    Blocker,
    Configuration,
    Constraints,
    DriverMove,
    GccMove,
    Need,
    SmallestChange,
    Stock,
    ToolkitMove,
    TorchMove,
    TorchThere,
    VersionChange,
)
from gpuassist.knowledge.choice import (
    BuildHost,
    DriverChoice,
    GpuWish,
    Obstacle,
    Workload,
    choose_driver,
    choose_toolkit_release,
    choose_torch,
    runs_plainly,
    toolkit_fits,
)
from gpuassist.knowledge.compatibility import (
    CodePath,
    DriverFit,
    ToolkitMatch,
    driver_serves_cuda,
    driver_serves_gpu,
    extension_buildable,
    gcc_fits,
    way_to_run,
)
from gpuassist.knowledge.driver_packages import Reach, Shelf, Shelved
from gpuassist.knowledge.records import ModuleFlavour, TorchBuild
from gpuassist.model.version import Version

_LINE, _PACKAGE, _ENVIRONMENT, _ROOT_PACKAGE, _ROOT_LARGE, _RESTART = 1, 3, 5, 6, 8, 20
_LEFT = 15  # a part that should fit and does not: worth an installation, no restart
_OPEN_BY_DEFAULT = 560  # the first branch whose open modules NVIDIA suggests to every GPU that can have them (its driver guide)
_USUAL_PYTHON = Version((3, 12))


class _Option(Struct, frozen=True):
    """One way for one part: what moves, what it then is, and what that costs."""

    cost: int = 0
    version: Version | None = None
    move: DriverMove | TorchMove | ToolkitMove | None = None
    gcc: GccMove | None = None
    left: tuple[Blocker, ...] = ()
    rank: tuple[int, ...] = ()


class _Search(Struct):
    """What is looked for, and what was met on the way, for who has to say why nothing fits."""

    configuration: Configuration
    constraints: Constraints
    stock: Stock
    blockers: dict[Blocker, None] = field(default_factory=dict)
    obstacle: Obstacle | None = None
    without: TorchBuild | None = None


def smallest_change(configuration: Configuration, constraints: Constraints, stock: Stock) -> SmallestChange:
    """The cheapest combination in which every part fits as much as it must."""
    search = _Search(configuration, constraints, stock)
    combinations: list[tuple[_Option, _Option, _Option]] = []
    for driver in _driver_options(search):
        for torch in _torch_options(search, driver.version):
            combinations.extend((driver, torch, toolkit) for toolkit in _toolkit_options(search, driver.version, torch.version))
    if not combinations:
        return SmallestChange(None, tuple(search.blockers), search.obstacle, search.without)
    best = min(
        combinations,
        key=lambda options: (sum(one.cost for one in options), tuple(tuple(-part for part in one.rank) for one in options)),
    )
    driver, torch, toolkit = best
    change = VersionChange(
        driver.move if isinstance(driver.move, DriverMove) else None,
        torch.move if isinstance(torch.move, TorchMove) else None,
        toolkit.move if isinstance(toolkit.move, ToolkitMove) else None,
        toolkit.gcc,
        tuple(blocker for one in best for blocker in one.left),
        sum(one.cost for one in best),
    )
    return SmallestChange(change, (), search.obstacle, search.without)


def driver_fits(configuration: Configuration, version: Version, *, open_module: bool | None = None) -> bool:
    """Whether a driver serves every GPU, its kernel module among it where that is known."""
    wrong = {True: ModuleFlavour.OPEN_IMPOSSIBLE, False: ModuleFlavour.OPEN_REQUIRED}
    for gpu in configuration.gpus:
        if driver_serves_gpu(version, gpu.architecture, gpu.chip) in {DriverFit.TOO_OLD, DriverFit.DROPPED}:
            return False
        if configuration.one_module and open_module is not None and gpu.flavour is wrong[open_module]:
            return False
    return True


def _driver_options(search: _Search) -> Iterator[_Option]:
    configuration, wanted = search.configuration, search.constraints.driver
    if not configuration.gpus and not configuration.capabilities and wanted is None:
        yield _Option(version=configuration.driver)
        return
    options = list(_pinned_driver(configuration, wanted, search.constraints.driver_number) if wanted else _any_driver(search))
    yield from options
    if not options:
        search.blockers.setdefault(Blocker.DRIVER if wanted else Blocker.NO_DRIVER)
    if search.constraints.driver_need is not Need.MUST and all(one.cost for one in options):
        # The driver that would be installed: what is compiled before that shall run on it.
        yield _Option(
            _LEFT,
            configuration.driver or next((one.version for one in options if one.move is not None), None),
            left=(Blocker.DRIVER,),
        )


def _pinned_driver(configuration: Configuration, wanted: Version, number: Version | None) -> Iterator[_Option]:
    there = configuration.driver
    is_it = number is None and there is not None and there.parts[: len(wanted.parts)] == wanted.parts
    if there is not None and is_it and driver_fits(configuration, there, open_module=configuration.open_module):
        yield _Option(version=there)
        return
    flavours = {gpu.flavour for gpu in configuration.gpus}
    free = ModuleFlavour.OPEN_IMPOSSIBLE not in flavours and wanted.major >= _OPEN_BY_DEFAULT
    opened = ModuleFlavour.OPEN_REQUIRED in flavours or free
    if configuration.driver_fixed or not driver_fits(configuration, wanted, open_module=opened):
        return
    if configuration.shelf is None:
        yield _Option(_RESTART, wanted, DriverMove(number or wanted, opened, pinned=True))
        return
    opened, found = best_flavour(configuration.shelf, wanted.major, configuration.gpus, first=opened, pinned=True)
    comes = Version((found.branch,))
    if found.reach in {Reach.HELD, Reach.UNKNOWN}:
        yield _Option(_RESTART, wanted, DriverMove(number or wanted, opened, pinned=True))
    elif (
        found.reach is Reach.OTHER
        and (there is None or there.major != found.branch)
        and driver_fits(configuration, comes, open_module=opened)
    ):
        yield _Option(_RESTART, comes, DriverMove(comes, opened, pinned=True, asked=wanted))


def _any_driver(search: _Search) -> Iterator[_Option]:
    configuration = search.configuration
    fits = configuration.driver is not None and driver_fits(
        configuration, configuration.driver, open_module=configuration.open_module
    )
    choice = choose_driver(
        search.stock.branches, configuration.gpus, today=configuration.today, one_module=configuration.one_module
    )
    if choice.best is not None and configuration.shelf is not None:
        choice = on_shelf(choice, configuration.gpus, configuration.shelf, today=configuration.today)
    best = choice.best
    newer = best is not None and configuration.driver is not None and best.branch > configuration.driver.major
    if fits and not (search.constraints.newest_driver and newer and not configuration.driver_fixed):
        yield _Option(version=configuration.driver)
    if choice.split:
        search.blockers[Blocker.SPLIT] = None
    if (
        best is None
        or configuration.driver_fixed
        or (fits and configuration.driver is not None and best.branch < configuration.driver.major)
    ):
        return
    version = Version((best.branch,))
    yield _Option(_RESTART, version, DriverMove(version, choice.open_module))


def on_shelf(choice: DriverChoice, gpus: Sequence[GpuWish], shelf: Shelf, *, today: str) -> DriverChoice:
    """The best of those that this system's packages hold; where they are known to hold none, none. Of a branch of which it is not
    known whether they do, the best stays: then that is the question.
    """
    numbers = tuple(one.branch for one in choice.branches)
    for opened in flavours_of(gpus, first=choice.open_module):
        held = shelf.preferred(numbers, open_module=opened)
        among = tuple(one for one in choice.branches if one.branch in held)
        found = choose_driver(among, gpus, today=today)
        if found.best is not None:
            early = opened and found.best.branch < _OPEN_BY_DEFAULT and False in flavours_of(gpus, first=opened)
            other = early and shelf.look(found.best.branch, open_module=False).reach is Reach.HELD
            return DriverChoice(found.branches, found.best, opened and not other)
    best = choice.best.branch if choice.best is not None else None
    if best is not None and shelf.look(best, open_module=choice.open_module).reach is Reach.UNKNOWN:
        return choice
    return DriverChoice((), None, choice.open_module)


def flavours_of(gpus: Iterable[GpuWish], *, first: bool) -> tuple[bool, ...]:
    """Whether the open kernel modules: the flavour that is meant, and the other one where every GPU can have that."""
    wrong = ModuleFlavour.OPEN_REQUIRED if first else ModuleFlavour.OPEN_IMPOSSIBLE
    return (first,) if any(gpu.flavour is wrong for gpu in gpus) else (first, not first)


def best_flavour(shelf: Shelf, branch: int, gpus: Iterable[GpuWish], *, first: bool, pinned: bool) -> tuple[bool, Shelved]:
    """The flavour in which a branch can be had best, and how."""
    order = (Reach.HELD, Reach.OTHER, Reach.UNKNOWN, Reach.KERNEL, Reach.ABSENT)
    every = [(one, shelf.look(branch, open_module=one, pinned=pinned)) for one in flavours_of(gpus, first=first)]
    return min(every, key=lambda one: order.index(one[1].reach))


def _torch_options(search: _Search, driver: Version | None) -> Iterator[_Option]:
    there, need = search.configuration.torch, search.constraints.torch_need
    if need is Need.LEAVE or (there is None and need is not Need.MUST):
        yield _Option(version=there.cuda if there else None)
        return
    if need is Need.KEEP and there is not None:
        # torch as it is; one that computes on these GPUs is worth another driver, and a toolkit of its CUDA major.
        if not torch_fits(search.configuration, there, None):
            yield _Option()
        elif torch_fits(search.configuration, there, driver):
            yield _Option(version=there.cuda)
        else:
            yield _Option(_LEFT + _RESTART, there.cuda, left=(Blocker.TORCH,))
            if search.configuration.driver_fixed:  # no driver will ever run it: a toolkit need not be of its CUDA
                yield _Option(_LEFT + _LEFT + _RESTART, left=(Blocker.TORCH,))
        return
    options = list(_torches_to_install(search, driver))
    if (
        there is not None
        and _is_wanted(there, search.constraints)
        and torch_fits(search.configuration, there, driver, driver_cuda=_cuda_of(search.stock, driver))
    ):
        options.insert(0, _Option(version=there.cuda))
    yield from options
    if not options:
        search.blockers.setdefault(Blocker.TORCH)
        if need is not Need.MUST:
            yield _Option(_LEFT, left=(Blocker.TORCH,))


def _torches_to_install(search: _Search, driver: Version | None) -> Iterator[_Option]:
    """The best build of each CUDA major: which of them fits the toolkit as well is seen later."""
    configuration, constraints = search.configuration, search.constraints
    builds = [one for one in search.stock.builds if one.cuda is not None and constraints.torch_tag in {"", one.tag}]
    host = BuildHost(configuration.machine, driver, configuration.python, _cuda_of(search.stock, driver), glibc=configuration.glibc)
    for major in {one.cuda.major for one in builds if one.cuda is not None}:
        of_major = [one for one in builds if one.cuda is not None and one.cuda.major == major]
        choice = choose_torch(of_major, configuration.capabilities, host, release=constraints.torch)
        if choice.build is not None and choice.obstacle in {None, Obstacle.PYTHON}:
            python = choice.obstacle is Obstacle.PYTHON
            rank = (*choice.build.release.parts, int(choice.build.default), *(choice.build.cuda.parts if choice.build.cuda else ()))
            move = TorchMove(choice.build, usual_python(choice.build) if python else None)
            yield _Option(_ENVIRONMENT if python else _PACKAGE, choice.build.cuda, move, rank=rank)
    choice = choose_torch(builds, configuration.capabilities, host, release=constraints.torch)
    if choice.obstacle is not None and search.obstacle is None:
        search.obstacle, search.without = choice.obstacle, choice.build


def usual_python(build: TorchBuild) -> Version:
    """The Python of a new environment for a build: 3.12, or the nearest that it has a wheel for, the older of two."""
    return min(build.pythons, key=lambda one: (abs(one.parts[1] - _USUAL_PYTHON.parts[1]), one))


def _cuda_of(stock: Stock, driver: Version | None) -> Version | None:
    """The CUDA that a driver's branch reports, as far as that is known."""
    return next((one.cuda for one in stock.branches if driver is not None and one.branch == driver.major), None)


def torch_fits(
    configuration: Configuration, torch: TorchThere, driver: Version | None, *, driver_cuda: Version | None = None
) -> bool:
    """Whether a torch computes on every GPU under a driver; what is not known of it does not count against it."""
    if torch.cpu:
        return False
    if torch.cuda is not None and driver is not None and not driver_serves_cuda(driver, torch.cuda):
        return False
    dead = {CodePath.NONE, CodePath.DRIVER_TOO_OLD_TO_COMPILE}
    ways = (way_to_run(one, torch.targets or (), cuda=torch.cuda, driver_cuda=driver_cuda) for one in configuration.capabilities)
    return torch.targets is None or not dead & set(ways)


def _is_wanted(torch: TorchThere, constraints: Constraints) -> bool:
    wanted = constraints.torch
    same = wanted is None or torch.version.parts[: len(wanted.parts)] == wanted.parts
    return same and (not constraints.torch_tag or constraints.torch_tag == torch.tag)


def _toolkit_options(search: _Search, driver: Version | None, torch_cuda: Version | None) -> Iterator[_Option]:
    configuration, need = search.configuration, search.constraints.toolkit_need
    if need is Need.LEAVE or (configuration.toolkit is None and need is not Need.MUST):
        yield _Option()
        return
    driver_cuda = _cuda_of(search.stock, driver)
    workload = Workload(
        configuration.capabilities, glibc=configuration.glibc, torch_cuda=torch_cuda, driver=driver, driver_cuda=driver_cuda
    )
    options = list(_toolkits_there(search, workload))
    if need is not Need.LINE:
        options += _toolkits_to_install(search, workload)
    yield from (one for one in options if need is not Need.LINE or one.cost <= _LINE)
    if not options and need is Need.MUST:
        search.blockers.setdefault(Blocker.TOOLKIT)
    elif need is not Need.MUST:
        yield _Option(_LINE + 1 if need is Need.LINE else _LEFT, left=(Blocker.TOOLKIT,))


def _toolkits_there(search: _Search, workload: Workload) -> Iterator[_Option]:
    configuration, constraints = search.configuration, search.constraints
    for one in dict.fromkeys(filter(None, (configuration.toolkit, *configuration.toolkits))):
        if not _is_release(one.version, constraints.toolkit) or not (
            toolkit_fits(one, one.version, workload) and _builds_for_torch(one.version, workload)
        ):
            continue
        active = configuration.toolkit is not None and one.root == configuration.toolkit.root
        move = None if active else ToolkitMove(one.version.release, one.root)
        yield from _with_gcc(configuration, one.gcc_limit, _toolkit_option(one.version, move, workload, 0 if active else _LINE))


def _toolkits_to_install(search: _Search, workload: Workload) -> Iterator[_Option]:
    configuration, constraints = search.configuration, search.constraints
    records = [one for one in search.stock.toolkits if _is_release(one.release, constraints.toolkit)]
    fitting = [one for one in records if toolkit_fits(one, one.release, workload) and _builds_for_torch(one.release, workload)]
    with_gcc = replace(workload, gcc=configuration.gcc)
    own = configuration.own_toolkit
    chosen = {choose_toolkit_release(fitting, with_gcc), choose_toolkit_release(fitting, workload), own}
    for record in fitting:
        if record.release in chosen:
            move = ToolkitMove(record.release)
            cost = _ROOT_PACKAGE if record.release == own else _ROOT_LARGE
            yield from _with_gcc(configuration, record.gcc_limit, _toolkit_option(record.release, move, workload, cost))


def _toolkit_option(version: Version, move: ToolkitMove | None, workload: Workload, cost: int) -> _Option:
    same = workload.torch_cuda is not None and extension_buildable(workload.torch_cuda, version) is ToolkitMatch.SAME
    return _Option(cost, version, move, rank=(int(same), int(runs_plainly(version.release, workload)), *version.release.parts))


def _builds_for_torch(version: Version, workload: Workload) -> bool:
    cuda = workload.torch_cuda
    return cuda is None or extension_buildable(cuda, version) is not ToolkitMatch.MAJOR_DIFFERS


def _with_gcc(configuration: Configuration, limit: int | None, option: _Option) -> Iterator[_Option]:
    if configuration.gcc is None or limit is None or gcc_fits(limit, configuration.gcc):
        yield option
        return
    older = max((one for one in configuration.gccs if gcc_fits(limit, one)), default=None)
    if older is None and configuration.gcc_packages is not None:
        held = [major for major in configuration.gcc_packages if gcc_fits(limit, Version((major,)))]
        if not held:
            return  # there is none to install: another toolkit is the way
        limit = max(held)
    move = GccMove(older, there=True) if older is not None else GccMove(Version((limit,)), there=False)
    cost = option.cost + (_LINE if older is not None else _ROOT_PACKAGE)
    yield _Option(cost, option.version, option.move, move, rank=option.rank)


def _is_release(version: Version, wanted: Version | None) -> bool:
    return wanted is None or version.parts[: len(wanted.parts)] == wanted.parts or version.release == wanted.release
