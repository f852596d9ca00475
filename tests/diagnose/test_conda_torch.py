"""A conda command names a build that the table has, with or without a machine; none is made up."""

from __future__ import annotations

from pathlib import Path

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.catalogue_entry import read_entry
from gpuassist.diagnose.conda_torch import named_torch
from gpuassist.knowledge.compatibility import driver_serves_cuda, kernels_run
from gpuassist.knowledge.conda import arguments
from gpuassist.model.fact import Known
from gpuassist.model.machine import Host, Machine
from tests.knowledge.shipped import KNOWLEDGE, version
from tests.rows import for_each
from tests.values import Recipe, machine

EVERY = sorted({str(one.version) for one in KNOWLEDGE.conda()})
NAMED = {arguments(one) for one in KNOWLEDGE.conda() if one.cuda}


def named(torch: str, host: Machine | None = None) -> dict[str, object]:
    return dict(named_torch(RuleInput(host or Machine(), KNOWLEDGE), torch))


@for_each("torch", EVERY)
def test_what_is_named_is_in_the_table(torch: str) -> None:
    found = named(torch)
    assert found["arguments"] in NAMED
    assert any(arguments(one) == found["arguments"] and str(one.cuda) == found["cuda"] for one in KNOWLEDGE.conda() if one.cuda)


@for_each(
    ("torch", "expected"),
    [
        ("1.12.1", "-c conda-forge pytorch=1.12.1=cuda* cudatoolkit=11.2"),
        ("2.8.0", "-c conda-forge pytorch=2.8.0=cuda* cuda-version=12.9"),
        # conda-forge skipped 2.5.0 and 2.2; PyTorch's own channel has them.
        ("2.5.0", "-c pytorch -c nvidia pytorch=2.5.0 pytorch-cuda=12.4"),
        ("2.2.2", "-c pytorch -c nvidia pytorch=2.2.2 mkl<2024.1 numpy<2 pytorch-cuda=12.1"),
    ],
)
def test_the_newest_cuda_that_a_channel_built(torch: str, expected: str) -> None:
    assert named(torch)["arguments"] == expected


@for_each("torch", ["", "2.99.0", "1.3.1", "?"])
def test_nothing_is_named_of_a_release_that_no_channel_has(torch: str) -> None:
    assert named(torch) == {"torch": torch}


@for_each("torch", [one for one in EVERY if one.startswith("2.")])
@for_each(("gpu", "driver"), [("10de:2684", "550.54.14"), ("10de:1b06", "535.183.01"), ("10de:2b85", "580.82.09")])
def test_what_is_named_runs_on_the_gpu_and_the_driver(torch: str, gpu: str, driver: str) -> None:
    case = RuleInput(machine(Recipe(gpus=(gpu,), driver=driver, open_module=gpu == "10de:2b85")), KNOWLEDGE)
    assert len(case.capabilities) == 1
    found = dict(named_torch(case, torch))
    if "arguments" not in found:
        return
    (record,) = {one.cuda: one for one in KNOWLEDGE.conda() if arguments(one) == found["arguments"]}.values()
    assert record.cuda is not None
    assert driver_serves_cuda(version(driver), record.cuda)
    assert record.targets is None or kernels_run(case.capabilities[0], record.targets, cuda=record.cuda)


def test_an_arm_machine_gets_a_build_for_it() -> None:
    arm = Machine(host=Host(architecture=Known("aarch64", "uname -m")))
    assert "arguments" not in named("1.12.1", arm)  # conda-forge had it for the CPU alone there
    assert named("2.8.0", arm)["arguments"] == "-c conda-forge pytorch=2.8.0=cuda* cuda-version=12.9"


def test_the_default_of_the_words_is_a_cuda_of_the_table() -> None:
    entry = read_entry(Path("resources/problems/conda-resolved-cpu-build.toml").read_bytes())
    assert dict(entry.defaults)["cuda"] in {str(one.cuda) for one in KNOWLEDGE.conda() if one.selector == "cuda-version"}
