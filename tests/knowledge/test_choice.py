"""What is chosen serves every GPU of the machine, and where nothing does, the choice says which wall it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuassist.knowledge.choice import (
    BuildHost,
    GpuWish,
    InstalledToolkit,
    Obstacle,
    TorchChoice,
    Workload,
    choose_driver,
    choose_installed_toolkit,
    choose_toolkit_release,
    choose_torch,
    installed,
)
from gpuassist.knowledge.compatibility import DriverFit, driver_serves_cuda, driver_serves_gpu, kernels_run, toolkit_builds_for
from gpuassist.knowledge.records import ModuleFlavour
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.text import verbatim
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import ComputeCapability, Version
from tests.knowledge.shipped import KNOWLEDGE, TODAY, capability, target, version
from tests.rows import for_each

capabilities = st.sampled_from(
    [capability(words) for words in ("3.5", "3.7", "5.0", "5.2", "6.1", "7.0", "7.5", "8.0", "8.6", "8.9")]
)
more = st.sampled_from([capability(words) for words in ("9.0", "10.0", "10.3", "12.0", "12.1", "8.7", "11.0")])
several = st.lists(st.one_of(capabilities, more), min_size=1, max_size=4)
drivers = st.sampled_from(
    [version(words) for words in ("450.80.02", "470.239.06", "525.60.13", "550.54.14", "580.95.05", "595.45.04")]
)
pythons = st.sampled_from([version(words) for words in ("3.8.10", "3.9.2", "3.10.12", "3.12.3", "3.13.1", "3.15.0")])


def capable(words: str) -> tuple[ComputeCapability, ...]:
    return tuple(capability(word) for word in words.split())


def torch(gpus: str, driver: str = "", *, python: str = "", release: str = "", machine: str = "x86_64") -> TorchChoice:
    host = BuildHost(machine, version(driver) if driver else None, version(python) if python else None)
    return choose_torch(KNOWLEDGE.torch_builds(), capable(gpus), host, release=version(release) if release else None)


@for_each(
    ("gpus", "driver", "python", "build"),
    [
        ("8.9", "580.95.05", "3.12", "2.15.0 cu132"),
        ("8.9", "580", "3.12", "2.15.0 cu132"),
        ("8.9", "550.54.14", "3.12", "2.14.1 cu126"),
        ("8.9", "535.183.01", "3.10.12", "2.14.1 cu126"),
        ("8.9", "470.239.06", "3.10", "2.7.1 cu118"),
        ("8.9", "", "", "2.15.0 cu132"),
        ("8.6", "580.95.05", "3.10", "2.14.1 cu130"),
        ("8.6", "580.95.05", "3.9", "2.8.0 cu128"),
        ("8.6", "580.95.05", "3.8", "2.4.1 cu121"),
        ("12.0", "570.133.07", "3.12", "2.13.0 cu129"),
        ("12.0", "580.95.05", "3.12", "2.15.0 cu132"),
        ("12.0 8.9", "575.64.05", "3.12", "2.13.0 cu129"),
        ("12.0 7.5", "595.45.04", "3.12", "2.15.0 cu132"),
        ("7.5", "580.95.05", "3.12", "2.15.0 cu132"),
        ("7.0", "580.95.05", "3.12", "2.14.1 cu126"),
        ("7.0", "535.183.01", "3.12", "2.14.1 cu126"),
        ("7.0 9.0", "580.95.05", "3.12", "2.14.1 cu126"),
        ("6.1", "580.95.05", "3.12", "2.14.1 cu126"),
        ("6.1 8.9", "580.95.05", "3.12", "2.14.1 cu126"),
        ("5.2", "550.54.14", "3.11", "2.14.1 cu126"),
        ("5.0 5.2 6.1", "470.239.06", "3.11", "2.7.1 cu118"),
        ("3.7", "470.239.06", "3.10", "2.7.1 cu118"),
        ("9.0", "535.183.01", "3.12", "2.14.1 cu126"),
        ("10.0", "580.95.05", "3.12", "2.15.0 cu132"),
        ("10.3", "580.95.05", "3.12", "2.15.0 cu132"),
        ("8.0", "450.80.02", "3.9", "2.7.1 cu118"),
    ],
)
def test_torch_build_for_gpus_driver_and_python(gpus: str, driver: str, python: str, build: str) -> None:
    choice = torch(gpus, driver, python=python)
    assert choice.obstacle is None
    assert choice.build is not None
    assert f"{choice.build.newest} {choice.build.tag}" == build


@for_each(
    ("gpus", "driver", "build"),
    [
        ("12.1", "580.95.05", "2.15.0 cu132"),
        ("9.0", "535.183.01", "2.14.1 cu126"),
        ("8.7", "595.45.04", "2.15.0 cu132"),
        ("11.0", "580.95.05", "2.15.0 cu132"),
    ],
)
def test_torch_build_for_arm(gpus: str, driver: str, build: str) -> None:
    choice = torch(gpus, driver, machine="aarch64")
    assert choice.build is not None
    assert (f"{choice.build.newest} {choice.build.tag}", choice.obstacle) == (build, None)


@for_each(("release", "tag"), [("2.7", "cu128"), ("2.7.1", "cu128"), ("2.8", "cu128"), ("2.11", "cu130"), ("2.14", "cu130")])
def test_torch_release_that_was_asked_for(release: str, tag: str) -> None:
    choice = torch("12.0", "580.95.05", release=release)
    assert choice.build is not None
    assert (choice.build.release, choice.build.tag) == (version(release).release, tag)


@for_each(
    ("gpus", "driver", "python", "release", "obstacle"),
    [
        ("3.5", "470.239.06", "", "", Obstacle.NO_BUILD_FOR_GPU),
        ("3.0", "470.239.06", "", "", Obstacle.NO_BUILD_FOR_GPU),
        ("12.0", "580.95.05", "", "2.6", Obstacle.NO_BUILD_FOR_GPU),
        ("6.1", "580.95.05", "", "2.15", Obstacle.NO_BUILD_FOR_GPU),
        ("6.1 12.0", "580.95.05", "", "", Obstacle.NO_BUILD_FOR_ALL_GPUS),
        ("3.7 8.9 12.0", "", "", "", Obstacle.NO_BUILD_FOR_ALL_GPUS),
        ("12.0", "470.239.06", "", "", Obstacle.DRIVER_TOO_OLD),
        ("8.9", "440.33", "", "", Obstacle.DRIVER_TOO_OLD),
        ("8.9", "570.133.07", "", "2.15", Obstacle.DRIVER_TOO_OLD),
        ("8.9", "580.95.05", "3.8", "2.15", Obstacle.PYTHON),
        ("8.9", "580.95.05", "3.7", "2.1", Obstacle.PYTHON),
        ("8.9", "580.95.05", "", "2.99", Obstacle.RELEASE_UNKNOWN),
        ("8.9", "580.95.05", "", "1.4", Obstacle.RELEASE_UNKNOWN),
    ],
)
def test_obstacle_is_named(gpus: str, driver: str, python: str, release: str, obstacle: Obstacle) -> None:
    assert torch(gpus, driver, python=python, release=release).obstacle is obstacle


def test_jetson_with_its_own_driver_needs_its_own_wheels() -> None:
    assert torch("8.7", "540.4.0", machine="aarch64").obstacle is Obstacle.JETSON_WHEELS


def test_driver_obstacle_says_which_driver_would_do() -> None:
    choice = torch("12.0", "470.239.06")
    assert choice.build is not None
    assert str(choice.driver_floor) == "580.65.06"


def test_python_obstacle_says_which_pythons_would_do() -> None:
    choice = torch("8.9", "580.95.05", python="3.8", release="2.15")
    assert choice.build is not None
    assert version("3.12") in choice.build.pythons


def test_choice_names_the_index() -> None:
    assert torch("8.9", "550.54.14").index == "https://download.pytorch.org/whl/cu126"


def test_no_choice_has_no_index_and_floor() -> None:
    choice = torch("3.5")
    assert (choice.index, choice.driver_floor) == ("", None)


@given(several, drivers, pythons)
def test_chosen_build_runs_on_every_gpu(gpus: list[ComputeCapability], driver: Version, python: Version) -> None:
    choice = choose_torch(KNOWLEDGE.torch_builds(), gpus, BuildHost("x86_64", driver, python))
    if choice.obstacle is None:
        build = choice.build
        assert build is not None
        assert build.cuda is not None
        assert all(kernels_run(gpu, build.targets, cuda=build.cuda) for gpu in gpus)
        assert driver_serves_cuda(driver, build.cuda)
        assert python.release in build.pythons


@given(several, drivers, pythons)
def test_obstacle_means_that_no_build_fits(gpus: list[ComputeCapability], driver: Version, python: Version) -> None:
    choice = choose_torch(KNOWLEDGE.torch_builds(), gpus, BuildHost("x86_64", driver, python))
    fitting = [
        build
        for build in KNOWLEDGE.torch_builds()
        if build.cuda
        and build.machine == "x86_64"
        and all(kernels_run(gpu, build.targets, cuda=build.cuda) for gpu in gpus)
        and driver_serves_cuda(driver, build.cuda)
        and python.release in build.pythons
    ]
    assert (choice.obstacle is None) == bool(fitting)


@given(several, several, drivers)
def test_more_gpus_never_get_a_newer_torch(
    first: list[ComputeCapability], second: list[ComputeCapability], driver: Version
) -> None:
    few, many = (choose_torch(KNOWLEDGE.torch_builds(), gpus, BuildHost(driver=driver)) for gpus in (first, first + second))
    if many.obstacle is None:
        assert few.obstacle is None
        assert few.build is not None
        assert many.build is not None
        assert few.build.release >= many.build.release


def test_every_gpu_since_maxwell_has_a_torch() -> None:
    for gpu in KNOWLEDGE.gpus():
        if gpu.compute_capability and gpu.compute_capability >= capability("5.0") and not gpu.integrated:
            choice = choose_torch(KNOWLEDGE.torch_builds(), [gpu.compute_capability], BuildHost())
            assert choice.obstacle is None or gpu.architecture == "Rubin", gpu.name


def toolkit(release: str, gcc_limit: int | None = None) -> InstalledToolkit:
    record = KNOWLEDGE.toolkit(version(release))
    assert record is not None
    return InstalledToolkit(
        f"/usr/local/cuda-{release}", version(release), record.targets, gcc_limit or record.gcc_limit, record.glibc_clash
    )


def workload(gpus: str, *, gcc: str = "", glibc: str = "", torch_cuda: str = "", driver: str = "") -> Workload:
    rest = [version(words) if words else None for words in (gcc, glibc, torch_cuda, driver)]
    return Workload(capable(gpus), *rest)


@for_each(
    ("present", "wanted", "best"),
    [
        ("11.7 12.4", workload("8.9"), "12.4"),
        ("11.7 11.8 12.4 13.0", workload("8.9"), "13.0"),
        ("11.8 12.4 13.0", workload("8.9", torch_cuda="12.6"), "12.4"),
        ("12.4 12.6 12.8", workload("8.9", torch_cuda="12.6"), "12.6"),
        ("12.4 13.0", workload("6.1 8.9"), "12.4"),
        ("12.4 13.0", workload("12.0"), "13.0"),
        ("12.4 12.8", workload("8.9", gcc="14.2"), "12.8"),
        ("12.4 12.8 13.0", workload("8.9", gcc="13.2", glibc="2.41"), "13.0"),
        ("12.8 13.0", workload("8.9", driver="570.133.07"), "12.8"),
        ("11.2", workload("8.9"), ""),
        ("12.4", workload("8.9", gcc="15.1"), ""),
        ("12.4", workload("6.1 12.0"), ""),
        ("", workload("8.9"), ""),
        ("9.0 12.4", workload(""), "12.4"),
    ],
)
def test_installed_toolkit_that_serves_all(present: str, wanted: Workload, best: str) -> None:
    choice = choose_installed_toolkit([toolkit(release) for release in present.split()], wanted)
    assert (str(choice.version) if choice else "") == best


@for_each(
    ("wanted", "release"),
    [
        (workload("8.9"), "13.5"),
        (workload("8.9", driver="550.54.14"), "12.9"),
        (workload("8.9", driver="470.239.06"), "11.8"),
        (workload("8.9", torch_cuda="12.8"), "12.8"),
        (workload("8.9", torch_cuda="12.8", glibc="2.42", driver="580.95.05"), "13.5"),
        (workload("6.1"), "12.9"),
        (workload("6.1 12.0"), "12.9"),
        (workload("3.7"), "11.8"),
        (workload("3.0"), "10.2"),
        (workload("3.0 8.9"), ""),
        (workload("6.1", glibc="2.41"), ""),
        (workload("12.1", driver="570.133.07"), "12.9"),
        (workload("8.9", gcc="16.1"), "13.5"),
        (workload("8.9", gcc="16.1", driver="575.51.03"), ""),
    ],
)
def test_toolkit_release_to_install(wanted: Workload, release: str) -> None:
    assert str(choose_toolkit_release(KNOWLEDGE.toolkits(), wanted) or "") == release


def test_release_whose_ptx_the_driver_compiles_comes_before_a_newer_one() -> None:
    wanted = replace(workload("12.0", driver="580.95.05"), driver_cuda=version("13.0"))
    assert str(choose_toolkit_release(KNOWLEDGE.toolkits(), wanted)) == "13.0"


def test_release_of_torchs_major_comes_before_one_that_the_driver_was_made_for() -> None:
    wanted = replace(workload("8.9", torch_cuda="13.2", driver="580.95.05"), driver_cuda=version("13.0"))
    assert str(choose_toolkit_release(KNOWLEDGE.toolkits(), wanted)) == "13.2"


@given(several, drivers)
def test_chosen_release_builds_for_every_gpu(gpus: list[ComputeCapability], driver: Version) -> None:
    release = choose_toolkit_release(KNOWLEDGE.toolkits(), Workload(tuple(gpus), driver=driver))
    record = KNOWLEDGE.toolkit(release) if release else None
    if record:
        assert all(toolkit_builds_for(record.targets, gpu) for gpu in gpus)
        assert driver_serves_cuda(driver, record.release)


def test_toolkit_that_says_its_own_limits_is_believed() -> None:
    own = Toolkit(
        "/opt/cuda", version=Known(version("12.4.1"), "v"), targets=Known((target("compute_90"),), "nvcc"), gcc_limit=Known(12, "h")
    )
    found = installed(own, KNOWLEDGE.toolkit(version("12.4")))
    assert found == InstalledToolkit("/opt/cuda", version("12.4.1"), (target("compute_90"),), 12, version("2.41"))


def test_toolkit_that_says_nothing_is_known_by_its_release() -> None:
    record = KNOWLEDGE.toolkit(version("12.4"))
    found = installed(Toolkit("/opt/cuda", version=Known(version("12.4.1"), "v")), record)
    assert record is not None
    assert found == InstalledToolkit("/opt/cuda", version("12.4.1"), record.targets, 13, version("2.41"))


def test_toolkit_of_unknown_release_builds_for_nothing() -> None:
    found = installed(Toolkit("/opt/cuda", version=Known(version("19.1"), "v")), None)
    assert found == InstalledToolkit("/opt/cuda", version("19.1"), ())


def test_toolkit_without_a_version_is_no_candidate() -> None:
    assert installed(Toolkit("/opt/cuda", version=Unknown(verbatim("unreadable"))), None) is None


def wishes(words: str) -> list[GpuWish]:
    found = []
    for word in words.split():
        name, _, chip = word.partition(":")
        architecture = KNOWLEDGE.architecture(name.replace("_", " "))
        assert architecture is not None
        found.append(GpuWish(architecture, chip))
    return found


@for_each(
    ("gpus", "best", "open_module"),
    [
        ("Ada_Lovelace", 595, True),
        ("Blackwell:GB202", 595, True),
        ("Blackwell:GB20B", 595, True),
        ("Turing Blackwell", 595, True),
        ("Pascal", 580, False),
        ("Volta", 580, False),
        ("Maxwell Pascal Ada_Lovelace", 580, False),
        ("Kepler", 470, False),
        ("Kepler Pascal", 470, False),
        ("Fermi", 390, False),
        ("", 595, True),
    ],
)
def test_driver_branch_for_gpus(gpus: str, best: int, open_module: bool) -> None:
    choice = choose_driver(KNOWLEDGE.branches(), wishes(gpus), today=TODAY)
    assert choice.best is not None
    assert (choice.best.branch, choice.open_module, choice.split) == (best, open_module, False)


@for_each("gpus", ["Pascal Blackwell", "Volta:GV100 Blackwell:GB100", "Maxwell Turing Blackwell"])
def test_old_beside_blackwell_has_no_driver_on_linux(gpus: str) -> None:
    choice = choose_driver(KNOWLEDGE.branches(), wishes(gpus), today=TODAY)
    assert (choice.branches, choice.best, choice.split) == ((), None, True)


def test_windows_driver_serves_pascal_beside_blackwell() -> None:
    choice = choose_driver(KNOWLEDGE.branches(), wishes("Pascal Blackwell:GB202"), today=TODAY, one_module=False)
    assert [branch.branch for branch in choice.branches] == [570, 575, 580]


def test_grace_hopper_beside_volta_is_split_too() -> None:
    hopper, volta = wishes("Hopper Volta")
    own = GpuWish(hopper.architecture, "GH100", ModuleFlavour.OPEN_REQUIRED)
    assert choose_driver(KNOWLEDGE.branches(), [own, volta], today=TODAY).split
    assert not choose_driver(KNOWLEDGE.branches(), [hopper, volta], today=TODAY).split


def test_kepler_beside_ada_has_no_branch() -> None:
    choice = choose_driver(KNOWLEDGE.branches(), wishes("Kepler Ada_Lovelace"), today=TODAY)
    assert (choice.branches, choice.best, choice.split) == ((), None, False)


@for_each(("cuda", "first"), [("13.0", 580), ("12.8", 525), ("11.8", 520)])
def test_branches_reach_the_wanted_cuda(cuda: str, first: int) -> None:
    choice = choose_driver(KNOWLEDGE.branches(), wishes("Ada_Lovelace"), today=TODAY, cuda=version(cuda))
    assert choice.branches[0].branch == first


@for_each(("today", "best"), [("2026-05-01", 595), ("2027-05-01", 580), ("2029-01-01", 620)])
def test_best_branch_is_alive_on_the_day(today: str, best: int) -> None:
    choice = choose_driver(KNOWLEDGE.branches(), wishes("Ada_Lovelace"), today=today)
    assert choice.best is not None
    assert choice.best.branch == best


@given(st.lists(st.sampled_from(KNOWLEDGE.architectures()), min_size=1, max_size=3))
def test_every_chosen_branch_serves_every_gpu(architectures: list[object]) -> None:
    gpus = [GpuWish(one) for one in KNOWLEDGE.architectures() if one in architectures]
    for branch in choose_driver(KNOWLEDGE.branches(), gpus, today=TODAY).branches:
        assert {driver_serves_gpu(Version((branch.branch,)), gpu.architecture) for gpu in gpus} == {DriverFit.FINE}


@for_each(
    ("glibc", "python", "chosen"),
    [
        ("2.17", None, "2.6.0+cu124"),  # 2.7 and newer, and 2.6 for CUDA 12.6, are made for glibc 2.28
        ("2.27", "3.8", "2.4.1+cu121"),
        ("2.28", "3.9", "2.8.0+cu128"),
        (None, "3.9", "2.8.0+cu128"),
    ],
)
def test_wheels_are_for_the_c_library_that_is_there(glibc: str | None, python: str | None, chosen: str) -> None:
    host = BuildHost(
        driver=version("580.65.06"), python=version(python) if python else None, glibc=version(glibc) if glibc else None
    )
    build = choose_torch(KNOWLEDGE.torch_builds(), [capability("8.0")], host).build
    assert build is not None
    assert f"{build.newest}+{build.tag}" == chosen


def test_gpu_whose_builds_are_all_for_a_newer_c_library_is_told_so() -> None:
    choice = choose_torch(KNOWLEDGE.torch_builds(), [capability("12.0")], BuildHost(glibc=version("2.17")))
    assert choice.obstacle is Obstacle.C_LIBRARY
    assert choice.build is not None
    assert choice.build.glibc == version("2.28")


@for_each(
    ("base", "python"),
    [
        (("rhel", "9"), "3.9"),
        (("ubuntu", "22.04"), "3.10"),
        (("amzn", "2023"), "3.9"),
        (("opensuse-leap", "15"), "3.6"),
        (("arch", ""), None),
    ],
)
def test_python_of_a_distribution_is_known(base: tuple[str, str], python: str | None) -> None:
    assert KNOWLEDGE.python_of(base) == (version(python) if python else None)
