"""How a program's code comes to run: over every capability, every build, every release."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.knowledge.choice import BuildHost, choose_torch
from gpuassist.knowledge.compatibility import CodePath, kernels_run, toolkit_builds_for, way_to_run
from gpuassist.model.version import Code, ComputeCapability, Target, Version
from tests.knowledge.shipped import KNOWLEDGE, capability, cubins, target, version

CAPABILITIES = sorted({one for architecture in KNOWLEDGE.architectures() for one in architecture.capabilities})
BUILDS = [one for one in KNOWLEDGE.torch_builds() if one.cuda is not None]
TOOLKITS = KNOWLEDGE.toolkits()

capabilities = st.sampled_from(CAPABILITIES)
builds = st.sampled_from(BUILDS)
targets = st.builds(Target, capabilities, st.sampled_from(Code))
releases = st.sampled_from([one.release for one in TOOLKITS])


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


def test_every_toolkit_builds_for_what_it_lists_and_nothing_else() -> None:
    for toolkit, gpu in itertools.product(TOOLKITS, CAPABILITIES):
        listed = gpu in {one.capability for one in toolkit.targets} or (
            gpu == ComputeCapability(11, 0) and ComputeCapability(10, 1) in {one.capability for one in toolkit.targets}
        )
        assert toolkit_builds_for(toolkit.targets, gpu) == listed, (toolkit.release, gpu)


@given(st.lists(capabilities, min_size=1, max_size=4))
def test_build_for_all_gpus_is_the_same_in_any_order(gpus: list[ComputeCapability]) -> None:
    every = KNOWLEDGE.torch_builds()
    chosen = choose_torch(every, gpus, BuildHost())
    assert chosen == choose_torch(tuple(reversed(every)), list(reversed(gpus)), BuildHost())
    assert chosen.build is None or all(kernels_run(gpu, chosen.build.targets, cuda=chosen.build.cuda) for gpu in gpus)
