"""Torch in conda's channels: what to ask for, what the solver accepts, and every build that is known, against the rest."""

from __future__ import annotations

import itertools

import pytest

from gpuassist.formats.conda_build import read_build
from gpuassist.knowledge import conda
from gpuassist.knowledge.compatibility import kernels_run
from gpuassist.knowledge.records import Channel, CondaRecord
from gpuassist.model.version import Code
from tests.knowledge.shipped import KNOWLEDGE, capability, version
from tests.rows import for_each

BUILDS = KNOWLEDGE.conda()
CUDA_BUILDS = [one for one in BUILDS if one.cuda]


def build(channel: Channel, torch: str, cuda: str | None, platform: str = "linux-64", *, tegra: bool = False) -> CondaRecord:
    wanted = (channel, version(torch), version(cuda) if cuda else None, platform, tegra)
    return next(one for one in BUILDS if (one.channel, one.version, one.cuda, one.platform, one.tegra) == wanted)


def label(record: CondaRecord) -> str:
    return "-".join(map(str, (record.channel.value, record.version, record.platform, record.cuda, record.tegra)))


@pytest.mark.parametrize(
    ("torch", "cuda", "python", "spec"),
    [
        ("2.3.1", "12.1", "3.11", "pytorch=2.3.1=py3.11_cuda12.1_cudnn8.9.2_0"),
        ("2.5.1", "12.4", "3.12", "pytorch=2.5.1=py3.12_cuda12.4_cudnn9.1.0_0"),
        ("2.5.1", "11.8", "3.10", "pytorch=2.5.1=py3.10_cuda11.8_cudnn9.1.0_0"),
        ("2.4.1", "12.1", "3.10", "pytorch=2.4.1=py3.10_cuda12.1_cudnn9.1.0_0"),
        ("2.2.1", "11.8", "3.12", "pytorch=2.2.1=py3.12_cuda11.8_cudnn8.7.0_0"),
        ("2.0.1", "11.7", "3.10", "pytorch=2.0.1=py3.10_cuda11.7_cudnn8.5.0_0"),
        ("1.13.1", "11.6", "3.8", "pytorch=1.13.1=py3.8_cuda11.6_cudnn8.3.2_0"),
        ("1.12.1", "10.2", "3.10", "pytorch=1.12.1=py3.10_cuda10.2_cudnn7.6.5_0"),
        ("1.12.0", "11.3", "3.9", "pytorch=1.12.0=py3.9_cuda11.3_cudnn8.3.2_0"),
        ("1.11.0", "11.3", "3.8", "pytorch=1.11.0=py3.8_cuda11.3_cudnn8.2.0_0"),
        ("2.5.1", None, "3.12", "pytorch=2.5.1=py3.12_cpu_0"),
    ],
)
def test_exact_build_is_named_as_the_channel_names_it(torch: str, cuda: str | None, python: str, spec: str) -> None:
    assert conda.exact_spec(build(Channel.PYTORCH, torch, cuda), version(python)) == spec


def test_exact_build_takes_a_python_with_its_patch() -> None:
    assert conda.exact_spec(build(Channel.PYTORCH, "2.3.1", "12.1"), version("3.11.9")) is not None


def test_no_exact_build_for_a_python_without_one() -> None:
    assert conda.exact_spec(build(Channel.PYTORCH, "2.5.1", "12.4"), version("3.13")) is None


def test_no_exact_build_where_its_name_holds_a_hash() -> None:
    assert conda.exact_spec(build(Channel.CONDA_FORGE, "2.7.1", "12.9"), version("3.12")) is None


@for_each("record", [one for one in BUILDS if one.channel is Channel.PYTORCH])
def test_every_exact_build_reads_back_as_what_it_is(record: CondaRecord) -> None:
    for python in record.pythons or ():
        spec = conda.exact_spec(record, python)
        assert spec is not None
        said = read_build(spec.rpartition("=")[2])
        assert (said.python, said.cuda, said.cudnn, said.cpu) == (python, record.cuda, record.cudnn, record.cuda is None)
        assert (said.number, said.rest) == (0, ())


@pytest.mark.parametrize(
    ("channel", "torch", "cuda", "specs", "channels"),
    [
        (Channel.PYTORCH, "2.4.0", "12.4", ("pytorch=2.4.0", "pytorch-cuda=12.4"), ("pytorch", "nvidia")),
        (Channel.PYTORCH, "1.13.1", "11.7", ("pytorch=1.13.1", "pytorch-cuda=11.7"), ("pytorch", "nvidia")),
        (Channel.PYTORCH, "1.12.1", "11.3", ("pytorch=1.12.1", "cudatoolkit=11.3"), ("pytorch",)),
        (Channel.PYTORCH, "1.12.1", "11.6", ("pytorch=1.12.1", "cudatoolkit=11.6"), ("pytorch", "conda-forge")),
        (Channel.PYTORCH, "2.5.1", None, ("pytorch=2.5.1", "cpuonly"), ("pytorch",)),
        (Channel.CONDA_FORGE, "2.13.0", "12.9", ("pytorch=2.13.0=cuda*", "cuda-version=12.9"), ("conda-forge",)),
        (Channel.CONDA_FORGE, "2.13.0", "13.0", ("pytorch=2.13.0=cuda*", "cuda-version=13.0"), ("conda-forge",)),
        (Channel.CONDA_FORGE, "1.13.1", "11.2", ("pytorch=1.13.1=cuda*", "cudatoolkit=11.2"), ("conda-forge",)),
        (Channel.CONDA_FORGE, "2.13.0", None, ("pytorch=2.13.0=cpu*",), ("conda-forge",)),
    ],
)
def test_a_build_is_asked_for_by_its_cuda(
    channel: Channel, torch: str, cuda: str | None, specs: tuple[str, ...], channels: tuple[str, ...]
) -> None:
    record = build(channel, torch, cuda)
    assert (conda.specs(record), record.channels) == (specs, channels)


