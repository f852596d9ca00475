"""A driver that is there is brought to work before another is thought of."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.chain import chains
from gpuassist.install.configuration import place_of, waiting_module
from gpuassist.install.driver_repair import mending_steps
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.words import ENGLISH
from gpuassist.system.files import Files
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.values import DEBIAN, FEDORA, GTX_1080_TI, RTX_4090, Recipe, knowledge, machine, without

IDLE = Recipe(driver="", on_disk="550.54.14", libcuda="550.54.14")


SESSION = Session(World(Surroundings("/home/you", "you", 1000), Files()), knowledge(), ENGLISH)


def steps_of(made: Machine) -> tuple[Step, ...]:
    case = RuleInput(made, knowledge())
    return mending_steps(SESSION, case, chains(made, knowledge()), place_of(case))


def commands(made: Machine) -> list[str]:
    return [line for step in steps_of(made) for line in step.commands]


def test_driver_that_works_needs_nothing() -> None:
    assert commands(machine(Recipe())) == []


def test_module_that_waits_is_loaded() -> None:
    assert commands(machine(IDLE)) == ["sudo modprobe -v nvidia"]


def test_module_that_waits_behind_nouveau() -> None:
    found = commands(machine(IDLE, bound="nouveau"))
    assert (found[0], "blacklist nouveau" in found[1], found[-1]) == ("sudo systemctl reboot", True, "sudo systemctl reboot")


def test_module_that_secure_boot_keeps_out() -> None:
    found = commands(machine(IDLE, secure_boot=True, distribution=FEDORA))
    assert ("sudo mokutil --import /etc/pki/akmods/certs/public_key.der" in found, found[-1]) == (True, "sudo systemctl reboot")


def test_module_of_another_kernel_is_built() -> None:
    found = commands(machine(IDLE, on_disk="", distribution=DEBIAN))
    assert found[1:] == ["sudo dkms autoinstall -k $(uname -r)", "sudo systemctl reboot"]


def test_driver_that_was_updated_wants_a_restart() -> None:
    assert commands(machine(Recipe(libcuda="550.90.07", on_disk="550.90.07"))) == ["sudo systemctl reboot"]


def test_libraries_of_a_version_that_no_module_has_get_the_first_remedy_of_the_doctor() -> None:
    assert commands(machine(Recipe(libcuda="535.54.03", on_disk="550.54.14"))) == ["sudo systemctl reboot"]


def test_library_for_cuda_is_installed_where_only_it_is_missing() -> None:
    assert commands(machine(Recipe(libcuda=""))) == ["sudo apt install libnvidia-compute-550", "sudo ldconfig"]


def test_permissions_get_the_remedy_of_the_doctor() -> None:
    (step,) = steps_of(machine(Recipe(node_mode=0o660)))
    assert (step.kind, step.commands) == (StepKind.ROOT_COMMAND, ('sudo usermod -aG video "$USER"',))


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
