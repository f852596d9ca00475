"""Imagined parts take the place of real ones, and what was not said of them stays unknown."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.install import hypothetical
from gpuassist.install.hypothetical import SOURCE
from gpuassist.install.replacements import torch_build
from gpuassist.knowledge.records import ModuleFlavour
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.version import Version
from tests.facts import value
from tests.values import GTX_1080_TI, RTX_4090, RTX_5090, Env, Recipe, knowledge, machine

V12_4, V12_8 = Version.parse("12.4"), Version.parse("12.8")
BARE = machine(Recipe(driver="", toolkits=(), nvcc="", gcc=(), environments=()))


def card(pci_id: str, place: int = 0) -> Machine:
    record = knowledge().gpu(pci_id)
    assert record is not None
    return hypothetical.with_gpus(machine(Recipe()), (hypothetical.gpu(record, place),))


def nvcc(seen: Machine) -> str:
    """What a new terminal finds; empty for none."""
    command = value(seen.shell.new_terminal).command("nvcc")
    return command.path if command else ""


def test_imagined_gpu_is_what_the_knowledge_says() -> None:
    (gpu,) = value(card(RTX_5090).gpus)
    assert (value(gpu.architecture), str(value(gpu.compute_capability))) == ("Blackwell", "12.0")
    assert gpu.architecture == Known("Blackwell", SOURCE)
    assert isinstance(gpu.uuid, Unknown)
    assert not gpu.uuid.asked


def test_imagined_gpu_is_in_the_hands_of_a_driver_that_runs() -> None:
    (gpu,) = value(card(RTX_5090).gpus)
    assert value(gpu.kernel_driver) == "nvidia"
    alone = hypothetical.with_gpus(hypothetical.without_driver(machine(Recipe())), (gpu,))
    assert value(value(alone.gpus)[0].kernel_driver) == ""


def test_real_gpu_keeps_what_it_is_bound_to() -> None:
    real = machine(Recipe(bound="vfio-pci"))
    seen = hypothetical.with_driver(real, Version.parse("570.86.16"), V12_8, open_module=True)
    assert [value(gpu.kernel_driver) for gpu in value(seen.gpus)] == ["vfio-pci"]


def test_driver_is_whole() -> None:
    driver = hypothetical.with_driver(BARE, Version.parse("570.86.16"), V12_8, open_module=True).driver
    assert (value(driver.version), value(driver.cuda_version)) == (Version.parse("570.86.16"), V12_8)
    assert value(driver.nvml_status).code == 0
    assert value(driver.nouveau_loaded) is False
    assert driver.loaded == driver.on_disk


def test_driver_of_an_unknown_branch_serves_nobody_knows_what() -> None:
    driver = hypothetical.with_driver(BARE, Version.parse("999.1"), None, open_module=True).driver
    assert isinstance(driver.cuda_version, Unknown)


def test_windows_driver_has_no_kernel_module() -> None:
    driver = hypothetical.with_driver(machine(Recipe(wsl=2)), Version.parse("570.86.16"), V12_8, open_module=True).driver
    assert isinstance(driver.loaded, Unknown)
    assert value(driver.libcuda)


def test_machine_without_driver_has_none_of_it() -> None:
    driver = hypothetical.without_driver(machine(Recipe())).driver
    assert (value(driver.loaded), value(driver.on_disk), value(driver.libcuda)) == ((), (), ())
    assert value(driver.nvml_status).name == "NVML_ERROR_LIBRARY_NOT_FOUND"
    assert isinstance(driver.version, Unknown)
    assert driver.version.asked


@pytest.mark.parametrize(
    ("flavours", "opened"),
    [
        ((), True),
        ((None,), True),
        ((ModuleFlavour.OPEN_REQUIRED,), True),
        ((ModuleFlavour.OPEN_IMPOSSIBLE,), False),
        ((ModuleFlavour.OPEN_IMPOSSIBLE, ModuleFlavour.OPEN_REQUIRED), True),
        ((ModuleFlavour.OPEN_IMPOSSIBLE, None), False),
    ],
)
def test_open_module_is_imagined_unless_a_gpu_forbids_it(flavours: tuple[ModuleFlavour | None, ...], opened: bool) -> None:
    assert hypothetical.open_module_for(flavours) is opened


def test_installed_toolkit_is_taken_before_an_imagined_one() -> None:
    real = machine(Recipe(toolkits=("12.4.131", "12.8.61"), nvcc="12.4"))
    seen = hypothetical.with_toolkit(real, V12_8, knowledge().toolkit(V12_8))
    assert len(value(seen.toolkits)) == 2
    assert nvcc(seen).startswith("/usr/local/cuda-12.8")


def test_toolkit_that_is_not_there_is_made_up() -> None:
    seen = hypothetical.with_toolkit(BARE, V12_8, knowledge().toolkit(V12_8))
    assert nvcc(seen) == "/usr/local/cuda-12.8/bin/nvcc"
    (toolkit,) = value(seen.toolkits)
    assert value(toolkit.targets)


def test_toolkit_that_nobody_knows_compiles_nobody_knows_what() -> None:
    (toolkit,) = value(hypothetical.with_toolkit(BARE, Version.parse("99.1"), None).toolkits)
    assert isinstance(toolkit.targets, Unknown)
    assert value(toolkit.version) == Version.parse("99.1")


def test_machine_without_toolkit_has_no_nvcc() -> None:
    seen = hypothetical.without_toolkit(machine(Recipe()))
    assert value(seen.toolkits) == ()
    assert nvcc(seen) == ""


def test_gcc_is_the_one_that_nvcc_calls() -> None:
    seen = hypothetical.with_gcc(machine(Recipe(gcc=("11.4.0",))), Version.parse("13.2"))
    command = value(seen.shell.new_terminal).command("g++")
    assert command is not None
    assert command.path == "/usr/bin/g++-13"
    assert value(hypothetical.without_gcc(seen).compilers) == ()


@pytest.mark.parametrize(("words", "accelerator"), [("2.7.1+cu128", "cuda"), ("2.7.1+cpu", "cpu")])
def test_torch_is_put_where_it_counts(words: str, accelerator: str) -> None:
    build = torch_build(knowledge(), words, "x86_64")
    assert build is not None
    seen = hypothetical.environment_of(hypothetical.with_torch(machine(Recipe()), build))
    assert seen is not None
    (torch,) = value(seen.torch)
    assert (value(torch.version), value(torch.accelerator).value) == (words, accelerator)
    assert seen.name == "train"


def test_machine_without_environment_gets_one() -> None:
    seen = hypothetical.environment_of(hypothetical.with_unknown_torch(BARE, "9.9", Version.parse("3.13")))
    assert seen is not None
    assert (seen.prefix, value(seen.python_version)) == (SOURCE, Version.parse("3.13"))
    assert value(value(seen.torch)[0].version) == "9.9"


def test_torch_is_gone_from_every_environment() -> None:
    real = machine(Recipe(environments=(Env("a", "2.5.1+cu124", active=True), Env("b", "2.6.0+cu126"))))
    seen = hypothetical.without_torch(real)
    assert [value(one.torch) for one in value(seen.environments)] == [(), ()]


def test_python_changes_and_torch_stays() -> None:
    real = machine(Recipe())
    before, after = (
        hypothetical.environment_of(real),
        hypothetical.environment_of(hypothetical.with_python(real, Version.parse("3.14"))),
    )
    assert before is not None
    assert after is not None
    assert (value(after.python_version), after.torch) == (Version.parse("3.14"), Known(value(before.torch), SOURCE))


@pytest.mark.parametrize(
    ("environments", "name"),
    [
        ((Env("a", "2.5.1+cu124"), Env("b", active=True)), "b"),
        ((Env("a"), Env("b", "2.5.1+cu124")), "b"),
        ((Env("a", "2.5.1+cu124", active=True), Env("b", active=True)), "a"),
        ((Env("a"), Env("b")), "a"),
    ],
)
def test_environment_that_counts_is_the_active_one_with_torch(environments: tuple[Env, ...], name: str) -> None:
    one = hypothetical.environment_of(machine(Recipe(environments=environments)))
    assert one is not None
    assert one.name == name


def test_no_environment_counts_where_there_is_none() -> None:
    assert hypothetical.environment_of(BARE) is None
    assert hypothetical.environment_of(Machine()) is None


def test_user_without_root_stays_the_same_in_all_else() -> None:
    real = machine(Recipe(gpus=(RTX_4090, GTX_1080_TI)))
    seen = hypothetical.without_root(real)
    assert value(seen.host.administrator) is False
    assert replace(seen, host=real.host) == real
