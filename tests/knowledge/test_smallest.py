"""The smallest change fits every part, costs no more than another that fits, and says which wall stands where none does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuassist.knowledge.change import (
    Blocker,
    Configuration,
    Constraints,
    GccMove,
    Need,
    SmallestChange,
    Stock,
    ToolkitMove,
    TorchThere,
    VersionChange,
)
from gpuassist.knowledge.choice import GpuWish, InstalledToolkit, Obstacle
from gpuassist.knowledge.compatibility import driver_serves_cuda, gcc_fits, kernels_run, toolkit_builds_for
from gpuassist.knowledge.smallest import driver_fits, smallest_change, torch_fits, usual_python
from gpuassist.model.version import ComputeCapability, Version
from tests.knowledge.shipped import KNOWLEDGE, TODAY, cubins, target, version

STOCK = Stock(KNOWLEDGE.branches(), KNOWLEDGE.torch_builds(), KNOWLEDGE.toolkits())
ALL = Constraints(torch_need=Need.MUST, toolkit_need=Need.MUST)
GPUS = ("GTX 780", "Tesla K80", "GTX 970", "GTX 1080 Ti", "TITAN V", "RTX 2080", "A100", "RTX 3090", "RTX 4090", "H100", "RTX 5090")

names = st.lists(st.sampled_from(GPUS), min_size=1, max_size=3)
drivers = st.sampled_from([None, "470.239.06", "535.183.01", "550.54.14", "570.133.07", "580.95.05", "595.45.04"])
pythons = st.sampled_from([None, "3.8", "3.10", "3.12", "3.14", "3.15"])
gccs = st.sampled_from([None, "9.4.0", "11.4.0", "13.3.0", "14.2.0", "15.2.1"])
glibcs = st.sampled_from([None, "2.31", "2.39", "2.41", "2.42"])
needs = st.sampled_from(Need)


def gpu_wish(name: str) -> tuple[GpuWish, ComputeCapability]:
    record = KNOWLEDGE.gpus_named(name)[0]
    architecture = KNOWLEDGE.architecture(record.architecture)
    assert architecture is not None
    assert record.compute_capability is not None
    return GpuWish(architecture, record.chip, record.module), record.compute_capability


def rig(*gpus: str, **parts: str | None) -> Configuration:
    wishes = [gpu_wish(name) for name in gpus]
    versions = {name: version(words) if words else None for name, words in parts.items()}
    return replace(Configuration(tuple(one for one, _ in wishes), tuple(sorted({one for _, one in wishes})), TODAY), **versions)


def change(one: Configuration, demand: Constraints = ALL) -> VersionChange:
    found = smallest_change(one, demand, STOCK).change
    assert found is not None
    return found


def installed(release: str) -> InstalledToolkit:
    record = KNOWLEDGE.toolkit(version(release))
    assert record is not None
    return InstalledToolkit(f"/usr/local/cuda-{release}", record.release, record.targets, record.gcc_limit, record.glibc_clash)


def torch(release: str, tag: str) -> TorchThere:
    build = next(one for one in KNOWLEDGE.torch_builds(version(release)) if one.tag == tag and one.machine == "x86_64")
    return TorchThere(build.newest, tag, build.cuda, build.targets)


machines = st.builds(
    lambda gpus, driver, python, gcc, glibc: rig(*gpus, driver=driver, python=python, gcc=gcc, glibc=glibc),
    names,
    drivers,
    pythons,
    gccs,
    glibcs,
)
demands = st.builds(
    Constraints,
    torch_need=needs,
    toolkit_need=needs,
    driver_need=st.sampled_from([Need.MUST, Need.SHOULD]),
    torch=st.sampled_from([None, version("2.6"), version("2.10"), version("2.15")]),
    toolkit=st.sampled_from([None, version("11.8"), version("12.8"), version("13.0")]),
)


@given(machines, demands)
def test_a_build_that_is_suggested_runs_on_every_gpu(one: Configuration, demand: Constraints) -> None:
    found = smallest_change(one, demand, STOCK).change
    if found is None or found.torch is None:
        return
    build = found.torch.build
    assert all(kernels_run(capability, build.targets, cuda=build.cuda) for capability in one.capabilities)
    python = found.torch.python or one.python
    assert python is None or python.release in build.pythons


@given(machines, demands)
def test_a_driver_that_is_suggested_serves_every_gpu_and_build(one: Configuration, demand: Constraints) -> None:
    found = smallest_change(one, demand, STOCK).change
    if found is None or found.driver is None:
        return
    assert driver_fits(one, found.driver.version, open_module=found.driver.open_module)
    if found.torch is not None and found.torch.build.cuda is not None:
        assert driver_serves_cuda(found.driver.version, found.torch.build.cuda)


@given(machines, demands)
def test_a_toolkit_that_is_suggested_builds_for_every_gpu(one: Configuration, demand: Constraints) -> None:
    found = smallest_change(one, demand, STOCK).change
    if found is None or found.toolkit is None:
        return
    record = KNOWLEDGE.toolkit(found.toolkit.release)
    assert record is not None
    assert all(toolkit_builds_for(record.targets, capability) for capability in one.capabilities)
    gcc = found.gcc.version if found.gcc else one.gcc
    assert gcc is None or record.gcc_limit is None or gcc_fits(record.gcc_limit, gcc)


@given(machines, demands)
def test_there_is_a_change_or_a_wall(one: Configuration, demand: Constraints) -> None:
    found = smallest_change(one, demand, STOCK)
    assert (found.change is None) == bool(found.blockers)


@given(machines)
def test_what_was_changed_needs_no_change(one: Configuration) -> None:
    found = smallest_change(one, ALL, STOCK).change
    if found is None or found.torch is None or found.toolkit is None:
        return
    build = found.torch.build
    after = replace(
        one,
        driver=found.driver.version if found.driver else one.driver,
        open_module=found.driver.open_module if found.driver else one.open_module,
        torch=TorchThere(build.newest, build.tag, build.cuda, build.targets),
        toolkit=installed(str(found.toolkit.release)),
        gcc=found.gcc.version if found.gcc else one.gcc,
    )
    assert change(after) == VersionChange()


@given(names, drivers)
def test_order_of_gpus_does_not_matter(gpus: list[str], driver: str | None) -> None:
    assert smallest_change(rig(*gpus, driver=driver), ALL, STOCK) == smallest_change(
        rig(*reversed(gpus), driver=driver), ALL, STOCK
    )


@given(machines)
def test_less_is_asked_for_no_more_cost(one: Configuration) -> None:
    whole, part = smallest_change(one, ALL, STOCK), smallest_change(one, replace(ALL, toolkit_need=Need.LEAVE), STOCK)
    if whole.change is not None:
        assert part.change is not None
        assert part.change.cost <= whole.change.cost


def test_nothing_moves_where_all_fits() -> None:
    one = replace(rig("RTX 4090", driver="550.54.14", gcc="11.4.0"), torch=torch("2.5", "cu124"), toolkit=installed("12.4"))
    assert change(one) == VersionChange()


def test_a_build_moves_before_a_driver() -> None:
    one = replace(rig("RTX 3090", driver="470.239.06"), torch=torch("2.8", "cu128"))
    found = change(one, Constraints(torch_need=Need.MUST))
    assert found.driver is None
    assert found.torch is not None
    assert found.torch.build.tag == "cu118"


def test_a_driver_moves_for_a_torch_that_is_kept() -> None:
    one = replace(rig("RTX 3090", driver="470.239.06"), torch=torch("2.8", "cu128"))
    found = change(one, Constraints(torch_need=Need.KEEP))
    assert (found.torch, found.driver is not None) == (None, True)


def test_an_installed_toolkit_is_used_before_one_is_installed() -> None:
    one = replace(rig("RTX 4090", driver="550.54.14"), toolkit=installed("11.7"), toolkits=(installed("11.7"), installed("12.4")))
    assert change(one, Constraints(toolkit_need=Need.MUST)).toolkit == ToolkitMove(version("12.4"), "/usr/local/cuda-12.4")


def test_an_older_compiler_that_is_there_is_called() -> None:
    one = replace(rig("RTX 4090", gcc="14.2.0"), toolkit=installed("12.4"), gccs=(version("14.2.0"), version("13.3.0")))
    found = change(replace(one, driver=version("550.54.14")), Constraints(toolkit=version("12.4"), toolkit_need=Need.MUST))
    assert found.gcc == GccMove(version("13.3.0"), there=True)


def _compilers(*held: int) -> VersionChange:
    one = replace(rig("GeForce RTX 3090", driver="550.54.14", gcc="14.2"), toolkit=installed("11.8"), gcc_packages=held)
    return change(one, Constraints(toolkit_need=Need.MUST))


def test_compiler_is_the_newest_that_the_archive_has_within_the_limit() -> None:
    assert _compilers(9, 10, 12, 14).gcc == GccMove(version("10"), there=False)


def test_without_a_compiler_in_the_archive_another_toolkit_is_the_way() -> None:
    found = _compilers(14)
    assert (found.gcc, found.toolkit is not None) == (None, True)


def test_a_line_is_worth_it_and_an_installation_is_not() -> None:
    one = replace(rig("RTX 4090", driver="550.54.14"), toolkit=installed("11.7"), torch=torch("2.5", "cu124"))
    demand = Constraints(torch_need=Need.MUST, toolkit_need=Need.LINE)
    assert change(one, demand).left == (Blocker.TOOLKIT,)
    assert change(replace(one, toolkits=(installed("12.4"),)), demand).toolkit is not None


def test_a_torch_that_cannot_run_here_binds_no_toolkit() -> None:
    one = replace(rig("GTX 1080 Ti", driver="580.95.05"), torch=torch("2.14", "cu130"))
    found = change(one, Constraints(torch_need=Need.KEEP, toolkit_need=Need.MUST))
    assert found.toolkit == ToolkitMove(version("12.9"))


@pytest.mark.parametrize(
    ("gpus", "demand", "walls"),
    [
        (("GTX 1080 Ti", "RTX 5090"), Constraints(), (Blocker.SPLIT, Blocker.NO_DRIVER)),
        (("GTX 780", "RTX 4090"), Constraints(), (Blocker.NO_DRIVER,)),
        (("GTX 1080 Ti",), Constraints(driver=version("595")), (Blocker.DRIVER,)),
        (("GTX 780",), Constraints(torch_need=Need.MUST), (Blocker.TORCH,)),
        (("RTX 5090",), Constraints(toolkit=version("12.4"), toolkit_need=Need.MUST), (Blocker.TOOLKIT,)),
    ],
)
def test_walls_where_nothing_fits(gpus: tuple[str, ...], demand: Constraints, walls: tuple[Blocker, ...]) -> None:
    found = smallest_change(rig(*gpus), demand, STOCK)
    assert (found.change, found.blockers) == (None, walls)


def test_obstacle_of_torch_is_told() -> None:
    found = smallest_change(rig("RTX 5090"), Constraints(torch=version("2.6"), torch_need=Need.MUST), STOCK)
    assert (found.obstacle, found.without) == (Obstacle.NO_BUILD_FOR_GPU, None)


def test_a_fixed_driver_never_moves() -> None:
    one = replace(rig("RTX 4090", driver="550.54.14"), driver_fixed=True)
    assert smallest_change(one, Constraints(driver=version("580")), STOCK) == SmallestChange(None, (Blocker.DRIVER,))


def test_windows_driver_serves_old_and_new() -> None:
    one = replace(rig("GTX 1080 Ti", "RTX 5090"), one_module=False)
    found = change(one, Constraints())
    assert found.driver is not None
    assert found.driver.version == version("580")


@pytest.mark.parametrize(("wanted", "opened"), [("470", False), ("550", False), ("580", True), ("595.45.04", True)])
def test_open_module_where_it_is_fit_for_use(wanted: str, opened: bool) -> None:
    found = change(rig("RTX 3090"), Constraints(driver=version(wanted)))
    assert found.driver is not None
    assert (found.driver.open_module, found.driver.pinned) == (opened, True)


def test_unknown_code_of_a_torch_does_not_count_against_it() -> None:
    assert torch_fits(rig("RTX 5090"), TorchThere(version("2.9"), "", None, None), None)
    assert not torch_fits(rig("RTX 5090"), TorchThere(version("2.9"), "", None, cubins("8.0")), None)
    assert torch_fits(rig("RTX 5090"), TorchThere(version("2.9"), "", None, (target("compute_90"),)), None)


def test_a_cpu_build_never_fits() -> None:
    assert not torch_fits(rig("RTX 5090"), TorchThere(version("2.9"), "cpu", None, (), cpu=True), None)


@pytest.mark.parametrize(
    ("release", "tag", "python"), [("2.14", "cu126", "3.12"), ("1.13", "cu117", "3.11"), ("2.0", "cu118", "3.11")]
)
def test_python_of_a_new_environment(release: str, tag: str, python: str) -> None:
    build = next(one for one in KNOWLEDGE.torch_builds(version(release)) if one.tag == tag)
    assert usual_python(build) == version(python)


def test_minor_releases_of_a_pinned_version_count() -> None:
    one = rig("RTX 4090", driver="550.54.14")
    found = change(one, Constraints(driver=version("550"), toolkit=Version((12, 8, 1)), toolkit_need=Need.MUST))
    assert (found.driver, found.toolkit) == (None, ToolkitMove(version("12.8")))
