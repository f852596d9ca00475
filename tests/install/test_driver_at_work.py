"""A driver that is there is brought to work before another is thought of."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.chain import chains
from gpuassist.install.configuration import place_of, waiting_module
from gpuassist.install.driver import mending_steps
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import StepKind
from gpuassist.model.words import ENGLISH
from tests.values import DEBIAN, FEDORA, GTX_1080_TI, RTX_4090, Recipe, knowledge, machine, without

IDLE = Recipe(driver="", on_disk="550.54.14", libcuda="550.54.14")


def commands(made: Machine) -> list[str]:
    case = RuleInput(made, knowledge())
    steps = mending_steps(case, chains(made, knowledge()), place_of(case), knowledge().commands)
    return [line for step in steps for line in step.commands]


def test_driver_that_works_needs_nothing() -> None:
    assert commands(machine(Recipe())) == []


def test_module_that_waits_is_loaded() -> None:
    assert commands(machine(IDLE)) == ["sudo modprobe -v nvidia"]


def test_module_that_waits_behind_nouveau() -> None:
    found = commands(machine(IDLE, bound="nouveau"))
    assert ("blacklist nouveau" in found[0], found[-1]) == (True, "sudo systemctl reboot")


def test_module_that_secure_boot_keeps_out() -> None:
    found = commands(machine(IDLE, secure_boot=True, distribution=FEDORA))
    assert ("sudo mokutil --import /etc/pki/akmods/certs/public_key.der" in found, found[-1]) == (True, "sudo systemctl reboot")


def test_module_of_another_kernel_is_built() -> None:
    found = commands(machine(IDLE, on_disk="", distribution=DEBIAN))
    assert found[1:] == ["sudo dkms autoinstall -k $(uname -r)", "sudo systemctl reboot"]


def test_driver_that_was_updated_wants_a_restart() -> None:
    assert commands(machine(Recipe(libcuda="550.90.07", on_disk="550.90.07"))) == ["sudo systemctl reboot"]


def test_libraries_of_a_version_that_no_module_has_are_left_to_the_doctor() -> None:
    assert commands(machine(Recipe(libcuda="535.54.03", on_disk="550.54.14"))) == ["gpuassist doctor"]


def test_library_for_cuda_is_installed_where_only_it_is_missing() -> None:
    assert commands(machine(Recipe(libcuda=""))) == ["sudo apt install libnvidia-compute-550"]


def test_permissions_are_left_to_the_doctor() -> None:
    assert commands(machine(Recipe(node_mode=0o660))) == ["gpuassist doctor"]


def test_steps_say_what_they_are_for() -> None:
    made = machine(Recipe(node_mode=0o660))
    case = RuleInput(made, knowledge())
    (step,) = mending_steps(case, chains(made, knowledge()), place_of(case), knowledge().commands)
    assert (step.kind, "this user may not open the GPU's device" in ENGLISH(step.text)) == (StepKind.COMMAND, True)


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(),
        Recipe(driver="", on_disk="", libcuda=""),
        replace(IDLE, container="docker"),
        replace(IDLE, wsl=2),
    ],
)
def test_no_module_waits_where_none_is_to_be_loaded(recipe: Recipe) -> None:
    assert waiting_module(RuleInput(machine(recipe), knowledge())) is None


def test_module_that_cannot_be_looked_for_does_not_wait() -> None:
    assert waiting_module(RuleInput(without(machine(IDLE), ["driver.loaded"]), knowledge())) is None
    assert waiting_module(RuleInput(without(machine(IDLE, on_disk=""), ["driver.on_disk"]), knowledge())) is None


def test_version_of_a_module_that_waits_is_the_one_on_disk() -> None:
    found = waiting_module(RuleInput(machine(IDLE, gpus=(RTX_4090, GTX_1080_TI)), knowledge()))
    assert found is not None
    assert isinstance(found.version, Known)
