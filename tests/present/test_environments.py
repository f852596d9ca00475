"""On which GPUs the torch of each environment runs, as far as files and driver tell."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.model.chain import Status
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.model.version import Target, Version
from gpuassist.model.words import ENGLISH
from gpuassist.present.environments import EnvironmentLine, environment_lines, torch_runs_on
from tests.values import GTX_1080_TI, RTX_4090, RTX_5090, Env, machine

DENIED = Unknown(text("permission denied"))


def torch(*targets: str, cuda: str = "12.4") -> Torch:
    """A CUDA build with this code in it."""
    return Torch(
        "/env/torch",
        Known("2.5.1+cu124", "version.py"),
        Known(Accelerator.CUDA, "version.py"),
        Known(Version.parse(cuda), "version.py"),
        Known(tuple(map(Target.parse, targets)), "libtorch_cuda.so"),
    )


def verdict(made: Torch, of: Machine) -> tuple[Status, str]:
    """What the pill says."""
    status, words = torch_runs_on(made, of)
    return status, ENGLISH(words)


def only(*environments: Env) -> list[EnvironmentLine]:
    """The lines of these environments."""
    return list(environment_lines(machine(environments=environments)))


@pytest.mark.parametrize(
    ("targets", "gpus", "status", "words"),
    [
        (("sm_89",), (RTX_4090,), Status.RIGHT, "this GPU"),
        (("sm_86",), (RTX_4090,), Status.RIGHT, "this GPU"),
        (("compute_80",), (RTX_4090,), Status.RIGHT, "this GPU"),
        (("sm_90",), (RTX_4090,), Status.PROBLEM, "not this GPU"),
        (("sm_86",), (RTX_4090, RTX_4090), Status.RIGHT, "both GPUs"),
        (("sm_86",), (RTX_4090,) * 4, Status.RIGHT, "all 4 GPUs"),
        (("sm_86",), (RTX_4090, RTX_5090), Status.WARNING, "1 of 2 GPUs"),
        (("sm_50",), (RTX_4090, RTX_5090), Status.PROBLEM, "none of the GPUs"),
        (("sm_61", "sm_120"), (GTX_1080_TI, RTX_5090), Status.RIGHT, "both GPUs"),
    ],
)
def test_the_pill_counts_gpus_that_run_it(targets: tuple[str, ...], gpus: tuple[str, ...], status: Status, words: str) -> None:
    assert verdict(torch(*targets), machine(gpus=gpus, driver="580.95.05")) == (status, words)


def test_a_driver_too_old_for_its_cuda_comes_first() -> None:
    assert verdict(torch("sm_86", cuda="12.4"), machine(driver="470.256.02")) == (Status.PROBLEM, "driver too old")


def test_without_a_driver_nothing_runs_yet() -> None:
    assert verdict(torch("sm_86"), machine(driver="")) == (Status.UNKNOWN, "needs a driver")


def test_without_gpus_there_is_nothing_to_run_on() -> None:
    assert verdict(torch("sm_86"), machine(gpus=())) == (Status.UNKNOWN, "no GPU")


@pytest.mark.parametrize(
    ("accelerator", "status", "words"),
    [
        (Known(Accelerator.CPU, "version.py"), Status.WARNING, "CPU only"),
        (Known(Accelerator.ROCM, "version.py"), Status.WARNING, "not NVIDIA"),
        (DENIED, Status.UNKNOWN, "not known"),
    ],
)
def test_other_builds_say_what_they_are(accelerator: Known[Accelerator] | Unknown, status: Status, words: str) -> None:
    assert verdict(replace(torch(), accelerator=accelerator), machine()) == (status, words)


def test_unknown_code_is_an_unknown_verdict() -> None:
    assert verdict(replace(torch(), targets=DENIED), machine()) == (Status.UNKNOWN, "not known")


def test_a_line_holds_what_the_table_shows() -> None:
    (line,) = only(Env("train", "2.5.1+cu124"))
    assert (line.name, line.manager, ENGLISH(line.python), ENGLISH(line.torch)) == ("train", "venv", "3.11", "2.5.1+cu124")
    assert line.status is Status.RIGHT


def test_an_environment_without_torch_has_no_verdict() -> None:
    (line,) = only(Env("plain"))
    assert (line.has_torch, ENGLISH(line.torch), line.status) == (False, "none", Status.ABSENT)


def test_active_environments_and_those_with_torch_come_first() -> None:
    lines = only(Env("b-plain"), Env("c-torch", "2.5.1+cu124"), Env("d-active", active=True), Env("a-torch", "2.5.1+cu124"))
    assert [line.name for line in lines] == ["d-active", "a-torch", "c-torch", "b-plain"]


def test_unknown_facts_of_an_environment_say_not_known() -> None:
    made = replace(machine(), environments=Known((PythonEnvironment("/env", "odd", torch=DENIED),), "files"))
    (line,) = environment_lines(made)
    assert (ENGLISH(line.python), ENGLISH(line.torch), line.manager) == ("not known", "not known", "")


def test_unknown_environments_give_no_lines() -> None:
    assert environment_lines(Machine()) == ()


def test_torch_does_not_run_where_the_driver_refuses_to_start() -> None:
    mismatch = machine(gpus=(RTX_4090,), driver="550.54.14", libcuda="550.90.07")
    assert verdict(torch("sm_89"), mismatch)[0] is Status.PROBLEM
