"""What runs, what can be built, and what nvidia-smi's number forbids: over every capability, every build, every release."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.knowledge.choice import BuildHost, choose_torch
from gpuassist.knowledge.compatibility import driver_serves_cuda, kernels_run
from gpuassist.knowledge.questions import BuildBlocker, Builder, CodePath, bars_to_building, shown_cuda_forbids, way_to_run
from gpuassist.model.version import Code, ComputeCapability, Target, Version
from gpuassist.model.words import ENGLISH
from tests.knowledge.shipped import KNOWLEDGE, capability, cubins, target, version

CAPABILITIES = sorted({one for architecture in KNOWLEDGE.architectures() for one in architecture.capabilities})
BUILDS = [one for one in KNOWLEDGE.torch_builds() if one.cuda is not None]
TOOLKITS = KNOWLEDGE.toolkits()
BRANCHES = KNOWLEDGE.branches()

capabilities = st.sampled_from(CAPABILITIES)
builds = st.sampled_from(BUILDS)
toolkits = st.sampled_from(TOOLKITS)
targets = st.builds(Target, capabilities, st.sampled_from(Code))
releases = st.sampled_from([one.release for one in TOOLKITS])
drivers = st.sampled_from([Version((one.branch,)) for one in BRANCHES])


@pytest.mark.parametrize(
    ("gpu", "code", "built", "offered", "way"),
    [
        ("8.9", "sm_86", "12.4", "12.4", CodePath.NATIVE),
        ("12.0", "sm_90", "12.4", "12.8", CodePath.NONE),
        ("12.0", "compute_90", "12.4", "12.8", CodePath.COMPILED_BY_DRIVER),
        ("12.0", "compute_90", "12.8", "12.4", CodePath.DRIVER_TOO_OLD_TO_COMPILE),
        ("12.1", "sm_120", "13.0", "13.0", CodePath.NATIVE),
        ("10.3", "sm_100a", "12.9", "13.0", CodePath.NONE),
        ("11.0", "sm_101", "12.8", "13.0", CodePath.NATIVE),
        ("7.0", "compute_75", "12.4", "12.4", CodePath.NONE),
        ("8.7", "sm_80", "13.2", "13.2", CodePath.NATIVE),
        ("8.7", "sm_80", "13.0", "13.2", CodePath.NONE),
    ],
)
def test_way_that_code_comes_to_run(gpu: str, code: str, built: str, offered: str, way: CodePath) -> None:
    found = way_to_run(capability(gpu), (target(code),), cuda=version(built), driver_cuda=version(offered))
    assert found is way


def test_every_build_runs_on_every_gpu_or_does_not() -> None:
    for build, gpu in itertools.product(BUILDS, CAPABILITIES):
        runs = way_to_run(gpu, build.targets, cuda=build.cuda) is not CodePath.NONE
        assert runs == kernels_run(gpu, build.targets, cuda=build.cuda), (build, gpu)


def test_exact_code_is_always_native() -> None:
    for gpu in CAPABILITIES:
        assert way_to_run(gpu, cubins(str(gpu))) is CodePath.NATIVE


def test_ptx_reaches_every_newer_gpu_and_no_older_one() -> None:
    for code, gpu in itertools.product(CAPABILITIES, CAPABILITIES):
        found = way_to_run(gpu, (Target(code, Code.PTX),))
        assert (found is CodePath.COMPILED_BY_DRIVER) == (gpu >= code), (code, gpu)


@given(st.lists(targets, min_size=1, max_size=6), capabilities, targets)
def test_more_code_never_runs_less(code: list[Target], gpu: ComputeCapability, more: Target) -> None:
    order = (CodePath.NONE, CodePath.COMPILED_BY_DRIVER, CodePath.NATIVE)
    assert order.index(way_to_run(gpu, [*code, more])) >= order.index(way_to_run(gpu, code))


@given(st.lists(targets, min_size=1, max_size=6), capabilities)
def test_order_of_code_does_not_matter(code: list[Target], gpu: ComputeCapability) -> None:
    assert way_to_run(gpu, code) is way_to_run(gpu, list(reversed(code))) is way_to_run(gpu, sorted(code))


@given(st.lists(targets, min_size=1, max_size=4), capabilities, releases, releases)
def test_a_newer_driver_never_compiles_less(code: list[Target], gpu: ComputeCapability, built: Version, offered: Version) -> None:
    newer = Version((offered.major, offered.parts[1] + 1))
    if way_to_run(gpu, code, cuda=built, driver_cuda=offered) is not CodePath.DRIVER_TOO_OLD_TO_COMPILE:
        assert way_to_run(gpu, code, cuda=built, driver_cuda=newer) is not CodePath.DRIVER_TOO_OLD_TO_COMPILE


@pytest.mark.parametrize(
    ("toolkit", "builder", "bars"),
    [
        ("12.4", Builder((ComputeCapability(8, 9),), version("12.8"), version("13.3"), version("2.39")), ()),
        ("12.4", Builder((ComputeCapability(12, 0),), version("12.8")), (BuildBlocker.ARCHITECTURE,)),
        ("13.0", Builder((ComputeCapability(6, 1),), version("13.0")), (BuildBlocker.ARCHITECTURE,)),
        ("13.0", Builder((ComputeCapability(8, 9),), version("12.6")), (BuildBlocker.MAJOR,)),
        ("12.4", Builder((), gcc=version("14.2.0")), (BuildBlocker.GCC,)),
        ("12.9", Builder((), glibc=version("2.41")), (BuildBlocker.GLIBC,)),
        ("13.1", Builder((), glibc=version("2.42")), (BuildBlocker.GLIBC,)),
        ("13.2", Builder((), glibc=version("2.42")), ()),
        ("11.2", Builder((ComputeCapability(8, 9),), version("12.6"), version("13"), version("2.41")), tuple(BuildBlocker)),
        ("12.8", Builder(()), ()),
    ],
)
def test_bars_to_building_an_extension(toolkit: str, builder: Builder, bars: tuple[BuildBlocker, ...]) -> None:
    record = KNOWLEDGE.toolkit(version(toolkit))
    assert record is not None
    assert bars_to_building(record, record.release, builder) == bars


def test_every_toolkit_builds_for_what_it_lists_and_nothing_else() -> None:
    for toolkit, gpu in itertools.product(TOOLKITS, CAPABILITIES):
        listed = gpu in {one.capability for one in toolkit.targets} or (
            gpu == ComputeCapability(11, 0) and ComputeCapability(10, 1) in {one.capability for one in toolkit.targets}
        )
        assert (bars_to_building(toolkit, toolkit.release, Builder((gpu,))) == ()) == listed, (toolkit.release, gpu)


@given(toolkits, st.lists(capabilities, max_size=4), capabilities)
def test_one_more_gpu_never_takes_a_bar_away(toolkit: object, gpus: list[ComputeCapability], more: ComputeCapability) -> None:
    record = next(one for one in TOOLKITS if one == toolkit)
    fewer = set(bars_to_building(record, record.release, Builder(tuple(gpus))))
    assert fewer <= set(bars_to_building(record, record.release, Builder((*gpus, more))))


@pytest.mark.parametrize(
    ("shown", "cuda", "driver", "forbidden", "why"),
    [
        ("12.4", "12.8", "550.54.14", False, "within CUDA 12 a driver runs newer minor releases as well, all but their PTX"),
        ("12.4", "12.8", "", False, "within CUDA 12 a driver runs newer minor releases as well, all but their PTX"),
        ("12.4", "11.8", "550.54.14", False, "a driver runs programs of every CUDA that is not newer than its own"),
        ("12.4", "13.0", "550.54.14", True, "programs of CUDA 13.0 need driver 580.65.06 or newer"),
        ("12.4", "13.0", "", True, "CUDA 13.0 is newer than all that this driver runs (12.4)"),
        ("10.1", "10.2", "", True, "CUDA 10.2 is newer than all that this driver runs (10.1)"),
        ("12.4", "13.0", "580.95.05", False, "driver 580.95.05 is new enough for CUDA 13.0: 580.65.06"),
        ("12.7", "12.8", "565.57.01", False, "within CUDA 12 a driver runs newer minor releases as well, all but their PTX"),
    ],
)
def test_number_that_nvidia_smi_shows(shown: str, cuda: str, driver: str, forbidden: bool, why: str) -> None:
    said = shown_cuda_forbids(version(shown), version(cuda), version(driver) if driver else None)
    assert (said.forbidden, ENGLISH(said.reason)) == (forbidden, why)


@given(drivers, releases, releases)
def test_only_the_drivers_own_version_forbids(driver: Version, cuda: Version, shown: Version) -> None:
    assert shown_cuda_forbids(shown, cuda, driver).forbidden == (not driver_serves_cuda(driver, cuda))


@given(releases, releases)
def test_a_number_that_shows_more_never_forbids_more(shown: Version, cuda: Version) -> None:
    more = Version((shown.major, shown.parts[1] + 1))
    assert shown_cuda_forbids(more, cuda).forbidden <= shown_cuda_forbids(shown, cuda).forbidden


@given(st.lists(capabilities, min_size=1, max_size=4))
def test_build_for_all_gpus_is_the_same_in_any_order(gpus: list[ComputeCapability]) -> None:
    every = KNOWLEDGE.torch_builds()
    chosen = choose_torch(every, gpus, BuildHost())
    assert chosen == choose_torch(tuple(reversed(every)), list(reversed(gpus)), BuildHost())
    assert chosen.build is None or all(kernels_run(gpu, chosen.build.targets, cuda=chosen.build.cuda) for gpu in gpus)
