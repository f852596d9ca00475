"""An imagined machine is judged as a live one is: its parts replaced, its GPUs several or none, from nothing or from a real one."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.chain import chains
from gpuassist.install.replacements import UnknownPartError
from gpuassist.install.what_if import NONE, Wish, choices, imagine, outlook
from gpuassist.model.chain import Part, Status
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine, decode_machine, encode_machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.cli.made_session import live_session
from tests.facts import value
from tests.values import GTX_1080_TI, RTX_4090, RTX_5090, Recipe, knowledge, machine

SESSION = live_session({})
version = Version.parse


def names(made: Machine) -> list[str]:
    """What the chain of the first GPU says its parts are."""
    return [ENGLISH(node.name) for node in chains(made, knowledge())[0].nodes]


def lines(found: Outlook) -> list[str]:
    return [line for step in found.steps for line in step.commands]


def broken(found: Outlook) -> list[tuple[str, str]]:
    every = (joint for chain in found.before for joint in chain.joints)
    return [(one.first.value, one.second.value) for one in every if one.status is Status.PROBLEM]


def test_every_part_is_replaced() -> None:
    wish = Wish((RTX_5090,), "580", "12.8", "2.7.1+cu128", "3.12", "13")
    assert names(imagine(SESSION, wish)) == ["RTX 5090", "580", "2.7.1+cu128", "nvcc 12.8", "g++ 13.0"]


def test_empty_wish_changes_nothing() -> None:
    real = machine(Recipe())
    assert imagine(SESSION, Wish(), real) == real


def test_parts_that_are_not_wished_for_stay() -> None:
    made = imagine(SESSION, Wish(driver="580"), machine(Recipe()))
    assert names(made) == ["RTX 4090", "580", "2.5.1+cu124", "nvcc 12.4", "g++ 11.4"]


@pytest.mark.parametrize(
    ("wish", "part"),
    [
        (Wish(driver=NONE), Part.DRIVER),
        (Wish(torch=NONE), Part.TORCH),
        (Wish(toolkit=NONE), Part.TOOLKIT),
        (Wish(gcc=NONE), Part.COMPILER),
    ],
)
def test_none_takes_a_part_away(wish: Wish, part: Part) -> None:
    chain = chains(imagine(SESSION, wish, machine(Recipe())), knowledge())[0]
    node = next(node for node in chain.nodes if node.part is part)
    assert ENGLISH(node.name) in {"none", "no nvcc", "none found"}


def test_no_gpu_is_no_chain() -> None:
    assert chains(imagine(SESSION, Wish((NONE,)), machine(Recipe())), knowledge()) == ()


def test_gpus_replace_those_that_are_there() -> None:
    made = imagine(SESSION, Wish(("RTX 5090", "RTX 3090")), machine(Recipe()))
    assert [ENGLISH(chain.nodes[0].name) for chain in chains(made, knowledge())] == ["RTX 5090", "RTX 3090"]


@pytest.mark.parametrize(("gpu", "opened"), [("RTX 5090", True), ("GTX 1080 Ti", False), ("RTX 4090", True)])
def test_imagined_driver_has_the_module_that_the_gpu_needs(gpu: str, opened: bool) -> None:
    case = RuleInput(imagine(SESSION, Wish((gpu,), "580")), knowledge())
    assert value(case.open_module) is opened


def test_imagined_driver_takes_the_gpu_from_nouveau() -> None:
    real = machine(Recipe(driver="", bound="nouveau"))
    case = RuleInput(imagine(SESSION, Wish(driver="580"), real), knowledge())
    assert case.held_by(case.cards[0]) == ""


def test_gpu_that_is_kept_for_a_virtual_machine_stays_so() -> None:
    real = machine(Recipe(gpus=(RTX_4090, GTX_1080_TI), bound="vfio-pci"))
    assert RuleInput(imagine(SESSION, Wish(driver="580"), real), knowledge()).cards == ()


def test_imagined_driver_reports_the_cuda_of_its_branch() -> None:
    assert value(imagine(SESSION, Wish((RTX_4090,), "570")).driver.cuda_version) == version("12.8")
    assert isinstance(imagine(SESSION, Wish((RTX_4090,), "999")).driver.version, Known)


def test_installed_toolkit_is_taken_before_an_imagined_one() -> None:
    real = machine(Recipe(toolkits=("12.4.131", "11.7.99"), nvcc="11.7"))
    case = RuleInput(imagine(SESSION, Wish(toolkit="12.4"), real), knowledge())
    assert case.toolkit is not None
    assert (value(case.toolkit.version), len(case.toolkits)) == (version("12.4.131"), 2)


def test_torch_without_a_build_is_pips_own() -> None:
    assert names(imagine(SESSION, Wish((RTX_4090,), torch="2.7")))[2] == "2.7.1+cu126"


def test_torch_of_which_nothing_is_known_is_kept_by_name() -> None:
    assert names(imagine(SESSION, Wish((RTX_4090,), torch="9.1")))[2] == "9.1"


def test_integrated_gpu_means_an_arm_processor() -> None:
    assert value(imagine(SESSION, Wish(("GB10",))).host.architecture) == "aarch64"
    assert value(imagine(SESSION, Wish(("Jetson AGX Orin",))).host.jetson) is True


def test_distribution_of_an_imagined_machine() -> None:
    assert value(imagine(SESSION, Wish((RTX_4090,), distribution="debian 12")).host.distribution).version_id == "12"


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (Wish(("Voodoo 5",)), "Voodoo 5 is no GPU that gpuassist knows"),
        (Wish((RTX_4090,), driver="new"), "new is not a version number"),
        (Wish((RTX_4090,), toolkit="x"), "x is not a version number"),
        (Wish((RTX_4090,), torch="nightly"), "nightly is not a version number"),
        (Wish((RTX_4090,), distribution="haiku"), "haiku is no distribution that gpuassist knows"),
    ],
)
def test_wish_for_what_is_not_known_is_refused(wish: Wish, said: str) -> None:
    with pytest.raises(UnknownPartError) as error:
        imagine(SESSION, wish)
    assert ENGLISH(error.value.reason) == said


def test_imagined_machine_is_saved_and_loaded() -> None:
    made = imagine(SESSION, Wish((RTX_5090,), "580", "12.8", "2.7.1+cu128", "3.12", "13"))
    assert names(decode_machine(encode_machine(made, ENGLISH))) == names(made)


def test_choices_are_newest_first_and_each_can_be_imagined() -> None:
    found = choices(SESSION)
    assert found.toolkits == tuple(sorted(found.toolkits, key=version, reverse=True))
    for wish in (Wish(driver=found.drivers[0]), Wish(toolkit=found.toolkits[-1]), Wish(torch=found.torches[-1])):
        assert imagine(SESSION, wish, machine(Recipe())) != machine(Recipe())


def test_choices_name_gpus_by_architecture_each_once() -> None:
    groups = dict(choices(SESSION).gpus)
    assert "GeForce RTX 5090" in groups["Blackwell"]
    assert all(len(set(listed)) == len(listed) for listed in groups.values())


def test_outlook_of_what_fits_has_no_step() -> None:
    found = outlook(SESSION, Wish((RTX_5090,), "580", "12.8", "2.7.1+cu128", "3.12", "13"))
    assert (found.steps, found.blocked_by, broken(found)) == ((), (), [])


def test_outlook_shows_every_broken_link_and_mends_it() -> None:
    found = outlook(SESSION, Wish((RTX_5090,), "550", "12.4", "2.6", "3.12", "15", "ubuntu 24.04"))
    assert set(broken(found)) == {("gpu", "driver"), ("gpu", "torch"), ("gpu", "toolkit"), ("toolkit", "compiler")}
    assert lines(found)[0] == "sudo apt install nvidia-driver-595-open"
    assert not [joint for chain in found.after for joint in chain.joints if joint.status in {Status.PROBLEM, Status.WARNING}]


def test_outlook_of_mixed_gpus_is_blocked() -> None:
    found = outlook(SESSION, Wish((GTX_1080_TI, RTX_5090), "580", torch="2.14"))
    assert (found.steps, len(found.blocked_by)) == ((), 4)


def test_python_without_a_wheel_breaks_the_torch() -> None:
    found = outlook(SESSION, Wish((RTX_4090,), "580", torch="2.6.0+cu124", python="3.14"))
    torch = next(node for node in found.before[0].nodes if node.part is Part.TORCH)
    assert (torch.status, ENGLISH(torch.detail)) == (Status.PROBLEM, "no wheel for Python 3.14")
    assert [ENGLISH(link.second) for link in found.links if link.holds is False] == ["Python 3.14"]


def test_python_without_a_wheel_is_replaced_and_torch_kept() -> None:
    found = lines(outlook(SESSION, Wish((RTX_4090,), "580", torch="2.6.0+cu124", python="3.14")))
    assert (found[0], "torch==2.6.0" in found[-1]) == ("uv venv --python 3.12 torch-gpu", True)


def test_python_and_gpu_without_a_wheel_mean_another_torch() -> None:
    found = lines(outlook(SESSION, Wish((RTX_5090,), "580", torch="2.6.0", python="3.14")))
    assert "torch==2.15.0" in found[-1]


def test_real_machine_with_one_part_changed() -> None:
    found = outlook(SESSION, Wish(toolkit="11.7"), machine(Recipe(toolkits=("12.4.131",))))
    assert lines(found) == ["gpuassist use cuda 12.4"]
    assert value_or(machine(Recipe()).host.wsl, 1) == 0