def test_jetson_build_is_asked_for_by_its_variant() -> None:
    record = build(Channel.CONDA_FORGE, "2.13.0", "12.9", "linux-aarch64", tegra=True)
    assert conda.specs(record)[-1] == "arm-variant=*=tegra"
    assert [str(target) for target in record.targets or ()] == ["sm_87", "compute_87"]


def test_the_old_channel_ends_with_its_last_release() -> None:
    assert conda.releases(BUILDS, Channel.PYTORCH)[-1] == version("2.5.1")
    assert version("2.13.0") in conda.releases(BUILDS, Channel.CONDA_FORGE)


@pytest.mark.parametrize(("torch", "found"), [("2.5", {"2.5.0", "2.5.1"}), ("2.5.1", {"2.5.1"}), ("2.99", set())])
def test_builds_are_found_by_release_or_patch(torch: str, found: set[str]) -> None:
    assert {str(one.version) for one in conda.builds(BUILDS, version(torch))} == found


def test_builds_of_another_machine_are_its_own() -> None:
    found = conda.builds(BUILDS, version("2.5.1"), machine="aarch64")
    assert {one.channel for one in found} == {Channel.CONDA_FORGE}
    assert conda.builds(BUILDS, version("2.5.1"), machine="riscv64") == ()


@pytest.mark.parametrize(("driver", "takes"), [("13.0", True), ("13.4", True), ("12.9", False), (None, False)])
def test_solver_takes_a_cuda_13_build_from_its_major_on(driver: str | None, takes: bool) -> None:
    record = build(Channel.CONDA_FORGE, "2.13.0", "13.0")
    assert conda.accepts(record, version(driver) if driver else None) is takes


@pytest.mark.parametrize(("driver", "takes"), [("12.0", True), ("13.0", True), ("11.8", False), (None, False)])
def test_solver_takes_a_cuda_12_build_under_any_newer_driver(driver: str | None, takes: bool) -> None:
    record = build(Channel.CONDA_FORGE, "2.13.0", "12.9")
    assert conda.accepts(record, version(driver) if driver else None) is takes


def test_solver_asks_only_for_some_cuda_before_cuda_version() -> None:
    record = build(Channel.CONDA_FORGE, "1.13.1", "11.2")
    assert conda.accepts(record, version("10.2"))
    assert not conda.accepts(record, None)


def test_the_old_channel_never_asks_for_a_driver() -> None:
    assert conda.accepts(build(Channel.PYTORCH, "2.5.1", "12.4"), None)


def test_builds_for_the_cpu_need_no_driver() -> None:
    assert all(conda.accepts(one, None) for one in BUILDS if one.cuda is None)


def test_no_build_stands_twice() -> None:
    keys = [(one.channel, one.version, one.platform, one.cuda, one.tegra) for one in BUILDS]
    assert len(keys) == len(set(keys)) > 150


@pytest.mark.parametrize("channel", Channel)
def test_releases_of_a_channel_ascend(channel: Channel) -> None:
    versions = [one.version for one in BUILDS if one.channel is channel]
    assert versions == sorted(versions)


@for_each("record", CUDA_BUILDS)
def test_every_cuda_of_a_build_is_known(record: CondaRecord) -> None:
    assert record.cuda is not None
    assert KNOWLEDGE.toolkit(record.cuda) is not None
    assert record.selector in {"pytorch-cuda", "cudatoolkit", "cuda-version"}


@for_each("record", BUILDS)
def test_every_build_is_whole(record: CondaRecord) -> None:
    assert record.platform in {"linux-64", "linux-aarch64"}
    assert record.pythons is None or list(record.pythons) == sorted(record.pythons)
    assert record.channels[0] == record.channel.value
    assert record.cuda is not None or record.cudnn is None
    assert not record.tegra or record.platform == "linux-aarch64"


@for_each("record", [one for one in CUDA_BUILDS if one.targets])
def test_code_inside_is_what_its_own_nvcc_accepts(record: CondaRecord) -> None:
    assert record.cuda is not None
    toolkit = KNOWLEDGE.toolkit(record.cuda)
    assert toolkit is not None
    assert {target.capability for target in record.targets or ()} <= {target.capability for target in toolkit.targets}
    assert [target.code for target in record.targets or ()].count(Code.PTX) == 1


def test_one_build_alone_covers_pascal_and_blackwell() -> None:
    record = build(Channel.CONDA_FORGE, "2.13.0", "12.9")
    for device in ("6.1", "7.0", "8.9", "12.0"):
        assert kernels_run(capability(device), record.targets or (), cuda=record.cuda)


def test_selectors_follow_one_another() -> None:
    for channel in Channel:
        order = [one.selector for one in CUDA_BUILDS if one.channel is channel]
        assert [name for name, _ in itertools.groupby(order)] == list(dict.fromkeys(order))


@for_each("record", [one for one in CUDA_BUILDS if one.channel is Channel.PYTORCH])
def test_the_old_channel_has_the_variants_of_the_wheels(record: CondaRecord) -> None:
    wheels = {one.cuda for one in KNOWLEDGE.torch_builds(record.version) if one.cuda}
    assert not wheels or record.cuda in wheels
