"""The arithmetic, over every pair of GPU and code, against torch's own table and against its own laws."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.knowledge.compatibility import (
    DriverFit,
    ToolkitMatch,
    cubin_runs,
    driver_compiles_ptx,
    driver_floor,
    driver_serves_cuda,
    driver_serves_gpu,
    extension_buildable,
    first_toolkit_for,
    gcc_fits,
    glibc_clashes,
    is_jetson,
    kernels_run,
    last_toolkit_for,
    nearest_target,
    ptx_runs,
    toolkit_builds_for,
)
from gpuassist.knowledge.records import ArchitectureRecord, ModuleFlavour
from gpuassist.model.version import Code, ComputeCapability, Target, Version
from tests.knowledge.shipped import KNOWLEDGE, capability, cubins, target, version
from tests.rows import for_each
from tests.torch_environment import NO_TORCH, torch_file

OLD = ("3.0", "3.2", "3.5", "3.7", "5.0", "5.2", "5.3", "6.0", "6.1", "6.2", "7.0", "7.2", "7.5")
NEW = ("8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.1", "10.3", "10.7", "11.0", "12.0", "12.1")
DEVICES = tuple(map(capability, (*OLD, *NEW)))
devices = st.sampled_from(DEVICES)
any_capability = st.builds(ComputeCapability, st.integers(2, 30), st.integers(0, 9))
drivers = st.tuples(st.integers(340, 700), st.integers(0, 200), st.integers(0, 20)).map(Version)
releases = st.sampled_from([toolkit.release for toolkit in KNOWLEDGE.toolkits()])
TORCH = torch_file("cuda/__init__.py")


def known(name: str) -> ArchitectureRecord:
    found = KNOWLEDGE.architecture(name)
    assert found is not None
    return found


@for_each(
    ("device", "code"),
    [
        ("8.9", "sm_86"),
        ("8.9", "sm_80"),
        ("8.9", "sm_89"),
        ("8.6", "sm_80"),
        ("6.1", "sm_60"),
        ("5.2", "sm_50"),
        ("7.5", "sm_70"),
        ("12.1", "sm_120"),
        ("10.3", "sm_100"),
        ("12.0", "sm_120a"),
        ("9.0", "sm_90a"),
        ("12.1", "sm_120f"),
        ("10.3", "sm_100f"),
        ("8.7", "sm_87"),
        ("11.0", "sm_101"),
        ("10.1", "sm_101"),
    ],
)
def test_cubin_runs_on_the_gpu(device: str, code: str) -> None:
    assert cubin_runs(capability(device), target(code))


@for_each(
    ("device", "code"),
    [
        ("8.6", "sm_89"),
        ("12.0", "sm_90"),
        ("12.0", "sm_100"),
        ("12.1", "sm_120a"),
        ("10.0", "sm_103f"),
        ("12.0", "sm_100f"),
        ("7.5", "sm_61"),
        ("9.0", "sm_89"),
        ("8.7", "sm_86"),
        ("8.7", "sm_80"),
        ("5.3", "sm_52"),
        ("6.2", "sm_61"),
        ("7.2", "sm_70"),
        ("8.9", "sm_87"),
        ("7.5", "sm_72"),
        ("11.0", "sm_100"),
        ("10.3", "sm_101"),
        ("10.1", "sm_110"),
        ("12.0", "compute_120"),
    ],
)
def test_cubin_does_not_run_on_the_gpu(device: str, code: str) -> None:
    assert not cubin_runs(capability(device), target(code))


@pytest.mark.parametrize(("device", "code"), [("8.7", "sm_80"), ("8.7", "sm_86"), ("7.2", "sm_70")])
def test_one_platform_with_jetson_from_cuda_13_2(device: str, code: str) -> None:
    runs = [cubin_runs(capability(device), target(code), cuda=version(cuda)) for cuda in ("12.6", "13.0", "13.1", "13.2", "13.4")]
    assert runs == [False, False, False, True, True]


@pytest.mark.parametrize(("device", "code"), [("5.3", "sm_52"), ("6.2", "sm_61"), ("8.9", "sm_87")])
def test_other_jetson_walls_stand_after_13_2(device: str, code: str) -> None:
    assert not cubin_runs(capability(device), target(code), cuda=version("13.4"))


def torch_table() -> dict[int, frozenset[int]]:
    """torch's own table of which device runs which code, evaluated from its source without importing torch."""
    assert TORCH is not None
    for node in ast.parse(TORCH.read_text("utf-8")).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "DEVICE_REQUIREMENT":
            assert isinstance(node.value, ast.Dict)
            pairs = zip(node.value.keys, node.value.values, strict=True)
            return {ast.literal_eval(code): _devices(call) for code, call in pairs if code and isinstance(call, ast.Call)}
    raise AssertionError("torch.cuda has no DEVICE_REQUIREMENT any more")


def _devices(call: ast.Call) -> frozenset[int]:
    if call.args:
        return frozenset(ast.literal_eval(call.args[0]))
    named = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
    start: int = named["start"]
    return frozenset(range(start, (start // 10 + 1) * 10)) - frozenset(named.get("exclude", ()))


@pytest.mark.skipif(TORCH is None, reason=NO_TORCH)
def test_cubin_rule_is_that_of_torch() -> None:
    for code, served in torch_table().items():
        for device in (10 * one.major + one.minor for one in DEVICES):
            ours = cubin_runs(capability(f"{device // 10}.{device % 10}"), target(f"sm_{code}"))
            assert ours == (device in served), (device, code)


def test_every_gpu_runs_its_own_code() -> None:
    assert all(cubin_runs(device, Target(device, Code.CUBIN)) for device in DEVICES)


def test_no_cubin_crosses_a_major() -> None:
    for device in DEVICES:
        for code in DEVICES:
            if cubin_runs(device, Target(code, Code.CUBIN)):
                assert device.major == code.major or (code, device) == (capability("10.1"), capability("11.0"))


@given(any_capability, any_capability)
def test_no_cubin_runs_on_an_older_gpu(device: ComputeCapability, code: ComputeCapability) -> None:
    if code > device:
        assert not cubin_runs(device, Target(code, Code.CUBIN))


@given(any_capability, any_capability, st.sampled_from(["a", "f"]))
def test_variants_run_nowhere_that_plain_code_does_not(device: ComputeCapability, code: ComputeCapability, suffix: str) -> None:
    if cubin_runs(device, Target(code, Code.CUBIN, suffix)):
        assert cubin_runs(device, Target(code, Code.CUBIN))
    if ptx_runs(device, Target(code, Code.PTX, suffix)):
        assert ptx_runs(device, Target(code, Code.PTX))


@given(devices, devices, releases)
def test_newer_cuda_never_forbids(device: ComputeCapability, code: ComputeCapability, cuda: Version) -> None:
    one = Target(code, Code.CUBIN)
    assert cubin_runs(device, one, cuda=cuda) >= cubin_runs(device, one)


@pytest.mark.parametrize(
    ("device", "code", "runs"),
    [
        ("12.0", "compute_90", True),
        ("12.0", "compute_120", True),
        ("8.9", "compute_90", False),
        ("10.0", "compute_90a", False),
        ("9.0", "compute_90a", True),
        ("12.1", "compute_120f", True),
        ("12.0", "compute_100f", False),
        ("9.0", "sm_90", False),
        ("11.0", "compute_101", True),
    ],
)
def test_ptx_runs_on_newer_gpus(device: str, code: str, runs: bool) -> None:
    assert ptx_runs(capability(device), target(code)) is runs


@given(any_capability, any_capability, any_capability)
def test_ptx_that_runs_runs_on_all_newer(older: ComputeCapability, newer: ComputeCapability, code: ComputeCapability) -> None:
    first, second = sorted((older, newer), key=lambda one: capability("11.0") if one == capability("10.1") else one)
    assert ptx_runs(second, Target(code, Code.PTX)) >= ptx_runs(first, Target(code, Code.PTX))


@pytest.mark.parametrize(
    ("device", "codes", "runs"),
    [
        ("12.0", ["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90"], False),
        ("12.0", ["sm_50", "sm_90", "compute_90"], True),
        ("6.1", ["sm_70", "sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"], False),
        ("7.0", ["sm_70", "sm_75", "sm_80"], True),
        ("8.9", ["sm_80", "sm_86"], True),
        ("8.9", [], False),
    ],
)
def test_kernels_run_where_any_code_does(device: str, codes: list[str], runs: bool) -> None:
    assert kernels_run(capability(device), [target(code) for code in codes]) is runs


@given(devices, st.lists(devices, max_size=5), devices)
def test_more_code_never_runs_on_fewer_gpus(
    device: ComputeCapability, codes: list[ComputeCapability], one: ComputeCapability
) -> None:
    few = [Target(code, Code.CUBIN) for code in codes]
    assert kernels_run(device, [*few, Target(one, Code.CUBIN)]) >= kernels_run(device, few)


@pytest.mark.parametrize(
    ("cuda", "floor"),
    [
        ("13.5", "580.65.06"),
        ("13.0", "580.65.06"),
        ("12.8", "525.60.13"),
        ("12.7", "525.60.13"),
        ("11.0", "450.51.05"),
        ("10.2", "440.33"),
        ("9.0", "384.81"),
        ("9.1.85", "390.46"),
        ("8.0", "375.26"),
        ("7.5", "375.26"),
        ("14.0", "580.65.06"),
    ],
)
def test_driver_floor_of_a_cuda_release(cuda: str, floor: str) -> None:
    assert str(driver_floor(version(cuda))) == floor


@pytest.mark.parametrize(
    ("driver", "cuda", "served"),
    [
        ("535.183.01", "12.8", True),
        ("525.60.13", "12.9", True),
        ("525.53", "12.0", False),
        ("550.54.14", "13.0", False),
        ("580.65.06", "13.2", True),
        ("595.45.04", "11.8", True),
        ("450.80.02", "11.8", True),
        ("440.33", "11.0", False),
        ("580", "13.0", True),
        ("575", "13.0", False),
    ],
)
def test_driver_serves_a_cuda_release(driver: str, cuda: str, served: bool) -> None:
    assert driver_serves_cuda(version(driver), version(cuda)) is served


@given(drivers, drivers, releases)
def test_newer_driver_serves_all_that_older_does(first: Version, second: Version, cuda: Version) -> None:
    older, newer = sorted((first, second))
    assert driver_serves_cuda(newer, cuda) >= driver_serves_cuda(older, cuda)


@given(drivers, releases, releases)
def test_older_cuda_needs_no_newer_driver(driver: Version, first: Version, second: Version) -> None:
    older, newer = sorted((first, second))
    assert driver_serves_cuda(driver, older) >= driver_serves_cuda(driver, newer)


@given(drivers, releases)
def test_driver_that_reaches_the_floor_serves(driver: Version, cuda: Version) -> None:
    assert driver_serves_cuda(driver, cuda) == (driver >= driver_floor(cuda))


@pytest.mark.parametrize(("own", "cuda", "compiles"), [("12.2", "12.4", False), ("12.4", "12.4.131", True), ("13.0", "12.8", True)])
def test_driver_compiles_ptx_up_to_its_own_cuda(own: str, cuda: str, compiles: bool) -> None:
    assert driver_compiles_ptx(version(own), version(cuda)) is compiles


@for_each(
    ("driver", "architecture", "chip", "fit"),
    [
        ("580.95.05", "Pascal", "GP102", DriverFit.FINE),
        ("590.48.01", "Pascal", "GP102", DriverFit.DROPPED),
        ("590.48.01", "Volta", "", DriverFit.DROPPED),
        ("580.126.09", "Volta", "", DriverFit.FINE),
        ("535.183.01", "Kepler", "GK110", DriverFit.DROPPED),
        ("470.239.06", "Kepler", "GK110", DriverFit.FINE),
        ("390.157", "Fermi", "", DriverFit.FINE),
        ("470.239.06", "Fermi", "", DriverFit.DROPPED),
        ("550.163.01", "Blackwell", "GB202", DriverFit.TOO_OLD),
        ("570.86.16", "Blackwell", "GB202", DriverFit.FINE),
        ("570.86.10", "Blackwell", "GB202", DriverFit.TOO_OLD),
        ("570", "Blackwell", "GB202", DriverFit.FINE),
        ("575.57.08", "Blackwell", "GB20B", DriverFit.TOO_OLD),
        ("580.95.05", "Blackwell", "GB20B", DriverFit.FINE),
        ("580.65.06", "Blackwell", "GB110", DriverFit.TOO_OLD),
        ("515.43.04", "Ada Lovelace", "AD102", DriverFit.TOO_OLD),
        ("470.239.06", "Ada Lovelace", "", DriverFit.TOO_OLD),
        ("450.80.02", "Ampere", "GA100", DriverFit.FINE),
        ("450.80.02", "Ampere", "GA102", DriverFit.TOO_OLD),
        ("700.10", "Ada Lovelace", "AD102", DriverFit.FINE),
        ("540.4.0", "Ampere", "GA10B", DriverFit.UNKNOWN),
        ("580.95.05", "Blackwell", "GB999", DriverFit.UNKNOWN),
    ],
)
def test_driver_serves_a_gpu(driver: str, architecture: str, chip: str, fit: DriverFit) -> None:
    assert driver_serves_gpu(version(driver), known(architecture), chip) is fit


def test_every_discrete_chip_is_served_by_some_branch() -> None:
    branches = [Version((branch.branch,)) for branch in KNOWLEDGE.branches()]
    for architecture in KNOWLEDGE.architectures():
        for chip in architecture.chips:
            if chip.compute_capability and not chip.integrated:
                assert DriverFit.FINE in {driver_serves_gpu(one, architecture, chip.chip) for one in branches}, chip.chip


@pytest.mark.parametrize(
    ("architecture", "flavour"),
    [
        ("Blackwell", ModuleFlavour.OPEN_REQUIRED),
        ("Turing", ModuleFlavour.OPEN_POSSIBLE),
        ("Ada Lovelace", ModuleFlavour.OPEN_POSSIBLE),
        ("Volta", ModuleFlavour.OPEN_IMPOSSIBLE),
        ("Kepler", ModuleFlavour.OPEN_IMPOSSIBLE),
    ],
)
def test_module_flavour_of_an_architecture(architecture: str, flavour: ModuleFlavour) -> None:
    assert known(architecture).module is flavour


@for_each(
    ("capable", "first", "last"),
    [
        ("3.0", "9.0", "10.2"),
        ("3.5", "9.0", "11.8"),
        ("6.1", "9.0", "12.9"),
        ("7.0", "9.0", "12.9"),
        ("7.5", "10.0", None),
        ("8.0", "11.0", None),
        ("8.6", "11.1", None),
        ("8.7", "11.4", None),
        ("8.9", "11.8", None),
        ("9.0", "11.8", None),
        ("10.0", "12.8", None),
        ("10.3", "12.9", None),
        ("11.0", "12.8", None),
        ("12.0", "12.8", None),
        ("12.1", "12.9", None),
        ("10.7", "13.4", None),
    ],
)
def test_toolkits_that_know_an_architecture(capable: str, first: str, last: str | None) -> None:
    toolkits = KNOWLEDGE.toolkits()
    assert str(first_toolkit_for(capability(capable), toolkits)) == first
    assert last_toolkit_for(capability(capable), toolkits) == (version(last) if last else None)


@pytest.mark.parametrize("capable", ["8.2", "13.0", "2.0"])
def test_architecture_of_no_toolkit_has_none(capable: str) -> None:
    assert first_toolkit_for(capability(capable), KNOWLEDGE.toolkits()) is None
    assert last_toolkit_for(capability(capable), KNOWLEDGE.toolkits()) is None


def test_architecture_once_dropped_never_comes_back() -> None:
    toolkits = KNOWLEDGE.toolkits()
    for device in DEVICES:
        known_in = [toolkit_builds_for(toolkit.targets, device) for toolkit in toolkits]
        assert "".join("x" if one else "." for one in known_in).strip(".").count(".") == 0


@pytest.mark.parametrize(
    ("release", "capable", "nearest"),
    [
        ("11.7", "8.9", "sm_87"),
        ("11.8", "8.9", "sm_89"),
        ("11.1", "8.9", "sm_86"),
        ("12.4", "12.0", "compute_90"),
        ("12.8", "12.1", "sm_120"),
        ("13.0", "6.1", None),
        ("10.2", "8.6", "compute_75"),
    ],
)
def test_nearest_target_of_an_older_toolkit(release: str, capable: str, nearest: str | None) -> None:
    toolkit = KNOWLEDGE.toolkit(version(release))
    assert toolkit is not None
    found = nearest_target(toolkit.targets, capability(capable))
    expected = "sm_86" if (release, capable) == ("11.7", "8.9") else nearest  # sm_87 is a Jetson's: it runs on no other chip
    assert (str(found) if found else None) == expected


@given(devices, releases)
def test_nearest_target_runs_on_the_gpu(device: ComputeCapability, release: Version) -> None:
    toolkit = KNOWLEDGE.toolkit(release)
    found = nearest_target(toolkit.targets, device) if toolkit else None
    if found:
        assert kernels_run(device, [found])


def test_variant_alone_does_not_build_for_a_gpu() -> None:
    assert not toolkit_builds_for([target("compute_90a")], capability("9.0"))


@pytest.mark.parametrize(
    ("limit", "gcc", "fits"), [(13, "13.3", True), (13, "13.9.9", True), (13, "14.1", False), (11, "9.4", True)]
)
def test_gcc_limit_is_its_major(limit: int, gcc: str, fits: bool) -> None:
    assert gcc_fits(limit, version(gcc)) is fits


@pytest.mark.parametrize(
    ("release", "glibc", "clashes"),
    [("12.9", "2.41", True), ("12.9", "2.40", False), ("13.0", "2.41", False), ("13.1", "2.42", True), ("13.2", "2.43", False)],
)
def test_glibc_clashes_with_older_headers(release: str, glibc: str, clashes: bool) -> None:
    toolkit = KNOWLEDGE.toolkit(version(release))
    assert toolkit is not None
    assert glibc_clashes(toolkit.glibc_clash, version(glibc)) is clashes


@pytest.mark.parametrize(
    ("torch", "toolkit", "match"),
    [
        ("12.8", "12.8.93", ToolkitMatch.SAME),
        ("12.8", "12.4", ToolkitMatch.MINOR_DIFFERS),
        ("12.8", "13.0", ToolkitMatch.MAJOR_DIFFERS),
        ("13.2", "12.4", ToolkitMatch.MAJOR_DIFFERS),
    ],
)
def test_extension_needs_the_same_major(torch: str, toolkit: str, match: ToolkitMatch) -> None:
    assert extension_buildable(version(torch), version(toolkit)) is match


@pytest.mark.parametrize(("capable", "jetson"), [("8.7", True), ("11.0", True), ("10.1", True), ("8.6", False), ("12.1", False)])
def test_jetson_chips_are_told_by_capability(capable: str, jetson: bool) -> None:
    assert is_jetson(capability(capable)) is jetson


def test_wheel_of_torch_2_6_lacks_blackwell() -> None:
    assert not kernels_run(capability("12.0"), cubins("5.0", "6.0", "7.0", "7.5", "8.0", "8.6", "9.0"))
